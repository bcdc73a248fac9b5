//! Mail about applications that waits to be sent. Rows are made with the change they tell of, in `application`.
//!
//! A row is leased by moving its due time: whoever takes it and dies leaves it due again. Taking counts as an attempt, so
//! that mail which kills its sender ends too.

use domain::{ApplicationId, ApplicationState, Email};

use crate::{
    Db, Engine, StoreError,
    application::{parse_id, parse_state},
    convert::{to_signed, to_unsigned},
};

/// Mail that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueMail {
    /// Which application it is about.
    pub application: ApplicationId,
    /// Which of its steps it tells of.
    pub place: u64,
    /// Tries so far, this one included.
    pub attempts: u64,
    /// To whom.
    pub email: Email,
    /// The applicant's display name.
    pub moniker: String,
    /// The state that was entered.
    pub state: ApplicationState,
    /// Why, in the reviewer's words.
    pub note: Option<String>,
    /// The token of the link that confirms the address, if it is not confirmed: then the mail asks for that and nothing
    /// else.
    pub confirmation: Option<String>,
}

impl Db {
    /// Takes mail that is due and leases it until a time. Times are Unix milliseconds.
    pub async fn take_due_mail(
        &self,
        now: u64,
        leased_until: u64,
        limit: u32,
    ) -> Result<Vec<DueMail>, StoreError> {
        let lock = match self.engine() {
            Engine::Sqlite => "",
            Engine::Postgres => "FOR UPDATE SKIP LOCKED",
        };
        let sql = format!(
            "UPDATE application_mail SET attempts = attempts + 1, due_at = $1 \
             WHERE (application_id, place) IN (SELECT application_id, place FROM application_mail \
             WHERE due_at <= $2 ORDER BY due_at LIMIT $3 {lock}) \
             RETURNING application_id, place, attempts"
        );
        let (leased_until, now) = (to_signed("time", leased_until)?, to_signed("time", now)?);
        let taken: Vec<(String, i64, i64)> = on_writer!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(leased_until)
                .bind(now)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        let mut due = Vec::with_capacity(taken.len());
        for (id, place, attempts) in taken {
            due.push(self.due_mail(&id, place, attempts).await?);
        }
        Ok(due)
    }

    async fn due_mail(&self, id: &str, place: i64, attempts: i64) -> Result<DueMail, StoreError> {
        let sql = "SELECT a.email, moniker, s.state, note, \
                   CASE WHEN c.confirmed_at IS NULL THEN c.token END AS confirmation FROM application AS a \
                   JOIN application_step AS s ON s.application_id = a.id \
                   LEFT JOIN application_contact AS c ON c.email = LOWER(a.email) WHERE a.id = $1 AND place = $2";
        type Raw = (String, String, String, Option<String>, Option<String>);
        let (email, moniker, state, note, confirmation): Raw =
            on_readers!(self, pool => sqlx::query_as(sql).bind(id).bind(place).fetch_one(pool).await)?;
        Ok(DueMail {
            application: parse_id(id)?,
            place: to_unsigned("place of a step", place)?,
            attempts: to_unsigned("number of tries", attempts)?,
            email: Email::new(email),
            moniker,
            state: parse_state(&state)?,
            note,
            confirmation,
        })
    }

    /// Notes that mail was sent.
    pub async fn finish_mail(&self, mail: &DueMail, now: u64) -> Result<(), StoreError> {
        self.settle_mail(mail, None, Some(now)).await
    }

    /// Notes that mail was not sent: when to try again, or that it is given up.
    pub async fn postpone_mail(&self, mail: &DueMail, due_at: Option<u64>) -> Result<(), StoreError> {
        self.settle_mail(mail, due_at, None).await
    }

    /// A lease that lapsed meanwhile belongs to somebody else, whose attempt has another number.
    async fn settle_mail(
        &self,
        mail: &DueMail,
        due_at: Option<u64>,
        sent_at: Option<u64>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE application_mail SET due_at = $1, sent_at = $2 \
                   WHERE application_id = $3 AND place = $4 AND attempts = $5";
        let due_at = due_at.map(|time| to_signed("time", time)).transpose()?;
        let sent_at = sent_at.map(|time| to_signed("time", time)).transpose()?;
        let (place, attempts) = (to_signed("place", mail.place)?, to_signed("attempts", mail.attempts)?);
        on_writer!(self, pool => {
            sqlx::query(sql)
                .bind(due_at)
                .bind(sent_at)
                .bind(mail.application.as_str())
                .bind(place)
                .bind(attempts)
                .execute(pool)
                .await
                .map(drop)
        })?;
        Ok(())
    }

    /// How much mail is still to be sent.
    pub async fn count_open_mail(&self) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM application_mail WHERE due_at IS NOT NULL";
        let count: i64 = on_readers!(self, pool => sqlx::query_scalar(sql).fetch_one(pool).await)?;
        to_unsigned("number of mails", count)
    }
}
