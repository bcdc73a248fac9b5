//! The tables as the database has them.

use serde::{Deserialize, Serialize};

use crate::{StoreError, db::Tx, migration};

/// How a column's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// 64 bits, signed.
    Number,
    /// 16 bits, signed.
    Small,
    Flag,
    Text,
    /// As hexadecimal digits.
    Bytes,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// A table and its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

impl Table {
    /// The columns' names with commas.
    pub(super) fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }

    /// Whether both have the same columns, in whatever order.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let all_in = |here: &Self, there: &Self| here.columns.iter().all(|one| there.columns.contains(one));
        self.columns.len() == other.columns.len() && all_in(self, other) && all_in(other, self)
    }
}

/// Every table of the schema, those that others refer to first.
pub(super) async fn tables(tx: &mut Tx) -> Result<Vec<Table>, StoreError> {
    let mut tables = Vec::new();
    for name in migration::tables() {
        let columns = columns(tx, name).await?;
        tables.push(Table { name: name.to_owned(), columns });
    }
    Ok(tables)
}

async fn columns(tx: &mut Tx, table: &str) -> Result<Vec<Column>, StoreError> {
    let statement = match tx.engine() {
        crate::Engine::Sqlite => "SELECT name, type FROM pragma_table_info($1) ORDER BY cid",
        crate::Engine::Postgres => {
            "SELECT column_name::TEXT, data_type::TEXT FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position"
        }
    };
    let found: Vec<(String, String)> =
        on_connection!(tx, c => sqlx::query_as(statement).bind(table).fetch_all(&mut *c).await)?;
    found.into_iter().map(|(name, words)| Ok(Column { name, kind: kind(&words)? })).collect()
}

/// What a declared type holds.
fn kind(words: &str) -> Result<Kind, StoreError> {
    Ok(match words.to_ascii_uppercase().as_str() {
        "BIGINT" | "INTEGER" => Kind::Number,
        "SMALLINT" => Kind::Small,
        "BOOLEAN" => Kind::Flag,
        "TEXT" => Kind::Text,
        "BYTEA" => Kind::Bytes,
        _ => return Err(StoreError::corrupt("table", format!("a column of type {words}"))),
    })
}
