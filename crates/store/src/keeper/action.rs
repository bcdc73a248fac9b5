//! What the keeper does on chain: decided once, on the disk before it is sent, closed by what the chain says.

use alloy_primitives::{Address, B256, Bytes};
use sqlx::{AssertSqlSafe, FromRow};

use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, to_signed, to_unsigned},
    lease::{Lease, hold},
};

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeeperTask {
    /// Let a validator out of jail.
    Unjail,
    /// Slash it for downtime.
    SlashDowntime,
    /// Slash it for signing two blocks.
    SlashDoubleSign,
}

impl KeeperTask {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unjail, Self::SlashDowntime, Self::SlashDoubleSign];

    /// The name in rows, logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unjail => "unjail",
            Self::SlashDowntime => "slash-downtime",
            Self::SlashDoubleSign => "slash-double-sign",
        }
    }
}

/// Where an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActionState {
    /// To be done; it may have a transaction that is under way.
    Open,
    /// Our transaction did it.
    Done,
    /// Somebody else did it first, or it is not wanted any more.
    Superseded,
    /// The registry refused it too often.
    Failed,
}

impl ActionState {
    const ALL: [Self; 4] = [Self::Open, Self::Done, Self::Superseded, Self::Failed];

    /// The name in rows, logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Superseded => "superseded",
            Self::Failed => "failed",
        }
    }
}

/// An action to be decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAction {
    /// What tells it from every other.
    pub occasion: String,
    /// What is to be done.
    pub task: KeeperTask,
    /// To whom.
    pub operator: Address,
    /// What the registry says now: the end of the jail, or the number of slashes.
    pub expects: u64,
}

/// A signed transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionTransaction {
    /// Who signed it.
    pub signer: Address,
    /// With which nonce.
    pub nonce: u64,
    /// Its bytes.
    pub raw: Bytes,
    /// Their hash.
    pub hash: B256,
    /// Whether it does nothing but take its nonce.
    pub is_void: bool,
}

/// An action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// Its place in the order of decisions.
    pub id: u64,
    /// What was decided.
    pub action: NewAction,
    /// Where it stands.
    pub state: ActionState,
    /// Transactions that were signed for it.
    pub attempts: u32,
    /// The one that counts.
    pub transaction: Option<ActionTransaction>,
    /// The block it was done in.
    pub block_number: Option<u64>,
    /// Why it is closed, unless it was done.
    pub note: Option<String>,
}

/// What came of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// It is new.
    New,
    /// It was decided before.
    Known,
    /// The lease is lost; nothing was written.
    LeaseLost,
}

const COLUMNS: &str = "id, occasion, task, operator, expects, state, attempts, signer, nonce, raw, tx_hash, is_void, \
                       block_number, note";

