//! Inserting and looking up many rows with few statements.
//!
//! Rows go in by statements of 128, 64, … 2, 1 rows: any number of rows takes few statements, and there are only eight
//! texts per table, so that all of them stay prepared.
//!
//! Parameters are `$1`, `$2`, … on PostgreSQL and `?` on SQLite, the only text that differs: SQLite takes `$1` for a name
//! and looks names up one after the other, which for a thousand parameters costs more than the insert itself.

use std::{
    fmt::Write,
    sync::{Arc, OnceLock},
};

use sqlx::{
    AssertSqlSafe, Connection, Database, Executor, IntoArguments, SqlSafeStr, SqlStr, Sqlite, query::Query,
};

use crate::StoreError;

/// Rows of the largest statement.
const MOST_ROWS: usize = 128;
/// Sizes from [`MOST_ROWS`] down to one.
const SIZES: usize = MOST_ROWS.ilog2() as usize + 1;

/// An insert into one table.
pub(crate) struct Bulk {
    table: &'static str,
    columns: &'static [&'static str],
    /// What follows the rows, such as what to do on a conflict.
    suffix: &'static str,
    numbered: OnceLock<Texts>,
    unnumbered: OnceLock<Texts>,
}

/// The statements of 1, 2, 4, … rows.
type Texts = [SqlStr; SIZES];

impl Bulk {
    pub(crate) const fn new(
        table: &'static str,
        columns: &'static [&'static str],
        suffix: &'static str,
    ) -> Self {
        Self { table, columns, suffix, numbered: OnceLock::new(), unnumbered: OnceLock::new() }
    }

    /// Inserts all rows; `bind` gives a row's values in the order of the columns.
    pub(crate) async fn insert<C, R, B>(
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
        let numbers = C::Database::NAME != Sqlite::NAME;
        for chunk in chunks(rows) {
            let query = chunk.iter().fold(sqlx::query(self.text(chunk.len(), numbers)), &bind);
            query.execute(&mut *connection).await?;
        }
        Ok(())
    }

    fn text(&self, rows: usize, numbers: bool) -> SqlStr {
        let texts = if numbers { &self.numbered } else { &self.unnumbered };
        let texts = texts.get_or_init(|| std::array::from_fn(|power| self.write_text(1 << power, numbers)));
        let text = texts.get(rows.ilog2() as usize).cloned();
        text.unwrap_or_else(|| self.write_text(rows, numbers))
    }

    fn write_text(&self, rows: usize, numbers: bool) -> SqlStr {
        let mut text = format!("INSERT INTO {} ({}) VALUES ", self.table, self.columns.join(", "));
        let mut parameter = 0;
        for row in 0..rows {
            text.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..self.columns.len() {
                parameter += 1;
                text.push_str(if column == 0 { "" } else { ", " });
                // Writing to a string cannot fail.
                let _ = if numbers { write!(text, "${parameter}") } else { write!(text, "?") };
            }
            text.push(')');
        }
        text.push_str(self.suffix);
        AssertSqlSafe(Arc::<str>::from(text)).into_sql_str()
    }
}

/// Splits a list into runs of 128, 64, … 2, 1, so that statements over a run have few texts.
pub(crate) fn chunks<T>(list: &[T]) -> impl Iterator<Item = &[T]> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let size = MOST_ROWS.min(1 << rest.len().checked_ilog2()?);
        let (chunk, after) = rest.split_at_checked(size)?;
        rest = after;
        Some(chunk)
    })
}

/// A statement over a list: `{list}` in `template` becomes the parameters from `$first` on, one for each item.
///
/// Numbered on both engines: what SQLite loses by that is little for one column.
pub(crate) fn list_text(template: &str, first: usize, items: usize) -> SqlStr {
    let mut parameters = String::new();
    for parameter in first..first + items {
        let comma = if parameter == first { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(parameters, "{comma}${parameter}");
    }
    AssertSqlSafe(template.replace("{list}", &parameters)).into_sql_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_into_runs_of_powers_of_two() {
        let list: Vec<u32> = (0..300).collect();
        let sizes: Vec<usize> = chunks(&list).map(<[u32]>::len).collect();
        assert_eq!(sizes, [128, 128, 32, 8, 4]);
        assert_eq!(chunks(&list).flatten().copied().collect::<Vec<_>>(), list);
        assert_eq!(chunks::<u32>(&[]).count(), 0);
    }

    #[test]
    fn parameters_of_a_list_follow_those_before_it() {
        let text = list_text("UPDATE t SET a = $1 WHERE id IN ({list})", 2, 3);
        assert_eq!(text.as_str(), "UPDATE t SET a = $1 WHERE id IN ($2, $3, $4)");
    }
}
