//! Writing all rows, as they are at one moment.

use std::io::Write;

use futures_util::TryStreamExt;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Row};

use super::{
    TransferError, Transferred,
    line::{Cell, FORMAT, Header, Lines, WHAT},
    table::{Kind, Table, tables},
};
use crate::{Db, db::Tx, migration};

/// A row's values in the order of the columns.
macro_rules! cells {
    ($row:expr, $table:expr) => {
        $table
            .columns
            .iter()
            .enumerate()
            .map(|(place, column)| {
                Ok(match column.kind {
                    Kind::Number => Cell::Number($row.try_get(place)?),
                    Kind::Small => Cell::Small($row.try_get(place)?),
                    Kind::Flag => Cell::Flag($row.try_get(place)?),
                    Kind::Text => Cell::Text($row.try_get(place)?),
                    Kind::Bytes => Cell::Bytes($row.try_get(place)?),
                })
            })
            .collect::<Result<Vec<Cell>, sqlx::Error>>()
    };
}

impl Db {
    /// Writes every row of every table as of one moment, while others go on writing. `told` hears of rows written and of
    /// rows in all.
    pub async fn export(
        &self,
        out: impl Write,
        mut told: impl FnMut(u64, u64),
    ) -> Result<Transferred, TransferError> {
        let mut tx = self.begin_snapshot().await?;
        let tables = tables(&mut tx).await?;
        let mut all = 0;
        for table in &tables {
            all += count(&mut tx, &table.name).await?;
        }
        let mut lines = Lines::to(out);
        let schema = migration::newest();
        lines.write(&Header { chainnet: WHAT.to_owned(), format: FORMAT, schema, tables: tables.clone() })?;
        let (mut counts, mut done) = (Vec::new(), 0);
        for table in &tables {
            let rows = write_table(&mut tx, table, &mut lines, |rows| told(done + rows, all)).await?;
            done += rows;
            counts.push((table.name.clone(), rows));
        }
        lines.end(&counts)?;
        Ok(Transferred { schema, tables: counts })
    }
}

/// Number of rows in a table.
pub(super) async fn count(tx: &mut Tx, table: &str) -> Result<u64, TransferError> {
    let statement = format!("SELECT COUNT(*) FROM {table}");
    let count: i64 =
        on_connection!(tx, c => sqlx::query_scalar(AssertSqlSafe(statement)).fetch_one(&mut *c).await)?;
    Ok(count.unsigned_abs())
}

async fn write_table<W: Write>(
    tx: &mut Tx,
    table: &Table,
    lines: &mut Lines<W>,
    mut told: impl FnMut(u64),
) -> Result<u64, TransferError> {
    lines.write(&serde_json::json!({ "table": table.name }))?;
    let statement = format!("SELECT {} FROM {}", table.column_list(), table.name);
    let mut written = 0;
    on_connection!(tx, c => {
        let mut rows = sqlx::query(AssertSqlSafe(statement)).persistent(false).fetch(&mut *c);
        while let Some(row) = rows.try_next().await? {
            let cells = cells!(row, table)?;
            lines.write(&cells.iter().map(Cell::to_json).collect::<Vec<Value>>())?;
            written += 1;
            told(written);
        }
    });
    Ok(written)
}
