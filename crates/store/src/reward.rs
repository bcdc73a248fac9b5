//! Rewards for ranges of blocks: what each operator gets is decided once, and each payment's bytes are on the disk before any
//! node sees them, so that a range is never paid twice.

use alloy_primitives::{Address, B256, Bytes};
use domain::Wei;

use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, parse_wei, to_signed, to_unsigned},
};

/// A range of blocks whose rewards were decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardRun {
    /// Its number.
    pub id: u64,
    /// The first block.
    pub from_block: u64,
    /// The last block.
    pub to_block: u64,
    /// What was to be distributed.
    pub pool: Wei,
}

/// What an operator gets for a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardPayment {
    /// Who gets it.
    pub operator: Address,
    /// How much.
    pub amount: Wei,
    /// The transaction that pays it.
    pub transaction: Option<RewardTransaction>,
    /// The block it was paid in.
    pub block_number: Option<u64>,
}

/// A signed payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardTransaction {
    /// Who signed it.
    pub signer: Address,
    /// With which nonce.
    pub nonce: u64,
    /// Its bytes.
    pub raw: Bytes,
    /// Their hash.
    pub hash: B256,
}

type RunRow = (i64, i64, i64, String);
type PaymentRow =
    (Vec<u8>, String, Option<Vec<u8>>, Option<i64>, Option<Vec<u8>>, Option<Vec<u8>>, Option<i64>);

impl Db {
    /// Runs that share a block with a range, lowest first.
    pub async fn reward_runs(&self, from: u64, to: u64) -> Result<Vec<RewardRun>, StoreError> {
        let sql = "SELECT id, from_block, to_block, pool FROM reward_run WHERE from_block <= $2 AND to_block >= $1 \
                   ORDER BY from_block";
        let (from, to) = (to_signed("block", from)?, to_signed("block", to)?);
        let rows: Vec<RunRow> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(from).bind(to).fetch_all(pool).await
        })?;
        rows.into_iter().map(run).collect()
    }

    /// Decides what a range pays. None, and nothing is written, when a block of it was rewarded already.
    pub async fn begin_rewards(
        &self,
        (from, to): (u64, u64),
        pool: Wei,
        shares: &[(Address, Wei)],
        now: u64,
    ) -> Result<Option<RewardRun>, StoreError> {
        let insert = "INSERT INTO reward_run (id, from_block, to_block, pool, created_at) \
                      SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4 FROM reward_run \
                      HAVING COUNT(CASE WHEN from_block <= $2 AND to_block >= $1 THEN 1 END) = 0 RETURNING id";
        let pay = "INSERT INTO reward_payment (run_id, operator, amount, updated_at) VALUES ($1, $2, $3, $4)";
        let (first, last) = (to_signed("block", from)?, to_signed("block", to)?);
        let now = to_signed("time", now)?;
        let mut tx = self.begin_durable().await?;
        let id: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(insert)
                .bind(first)
                .bind(last)
                .bind(pool.0.to_string())
                .bind(now)
                .fetch_optional(connection)
                .await
        })?;
        let Some(id) = id else { return Ok(None) };
        for (operator, amount) in shares {
            on_connection!(tx, connection => {
                sqlx::query(pay)
                    .bind(id)
                    .bind(operator.as_slice())
                    .bind(amount.0.to_string())
                    .bind(now)
                    .execute(&mut *connection)
                    .await
                    .map(drop)
            })?;
        }
        tx.commit().await?;
        Ok(Some(RewardRun { id: to_unsigned("id of a run", id)?, from_block: from, to_block: to, pool }))
    }

    /// What a run pays, by operator.
    pub async fn reward_payments(&self, run: u64) -> Result<Vec<RewardPayment>, StoreError> {
        let sql = "SELECT operator, amount, signer, nonce, raw, tx_hash, block_number FROM reward_payment \
                   WHERE run_id = $1 ORDER BY operator";
        let run = to_signed("id of a run", run)?;
        let rows: Vec<PaymentRow> =
            on_readers!(self, pool => sqlx::query_as(sql).bind(run).fetch_all(pool).await)?;
        rows.into_iter().map(payment).collect()
    }

    /// Gives a payment its transaction, in place of the one it had, and returns once that is on the disk. False, and nothing is
    /// written, when it has another one by now or is paid.
    pub async fn sign_reward(
        &self,
        (run, operator): (u64, Address),
        former: Option<B256>,
        signed: &RewardTransaction,
        now: u64,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE reward_payment SET signer = $1, nonce = $2, raw = $3, tx_hash = $4, updated_at = $5 \
                   WHERE run_id = $6 AND operator = $7 AND block_number IS NULL \
                   AND tx_hash IS NOT DISTINCT FROM $8 RETURNING run_id";
        let (run, nonce) = (to_signed("id of a run", run)?, to_signed("nonce", signed.nonce)?);
        let now = to_signed("time", now)?;
        let mut tx = self.begin_durable().await?;
        let put: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(signed.signer.as_slice())
                .bind(nonce)
                .bind(signed.raw.as_ref())
                .bind(signed.hash.as_slice())
                .bind(now)
                .bind(run)
                .bind(operator.as_slice())
                .bind(former.as_ref().map(|hash| hash.as_slice()))
                .fetch_optional(connection)
                .await
        })?;
        tx.commit().await?;
        Ok(put.is_some())
    }

    /// Notes that a payment's transaction is in a block.
    pub async fn settle_reward(
        &self,
        (run, operator): (u64, Address),
        (hash, block): (B256, u64),
        now: u64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE reward_payment SET block_number = $1, updated_at = $2 \
                   WHERE run_id = $3 AND operator = $4 AND tx_hash = $5";
        let (run, block) = (to_signed("id of a run", run)?, to_signed("block", block)?);
        let now = to_signed("time", now)?;
        on_writer!(self, pool => {
            sqlx::query(sql)
                .bind(block)
                .bind(now)
                .bind(run)
                .bind(operator.as_slice())
                .bind(hash.as_slice())
                .execute(pool)
                .await
                .map(drop)
        })?;
        Ok(())
    }
}

