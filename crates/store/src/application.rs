//! Validator applications, the steps each has taken, and the mail about them.
//!
//! Which step may follow which is decided above; here a step is a compare-and-set on the state it starts from.

use alloy_primitives::Address;
use domain::{ApplicationId, ApplicationState, Email, Wei};
use sqlx::FromRow;

use crate::{
    ApplicationQuota, Db, MailConsent, StoreError,
    application_contact::{may_write, take_quotas},
    convert::{parse_address, parse_wei, to_signed, to_unsigned, wei_text},
    db::Tx,
};

/// The constraint that an operator's second open application violates.
const ONE_OPEN: &str = "application_operator_key";

/// An application. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationRow {
    /// Its id.
    pub id: ApplicationId,
    /// Account of the operator.
    pub operator: Address,
    /// Display name.
    pub moniker: String,
    /// Where the operator can be reached.
    pub email: Email,
    /// Intended stake.
    pub stake: Wei,
    /// Commission in basis points.
    pub commission_bps: u16,
    /// The operator's website.
    pub website: Option<String>,
    /// Code of a region.
    pub region: Option<String>,
    /// Anything the reviewers should know.
    pub message: Option<String>,
    /// Where it stands.
    pub state: ApplicationState,
    /// When it came in.
    pub submitted_at: u64,
    /// When the review is to be over.
    pub review_due_at: u64,
    /// When its state last changed.
    pub updated_at: u64,
}

/// What became of an application that came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplicationIntake {
    /// It was taken.
    Taken,
    /// The operator has an open one.
    Exists,
    /// A quota is used up, until this time in Unix milliseconds.
    Limited {
        /// When the same application may be taken.
        until: u64,
    },
}

/// A state that an application entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationStep {
    /// The state.
    pub state: ApplicationState,
    /// Who or what caused it.
    pub actor: String,
    /// Why, in the actor's words.
    pub note: Option<String>,
    /// When, in Unix milliseconds.
    pub at: u64,
}

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationChange<'a> {
    /// Whose state.
    pub id: &'a ApplicationId,
    /// The state it must be in.
    pub from: ApplicationState,
    /// The states to pass through, the new one last.
    pub path: &'a [ApplicationState],
    /// Who or what causes it.
    pub actor: &'a str,
    /// Why.
    pub note: Option<&'a str>,
    /// When, in Unix milliseconds.
    pub at: u64,
    /// Tells the applicant about the new state, if they may be written to.
    pub mail: Option<&'a MailConsent>,
}

/// An application that was accepted, as far as the board needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedApplication {
    /// Its id.
    pub id: ApplicationId,
    /// Account of the operator.
    pub operator: Address,
    /// Where it stands.
    pub state: ApplicationState,
    /// Code of a region.
    pub region: Option<String>,
}

const COLUMNS: &str = "id, operator, moniker, email, stake_wei, commission_bps, website, region, message, state, \
                       submitted_at, review_due_at, updated_at";

#[derive(FromRow)]
struct RawApplication {
    id: String,
    operator: Vec<u8>,
    moniker: String,
    email: String,
    stake_wei: String,
    commission_bps: i64,
    website: Option<String>,
    region: Option<String>,
    message: Option<String>,
    state: String,
    submitted_at: i64,
    review_due_at: i64,
    updated_at: i64,
}

impl Db {
    /// Adds an application in its first state, if nobody has used up their quota; with mail if the applicant may be
    /// written to.
    pub async fn insert_application(
        &self,
        row: &ApplicationRow,
        actor: &str,
        quotas: &[ApplicationQuota],
        mail: Option<&MailConsent>,
    ) -> Result<ApplicationIntake, StoreError> {
        let mut tx = self.begin().await?;
        if let Some(until) = take_quotas(&mut tx, quotas, row.submitted_at).await? {
            return Ok(ApplicationIntake::Limited { until });
        }
        match insert(&mut tx, row).await {
            Ok(()) => {}
            Err(StoreError::Conflict { constraint, .. }) if constraint == ONE_OPEN => {
                return Ok(ApplicationIntake::Exists);
            }
            Err(error) => return Err(error),
        }
        let step =
            ApplicationStep { state: row.state, actor: actor.to_owned(), note: None, at: row.submitted_at };
        insert_step(&mut tx, &row.id, 0, &step).await?;
        if let Some(consent) = mail
            && may_write(&mut tx, &row.email, consent, row.submitted_at).await?
        {
            insert_mail(&mut tx, &row.id, 0, row.submitted_at).await?;
        }
        tx.commit().await?;
        Ok(ApplicationIntake::Taken)
    }

