//! The whole index as text, for comparing two of them row for row.

use std::fmt::Write;

use sqlx::{AssertSqlSafe, Row};

use crate::Db;

/// A column's type: how it is read and written out.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Small,
    Flag,
    Text,
    Bytes,
}
use Kind::{Bytes, Flag, Number, Small, Text};

/// A table, its key, and its columns.
type Table = (&'static str, &'static str, &'static [(&'static str, Kind)]);

const TABLES: &[Table] = &[
    (
        "index_cursor",
        "id",
        &[
            ("chain_id", Number),
            ("genesis_hash", Bytes),
            ("number", Number),
            ("hash", Bytes),
            ("timestamp", Number),
            ("accounts", Number),
        ],
    ),
    ("accounts", "id", &[("id", Number), ("address", Bytes)]),
    (
        "blocks",
        "number",
        &[
            ("number", Number),
            ("hash", Bytes),
            ("timestamp", Number),
            ("proposer", Number),
            ("round", Number),
            ("transaction_count", Number),
            ("gas_used", Number),
            ("gas_limit", Number),
            ("size", Number),
            ("seals", Bytes),
        ],
    ),
    (
        "transactions",
        "place",
        &[
            ("place", Number),
            ("hash", Bytes),
            ("sender", Number),
            ("recipient", Number),
            ("created", Number),
            ("value", Text),
            ("success", Flag),
            ("gas_used", Number),
            ("fee", Text),
            ("selector", Bytes),
            ("nonce", Number),
        ],
    ),
    ("account_transactions", "account, place", &[("account", Number), ("place", Number)]),
    ("validator_sets", "first_block", &[("first_block", Number), ("members", Bytes)]),
    (
        "turns",
        "validator, block, round",
        &[("validator", Number), ("block", Number), ("round", Number), ("outcome", Small)],
    ),
    (
        "validator_activity",
        "span, start, validator",
        &[
            ("span", Number),
            ("start", Number),
            ("validator", Number),
            ("proposed", Number),
            ("kept", Number),
            ("missed", Number),
            ("unclear", Number),
            ("sealed", Number),
            ("blocks", Number),
            ("first_block", Number),
            ("last_proposed", Number),
            ("last_sealed", Number),
        ],
    ),
    ("votes", "block", &[("block", Number), ("voter", Number), ("recipient", Number), ("adds", Flag)]),
    (
        "contract_events",
        "place",
        &[
            ("place", Number),
            ("transaction_place", Number),
            ("kind", Small),
            ("subject", Number),
            ("event", Text),
        ],
    ),
    (
        "fee_sums",
        "span, start, source",
        &[
            ("span", Number),
            ("start", Number),
            ("source", Bytes),
            ("payments", Number),
            ("collected", Text),
            ("burned", Text),
            ("held", Text),
        ],
    ),
];

/// Writes one row's columns.
macro_rules! write_row {
    ($line:expr, $row:expr, $columns:expr) => {
        for (name, kind) in $columns.iter() {
            let value = match kind {
                Number => $row.try_get::<Option<i64>, _>(*name).map(|v| v.map(|v| v.to_string())),
                Small => $row.try_get::<Option<i16>, _>(*name).map(|v| v.map(|v| v.to_string())),
                Flag => $row.try_get::<Option<bool>, _>(*name).map(|v| v.map(|v| v.to_string())),
                Text => $row.try_get::<Option<String>, _>(*name),
                Bytes => {
                    $row.try_get::<Option<Vec<u8>>, _>(*name).map(|v| v.map(alloy_primitives::hex::encode))
                }
            };
            let value = value.expect("the column is of its type");
            write!($line, " {name}={}", value.as_deref().unwrap_or("-")).expect("a string takes all");
        }
    };
}

impl Db {
    /// Every row of the index, in the order of the keys. Two indexes of the same chain up to the same block are equal.
    #[expect(clippy::expect_used, reason = "a test that cannot read its database must end")]
    pub async fn dump_index(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (table, key, columns) in TABLES {
            let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
            let statement = format!("SELECT {} FROM {table} ORDER BY {key}", names.join(", "));
            on_readers!(self, pool => {
                let rows = sqlx::query(AssertSqlSafe(statement)).fetch_all(pool).await.expect("the table is readable");
                for row in rows {
                    let mut line = (*table).to_owned();
                    write_row!(line, row, columns);
                    lines.push(line);
                }
            });
        }
        lines
    }
}
