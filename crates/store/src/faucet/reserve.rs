//! Reserving a claim: all limits are checked and the row is written in one transaction, by one claimant at a time.

use alloy_primitives::{Address, B256};
use domain::{ClaimState, Wei};

use super::read::{owed, paid_since};
use crate::{
    Db, StoreError,
    convert::{to_signed, to_unsigned, wei_text},
    db::Tx,
};

/// A claim that is to be reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClaim {
    /// Who is to be paid.
    pub wallet: Address,
    /// A keyed hash of the claimant's network address.
    pub visitor: B256,
    /// How much.
    pub amount: Wei,
    /// When, in Unix milliseconds.
    pub at: u64,
}

/// What must hold for a claim to be reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimTerms {
    /// Claims from after this time count, in Unix milliseconds.
    pub since: u64,
    /// Most claims of a visitor that may count, this one included.
    pub visitor_claims: u32,
    /// Most that all counting claims together may pay, this one included.
    pub outflow: Wei,
    /// What the payer had after this block, less what it must keep.
    pub spendable: Wei,
    /// The block that `spendable` is of.
    pub spendable_at: u64,
    /// Most claims that may wait to be paid, this one included.
    pub open_claims: u64,
}

/// What became of a reservation. Nothing is written unless it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reservation {
    /// The claim has this id.
    Made(u64),
    /// The wallet has a claim of this time that counts or is still open.
    WalletClaimed(u64),
    /// The visitor has its share; the claim of this time must stop counting first.
    VisitorExhausted(u64),
    /// The outflow would be exceeded; the claim of this time is the first that stops counting, if there is any.
    OutflowReached(Option<u64>),
    /// The payer has not enough, after what it owes already.
    Unfunded,
    /// Too many claims wait to be paid.
    Crowded,
}

impl Db {
    /// Reserves a claim if the terms hold.
    pub async fn reserve_claim(
        &self,
        claim: &NewClaim,
        terms: &ClaimTerms,
    ) -> Result<Reservation, StoreError> {
        let mut tx = self.begin().await?;
        let id = next_id(&mut tx).await?;
        if let Some(refusal) = refuse(&mut tx, claim, terms).await? {
            return Ok(refusal);
        }
        insert(&mut tx, id, claim).await?;
        tx.commit().await?;
        Ok(Reservation::Made(to_unsigned("id of a claim", id)?))
    }
}

/// Takes the next id, and with it the turn to check the limits.
async fn next_id(tx: &mut Tx) -> Result<i64, StoreError> {
    let sql = "UPDATE faucet_till SET claims = claims + 1 WHERE id = 1 RETURNING claims";
    Ok(on_connection!(tx, connection => sqlx::query_scalar(sql).fetch_one(connection).await)?)
}

async fn refuse(
    tx: &mut Tx,
    claim: &NewClaim,
    terms: &ClaimTerms,
) -> Result<Option<Reservation>, StoreError> {
    let since = to_signed("time", terms.since)?;
    if let Some(at) = claim_of_wallet(tx, claim.wallet, since).await? {
        return Ok(Some(Reservation::WalletClaimed(at)));
    }
    if let Some(at) = last_of_visitor(tx, claim.visitor, since, terms.visitor_claims).await? {
        return Ok(Some(Reservation::VisitorExhausted(at)));
    }
    let paid = on_connection!(tx, connection => paid_since!(connection, since))?;
    if exceeds(paid.total()?, claim.amount, terms.outflow) {
        return Ok(Some(Reservation::OutflowReached(first_since(tx, since).await?)));
    }
    let block = to_signed("block", terms.spendable_at)?;
    let owed = on_connection!(tx, connection => owed!(connection, block))?;
    if exceeds(owed.total()?, claim.amount, terms.spendable) {
        return Ok(Some(Reservation::Unfunded));
    }
    let is_crowded = count_open(tx).await? >= terms.open_claims;
    Ok(is_crowded.then_some(Reservation::Crowded))
}

fn exceeds(sum: Wei, more: Wei, most: Wei) -> bool {
    sum.0.checked_add(more.0).is_none_or(|sum| sum > most.0)
}

/// When the wallet last claimed, if that counts.
async fn claim_of_wallet(tx: &mut Tx, wallet: Address, since: i64) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT created_at FROM faucet_claim WHERE wallet = $1 AND is_charged \
               AND (is_open OR created_at > $2) ORDER BY created_at DESC LIMIT 1";
    let at: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(wallet.as_slice()).bind(since).fetch_optional(connection).await
    })?;
    at.map(|at| to_unsigned("time of a claim", at)).transpose()
}

/// The time of the visitor's claim before which only `most` minus one are younger; none if there are fewer.
async fn last_of_visitor(
    tx: &mut Tx,
    visitor: B256,
    since: i64,
    most: u32,
) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT created_at FROM faucet_claim WHERE visitor = $1 AND is_charged AND created_at > $2 \
               ORDER BY created_at DESC LIMIT 1 OFFSET $3";
    let at: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql)
            .bind(visitor.as_slice())
            .bind(since)
            .bind(i64::from(most.saturating_sub(1)))
            .fetch_optional(connection)
            .await
    })?;
    at.map(|at| to_unsigned("time of a claim", at)).transpose()
}

async fn first_since(tx: &mut Tx, since: i64) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT created_at FROM faucet_claim WHERE is_charged AND created_at > $1 ORDER BY created_at LIMIT 1";
    let at: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(since).fetch_optional(connection).await
    })?;
    at.map(|at| to_unsigned("time of a claim", at)).transpose()
}

async fn count_open(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM faucet_claim WHERE is_open";
    let count: i64 = on_connection!(tx, connection => sqlx::query_scalar(sql).fetch_one(connection).await)?;
    to_unsigned("number of claims", count)
}

async fn insert(tx: &mut Tx, id: i64, claim: &NewClaim) -> Result<(), StoreError> {
    let sql = "INSERT INTO faucet_claim (id, wallet, visitor, amount_wei, state, is_open, is_charged, created_at, \
               updated_at) VALUES ($1, $2, $3, $4, $5, TRUE, TRUE, $6, $6)";
    let at = to_signed("time", claim.at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(id)
            .bind(claim.wallet.as_slice())
            .bind(claim.visitor.as_slice())
            .bind(wei_text(claim.amount))
            .bind(ClaimState::Reserved.name())
            .bind(at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}
