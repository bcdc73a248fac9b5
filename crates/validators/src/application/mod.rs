//! Applications: receiving them, reviewing them, and following the accepted ones on chain.
//!
//! The states and their order are in `domain`; that an operator has one open application is held by the database.

mod confirmation;
mod contact;
mod draft;
mod sync;

use access::Client;
use domain::{ApplicationId, ApplicationState};
use store::{ApplicationChange, ApplicationIntake, ApplicationRow, ApplicationStep, Db};
use uuid::{NoContext, Timestamp, Uuid};

use crate::{error::ApplicationError, program::REVIEW_DAYS};

pub use draft::{ApplicationDraft, MESSAGE_CHARS, MONIKER_CHARS, NewApplication, WEBSITE_CHARS};

/// Most applications in one list.
pub const LIST_LIMIT: u32 = 100;

const DAY_MILLIS: u64 = 86_400_000;
/// The actor of what the applicant does.
const APPLICANT: &str = "applicant";

/// What a reviewer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The technical review begins.
    StartReview,
    /// The operator may stake. An application that nobody has looked at passes through the review.
    Approve,
    /// The application is turned down.
    Reject,
    /// The applicant does not want it any more.
    Withdraw,
}

impl Decision {
    /// The state that it leads to.
    pub const fn target(self) -> ApplicationState {
        match self {
            Self::StartReview => ApplicationState::InReview,
            Self::Approve => ApplicationState::Approved,
            Self::Reject => ApplicationState::Rejected,
            Self::Withdraw => ApplicationState::Withdrawn,
        }
    }
}

/// Who decides, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reviewer<'a> {
    /// A name for the history.
    pub name: &'a str,
    /// A note for the history; mail quotes it to the applicant.
    pub note: Option<&'a str>,
}

/// An application with all it has been through: for the operators of the network, not for the public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// The application.
    pub row: ApplicationRow,
    /// The states it has been in, oldest first.
    pub steps: Vec<ApplicationStep>,
    /// Whether the applicant has confirmed the e-mail address; none where no mail is sent.
    pub is_email_confirmed: Option<bool>,
}

/// What everybody may know of an application. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicApplication {
    /// Its id.
    pub id: ApplicationId,
    /// Where it stands.
    pub state: ApplicationState,
    /// What has to happen next.
    pub next_step: &'static str,
    /// Display name.
    pub moniker: String,
    /// Account of the operator.
    pub operator: alloy_primitives::Address,
    /// Intended stake.
    pub stake: domain::Wei,
    /// Commission in basis points.
    pub commission_bps: u16,
    /// The operator's website.
    pub website: Option<String>,
    /// Code of a region.
    pub region: Option<String>,
    /// When it came in.
    pub submitted_at: u64,
    /// When the review is to be over.
    pub review_due_at: u64,
    /// When its state last changed.
    pub updated_at: u64,
    /// The states it has been in and when it entered them, oldest first.
    pub history: Vec<(ApplicationState, u64)>,
    /// Whether the applicant has confirmed the e-mail address; none where no mail is sent.
    pub is_email_confirmed: Option<bool>,
}

impl Application {
    /// What everybody may know of it: no e-mail address, no message, no names and notes of reviewers.
    pub fn public(&self) -> PublicApplication {
        let row = &self.row;
        PublicApplication {
            id: row.id.clone(),
            state: row.state,
            next_step: row.state.next_step(),
            moniker: row.moniker.clone(),
            operator: row.operator,
            stake: row.stake,
            commission_bps: row.commission_bps,
            website: row.website.clone(),
            region: row.region.clone(),
            submitted_at: row.submitted_at,
            review_due_at: row.review_due_at,
            updated_at: row.updated_at,
            history: self.steps.iter().map(|step| (step.state, step.at)).collect(),
            is_email_confirmed: self.is_email_confirmed,
        }
    }
}

/// The applications. Cheap to clone. Times are Unix milliseconds.
#[derive(Debug, Clone)]
pub struct Applications {
    db: Db,
    with_mail: bool,
}

impl Applications {
    /// Applications in this database. `with_mail`: changes of state are queued as mail, which must be the case only when
    /// somebody sends it.
    pub fn new(db: Db, with_mail: bool) -> Self {
        Self { db, with_mail }
    }