    /// The application with this id.
    pub async fn find_application(&self, id: &ApplicationId) -> Result<Option<ApplicationRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM application WHERE id = $1");
        let row: Option<RawApplication> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id.as_str()).fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }

    /// Applications with an id below `before`, newest first, in one state or in any.
    pub async fn list_applications(
        &self,
        state: Option<ApplicationState>,
        before: Option<&ApplicationId>,
        limit: u32,
    ) -> Result<Vec<ApplicationRow>, StoreError> {
        // Every id begins with a lower-case letter, so that `~` is above them all.
        let before = before.map_or("~", ApplicationId::as_str);
        let state = state.map_or("", ApplicationState::name);
        let sql = format!(
            "SELECT {COLUMNS} FROM application WHERE id < $1 AND ($2 = '' OR state = $2) ORDER BY id DESC LIMIT $3"
        );
        let rows: Vec<RawApplication> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(before)
                .bind(state)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The states an application has been in, oldest first.
    pub async fn list_application_steps(
        &self,
        id: &ApplicationId,
    ) -> Result<Vec<ApplicationStep>, StoreError> {
        let sql =
            "SELECT state, actor, note, at FROM application_step WHERE application_id = $1 ORDER BY place";
        let rows: Vec<(String, String, Option<String>, i64)> =
            on_readers!(self, pool => sqlx::query_as(sql).bind(id.as_str()).fetch_all(pool).await)?;
        let steps = rows.into_iter().map(|(state, actor, note, at)| {
            Ok(ApplicationStep {
                state: parse_state(&state)?,
                actor,
                note,
                at: to_unsigned("time of a step", at)?,
            })
        });
        steps.collect()
    }

    /// The newest applications that were accepted, oldest of them first.
    pub async fn list_accepted_applications(
        &self,
        limit: u32,
    ) -> Result<Vec<AcceptedApplication>, StoreError> {
        let sql = "SELECT id, operator, state, region FROM application \
                   WHERE state IN ('approved', 'staked', 'voting', 'active') ORDER BY id DESC LIMIT $1";
        let rows: Vec<(String, Vec<u8>, String, Option<String>)> =
            on_readers!(self, pool => sqlx::query_as(sql).bind(i64::from(limit)).fetch_all(pool).await)?;
        let applications = rows.into_iter().rev().map(|(id, operator, state, region)| {
            Ok(AcceptedApplication {
                id: parse_id(&id)?,
                operator: parse_address("operator", &operator)?,
                state: parse_state(&state)?,
                region,
            })
        });
        applications.collect()
    }

    /// Changes the state of an application. False, and nothing changes, when it is not in the state to start from.
    pub async fn change_application(&self, change: &ApplicationChange<'_>) -> Result<bool, StoreError> {
        let Some(&target) = change.path.last() else { return Ok(false) };
        let mut tx = self.begin().await?;
        let Some((steps, email)) = advance(&mut tx, change, target).await? else { return Ok(false) };
        let first = steps - change.path.len() as i64;
        for (place, &state) in (first..).zip(change.path) {
            let step = ApplicationStep {
                state,
                actor: change.actor.to_owned(),
                note: change.note.map(str::to_owned),
                at: change.at,
            };
            insert_step(&mut tx, change.id, place, &step).await?;
        }
        if let Some(consent) = change.mail
            && may_write(&mut tx, &email, consent, change.at).await?
        {
            insert_mail(&mut tx, change.id, steps - 1, change.at).await?;
        }
        tx.commit().await?;
        Ok(true)
    }
}

