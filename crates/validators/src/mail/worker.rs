//! Sending what waits: takes due mail from the outbox, one letter at a time so that a stop waits for one at most, and
//! tries again later what did not go out.

use std::time::Duration;

use domain::WebUrl;
use store::{Db, DueMail, StoreError};
use tokio_util::sync::CancellationToken;

use crate::Clock;

use super::{MailError, Mailer, template};

/// Letters taken at once.
const BATCH: u32 = 1;
/// How long the outbox rests when there is nothing to send.
const REST: Duration = Duration::from_secs(5);
/// How long a taken letter belongs to its taker: much longer than a letter may take.
const LEASE_MILLIS: u64 = 10 * 60_000;
/// Minutes before the second, third, … try; after the last one a letter is given up.
const RETRY_MINUTES: [u64; 7] = [1, 5, 15, 60, 180, 360, 720];

/// Sends mail about applications.
pub struct MailWorker {
    db: Db,
    mailer: Mailer,
    /// The web pages, for links.
    pages: WebUrl,
    clock: Clock,
}

impl MailWorker {
    /// A worker on this database's outbox, with links to these pages. Several may run at once.
    pub fn new(db: Db, mailer: Mailer, pages: WebUrl, clock: Clock) -> Self {
        Self { db, mailer, pages, clock }
    }

    /// Sends until stopped.
    pub async fn run(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let pause = match self.send_due().await {
                Ok(0) => REST,
                Ok(_) => continue,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "mail cannot be taken from the outbox"
                    );
                    REST
                }
            };
            let _ = stop.run_until_cancelled(tokio::time::sleep(pause)).await;
        }
    }

    /// Tries everything that is due now, up to a batch, and answers how much that was.
    pub async fn send_due(&self) -> Result<usize, StoreError> {
        let now = (self.clock)();
        let due = self.db.take_due_mail(now, now + LEASE_MILLIS, BATCH).await?;
        for mail in &due {
            let id = format!("{}.{}", mail.application, mail.place);
            let sent = self.mailer.send(&id, &mail.email, template::letter(mail, &self.pages)).await;
            self.settle(mail, sent).await?;
        }
        Ok(due.len())
    }

    async fn settle(&self, mail: &DueMail, sent: Result<(), MailError>) -> Result<(), StoreError> {
        let now = (self.clock)();
        let Err(error) = sent else { return self.db.finish_mail(mail, now).await };
        let next = next_try(mail.attempts, now).filter(|_| error.is_temporary());
        tracing::warn!(
            application.id = %mail.application,
            attempt = mail.attempts,
            is_given_up = next.is_none(),
            reason = %error,
            "mail was not sent"
        );
        self.db.postpone_mail(mail, next).await
    }
}

/// When to try again after so many tries; `None` when it is enough.
fn next_try(attempts: u64, now: u64) -> Option<u64> {
    let index = usize::try_from(attempts.checked_sub(1)?).ok()?;
    RETRY_MINUTES.get(index).map(|minutes| now + minutes * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_become_rarer_and_end() {
        let minutes: Vec<_> = (1..10).map(|attempts| next_try(attempts, 0).map(|at| at / 60_000)).collect();
        let expected = [Some(1), Some(5), Some(15), Some(60), Some(180), Some(360), Some(720), None, None];
        assert_eq!(minutes, expected);
    }
}