    /// Takes an application from a client, who is not known when an operator hands it in. Where mail is sent, an address, a
    /// client and everybody together may apply so often, and the applicant is asked to confirm the address.
    pub async fn submit(
        &self,
        draft: &ApplicationDraft,
        client: Option<Client>,
        now: u64,
    ) -> Result<Application, ApplicationError> {
        let new = draft.check().map_err(ApplicationError::Invalid)?;
        let row = ApplicationRow {
            id: new_id(now),
            operator: new.operator,
            moniker: new.moniker,
            email: new.email,
            stake: new.stake,
            commission_bps: new.commission_bps,
            website: new.website,
            region: new.region.map(str::to_owned),
            message: new.message,
            state: ApplicationState::Submitted,
            submitted_at: now,
            review_due_at: now + u64::from(REVIEW_DAYS) * DAY_MILLIS,
            updated_at: now,
        };
        let quotas = if self.with_mail { confirmation::quotas(&row.email, client) } else { Vec::new() };
        let consent = self.consent(now);
        match self.db.insert_application(&row, APPLICANT, &quotas, consent.as_ref()).await? {
            ApplicationIntake::Taken => {}
            ApplicationIntake::Exists => return Err(ApplicationError::Exists),
            ApplicationIntake::Limited { until } => {
                let retry_after = until.saturating_sub(now).div_ceil(1_000);
                return Err(ApplicationError::Limited { retry_after });
            }
        }
        let step = ApplicationStep { state: row.state, actor: APPLICANT.to_owned(), note: None, at: now };
        let is_email_confirmed = self.is_confirmed(&row).await?;
        Ok(Application { row, steps: vec![step], is_email_confirmed })
    }

    /// The application with this id.
    pub async fn get(&self, id: &ApplicationId) -> Result<Application, ApplicationError> {
        let row = self.db.find_application(id).await?.ok_or(ApplicationError::NotFound)?;
        let steps = self.db.list_application_steps(id).await?;
        let is_email_confirmed = self.is_confirmed(&row).await?;
        Ok(Application { row, steps, is_email_confirmed })
    }

    /// Applications with an id below `before`, newest first, at most [`LIST_LIMIT`].
    pub async fn list(
        &self,
        state: Option<ApplicationState>,
        before: Option<&ApplicationId>,
        limit: u32,
    ) -> Result<Vec<ApplicationRow>, ApplicationError> {
        Ok(self.db.list_applications(state, before, limit.min(LIST_LIMIT)).await?)
    }

    /// Carries out a reviewer's decision.
    pub async fn transition(
        &self,
        id: &ApplicationId,
        decision: Decision,
        reviewer: Reviewer<'_>,
        now: u64,
    ) -> Result<Application, ApplicationError> {
        self.advance(id, decision.target(), reviewer, now).await?;
        self.get(id).await
    }

    /// Moves an application to a state. A rival that was faster has moved it on, and states only ever go on, so that the
    /// loop ends.
    async fn advance(
        &self,
        id: &ApplicationId,
        to: ApplicationState,
        reviewer: Reviewer<'_>,
        now: u64,
    ) -> Result<(), ApplicationError> {
        loop {
            let row = self.db.find_application(id).await?.ok_or(ApplicationError::NotFound)?;
            let from = row.state;
            let path = from.path_to(to).ok_or(ApplicationError::TransitionNotAllowed { from, to })?;
            let consent = self.consent(now);
            let change = ApplicationChange {
                id,
                from,
                path,
                actor: reviewer.name,
                note: reviewer.note,
                at: now,
                mail: consent.as_ref(),
            };
            if self.db.change_application(&change).await? {
                tracing::info!(application.id = %id, from = %from, to = %to, by = reviewer.name, "application moved on");
                return Ok(());
            }
        }
    }
}

fn new_id(now: u64) -> ApplicationId {
    let nanos = u32::try_from(now % 1_000).unwrap_or(0) * 1_000_000;
    let timestamp = Timestamp::from_unix(NoContext, now / 1_000, nanos);
    ApplicationId::from_uuid(Uuid::new_v7(timestamp).as_u128())
}
