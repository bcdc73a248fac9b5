//! Crediting in a process of its own, killed with `kill -9` again and again while payments come in.
//!
//! The process is this test's own program, started again to run [`credit_process`] alone. What is in the database at the
//! end must be, to the byte, what is there when nobody is killed.

use std::{process::Stdio, time::Duration};

use rand::{Rng, SeedableRng, rngs::StdRng};
use store::{Db, Engine, engine_tests, testing::TestDb};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{
    rig::{Index, PATIENCE, credit, credited, settings, start},
    scenario::{Scenario, check},
};

const DATABASE: &str = "CHAINNET_TEST_CREDIT_DATABASE";
/// What a process says when it begins to credit.
const READY: &str = "crediting begins";

/// How long a process may credit: a few of its transactions.
fn longest_life(engine: Engine) -> Duration {
    match engine {
        Engine::Sqlite => Duration::from_millis(150),
        Engine::Postgres => Duration::from_millis(900),
    }
}

fn start_process(database: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "killed::credit_process", "--ignored", "--nocapture"])
        .env(DATABASE, database)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a process")
}

async fn wait_until_ready(process: &mut Child) {
    let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
    let ready = async {
        while let Some(line) = lines.next_line().await.expect("a line") {
            if line.contains(READY) {
                return;
            }
        }
        panic!("it ended before it began");
    };
    tokio::time::timeout(PATIENCE, ready).await.expect("ready in time");
}

/// What a process does: credits until it is killed.
#[test]
#[ignore = "started by the other tests, in a process of its own"]
#[expect(
    clippy::disallowed_methods,
    reason = "how a test talks to its child is no configuration of the product"
)]
fn credit_process() {
    let Ok(database) = std::env::var(DATABASE) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let db = Db::open(&database).await.expect("the database");
        println!("{READY}");
        let _running = start(&db, settings());
        std::future::pending::<()>().await;
    });
}

async fn kill_campaign(test: &TestDb, kills: usize, payments: usize) {
    let url = test.fresh_url().await;
    let db = Db::open(&url).await.expect("a database");
    let calm = Scenario::prepare(&db, payments, 20).await;
    let last = calm.play(&mut Index::open(&db).await).await;
    credit(&db, last).await;
    let expected = check(&db, payments).await;
    db.close().await;

    let mut dice = StdRng::seed_from_u64(11);
    let scenario = Scenario::prepare(test, payments, 20).await;
    let mut index = Index::open(test).await;
    let share = scenario.blocks.len().div_ceil(kills);
    let mut blocks = scenario.blocks.iter();
    let mut killed_at = Vec::new();
    for _ in 0..kills {
        let mut process = start_process(test.url());
        // Some do not even get to begin.
        if dice.random_ratio(4, 5) {
            wait_until_ready(&mut process).await;
        }
        let life = dice.random_range(Duration::ZERO..longest_life(test.engine()));
        let working = async {
            for block in blocks.by_ref().take(share) {
                index.block(block).await;
                tokio::time::sleep(Duration::from_millis(dice.random_range(0..20))).await;
            }
        };
        let ((), ()) = tokio::join!(working, tokio::time::sleep(life));
        process.start_kill().expect("killed");
        process.wait().await.expect("it is gone");
        killed_at.push(test.credit_point().await.expect("a cursor").map(|point| point.number));
    }
    for block in blocks {
        index.block(block).await;
    }
    let mut process = start_process(test.url());
    credited(test, index.writer.next_number() - 1).await;
    process.start_kill().expect("killed");
    let gone = tokio::time::timeout(PATIENCE, process.wait()).await;
    gone.expect("gone in time").expect("it is gone");
    assert_eq!(check(test, payments).await, expected);
    eprintln!("{kills} kills, {payments} payments; killed at blocks {killed_at:?}");
}

engine_tests! {
    async fn every_payment_is_credited_once_whoever_is_killed(test: TestDb) {
        kill_campaign(test, 5, 100).await;
    }
}

mod a_thousand_payments_and_fifty_kills {
    use super::kill_campaign;

    #[test]
    #[ignore = "takes minutes; scripts/soak portal runs it"]
    fn sqlite() {
        store::testing::run_on_sqlite(|test| Box::pin(kill_campaign(test, 50, 1_000)));
    }

    #[test]
    #[ignore = "takes minutes; scripts/soak portal runs it"]
    fn postgres() {
        store::testing::run_on_postgres(|test| Box::pin(kill_campaign(test, 50, 1_000)));
    }
}