impl Db {
    /// Decides on an action, once for each occasion. A jail that was ended and is there again, as only a development chain
    /// that goes back can show it, is ended again.
    pub async fn begin_action(&self, lease: Lease, new: &NewAction, now: u64) -> Result<Begun, StoreError> {
        let sql = "INSERT INTO keeper_action (id, occasion, task, operator, expects, state, is_open, attempts, is_void, \
                   created_at, updated_at) \
                   VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM keeper_action), $1, $2, $3, $4, 'open', TRUE, 0, FALSE, \
                   $5, $5) ON CONFLICT (occasion) DO UPDATE SET state = 'open', is_open = TRUE, attempts = 0, \
                   signer = NULL, nonce = NULL, raw = NULL, tx_hash = NULL, is_void = FALSE, block_number = NULL, \
                   note = NULL, updated_at = $5 \
                   WHERE keeper_action.task = 'unjail' AND keeper_action.state IN ('done', 'superseded') RETURNING id";
        let (expects, now) = (to_signed("expectation", new.expects)?, to_signed("time", now)?);
        let mut tx = self.begin().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(Begun::LeaseLost);
        }
        let begun: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(&new.occasion)
                .bind(new.task.name())
                .bind(new.operator.as_slice())
                .bind(expects)
                .bind(now)
                .fetch_optional(connection)
                .await
        })?;
        tx.commit().await?;
        Ok(if begun.is_some() { Begun::New } else { Begun::Known })
    }

    /// Actions that are not closed, in the order of their decision.
    pub async fn open_actions(&self) -> Result<Vec<ActionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM keeper_action WHERE is_open ORDER BY id");
        let rows: Vec<RawAction> = on_readers!(self, pool => {
            sqlx::query_as(AssertSqlSafe(sql)).fetch_all(pool).await
        })?;
        rows.into_iter().map(ActionRow::try_from).collect()
    }

    /// The newest actions, closed ones included, newest first.
    pub async fn recent_actions(&self, most: u32) -> Result<Vec<ActionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM keeper_action ORDER BY id DESC LIMIT $1");
        let rows: Vec<RawAction> = on_readers!(self, pool => {
            sqlx::query_as(AssertSqlSafe(sql)).bind(i64::from(most)).fetch_all(pool).await
        })?;
        rows.into_iter().map(ActionRow::try_from).collect()
    }

    /// Gives an action its transaction, in place of the one it had, with what the registry said when it was signed, and returns
    /// once that is on the disk. False, and nothing is written, when the action has another one by now or the lease is lost.
    pub async fn sign_action(
        &self,
        lease: Lease,
        (id, former): (u64, Option<B256>),
        (signed, expects): (&ActionTransaction, u64),
        now: u64,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE keeper_action SET signer = $1, nonce = $2, raw = $3, tx_hash = $4, is_void = $5, \
                   attempts = attempts + 1, updated_at = $6, expects = $9 \
                   WHERE id = $7 AND is_open AND tx_hash IS NOT DISTINCT FROM $8 RETURNING id";
        let (nonce, now) = (to_signed("nonce", signed.nonce)?, to_signed("time", now)?);
        let expects = to_signed("expectation", expects)?;
        let id = to_signed("id of an action", id)?;
        let mut tx = self.begin_durable().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(false);
        }
        let put: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(signed.signer.as_slice())
                .bind(nonce)
                .bind(signed.raw.as_ref())
                .bind(signed.hash.as_slice())
                .bind(signed.is_void)
                .bind(now)
                .bind(id)
                .bind(former.as_ref().map(|hash| hash.as_slice()))
                .bind(expects)
                .fetch_optional(connection)
                .await
        })?;
        tx.commit().await?;
        Ok(put.is_some())
    }

    /// Closes an action. False when it is closed already or the lease is lost.
    pub async fn close_action(
        &self,
        lease: Lease,
        id: u64,
        (state, block, note): (ActionState, Option<u64>, Option<&str>),
        now: u64,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE keeper_action SET state = $1, is_open = FALSE, block_number = $2, note = $3, updated_at = $4 \
                   WHERE id = $5 AND is_open RETURNING id";
        let (id, now) = (to_signed("id of an action", id)?, to_signed("time", now)?);
        let block = block.map(|block| to_signed("block", block)).transpose()?;
        let mut tx = self.begin().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(false);
        }
        let closed: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(state.name())
                .bind(block)
                .bind(note)
                .bind(now)
                .bind(id)
                .fetch_optional(connection)
                .await
        })?;
        tx.commit().await?;
        Ok(closed.is_some())
    }
}

#[derive(FromRow)]
struct RawAction {
    id: i64,
    occasion: String,
    task: String,
    operator: Vec<u8>,
    expects: i64,
    state: String,
    attempts: i64,
    signer: Option<Vec<u8>>,
    nonce: Option<i64>,
    raw: Option<Vec<u8>>,
    tx_hash: Option<Vec<u8>>,
    is_void: bool,
    block_number: Option<i64>,
    note: Option<String>,
}

impl TryFrom<RawAction> for ActionRow {
    type Error = StoreError;

    fn try_from(raw: RawAction) -> Result<Self, StoreError> {
        let task = KeeperTask::ALL.into_iter().find(|task| task.name() == raw.task);
        let state = ActionState::ALL.into_iter().find(|state| state.name() == raw.state);
        let transaction = match (raw.signer, raw.nonce, raw.raw, raw.tx_hash) {
            (Some(signer), Some(nonce), Some(bytes), Some(hash)) => Some(ActionTransaction {
                signer: parse_address("signer of an action", &signer)?,
                nonce: to_unsigned("nonce of an action", nonce)?,
                raw: bytes.into(),
                hash: parse_hash("hash of an action", &hash)?,
                is_void: raw.is_void,
            }),
            _ => None,
        };
        Ok(Self {
            id: to_unsigned("id of an action", raw.id)?,
            action: NewAction {
                occasion: raw.occasion,
                task: task.ok_or_else(|| StoreError::corrupt("task of the keeper", "no such task"))?,
                operator: parse_address("operator", &raw.operator)?,
                expects: to_unsigned("expectation", raw.expects)?,
            },
            state: state.ok_or_else(|| StoreError::corrupt("state of an action", "no such state"))?,
            attempts: u32::try_from(raw.attempts).map_err(|error| StoreError::corrupt("attempts", error))?,
            transaction,
            block_number: raw
                .block_number
                .map(|number| to_unsigned("block of an action", number))
                .transpose()?,
            note: raw.note,
        })
    }
}
