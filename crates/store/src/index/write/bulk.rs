//! Inserting many rows with few statements.
//!
//! Rows go in by statements of 128, 64, … 2, 1 rows: any number of rows takes few statements, and there are only eight
//! texts per table, so that all of them stay prepared.

use std::{fmt::Write, sync::OnceLock};

use sqlx::{AssertSqlSafe, Connection, Database, Executor, IntoArguments, SqlSafeStr, SqlStr, query::Query};

use crate::StoreError;

/// Rows of the largest statement.
const MOST_ROWS: usize = 128;
/// Sizes from [`MOST_ROWS`] down to one.
const SIZES: usize = MOST_ROWS.ilog2() as usize + 1;

/// An insert into one table.
pub(super) struct Bulk {
    table: &'static str,
    columns: &'static [&'static str],
    /// What follows the rows, such as what to do on a conflict.
    suffix: &'static str,
    texts: OnceLock<[SqlStr; SIZES]>,
}

impl Bulk {
    pub(super) const fn new(
        table: &'static str,
        columns: &'static [&'static str],
        suffix: &'static str,
    ) -> Self {
        Self { table, columns, suffix, texts: OnceLock::new() }
    }

    /// Inserts all rows; `bind` gives a row's values in the order of the columns.
    pub(super) async fn insert<C, R, B>(
        &self,
        connection: &mut C,
        rows: &[R],
        bind: B,
    ) -> Result<(), StoreError>
    where
        C: Connection,
        for<'c> &'c mut C: Executor<'c, Database = C::Database>,
        <C::Database as Database>::Arguments: IntoArguments<C::Database>,
        B: for<'r> Fn(
            Query<'static, C::Database, <C::Database as Database>::Arguments>,
            &'r R,
        ) -> Query<'static, C::Database, <C::Database as Database>::Arguments>,
    {
        let mut rest = rows;
        while !rest.is_empty() {
            let size = MOST_ROWS.min(1 << rest.len().ilog2());
            let Some((chunk, after)) = rest.split_at_checked(size) else { break };
            let query = chunk.iter().fold(sqlx::query(self.text(size)), &bind);
            query.execute(&mut *connection).await?;
            rest = after;
        }
        Ok(())
    }

    fn text(&self, rows: usize) -> SqlStr {
        let texts = self.texts.get_or_init(|| std::array::from_fn(|power| self.write_text(1 << power)));
        let text = texts.get(rows.ilog2() as usize).cloned();
        text.unwrap_or_else(|| self.write_text(rows))
    }

    fn write_text(&self, rows: usize) -> SqlStr {
        let mut text = format!("INSERT INTO {} ({}) VALUES ", self.table, self.columns.join(", "));
        let mut parameter = 0;
        for row in 0..rows {
            text.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..self.columns.len() {
                parameter += 1;
                let comma = if column == 0 { "" } else { ", " };
                // Writing to a string cannot fail.
                let _ = write!(text, "{comma}${parameter}");
            }
            text.push(')');
        }
        text.push_str(self.suffix);
        AssertSqlSafe(std::sync::Arc::<str>::from(text)).into_sql_str()
    }
}
