//! The transactions that pay claims: on the disk before they are sent, settled by what a block says.

use alloy_primitives::B256;
use domain::ClaimState;

use super::{PaymentRow, SenderLease, lease::hold};
use crate::{Db, StoreError, convert::to_signed, db::Tx};

/// A claim and the transaction that is to pay it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedClaim {
    /// The claim.
    pub id: u64,
    /// The transaction.
    pub payment: PaymentRow,
}

/// What a block says of a claim's transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The claim.
    pub id: u64,
    /// The transaction.
    pub hash: B256,
    /// The block.
    pub block_number: u64,
    /// Whether the wallet was paid.
    pub is_paid: bool,
}

impl Db {
    /// Stores the first transactions of reserved claims; answers the claims that have theirs now. Those that were
    /// released meanwhile are left out. None, and nothing is written, when the lease is lost.
    pub async fn sign_claims(
        &self,
        lease: SenderLease,
        signed: &[SignedClaim],
        now: u64,
    ) -> Result<Option<Vec<u64>>, StoreError> {
        let mut tx = self.begin_durable().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(None);
        }
        let mut stored = Vec::with_capacity(signed.len());
        for claim in signed {
            if put_payment(&mut tx, claim, None, now).await? {
                stored.push(claim.id);
            }
        }
        tx.commit().await?;
        Ok(Some(stored))
    }

    /// Replaces a transaction whose nonce another one has taken. False, and nothing is written, when the claim does not
    /// have that transaction any more or the lease is lost.
    pub async fn sign_claim_again(
        &self,
        lease: SenderLease,
        former: B256,
        signed: &SignedClaim,
        now: u64,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin_durable().await?;
        if !hold(&mut tx, lease).await? || !put_payment(&mut tx, signed, Some(former), now).await? {
            return Ok(false);
        }
        let sql = "INSERT INTO faucet_former_hash (tx_hash, claim_id) VALUES ($1, $2)";
        let id = to_signed("id of a claim", signed.id)?;
        on_connection!(tx, connection => {
            sqlx::query(sql).bind(former.as_slice()).bind(id).execute(connection).await.map(drop)
        })?;
        tx.commit().await?;
        Ok(true)
    }

    /// Notes that nodes have these claims' transactions.
    pub async fn mark_claims_sent(&self, sent: &[(u64, B256)], now: u64) -> Result<(), StoreError> {
        let sql = "UPDATE faucet_claim SET state = 'sent', updated_at = $1 \
                   WHERE id = $2 AND tx_hash = $3 AND state = 'signed'";
        let now = to_signed("time", now)?;
        let mut tx = self.begin().await?;
        for (id, hash) in sent {
            let id = to_signed("id of a claim", *id)?;
            on_connection!(tx, connection => {
                sqlx::query(sql).bind(now).bind(id).bind(hash.as_slice()).execute(connection).await.map(drop)
            })?;
        }
        tx.commit().await
    }

    /// Closes claims whose transactions are in a block. One that was not paid gives its slot back.
    pub async fn settle_claims(&self, settled: &[Settlement], now: u64) -> Result<(), StoreError> {
        let sql = "UPDATE faucet_claim SET state = $1, is_open = FALSE, is_charged = $2, block_number = $3, \
                   note = $4, updated_at = $5 WHERE id = $6 AND tx_hash = $7 AND is_open";
        let now = to_signed("time", now)?;
        let mut tx = self.begin().await?;
        for settlement in settled {
            let (state, note) = if settlement.is_paid {
                (ClaimState::Confirmed, None)
            } else {
                (ClaimState::Failed, Some("the transaction was undone"))
            };
            let block = to_signed("block", settlement.block_number)?;
            let id = to_signed("id of a claim", settlement.id)?;
            on_connection!(tx, connection => {
                sqlx::query(sql)
                    .bind(state.name())
                    .bind(state.is_charged())
                    .bind(block)
                    .bind(note)
                    .bind(now)
                    .bind(id)
                    .bind(settlement.hash.as_slice())
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        tx.commit().await
    }

    /// Gives up a claim that has no transaction. False when it has one.
    pub async fn release_claim(&self, id: u64, note: &str, now: u64) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let is_released = release(&mut tx, id, None, note, now).await?;
        tx.commit().await?;
        Ok(is_released)
    }

    /// Gives up a claim whose transaction no node took. False when it has moved on, or the lease is lost and another sender
    /// may have given it to a node.
    pub async fn release_signed_claim(
        &self,
        lease: SenderLease,
        (id, hash): (u64, B256),
        note: &str,
        now: u64,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let is_released = hold(&mut tx, lease).await? && release(&mut tx, id, Some(hash), note, now).await?;
        tx.commit().await?;
        Ok(is_released)
    }
}

async fn release(tx: &mut Tx, id: u64, hash: Option<B256>, note: &str, now: u64) -> Result<bool, StoreError> {
    let sql = "UPDATE faucet_claim SET state = 'released', is_open = FALSE, is_charged = FALSE, note = $1, \
               updated_at = $2 WHERE id = $3 AND tx_hash IS NOT DISTINCT FROM $4 \
               AND state IN ('reserved', 'signed') RETURNING id";
    let (id, now) = (to_signed("id of a claim", id)?, to_signed("time", now)?);
    let released: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql)
            .bind(note)
            .bind(now)
            .bind(id)
            .bind(hash.as_ref().map(|hash| hash.as_slice()))
            .fetch_optional(connection)
            .await
    })?;
    Ok(released.is_some())
}

/// Gives a claim its transaction, in place of the one it had, if it had one.
async fn put_payment(
    tx: &mut Tx,
    signed: &SignedClaim,
    former: Option<B256>,
    now: u64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE faucet_claim SET state = 'signed', payer = $1, nonce = $2, signed_block = $3, raw = $4, \
               tx_hash = $5, updated_at = $6 WHERE id = $7 AND is_open AND tx_hash IS NOT DISTINCT FROM $8 \
               RETURNING id";
    let payment = &signed.payment;
    let nonce = to_signed("nonce", payment.nonce)?;
    let block = to_signed("block", payment.signed_block)?;
    let (id, now) = (to_signed("id of a claim", signed.id)?, to_signed("time", now)?);
    let put: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql)
            .bind(payment.payer.as_slice())
            .bind(nonce)
            .bind(block)
            .bind(payment.raw.as_ref())
            .bind(payment.hash.as_slice())
            .bind(now)
            .bind(id)
            .bind(former.as_ref().map(|hash| hash.as_slice()))
            .fetch_optional(connection)
            .await
    })?;
    Ok(put.is_some())
}
