//! `kill -9` of a worker while it catches up: what is left is the index of a worker that nobody killed.

use store::{
    Db,
    testing::{TestDb, run_on_postgres, run_on_sqlite},
};
use testkit::Wallet;

use super::{folder, index_reaches, mine, transfer, worker};
use crate::rig::on_demand;

/// Kills a worker again and again on its way through a chain, then compares. Answers how many kills hit it on its way.
async fn survive(test: &TestDb, kills: usize, blocks: usize) -> usize {
    let (node, data) = (on_demand().await, folder());
    let mut wallet = Wallet::dev(0);
    for _ in 0..40 {
        transfer(node.client(), &mut wallet).await;
        mine(node.client(), blocks / 40).await;
    }
    let head = node.client().block_number().await.unwrap();
    let mut hits = 0;
    for kill in 0..kills {
        let mut victim = worker(data.path(), node.client(), test.url());
        // Each time a little further, so that the kills are spread over the chain.
        let at = index_reaches(test, head * kill as u64 / (kills as u64 + 1)).await;
        victim.kill().await.unwrap();
        hits += usize::from(at < head);
    }
    let _last = worker(data.path(), node.client(), test.url());
    index_reaches(test, head).await;

    let fresh = test.fresh_url().await;
    let fresh_db = Db::open(&fresh).await.unwrap();
    let _uninterrupted = worker(data.path(), node.client(), &fresh);
    index_reaches(&fresh_db, head).await;
    let (survivor, untouched) = (test.dump_index().await, fresh_db.dump_index().await);
    assert!(untouched.len() > blocks, "{} rows", untouched.len());
    for (survivor, untouched) in survivor.iter().zip(&untouched) {
        assert_eq!(survivor, untouched);
    }
    assert_eq!(survivor.len(), untouched.len());
    fresh_db.close().await;
    hits
}

store::engine_tests! {
    async fn a_killed_worker_leaves_the_index_of_one_that_was_not(test: TestDb) {
        let hits = survive(test, 5, 1_200).await;
        assert!(hits > 0, "every worker was done before it was killed");
    }
}

async fn survive_fifty(test: &TestDb) {
    let hits = survive(test, 50, 10_000).await;
    eprintln!("50 kills, {hits} of them on the way, index equal row for row");
    assert!(hits > 25, "{hits}");
}

#[test]
#[ignore = "takes minutes: scripts/soak index_kills"]
fn fifty_kills_leave_the_index_of_a_worker_that_was_not_killed_on_sqlite() {
    run_on_sqlite(|test| Box::pin(survive_fifty(test)));
}

#[test]
#[ignore = "takes minutes: scripts/soak index_kills"]
fn fifty_kills_leave_the_index_of_a_worker_that_was_not_killed_on_postgres() {
    run_on_postgres(|test| Box::pin(survive_fifty(test)));
}
