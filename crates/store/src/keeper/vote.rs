//! Changes of the validator set that the keeper has validators vote on: one is open at a time.

use alloy_primitives::Address;
use sqlx::{AssertSqlSafe, FromRow};

use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
    lease::{Lease, hold},
};

/// Which way a vote goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetChange {
    /// Into the validator set.
    Add,
    /// Out of it.
    Drop,
}

impl SetChange {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Add, Self::Drop];

    /// The name in rows, logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Drop => "drop",
        }
    }
}

/// Where a vote stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VoteState {
    /// Validators are to vote, or to forget their votes after the decision.
    Open,
    /// The set was changed.
    Done,
    /// The registry does not ask for it any more.
    Superseded,
    /// It was not decided in time.
    Failed,
}

impl VoteState {
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

/// A change to be decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewVote {
    /// Which way.
    pub change: SetChange,
    /// Whose node.
    pub operator: Address,
    /// The node.
    pub node: Address,
    /// The head at which it was decided on.
    pub begun_block: u64,
}

/// A vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteRow {
    /// Its place in the order of decisions.
    pub id: u64,
    /// What is voted on.
    pub vote: NewVote,
    /// Where it stands.
    pub state: VoteState,
    /// The first head that shows the set as it was to be.
    pub decided_block: Option<u64>,
    /// Why it is closed, unless the set was changed.
    pub note: Option<String>,
}

const COLUMNS: &str = "id, kind, operator, node, state, begun_block, decided_block, note";

impl Db {
    /// Begins a vote. False when another one is open, or the lease is lost.
    pub async fn begin_vote(&self, lease: Lease, new: &NewVote, now: u64) -> Result<bool, StoreError> {
        let sql = "INSERT INTO keeper_vote (id, kind, operator, node, state, is_open, begun_block, created_at, updated_at) \
                   VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM keeper_vote), $1, $2, $3, 'open', TRUE, $4, $5, $5) \
                   ON CONFLICT DO NOTHING RETURNING id";
        let (block, now) = (to_signed("block", new.begun_block)?, to_signed("time", now)?);
        let mut tx = self.begin().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(false);
        }
        let begun: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(new.change.name())
                .bind(new.operator.as_slice())
                .bind(new.node.as_slice())
                .bind(block)
                .bind(now)
                .fetch_optional(connection)
                .await
        })?;
        tx.commit().await?;
        Ok(begun.is_some())
    }

    /// The vote that is open.
    pub async fn open_vote(&self) -> Result<Option<VoteRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM keeper_vote WHERE is_open");
        let row: Option<RawVote> = on_readers!(self, pool => {
            sqlx::query_as(AssertSqlSafe(sql)).fetch_optional(pool).await
        })?;
        row.map(VoteRow::try_from).transpose()
    }

    /// The newest vote about a node, this way.
    pub async fn last_vote(&self, node: Address, change: SetChange) -> Result<Option<VoteRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM keeper_vote WHERE node = $1 AND kind = $2 ORDER BY id DESC LIMIT 1"
        );
        let row: Option<RawVote> = on_readers!(self, pool => {
            sqlx::query_as(AssertSqlSafe(sql)).bind(node.as_slice()).bind(change.name()).fetch_optional(pool).await
        })?;
        row.map(VoteRow::try_from).transpose()
    }

    /// Notes that the set is as a vote wanted it. Its voters have to forget it before it is closed.
    pub async fn decide_vote(&self, lease: Lease, id: u64, block: u64, now: u64) -> Result<bool, StoreError> {
        let sql = "UPDATE keeper_vote SET decided_block = $1, updated_at = $2 \
                   WHERE id = $3 AND is_open AND decided_block IS NULL RETURNING id";
        let (id, block) = (to_signed("id of a vote", id)?, to_signed("block", block)?);
        let now = to_signed("time", now)?;
        let mut tx = self.begin().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(false);
        }
        let put: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql).bind(block).bind(now).bind(id).fetch_optional(connection).await
        })?;
        tx.commit().await?;
        Ok(put.is_some())
    }

    /// Closes a vote. False when it is closed already or the lease is lost.
    pub async fn close_vote(
        &self,
        lease: Lease,
        id: u64,
        (state, note): (VoteState, Option<&str>),
        now: u64,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE keeper_vote SET state = $1, is_open = FALSE, note = $2, updated_at = $3 \
                   WHERE id = $4 AND is_open RETURNING id";
        let (id, now) = (to_signed("id of a vote", id)?, to_signed("time", now)?);
        let mut tx = self.begin().await?;
        if !hold(&mut tx, lease).await? {
            return Ok(false);
        }
        let closed: Option<i64> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(state.name())
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
struct RawVote {
    id: i64,
    kind: String,
    operator: Vec<u8>,
    node: Vec<u8>,
    state: String,
    begun_block: i64,
    decided_block: Option<i64>,
    note: Option<String>,
}

impl TryFrom<RawVote> for VoteRow {
    type Error = StoreError;

    fn try_from(raw: RawVote) -> Result<Self, StoreError> {
        let change = SetChange::ALL.into_iter().find(|change| change.name() == raw.kind);
        let state = VoteState::ALL.into_iter().find(|state| state.name() == raw.state);
        Ok(Self {
            id: to_unsigned("id of a vote", raw.id)?,
            vote: NewVote {
                change: change.ok_or_else(|| StoreError::corrupt("kind of a vote", "no such kind"))?,
                operator: parse_address("operator", &raw.operator)?,
                node: parse_address("node", &raw.node)?,
                begun_block: to_unsigned("block of a vote", raw.begun_block)?,
            },
            state: state.ok_or_else(|| StoreError::corrupt("state of a vote", "no such state"))?,
            decided_block: raw
                .decided_block
                .map(|block| to_unsigned("block of a vote", block))
                .transpose()?,
            note: raw.note,
        })
    }
}
