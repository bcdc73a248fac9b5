//! `chainnet db`: the database as a file, out of one engine and into another, and copies of a SQLite file in use.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufReader, BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use anyhow::{Context, bail};
use store::{Db, Engine, Transferred};

use crate::{cli::DbCommand, config::Config, database_file, output::say, process, progress, runtime};

/// Bytes that are read or written at once.
const BUFFER: usize = 1 << 20;

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &DbCommand) -> anyhow::Result<()> {
    match command {
        // A database is made on purpose, be it empty or from a file.
        DbCommand::Create | DbCommand::Import { .. } => database_file::begin(config)?,
        DbCommand::Export { .. } | DbCommand::Backup { .. } => {}
    }
    runtime::run_small(async {
        let db = process::open_database(config).await?;
        let result = match command {
            DbCommand::Create => {
                say(format!("{} is there, with tables that are up to date", config.database.masked()));
                Ok(())
            }
            DbCommand::Export { file } => export(&db, file).await,
            DbCommand::Import { file } => import(config, &db, file).await,
            DbCommand::Backup { file } => backup(config, &db, file).await,
        };
        db.close().await;
        result
    })
}

async fn export(db: &Db, file: &Path) -> anyhow::Result<()> {
    // For its owner alone: it has mail addresses, and what secrets are checked against.
    let out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let out = out.with_context(|| format!("cannot create {}", file.display()))?;
    let bar = progress::bar(0, "{bar:40} {pos}/{len} rows, {per_sec}, {eta} left");
    let told = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let exported = db.export(BufWriter::with_capacity(BUFFER, Durable(out)), told).await;
    bar.finish_and_clear();
    let exported = match exported {
        Ok(exported) => exported,
        Err(error) => {
            // Half a file would be taken for a whole one by its name.
            let _ = fs::remove_file(file);
            return Err(error).context("nothing was exported");
        }
    };
    say(format!("exported {} to {}", summary(&exported), file.display()));
    Ok(())
}

async fn import(config: &Config, db: &Db, file: &Path) -> anyhow::Result<()> {
    let from = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    let bytes = from.metadata().map_or(0, |metadata| metadata.len());
    let bar = progress::bar(bytes, "{bar:40} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left");
    let from = BufReader::with_capacity(BUFFER, bar.wrap_read(from));
    let imported = db.import(from, |_| ()).await;
    bar.finish_and_clear();
    let imported = imported.with_context(|| format!("nothing was imported from {}", file.display()))?;
    say(format!("imported {} into {}", summary(&imported), config.database.masked()));
    Ok(())
}

async fn backup(config: &Config, db: &Db, file: &Path) -> anyhow::Result<()> {
    match db.engine() {
        Engine::Sqlite => {}
        Engine::Postgres => bail!(
            "PostgreSQL makes its own backups while it is in use: pg_dump --format=custom --file={} \"$DATABASE_URL\"; \
             pg_restore reads them",
            file.display()
        ),
    }
    let bytes = db.backup(file).await.with_context(|| format!("no copy was made to {}", file.display()))?;
    say(format!("copied {} to {}, {bytes} bytes", config.database.masked(), file.display()));
    Ok(())
}

fn summary(moved: &Transferred) -> String {
    let tables = moved.tables.iter().filter(|(_, rows)| *rows > 0).count();
    format!("{} rows of {tables} tables (schema {})", moved.rows(), moved.schema)
}

/// A file that is on the disk when it was flushed.
struct Durable(File);

impl Write for Durable {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.sync_all()
    }
}
