//! Reading claims, and summing them up.

use alloy_primitives::{Address, B256, U256};
use domain::Wei;

use super::{COLUMNS, ClaimRow, RawClaim};
use crate::{
    Db, StoreError,
    convert::{parse_wei, to_signed, to_unsigned},
};

/// Amounts that occur, each with the number of claims that have it. Amounts are text, so the sum is made here.
pub(super) struct Amounts(pub(super) Vec<(String, i64)>);

impl Amounts {
    /// All of it.
    pub(super) fn total(&self) -> Result<Wei, StoreError> {
        self.0.iter().try_fold(Wei(U256::ZERO), |sum, (amount, count)| {
            let count = to_unsigned("number of claims", *count)?;
            let amount = parse_wei("amount of a claim", amount)?;
            let part = amount.0.checked_mul(U256::from(count)).and_then(|part| sum.0.checked_add(part));
            part.map(Wei).ok_or(StoreError::TooLarge { what: "sum of claims" })
        })
    }
}

/// What the claims that count pay together. For a transaction or for readers.
macro_rules! paid_since {
    ($executor:expr, $since:expr) => {
        sqlx::query_as(
            "SELECT amount_wei, COUNT(*) FROM faucet_claim WHERE is_charged AND created_at > $1 GROUP BY amount_wei",
        )
        .bind($since)
        .fetch_all($executor)
        .await
        .map(super::read::Amounts)
    };
}

/// What the payer owes that is not yet taken from its balance after a block.
macro_rules! owed {
    ($executor:expr, $block:expr) => {
        sqlx::query_as(
            "SELECT amount_wei, COUNT(*) FROM (SELECT amount_wei FROM faucet_claim WHERE is_open UNION ALL \
             SELECT amount_wei FROM faucet_claim WHERE block_number > $1 AND is_charged) AS claims \
             GROUP BY amount_wei",
        )
        .bind($block)
        .fetch_all($executor)
        .await
        .map(super::read::Amounts)
    };
}

pub(super) use {owed, paid_since};

/// What the faucet has on its hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaucetLoad {
    /// Claims that wait to be paid.
    pub open: u64,
    /// What is owed beyond the balance after the block that was asked about.
    pub owed: Wei,
    /// What the claims that count pay together.
    pub outflow: Wei,
}

impl Db {
    /// The claim with this id.
    pub async fn find_claim(&self, id: u64) -> Result<Option<ClaimRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM faucet_claim WHERE id = $1");
        let id = to_signed("id of a claim", id)?;
        let row: Option<RawClaim> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }

    /// The claim that this transaction pays, or was to pay before another took its nonce; the newest, if an earlier one was
    /// released.
    pub async fn find_claim_by_hash(&self, hash: B256) -> Result<Option<ClaimRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM faucet_claim WHERE tx_hash = $1 \
             OR id = (SELECT claim_id FROM faucet_former_hash WHERE tx_hash = $1) ORDER BY id DESC LIMIT 1"
        );
        let row: Option<RawClaim> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(hash.as_slice()).fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }

    /// The newest claim of a wallet that takes its slot.
    pub async fn find_last_claim(&self, wallet: Address) -> Result<Option<ClaimRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM faucet_claim WHERE wallet = $1 AND is_charged ORDER BY created_at DESC LIMIT 1"
        );
        let row: Option<RawClaim> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(wallet.as_slice()).fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }

    /// The newest claims that were paid or are about to be, newest first.
    pub async fn list_recent_payouts(&self, limit: u32) -> Result<Vec<ClaimRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM faucet_claim WHERE is_charged AND tx_hash IS NOT NULL \
             ORDER BY created_at DESC, id DESC LIMIT $1"
        );
        let rows: Vec<RawClaim> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Claims that are to be paid, in the order of their reservation.
    pub async fn list_open_claims(&self, limit: u32) -> Result<Vec<ClaimRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM faucet_claim WHERE is_open ORDER BY id LIMIT $1");
        let rows: Vec<RawClaim> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// What the faucet has on its hands: claims from after `since` count, and balances are of after `block`.
    pub async fn faucet_load(&self, since: u64, block: u64) -> Result<FaucetLoad, StoreError> {
        let (since, block) = (to_signed("time", since)?, to_signed("block", block)?);
        let paid = on_readers!(self, pool => paid_since!(pool, since))?;
        let owed = on_readers!(self, pool => owed!(pool, block))?;
        let sql = "SELECT COUNT(*) FROM faucet_claim WHERE is_open";
        let open: i64 = on_readers!(self, pool => sqlx::query_scalar(sql).fetch_one(pool).await)?;
        Ok(FaucetLoad {
            open: to_unsigned("number of claims", open)?,
            owed: owed.total()?,
            outflow: paid.total()?,
        })
    }
}
