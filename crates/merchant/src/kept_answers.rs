//! Forgetting answers that are kept for requests that must take effect once.

use std::time::Duration;

use access::Clock;
use store::{Db, StoreError};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::time::millis;

/// Between two rounds.
const EVERY: Duration = Duration::from_secs(10 * 60);
/// Answers that one statement forgets: others may write in between.
const AT_ONCE: u32 = 1_000;

/// Answers that are kept.
pub struct KeptAnswers {
    db: Db,
    clock: Clock,
}

impl KeptAnswers {
    /// The answers in a database.
    pub fn new(db: Db, clock: Clock) -> Self {
        Self { db, clock }
    }

    /// Forgets old answers now and then, until told to stop.
    pub async fn run(&self, stop: CancellationToken) {
        let mut rounds = interval(EVERY);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(rounds.tick()).await.is_some() {
            match self.forget_old().await {
                Ok(0) => {}
                Ok(forgotten) => tracing::debug!(forgotten, "old answers are forgotten"),
                Err(error) => tracing::warn!(%error, "old answers could not be forgotten"),
            }
        }
    }

    /// Forgets answers that are not given again any more, and says how many that were.
    pub async fn forget_old(&self) -> Result<u64, StoreError> {
        let now = millis((self.clock)());
        let mut all = 0;
        loop {
            let forgotten = self.db.prune_answers(now, AT_ONCE).await?;
            all += forgotten;
            if forgotten < u64::from(AT_ONCE) {
                return Ok(all);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use alloy_primitives::Address;
    use domain::portal::InvoiceLifetime;
    use jiff::Timestamp;
    use store::{
        engine_tests,
        portal::{InvoiceRecord, KeptAnswer, Once},
    };

    use super::*;
    use crate::{Done, Invoices, NewInvoice};

    fn at(millis: u64) -> Clock {
        let time = Timestamp::from_millisecond(millis.try_into().unwrap()).unwrap();
        Arc::new(move || time)
    }

    engine_tests! {
        async fn answers_are_kept_for_three_days(test: TestDb) {
            let answer = |_: &InvoiceRecord| KeptAnswer { status: 201, body: b"made".to_vec() };
            for (name, now) in [("a", 1_000), ("b", 2_000)] {
                let request = name.parse::<crate::IdempotencyKey>().unwrap().request("invoices", b"{}", now);
                let new = NewInvoice {
                    customer_label: "Budi".parse().unwrap(),
                    amount: 1_000.try_into().unwrap(),
                    note: "".parse().unwrap(),
                    external_id: None,
                    lifetime: InvoiceLifetime::default(),
                };
                let once = Once { request: &request, answer: &answer };
                let made = Invoices::new(test.db(), tokio::sync::watch::channel(None).1, at(now)).create(Address::repeat_byte(7), new, Some(once)).await;
                assert!(matches!(made.unwrap(), Done::Now(_)));
            }
            let days = 72 * 3_600_000;
            for (now, forgotten) in [(days + 999, 0), (days + 1_000, 1), (days + 1_001, 0), (days + 2_000, 1)] {
                let answers = KeptAnswers::new(test.db(), at(now));
                assert_eq!(answers.forget_old().await.unwrap(), forgotten, "{now}");
            }
        }
    }
}
