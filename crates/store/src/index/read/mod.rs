//! Reading the index.

mod block;
mod event;
mod fee;
mod transaction;
mod validator;

pub use event::EventFilter;
pub use validator::ValidatorWork;

use alloy_primitives::Address;

use super::{ChainIdentity, IndexHead};
use crate::{
    Db, StoreError,
    convert::{parse_hash, to_unsigned},
};

/// Rows of the longest list.
const MOST_ROWS: u32 = 1_000;

/// The limit of a list as the database wants it.
fn limit(asked: u32) -> i64 {
    i64::from(asked.min(MOST_ROWS))
}

impl Db {
    /// How far the index is; none while it is empty.
    pub async fn index_head(&self) -> Result<Option<IndexHead>, StoreError> {
        let statement = "SELECT number, hash, timestamp FROM index_cursor WHERE number >= 0";
        let row: Option<(i64, Vec<u8>, i64)> =
            on_readers!(self, pool => sqlx::query_as(statement).fetch_optional(pool).await)?;
        row.map(|(number, hash, timestamp)| {
            Ok(IndexHead {
                number: to_unsigned("cursor", number)?,
                hash: parse_hash("cursor", &hash)?,
                timestamp: to_unsigned("cursor", timestamp)?,
            })
        })
        .transpose()
    }

    /// Which chain the index is of; none where nothing was ever indexed.
    pub async fn index_chain(&self) -> Result<Option<ChainIdentity>, StoreError> {
        let statement = "SELECT chain_id, genesis_hash FROM index_cursor";
        let row: Option<(i64, Vec<u8>)> =
            on_readers!(self, pool => sqlx::query_as(statement).fetch_optional(pool).await)?;
        row.map(|(chain_id, genesis)| {
            let genesis_hash = parse_hash("genesis hash", &genesis)?;
            Ok(ChainIdentity { chain_id: chain_id.cast_unsigned(), genesis_hash })
        })
        .transpose()
    }

    /// The number of an address; none if the chain has never named it.
    async fn account_number(&self, address: Address) -> Result<Option<i64>, StoreError> {
        let statement = "SELECT id FROM accounts WHERE address = $1";
        Ok(on_readers!(self, pool => {
            sqlx::query_scalar(statement).bind(address.to_vec()).fetch_optional(pool).await
        })?)
    }
}
