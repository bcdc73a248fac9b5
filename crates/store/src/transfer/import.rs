//! Reading all rows into an empty database: all of them, or none.

use std::{collections::HashMap, io::BufRead};

use serde_json::Value;
use sqlx::{AssertSqlSafe, QueryBuilder};

use super::{
    TransferError, Transferred,
    export::count,
    line::{Cell, End, FORMAT, Header, Heading, Reader, WHAT},
    table::{Table, tables},
};
use crate::{Db, Engine, db::Pools, db::Tx, migration};

/// Values of one statement. Both engines take more; this many are enough to make statements few.
const MOST_VALUES: usize = 4_000;

impl Db {
    /// Loads a file that [`Db::export`] has written, of either engine, into a database that nobody has used. `told` hears
    /// of lines. On any failure nothing is changed.
    pub async fn import(
        &self,
        from: impl BufRead,
        mut told: impl FnMut(u64),
    ) -> Result<Transferred, TransferError> {
        let mut reader = Reader::new(from);
        let header = read_header(&mut reader)?;
        let mut tx = self.begin_durable().await?;
        let own = tables(&mut tx).await?;
        prepare(&mut tx, &own).await?;
        let columns = match_tables(&header.tables, &own)?;
        let mut load = Load { tx, table: None, waiting: Vec::new(), rows: Vec::new() };
        let end = loop {
            let number = reader.number;
            let Some(line) = reader.next()? else { return Err(TransferError::CutOff { line: number }) };
            if line.first() == Some(&b'[') {
                let values = serde_json::from_slice(line).map_err(|_| reader.damaged("not a row"))?;
                load.take(values).await?.ok_or_else(|| reader.damaged("the row is not of its table"))?;
                told(reader.number);
            } else if let Ok(Heading { table }) = serde_json::from_slice(line) {
                let table = columns.get(table.as_str()).ok_or_else(|| reader.damaged("an unknown table"))?;
                load.begin(table).await?;
            } else {
                break serde_json::from_slice(line).map_err(|_| reader.damaged("neither row nor table"))?;
            }
        };
        load.flush().await?;
        check_end(&mut reader, &end, &load.rows)?;
        let Load { tx, rows, .. } = load;
        tx.commit().await?;
        self.settle_statistics().await?;
        Ok(Transferred { schema: header.schema, tables: rows })
    }

    /// PostgreSQL plans badly for tables that it knows nothing of.
    async fn settle_statistics(&self) -> Result<(), TransferError> {
        match &self.pools {
            Pools::Sqlite { .. } => {}
            Pools::Postgres(pool) => {
                sqlx::query("ANALYZE").execute(pool).await?;
            }
        }
        Ok(())
    }
}

fn read_header<R: BufRead>(reader: &mut Reader<R>) -> Result<Header, TransferError> {
    let line = match reader.next() {
        Ok(line) => line.unwrap_or_default(),
        // Any file without a line is no file of ours.
        Err(TransferError::CutOff { .. }) => b"",
        Err(error) => return Err(error),
    };
    let whole: Value = serde_json::from_slice(line).map_err(|_| TransferError::Foreign)?;
    if whole.get("chainnet").and_then(Value::as_str) != Some(WHAT) {
        return Err(TransferError::Foreign);
    }
    let found = whole.get("format").and_then(Value::as_u64).and_then(|format| u32::try_from(format).ok());
    match found {
        Some(FORMAT) => {}
        Some(found) => return Err(TransferError::Format { found, known: FORMAT }),
        None => return Err(TransferError::Foreign),
    }
    let header: Header = serde_json::from_value(whole)
        .map_err(|_| TransferError::Damaged { line: 1, what: "not a header" })?;
    let known = migration::newest();
    if header.schema != known {
        return Err(TransferError::Schema { found: header.schema, known });
    }
    Ok(header)
}

