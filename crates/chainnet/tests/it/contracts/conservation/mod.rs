//! Whatever is called in whatever order and company, no wei is lost or made.

mod books;
mod step;

use std::collections::BTreeMap;

use alloy_primitives::U256;
use contracts::address::REGISTRY;
use rand::{Rng, SeedableRng, rngs::StdRng};
use testkit::Draft;

use super::{
    chain::{DAY, STAKE, TestChain},
    person::Person,
};
use books::Ledger;
use step::{Step, people};

const BLOCKS: usize = 60;
const MOST_IN_A_BLOCK: usize = 12;

/// How often each kind of step was mined, and how often it was refused.
type Tally = BTreeMap<&'static str, (usize, usize)>;

/// Mines the steps in one block and checks everything that must hold after it.
async fn mine(chain: &mut TestChain, ledger: &Ledger, steps: Vec<(Step, u128)>, tally: &mut Tally) {
    let now = chain.now().await;
    let mut sent = Vec::new();
    for (step, gas_price) in steps {
        let (from, draft) = step.transaction(now);
        let hash = chain.submit(from, Draft { gas_price, tip: gas_price, ..draft }).await;
        sent.push((step.name(), hash));
    }
    chain.mine().await;
    for (name, hash) in sent {
        let (mined, refused) = tally.entry(name).or_default();
        *mined += 1;
        *refused += usize::from(!chain.outcome(hash).await.succeeded);
    }
    ledger.check(chain).await;
}

async fn random_life(seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let mut chain = TestChain::start().await;
    for person in people() {
        chain.fund(person, STAKE * U256::from(3)).await;
    }
    let ledger = Ledger::open(&chain).await;
    let mut tally = Tally::new();
    mine(&mut chain, &ledger, vec![(Step::Expand { phase: 2 }, 0)], &mut tally).await;
    for _ in 0..BLOCKS {
        chain.next_block_at(chain.now().await + random.random_range(2..3 * DAY)).await;
        let count = random.random_range(1..=MOST_IN_A_BLOCK);
        // Some pay for their gas: the price must arrive at the block's proposer.
        let step = |_| (Step::random(&mut random), random.random_range(0..3) * 1_000_000_007);
        mine(&mut chain, &ledger, (0..count).map(step).collect(), &mut tally).await;
    }
    let idle: Vec<_> = tally.iter().filter(|(_, (mined, refused))| mined == refused).collect();
    assert!(idle.is_empty(), "never succeeded: {idle:?} of {tally:?}");
    ledger.check_events(&chain).await;
    wind_up(&mut chain, &ledger, &mut tally).await;
}

/// Lets everybody leave; afterwards the registry is empty.
async fn wind_up(chain: &mut TestChain, ledger: &Ledger, tally: &mut Tally) {
    let leave = people().map(|person| (Step::Exit { person }, 0)).collect();
    mine(chain, ledger, leave, tally).await;
    chain.wait(7 * DAY).await;
    let take = people().flat_map(|person| [Step::Withdraw { person }, Step::Claim { person }]);
    let take = take.chain([Step::TakePenalties, Step::TakeFees]).map(|step| (step, 0)).collect();
    mine(chain, ledger, take, tally).await;
    assert_eq!(chain.balance(REGISTRY).await, U256::ZERO, "everything was paid out");
    ledger.check_events(chain).await;
}

#[tokio::test]
async fn a_random_life_of_the_contracts_loses_and_makes_no_wei() {
    random_life(1).await;
}

#[tokio::test]
async fn another_random_life_of_the_contracts_loses_and_makes_no_wei() {
    random_life(2).await;
}

#[tokio::test]
async fn a_stake_above_the_minimum_is_returned_to_the_wei() {
    let mut chain = TestChain::start().await;
    let person = Person::Newcomer(1);
    chain.fund(person, STAKE * U256::from(3)).await;
    let ledger = Ledger::open(&chain).await;
    let mut tally = Tally::new();
    let join = vec![(Step::Expand { phase: 2 }, 0), (Step::Register { person, extra: 12_345 }, 0)];
    mine(&mut chain, &ledger, join, &mut tally).await;
    assert_eq!(chain.balance(person.address()).await, STAKE * U256::from(2) - U256::from(12_345));
    wind_up(&mut chain, &ledger, &mut tally).await;
    assert_eq!(chain.balance(person.address()).await, STAKE * U256::from(3));
}
