//! Whom mail about applications may be sent to, and how often somebody may apply.
//!
//! Everything here is part of the transaction that takes an application or moves it on. The rows of limits are written before
//! they are judged, in one order, so that of two that apply at once one waits for the other.

use domain::Email;

use crate::{Db, StoreError, convert::to_signed, db::Tx};

/// How mail about an application is to be treated. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailConsent {
    /// For the link in a mail that asks; used if one is due.
    pub token: String,
    /// An address that was asked after this is not asked again.
    pub not_asked_since: u64,
}

/// How often somebody may apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationQuota {
    /// Who or what is counted.
    pub subject: String,
    /// Applications in a period.
    pub most: usize,
    /// The period, in milliseconds.
    pub period: u64,
}

impl Db {
    /// Confirms the address whose link has this token, if it was asked since a time. False when there is no such link, or
    /// it is too old; a link may be followed twice.
    pub async fn confirm_contact(&self, token: &str, asked_since: u64, now: u64) -> Result<bool, StoreError> {
        let sql = "UPDATE application_contact SET confirmed_at = COALESCE(confirmed_at, $1) \
                   WHERE token = $2 AND asked_at >= $3 RETURNING email";
        let (now, since) = (to_signed("time", now)?, to_signed("time", asked_since)?);
        let confirmed: Option<String> = on_writer!(self, pool => {
            sqlx::query_scalar(sql).bind(now).bind(token).bind(since).fetch_optional(pool).await
        })?;
        Ok(confirmed.is_some())
    }

    /// Whether an address is confirmed; none if it was never asked.
    pub async fn is_contact_confirmed(&self, email: &Email) -> Result<Option<bool>, StoreError> {
        let sql = "SELECT confirmed_at IS NOT NULL FROM application_contact WHERE email = $1";
        let email = key_of(email);
        Ok(on_readers!(self, pool => sqlx::query_scalar(sql).bind(email).fetch_optional(pool).await)?)
    }
}

/// Counts an application of each subject. None, or when the first of those that are used up can apply again; the
/// transaction must not be committed then.
pub(crate) async fn take_quotas(
    tx: &mut Tx,
    quotas: &[ApplicationQuota],
    now: u64,
) -> Result<Option<u64>, StoreError> {
    for quota in quotas {
        let since = now.saturating_sub(quota.period);
        let mut times = lock_times(tx, &quota.subject, now).await?;
        times.retain(|time| *time > since);
        if let Some(first) = times.first().filter(|_| times.len() >= quota.most) {
            return Ok(Some(first.saturating_add(quota.period)));
        }
        times.push(now);
        let text: Vec<String> = times.iter().map(u64::to_string).collect();
        let sql = "UPDATE application_quota SET times = $1 WHERE subject = $2";
        on_connection!(tx, connection => {
            sqlx::query(sql).bind(text.join(",")).bind(&quota.subject).execute(connection).await.map(drop)
        })?;
    }
    let longest = quotas.iter().map(|quota| quota.period).max().unwrap_or(0);
    forget_times(tx, now.saturating_sub(longest)).await?;
    Ok(None)
}

async fn lock_times(tx: &mut Tx, subject: &str, now: u64) -> Result<Vec<u64>, StoreError> {
    let sql = "INSERT INTO application_quota (subject, times, updated_at) VALUES ($1, '', $2) \
               ON CONFLICT (subject) DO UPDATE SET updated_at = excluded.updated_at RETURNING times";
    let now = to_signed("time", now)?;
    let text: String = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(subject).bind(now).fetch_one(connection).await
    })?;
    let times = text.split(',').filter(|time| !time.is_empty()).map(str::parse);
    times.collect::<Result<_, _>>().map_err(|error| StoreError::corrupt("time of an application", error))
}

async fn forget_times(tx: &mut Tx, before: u64) -> Result<(), StoreError> {
    let before = to_signed("time", before)?;
    on_connection!(tx, connection => {
        let query = sqlx::query("DELETE FROM application_quota WHERE updated_at < $1").bind(before);
        query.execute(connection).await.map(drop)
    })?;
    Ok(())
}

/// Whether mail to an address is due: it is confirmed, or is asked now because it was not lately.
pub(crate) async fn may_write(
    tx: &mut Tx,
    email: &Email,
    consent: &MailConsent,
    now: u64,
) -> Result<bool, StoreError> {
    let is_due = "application_contact.confirmed_at IS NULL AND application_contact.asked_at <= $4";
    let sql = format!(
        "INSERT INTO application_contact (email, token, asked_at) VALUES ($1, $2, $3) ON CONFLICT (email) DO UPDATE SET \
         token = CASE WHEN {is_due} THEN excluded.token ELSE application_contact.token END, \
         asked_at = CASE WHEN {is_due} THEN excluded.asked_at ELSE application_contact.asked_at END \
         RETURNING token, confirmed_at"
    );
    let (now, since) = (to_signed("time", now)?, to_signed("time", consent.not_asked_since)?);
    let (token, confirmed_at): (Option<String>, Option<i64>) = on_connection!(tx, connection => {
        sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(key_of(email))
            .bind(&consent.token)
            .bind(now)
            .bind(since)
            .fetch_one(connection)
            .await
    })?;
    Ok(confirmed_at.is_some() || token.as_deref() == Some(&consent.token))
}

/// Mail servers may tell cases apart, but nobody relies on it.
fn key_of(email: &Email) -> String {
    email.as_str().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_tests;

    fn quota(subject: &str, most: usize) -> ApplicationQuota {
        ApplicationQuota { subject: subject.to_owned(), most, period: 100 }
    }

    engine_tests! {
        async fn so_many_in_any_period_and_no_more(test: TestDb) {
            let db = test.db();
            for (now, expected) in [(1_000, None), (1_050, None), (1_060, Some(1_100)), (1_099, Some(1_100)), (1_100, None), (1_101, Some(1_150))] {
                let mut tx = db.begin().await.unwrap();
                let until = take_quotas(&mut tx, &[quota("all", 9), quota("a", 2)], now).await.unwrap();
                assert_eq!(until, expected, "{now}");
                if until.is_none() {
                    tx.commit().await.unwrap();
                }
            }
            let mut tx = db.begin().await.unwrap();
            assert_eq!(take_quotas(&mut tx, &[quota("b", 1)], 5_000).await.unwrap(), None);
            tx.commit().await.unwrap();
            let sql = "SELECT COUNT(*) FROM application_quota";
            let left: i64 = on_readers!(db, pool => sqlx::query_scalar(sql).fetch_one(pool).await).unwrap();
            assert_eq!(left, 1, "what is over is forgotten");
        }
    }
}