/// Keeps others out, makes sure that nobody has been here, and takes out what the migrations have put in: the file has
/// it, too.
async fn prepare(tx: &mut Tx, own: &[Table]) -> Result<(), TransferError> {
    if tx.engine() == Engine::Postgres {
        let names: Vec<_> = own.iter().map(|table| table.name.as_str()).collect();
        let statement = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", names.join(", "));
        on_connection!(tx, c => sqlx::query(AssertSqlSafe(statement)).execute(&mut *c).await.map(drop))?;
    }
    let seeded = migration::seeded_tables();
    for Table { name, .. } in own {
        if seeded.contains(&name.as_str()) {
            let statement = format!("DELETE FROM {name}");
            on_connection!(tx, c => sqlx::query(AssertSqlSafe(statement)).execute(&mut *c).await.map(drop))?;
        } else if count(tx, name).await? > 0 {
            return Err(TransferError::NotEmpty { table: name.clone() });
        }
    }
    Ok(())
}

/// The file's tables by name, each with the columns that the database has.
fn match_tables<'f>(file: &'f [Table], own: &[Table]) -> Result<HashMap<&'f str, &'f Table>, TransferError> {
    for table in own {
        let is_there = file.iter().any(|other| other.name == table.name && other.is_like(table));
        if !is_there {
            return Err(TransferError::Columns { table: table.name.clone() });
        }
    }
    if let Some(unknown) = file.iter().find(|table| !own.iter().any(|other| other.name == table.name)) {
        return Err(TransferError::Columns { table: unknown.name.clone() });
    }
    Ok(file.iter().map(|table| (table.name.as_str(), table)).collect())
}

/// What the end says must be what was read.
fn check_end<R: BufRead>(
    reader: &mut Reader<R>,
    end: &End,
    rows: &[(String, u64)],
) -> Result<(), TransferError> {
    if reader.hash_before() != end.sha256 {
        return Err(TransferError::Tampered { what: "its SHA-256 is another" });
    }
    if rows != end.rows {
        return Err(TransferError::Tampered { what: "it does not have the number of rows that it names" });
    }
    match reader.next() {
        Ok(None) => Ok(()),
        Ok(Some(_)) | Err(TransferError::CutOff { .. }) => {
            Err(TransferError::Tampered { what: "something follows its end" })
        }
        Err(error) => Err(error),
    }
}

/// Rows on their way into a table.
struct Load<'t> {
    tx: Tx,
    table: Option<&'t Table>,
    waiting: Vec<Vec<Cell>>,
    /// Tables so far, and their rows.
    rows: Vec<(String, u64)>,
}

impl<'t> Load<'t> {
    async fn begin(&mut self, table: &'t Table) -> Result<(), TransferError> {
        self.flush().await?;
        self.table = Some(table);
        self.rows.push((table.name.clone(), 0));
        Ok(())
    }

    /// Takes a row; none if it is not of the table.
    async fn take(&mut self, values: Vec<Value>) -> Result<Option<()>, TransferError> {
        let Some(table) = self.table.filter(|table| table.columns.len() == values.len()) else {
            return Ok(None);
        };
        let cells = table.columns.iter().zip(values);
        let cells: Option<Vec<_>> =
            cells.map(|(column, value)| Cell::from_json(column.kind, value)).collect();
        let Some(cells) = cells else { return Ok(None) };
        self.waiting.push(cells);
        if let Some((_, rows)) = self.rows.last_mut() {
            *rows += 1;
        }
        if self.waiting.len() * table.columns.len() >= MOST_VALUES {
            self.flush().await?;
        }
        Ok(Some(()))
    }

    /// Writes what waits.
    async fn flush(&mut self) -> Result<(), TransferError> {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(table) = self.table.filter(|_| !waiting.is_empty()) else { return Ok(()) };
        let beginning = format!("INSERT INTO {} ({}) ", table.name, table.column_list());
        on_connection!(self.tx, c => {
            let mut query = QueryBuilder::new(beginning);
            query.push_values(waiting, |mut row, cells| {
                for cell in cells {
                    match cell {
                        Cell::Number(value) => row.push_bind(value),
                        Cell::Small(value) => row.push_bind(value),
                        Cell::Flag(value) => row.push_bind(value),
                        Cell::Text(value) => row.push_bind(value),
                        Cell::Bytes(value) => row.push_bind(value),
                    };
                }
            });
            query.build().persistent(false).execute(&mut *c).await.map(drop)
        })?;
        Ok(())
    }
}