fn run((id, from, to, pool): RunRow) -> Result<RewardRun, StoreError> {
    Ok(RewardRun {
        id: to_unsigned("id of a run", id)?,
        from_block: to_unsigned("block of a run", from)?,
        to_block: to_unsigned("block of a run", to)?,
        pool: parse_wei("pool of a run", &pool)?,
    })
}

fn payment(
    (operator, amount, signer, nonce, raw, hash, block): PaymentRow,
) -> Result<RewardPayment, StoreError> {
    let transaction = match (signer, nonce, raw, hash) {
        (Some(signer), Some(nonce), Some(raw), Some(hash)) => Some(RewardTransaction {
            signer: parse_address("signer of a reward", &signer)?,
            nonce: to_unsigned("nonce of a reward", nonce)?,
            raw: raw.into(),
            hash: parse_hash("hash of a reward", &hash)?,
        }),
        _ => None,
    };
    Ok(RewardPayment {
        operator: parse_address("operator", &operator)?,
        amount: Wei(parse_wei("amount of a reward", &amount)?.0),
        transaction,
        block_number: block.map(|block| to_unsigned("block of a reward", block)).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;

    use super::*;
    use crate::engine_tests;

    const ALICE: Address = Address::repeat_byte(0xaa);
    const BOB: Address = Address::repeat_byte(0xbb);

    fn wei(amount: u64) -> Wei {
        Wei(U256::from(amount))
    }

    fn transaction(nonce: u64) -> RewardTransaction {
        let hash = B256::with_last_byte(u8::try_from(nonce).unwrap());
        RewardTransaction { signer: ALICE, nonce, raw: Bytes::from_static(b"raw"), hash }
    }

    engine_tests! {
        async fn a_block_is_rewarded_once(test: TestDb) {
            let shares = [(ALICE, wei(3)), (BOB, wei(4))];
            let run = test.begin_rewards((10, 19), wei(8), &shares, 1).await.unwrap().expect("a run");
            assert_eq!((run.id, run.from_block, run.to_block, run.pool), (1, 10, 19, wei(8)));
            for range in [(10, 19), (0, 10), (19, 30), (12, 13), (0, 99)] {
                assert_eq!(test.begin_rewards(range, wei(8), &shares, 1).await.unwrap(), None, "{range:?}");
                let known = test.reward_runs(range.0, range.1).await.unwrap();
                assert_eq!(known.first(), Some(&run), "{range:?}");
            }
            assert_eq!(test.reward_runs(20, 29).await.unwrap(), []);
            let next = test.begin_rewards((20, 29), wei(1), &[], 1).await.unwrap().expect("a run");
            assert_eq!(next.id, 2);
            let payments = test.reward_payments(1).await.unwrap();
            let amounts: Vec<_> = payments.iter().map(|one| (one.operator, one.amount)).collect();
            assert_eq!(amounts, shares);
        }

        async fn a_payment_has_one_transaction_and_one_block(test: TestDb) {
            test.begin_rewards((1, 2), wei(3), &[(ALICE, wei(3))], 1).await.unwrap().expect("a run");
            let place = (1, ALICE);
            assert!(test.sign_reward(place, None, &transaction(1), 2).await.unwrap());
            assert!(!test.sign_reward(place, None, &transaction(2), 2).await.unwrap(), "it has one");
            let former = Some(transaction(1).hash);
            assert!(test.sign_reward(place, former, &transaction(3), 2).await.unwrap());
            test.settle_reward(place, (transaction(1).hash, 7), 3).await.unwrap();
            assert_eq!(test.reward_payments(1).await.unwrap()[0].block_number, None, "of another transaction");
            test.settle_reward(place, (transaction(3).hash, 8), 3).await.unwrap();
            let paid = &test.reward_payments(1).await.unwrap()[0];
            assert_eq!((paid.block_number, paid.transaction.clone()), (Some(8), Some(transaction(3))));
            let again = test.sign_reward(place, Some(transaction(3).hash), &transaction(4), 4).await.unwrap();
            assert!(!again, "it is paid");
        }
    }
}
