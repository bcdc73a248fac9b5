//! How fast a chain is indexed: `index_speed BLOCKS TRANSACTIONS-PER-BLOCK`.
//!
//! Makes a chain in a temporary folder, then indexes it into a SQLite file and, where `CHAINNET_TEST_POSTGRES` names a
//! server, into PostgreSQL. `bench -- index` runs this.

mod made;

use std::{error::Error, path::Path, sync::Arc, time::Instant};

use chainnet_indexer::{IndexStatus, Indexer, IndexerConfig};
use devchain::{chain::Chain, client::EmbeddedClient};
use store::{Db, testing::TestDb};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (blocks, transactions) = (number(100_000)?, number(20)?);
    let chain_folder = memory_folder()?;
    let begun = Instant::now();
    made::make(chain_folder.path(), blocks, transactions)?;
    eprintln!("made {blocks} blocks in {:.0} s", begun.elapsed().as_secs_f64());
    let chain = Chain::open(chain_folder.path(), &made::genesis()?)?;

    println!("{blocks} blocks of {transactions} transfers\n");
    println!(
        "| database | blocks/s | transactions/s | first tenth | last tenth | our CPU per block | resident | on disk |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("index.db");
    let db = Db::open(&format!("sqlite:{}", path.display())).await?;
    let run = measure(&chain, &db).await?;
    db.close().await;
    run.print("SQLite", transactions, &format!("{:.0} MB", megabytes(&path)?));
    if let Some(test) = TestDb::postgres().await {
        measure(&chain, &test).await?.print("PostgreSQL", transactions, "–");
        test.finish().await;
    }
    Ok(())
}

/// A folder for the chain, in memory where there is such a place: every block is synced, and waiting for a disk a hundred
/// thousand times is not what is measured. The index itself is always on the disk.
fn memory_folder() -> Outcome<TempDir> {
    let memory = Path::new("/dev/shm");
    Ok(if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? })
}

/// Seconds after which each block was in the index.
struct Run {
    /// Number of blocks and when they were written, as often as the indexer said so.
    marks: Vec<(u64, f64)>,
    resident: f64,
    cpu_seconds: f64,
}

async fn measure(chain: &Arc<Chain>, db: &Db) -> Outcome<Run> {
    let client = Arc::new(EmbeddedClient::new(Arc::clone(chain)));
    let indexer = Indexer::new(client, db.clone(), IndexerConfig::default());
    let (mut status, stop) = (indexer.status(), CancellationToken::new());
    let (begun, cpu_before) = (Instant::now(), cpu_seconds()?);
    let running = tokio::spawn(indexer.run(stop.clone()));
    let mut marks = vec![(0, 0.0)];
    let mut resident = 0.0;
    loop {
        status.changed().await?;
        let (at, is_done) = match &*status.borrow_and_update() {
            IndexStatus::Backfilling { at: Some(at), .. } => (*at, false),
            IndexStatus::Following { at } => (*at, true),
            IndexStatus::Halted { reason, .. } => return Err(reason.clone().into()),
            IndexStatus::Backfilling { .. } | IndexStatus::Starting | IndexStatus::Standby { .. } => continue,
        };
        marks.push((at + 1, begun.elapsed().as_secs_f64()));
        resident = f64::max(resident, resident_megabytes()?);
        if is_done {
            break;
        }
    }
    stop.cancel();
    running.await?;
    Ok(Run { marks, resident, cpu_seconds: cpu_seconds()? - cpu_before })
}

impl Run {
    /// Blocks per second between two shares of the way.
    fn rate(&self, from: f64, to: f64) -> f64 {
        let total = self.marks.last().map_or(0, |mark| mark.0) as f64;
        let at = |share: f64| self.marks.iter().find(|mark| mark.0 as f64 >= share * total);
        match (at(from), at(to)) {
            (Some(a), Some(b)) => (b.0 - a.0) as f64 / (b.1 - a.1),
            _ => 0.0,
        }
    }

    fn print(&self, database: &str, transactions: u64, disk: &str) {
        let all = self.rate(0.0, 1.0);
        println!(
            "| {database} | {all:.0} | {:.0} | {:.0} | {:.0} | {:.0} µs | {:.0} MB | {disk} |",
            all * transactions as f64,
            self.rate(0.0, 0.1),
            self.rate(0.9, 1.0),
            self.cpu_seconds * 1e6 / self.marks.last().map_or(1.0, |mark| mark.0 as f64),
            self.resident,
        );
    }
}

fn megabytes(path: &Path) -> Outcome<f64> {
    Ok(std::fs::metadata(path)?.len() as f64 / 1e6)
}

/// Resident memory of this process, chain included.
fn resident_megabytes() -> Outcome<f64> {
    let pages: f64 = std::fs::read_to_string("/proc/self/statm")?.split(' ').nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4096.0 / 1e6)
}

/// Processor time of this process so far, in seconds.
fn cpu_seconds() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // User and system time are the 14th and 15th field, in hundredths; the second may hold spaces, but ends with `)`.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / 100.0)
}
