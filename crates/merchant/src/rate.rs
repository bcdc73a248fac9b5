//! What the coin costs. An operator says so; nobody is trusted to mistype it.

use std::borrow::Cow;

use access::Clock;
use domain::{
    Failure, FailureKind, Network,
    portal::{Actor, AuditAction, AuditId, Rate},
};
use store::{
    Db, StoreError,
    portal::{AuditRow, RateRow},
};

use crate::time::millis;

/// What a coin costs on the devnet until somebody says otherwise, in hundred-millionths of a rupiah: Rp 1000.
const DEVNET_E8: u64 = 1_000 * 100_000_000;
/// A rate that is further away from the last one than a tenth of it must be confirmed.
const JUMP: u64 = 10;

/// What the coin costs, now and before.
#[derive(Clone)]
pub struct Rates {
    db: Db,
    clock: Clock,
}

/// A rate that is to be set.
#[derive(Debug, Clone)]
pub struct NewRate {
    /// Rupiah for a coin.
    pub rate: Rate,
    /// Who sets it.
    pub by: String,
    /// Why.
    pub note: Option<String>,
    /// Whether it may be more than 10 % away from the last one.
    pub allow_jump: bool,
}

/// Why a rate was not set.
#[derive(Debug, thiserror::Error)]
pub enum RateSetError {
    /// It is more than 10 % away from the last one, and that was not confirmed.
    #[error("{new} is more than 10 % away from {last}")]
    Jump {
        /// The last rate.
        last: Rate,
        /// The one that was to be set.
        new: Rate,
    },
    /// The database failed.
    #[error("rates cannot be read or written")]
    Store(#[from] StoreError),
}

impl Rates {
    /// The rates in a database.
    pub fn new(db: Db, clock: Clock) -> Self {
        Self { db, clock }
    }

    /// The rate that counts, if there is any.
    pub async fn current(&self) -> Result<Option<RateRow>, StoreError> {
        self.db.find_rate().await
    }

    /// The last rates, newest first.
    pub async fn history(&self, limit: u32) -> Result<Vec<RateRow>, StoreError> {
        self.db.list_rates(limit).await
    }

    /// Sets the rate. Quotes that were given keep theirs.
    pub async fn set(&self, new: NewRate) -> Result<RateRow, RateSetError> {
        loop {
            let last = self.db.find_rate().await?;
            if let Some(last) = &last
                && is_jump(last.rate, new.rate)
                && !new.allow_jump
            {
                return Err(RateSetError::Jump { last: last.rate, new: new.rate });
            }
            let id = last.map_or(1, |last| last.id.saturating_add(1));
            // Whoever was faster may have moved it: then it is compared again.
            if let Some(row) = self.insert(id, &new, Actor::Operator).await? {
                return Ok(row);
            }
        }
    }

    /// Gives the devnet its default if nobody has set a rate. Other networks have none until an operator sets one.
    pub async fn settle_default(&self, network: Network) -> Result<(), StoreError> {
        let default = match network {
            Network::Devnet => Rate::from_e8(DEVNET_E8),
            Network::Testnet | Network::Mainnet => None,
        };
        let Some(rate) = default else { return Ok(()) };
        if self.db.find_rate().await?.is_some() {
            return Ok(());
        }
        let note = Some("The default of the devnet.".to_owned());
        let new = NewRate { rate, by: "default".to_owned(), note, allow_jump: false };
        self.insert(1, &new, Actor::System).await.map(drop)
    }

    /// Adds a rate; none when there is one with this number.
    async fn insert(&self, id: u64, new: &NewRate, actor: Actor) -> Result<Option<RateRow>, StoreError> {
        let now = millis((self.clock)());
        let row =
            RateRow { id, rate: new.rate, set_by: new.by.clone(), note: new.note.clone(), created_at: now };
        let audit = AuditRow {
            id: AuditId::new(now, rand::random()),
            wallet: None,
            actor,
            action: AuditAction::RateSet,
            target: new.rate.to_string(),
            origin: None,
            at: now,
        };
        Ok(self.db.insert_rate(&row, &audit).await?.then_some(row))
    }
}

/// Rates are at most 10^17, so that nothing overflows.
fn is_jump(last: Rate, new: Rate) -> bool {
    last.e8().abs_diff(new.e8()).saturating_mul(JUMP) > last.e8()
}

impl Failure for RateSetError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Jump { .. } => FailureKind::Conflict,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Jump { .. } => "rate_jump",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::Jump { last, new } => {
                format!("{new} is more than 10 % away from the last rate, {last}; confirm the jump.").into()
            }
            Self::Store(error) => error.detail(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use store::engine_tests;

    use super::*;

    fn rates(db: Db) -> Rates {
        Rates::new(db, Arc::new(|| Timestamp::from_second(1_767_225_600).unwrap()))
    }

    fn new(rate: &str, allow_jump: bool) -> NewRate {
        NewRate { rate: rate.parse().unwrap(), by: "ayu".into(), note: None, allow_jump }
    }

    #[test]
    fn a_tenth_is_no_jump_and_more_is() {
        let rate = |text: &str| text.parse::<Rate>().unwrap();
        for (last, next, expected) in [
            ("1000", "1100", false),
            ("1000", "900", false),
            ("1000", "1100.00000001", true),
            ("1000", "899.99999999", true),
            ("1000000000", "0.00000001", true),
        ] {
            assert_eq!(is_jump(rate(last), rate(next)), expected, "{last} to {next}");
        }
    }

    engine_tests! {
        async fn a_jump_must_be_confirmed(test: TestDb) {
            let rates = rates(test.db());
            assert_eq!(rates.current().await.unwrap(), None);
            rates.set(new("1000", false)).await.unwrap();
            let refused = rates.set(new("1200", false)).await.unwrap_err();
            assert_eq!(refused.code(), "rate_jump");
            assert_eq!(rates.set(new("1200", true)).await.unwrap().id, 2);
            let history = rates.history(10).await.unwrap();
            let texts: Vec<String> = history.iter().map(|row| row.rate.to_string()).collect();
            assert_eq!(texts, ["1200", "1000"]);
        }

        async fn only_the_devnet_has_a_rate_by_itself(test: TestDb) {
            let rates = rates(test.db());
            for network in [Network::Testnet, Network::Mainnet] {
                rates.settle_default(network).await.unwrap();
                assert_eq!(rates.current().await.unwrap(), None);
            }
            rates.settle_default(Network::Devnet).await.unwrap();
            assert_eq!(rates.current().await.unwrap().unwrap().rate.to_string(), "1000");
            rates.set(new("1050", false)).await.unwrap();
            rates.settle_default(Network::Devnet).await.unwrap();
            assert_eq!(rates.current().await.unwrap().unwrap().rate.to_string(), "1050");
        }

        async fn rivals_each_set_a_rate_of_their_own(test: TestDb) {
            let setting: Vec<_> = (0..8)
                .map(|_| {
                    let rates = rates(test.db());
                    tokio::spawn(async move { rates.set(new("1000", false)).await.unwrap().id })
                })
                .collect();
            let mut ids = Vec::new();
            for set in setting {
                ids.push(set.await.unwrap());
            }
            ids.sort_unstable();
            assert_eq!(ids, (1..=8).collect::<Vec<u64>>());
        }
    }
}
