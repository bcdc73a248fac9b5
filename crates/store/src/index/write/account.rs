//! Naming addresses by small numbers.

use std::{collections::HashMap, fmt::Write, sync::LazyLock};

use alloy_primitives::{Address, map::FbBuildHasher};
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

use super::NewBlock;
use crate::{StoreError, bulk::Bulk, convert::parse_address, db::Tx};

/// Addresses whose numbers are remembered; then all are forgotten and looked up again.
const MOST_REMEMBERED: usize = 1 << 16;
/// Addresses looked up by one statement.
const LOOKUP: usize = 64;

static INSERT: Bulk = Bulk::new("accounts", &["id", "address"], "");

static FIND: LazyLock<SqlStr> = LazyLock::new(|| {
    let mut text = String::from("SELECT id, address FROM accounts WHERE address IN ($1");
    for parameter in 2..=LOOKUP {
        // Writing to a string cannot fail.
        let _ = write!(text, ", ${parameter}");
    }
    text.push(')');
    AssertSqlSafe(text).into_sql_str()
});

type Numbers = HashMap<Address, i64, FbBuildHasher<20>>;

/// Numbers of addresses that are committed.
#[derive(Default)]
pub(super) struct Accounts {
    known: Numbers,
}

/// The numbers of all addresses of some blocks.
pub(super) struct Named {
    numbers: Numbers,
    /// New addresses with their numbers, ascending.
    fresh: Vec<(i64, Address)>,
}

impl Accounts {
    /// Finds or gives a number for every address of the blocks, counting on from `count`.
    pub(super) async fn name(
        &self,
        tx: &mut Tx,
        blocks: &[NewBlock],
        count: i64,
    ) -> Result<Named, StoreError> {
        let mut numbers = Numbers::default();
        // In the order of their appearance, which gives new ones the same number whatever the blocks are grouped by.
        let mut missing = Vec::new();
        for address in blocks.iter().flat_map(NewBlock::addresses) {
            if numbers.contains_key(&address) {
                continue;
            }
            let known = self.known.get(&address).copied();
            numbers.insert(address, known.unwrap_or(-1));
            if known.is_none() {
                missing.push(address);
            }
        }
        find(tx, &missing, &mut numbers).await?;
        let mut fresh = Vec::new();
        for address in missing {
            if let Some(number) = numbers.get_mut(&address).filter(|number| **number < 0) {
                *number = count + i64::try_from(fresh.len()).unwrap_or(i64::MAX);
                fresh.push((*number, address));
            }
        }
        on_connection!(tx, c => INSERT.insert(c, &fresh, |q, (id, address)| q.bind(*id).bind(address.as_slice().to_vec())).await?);
        Ok(Named { numbers, fresh })
    }

    /// Remembers what has been committed.
    pub(super) fn remember(&mut self, named: Named) {
        if self.known.len() + named.numbers.len() > MOST_REMEMBERED {
            self.known.clear();
        }
        self.known.extend(named.numbers);
    }
}

impl Named {
    /// The number of an address of the blocks.
    pub(super) fn number(&self, address: Address) -> i64 {
        // Every address of the blocks is here; an account that is not would show as nobody rather than as somebody else.
        self.numbers.get(&address).copied().unwrap_or(-1)
    }

    /// How many addresses are new.
    pub(super) fn fresh_count(&self) -> i64 {
        i64::try_from(self.fresh.len()).unwrap_or(i64::MAX)
    }
}

async fn find(tx: &mut Tx, addresses: &[Address], numbers: &mut Numbers) -> Result<(), StoreError> {
    for chunk in addresses.chunks(LOOKUP) {
        let Some(&last) = chunk.last() else { continue };
        // One text for all: the last address fills up what is left.
        let padded = chunk.iter().copied().chain(std::iter::repeat(last)).take(LOOKUP);
        let found: Vec<(i64, Vec<u8>)> = on_connection!(tx, c => {
            padded
                .fold(sqlx::query_as(FIND.clone()), |query, address| query.bind(address.as_slice().to_vec()))
                .fetch_all(&mut *c)
                .await?
        });
        for (number, address) in found {
            numbers.insert(parse_address("account", &address)?, number);
        }
    }
    Ok(())
}