async fn insert(tx: &mut Tx, row: &ApplicationRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO application (id, operator, moniker, email, stake_wei, commission_bps, website, region, \
               message, state, is_open, steps, submitted_at, review_due_at, updated_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12, $13, $14)";
    let submitted_at = to_signed("time", row.submitted_at)?;
    let review_due_at = to_signed("time", row.review_due_at)?;
    let updated_at = to_signed("time", row.updated_at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(row.id.as_str())
            .bind(row.operator.as_slice())
            .bind(&row.moniker)
            .bind(row.email.as_str())
            .bind(wei_text(row.stake))
            .bind(i64::from(row.commission_bps))
            .bind(&row.website)
            .bind(&row.region)
            .bind(&row.message)
            .bind(row.state.name())
            .bind(row.state.is_open())
            .bind(submitted_at)
            .bind(review_due_at)
            .bind(updated_at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// The compare-and-set; answers how many steps there are afterwards, and whom to write to.
async fn advance(
    tx: &mut Tx,
    change: &ApplicationChange<'_>,
    target: ApplicationState,
) -> Result<Option<(i64, Email)>, StoreError> {
    let sql = "UPDATE application SET state = $1, is_open = $2, updated_at = $3, steps = steps + $4 \
               WHERE id = $5 AND state = $6 RETURNING steps, email";
    let at = to_signed("time", change.at)?;
    let moved: Option<(i64, String)> = on_connection!(tx, connection => {
        sqlx::query_as(sql)
            .bind(target.name())
            .bind(target.is_open())
            .bind(at)
            .bind(change.path.len() as i64)
            .bind(change.id.as_str())
            .bind(change.from.name())
            .fetch_optional(connection)
            .await
    })?;
    Ok(moved.map(|(steps, email)| (steps, Email::new(email))))
}

async fn insert_step(
    tx: &mut Tx,
    id: &ApplicationId,
    place: i64,
    step: &ApplicationStep,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO application_step (application_id, place, state, actor, note, at) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let at = to_signed("time", step.at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(id.as_str())
            .bind(place)
            .bind(step.state.name())
            .bind(&step.actor)
            .bind(&step.note)
            .bind(at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

async fn insert_mail(tx: &mut Tx, id: &ApplicationId, place: i64, due_at: u64) -> Result<(), StoreError> {
    let sql = "INSERT INTO application_mail (application_id, place, attempts, due_at) VALUES ($1, $2, 0, $3)";
    let due_at = to_signed("time", due_at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql).bind(id.as_str()).bind(place).bind(due_at).execute(connection).await.map(drop)
    })?;
    Ok(())
}

pub(crate) fn parse_id(text: &str) -> Result<ApplicationId, StoreError> {
    text.parse().map_err(|error| StoreError::corrupt("application id", error))
}

pub(crate) fn parse_state(text: &str) -> Result<ApplicationState, StoreError> {
    text.parse().map_err(|error| StoreError::corrupt("application state", error))
}

impl TryFrom<RawApplication> for ApplicationRow {
    type Error = StoreError;

    fn try_from(raw: RawApplication) -> Result<Self, StoreError> {
        Ok(Self {
            id: parse_id(&raw.id)?,
            operator: parse_address("operator", &raw.operator)?,
            moniker: raw.moniker,
            email: Email::new(raw.email),
            stake: parse_wei("stake", &raw.stake_wei)?,
            commission_bps: u16::try_from(raw.commission_bps)
                .map_err(|error| StoreError::corrupt("commission", error))?,
            website: raw.website,
            region: raw.region,
            message: raw.message,
            state: parse_state(&raw.state)?,
            submitted_at: to_unsigned("time of an application", raw.submitted_at)?,
            review_due_at: to_unsigned("time of an application", raw.review_due_at)?,
            updated_at: to_unsigned("time of an application", raw.updated_at)?,
        })
    }
}
