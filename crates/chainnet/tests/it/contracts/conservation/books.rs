//! What must hold between two blocks, by balances, by the contracts' own books, and by their events.

use alloy_primitives::{Address, Log, U256};
use alloy_sol_types::SolEvent;
use contracts::{
    address::{BURN, CHECKOUT, FEES, REGISTRY, TREASURY},
    bindings::{PlatformFees as Fees, PlatformValidatorRegistry as Registry, SafeL2},
    fees::FeeSource,
};
use serde_json::{Value, json};

use super::step::people;
use crate::contracts::{
    chain::{STAKE, TestChain},
    person::Person,
};

/// All the coin there is.
pub(super) struct Ledger {
    accounts: Vec<Address>,
    total: U256,
}

impl Ledger {
    /// Counts the coin of everybody that can ever hold some.
    pub(super) async fn open(chain: &TestChain) -> Self {
        let people = (0..10).map(Person::Dev).chain([Person::Keeper, Person::Faucet]).chain(people());
        let mut accounts: Vec<_> = people.map(Person::address).collect();
        accounts.extend([REGISTRY, FEES, CHECKOUT, TREASURY, BURN]);
        let total = sum(&balances(chain, &accounts).await);
        Self { accounts, total }
    }

    pub(super) async fn check(&self, chain: &TestChain) {
        let balances = balances(chain, &self.accounts).await;
        assert_eq!(sum(&balances), self.total, "coin was lost or made");
        let of = |account: Address| {
            let index = self.accounts.iter().position(|known| *known == account).expect("a known account");
            balances[index]
        };
        check_registry(chain, of(REGISTRY)).await;
        check_fees(chain, of(BURN)).await;
        assert_eq!(of(CHECKOUT), U256::ZERO, "the checkout keeps nothing");
    }

    /// Follows the coin through the events alone.
    pub(super) async fn check_events(&self, chain: &TestChain) {
        let logs = chain.logs(&[REGISTRY, FEES, TREASURY]).await;
        let paid = total(&logs, |event: Fees::FeePaid| event.amount);
        let burned = total(&logs, |event: Fees::FeePaid| event.burned);
        let fees_taken = total(&logs, |event: Fees::HeldFeesWithdrawn| event.amount);
        assert_eq!(chain.view(FEES, &Fees::getTotalsCall {}).await.paid, paid);
        assert_eq!(chain.balance(BURN).await, burned);
        assert_eq!(chain.balance(FEES).await, paid - burned - fees_taken);

        let penalties = total(&logs, |event: Registry::ValidatorSlashed| event.penalty);
        let penalties_taken = total(&logs, |event: Registry::PenaltiesWithdrawn| event.amount);
        // The validators of the genesis were registered before the first block.
        let stakes = STAKE * U256::from(5) + total(&logs, |event: Registry::ValidatorRegistered| event.stake);
        let withdrawn = total(&logs, |event: Registry::StakeWithdrawn| event.amount);
        let rewards = total(&logs, |event: Registry::RewardsDistributed| event.amount);
        let claimed = total(&logs, |event: Registry::RewardsClaimed| event.amount);
        let books = chain.view(REGISTRY, &Registry::getAccountingCall {}).await;
        assert_eq!(books.staked + books.unbonding, stakes - withdrawn - penalties);
        assert_eq!(books.rewards, rewards - claimed);
        assert_eq!(books.penalties, penalties - penalties_taken);

        let received = total(&logs, |event: SafeL2::SafeReceived| event.value);
        assert_eq!(chain.balance(TREASURY).await, received);
        assert!(received >= fees_taken + penalties_taken);
    }
}

/// The registry's four parts add up to its balance and to the records, and its counts agree.
async fn check_registry(chain: &TestChain, balance: U256) {
    let books = chain.view(REGISTRY, &Registry::getAccountingCall {}).await;
    assert_eq!(books.staked + books.unbonding + books.rewards + books.penalties, balance);

    let page = Registry::getValidatorsCall { offset: U256::ZERO, limit: U256::MAX };
    let validators = chain.view(REGISTRY, &page).await;
    let (members, others): (Vec<_>, Vec<_>) =
        validators.iter().partition(|validator| matches!(validator.status, 1 | 2));
    assert_eq!(books.staked, members.iter().map(|validator| validator.stake).sum::<U256>());
    assert_eq!(books.unbonding, others.iter().map(|validator| validator.stake).sum::<U256>());
    assert_eq!(books.rewards, validators.iter().map(|validator| validator.rewards).sum::<U256>());

    let status = chain.view(REGISTRY, &Registry::getExpansionStatusCall {}).await;
    assert_eq!(status.current, U256::from(members.len()));
    let open_slots = chain.view(REGISTRY, &Registry::getOpenSlotsCall {}).await;
    assert_eq!(open_slots, status.max.saturating_sub(status.current));
    for validator in &validators {
        assert!(validator.slashCount <= 3);
        assert_eq!(validator.status == 2, validator.jailedUntil != 0, "jailed and nothing else");
    }
    let mut nodes: Vec<_> = validators.iter().map(|validator| validator.consensus).collect();
    nodes.retain(|node| *node != Address::ZERO);
    let used = nodes.len();
    nodes.sort();
    nodes.dedup();
    assert_eq!(nodes.len(), used, "two operators with one node");
}

/// What was collected was burned or is held, for each source and overall.
async fn check_fees(chain: &TestChain, burned: U256) {
    let all = chain.view(FEES, &Fees::getTotalsCall {}).await;
    assert_eq!(all.burned + all.held, all.paid);
    assert_eq!(all.burned, burned, "the burn address has what was burned");
    let mut sums = [U256::ZERO; 4];
    for source in FeeSource::ALL {
        let part = chain.view(FEES, &Fees::getSourceTotalsCall { source: source.id() }).await;
        for (sum, value) in sums.iter_mut().zip([U256::from(part.count), part.paid, part.burned, part.held]) {
            *sum += value;
        }
    }
    assert_eq!(sums, [U256::from(all.count), all.paid, all.burned, all.held]);
}

async fn balances(chain: &TestChain, accounts: &[Address]) -> Vec<U256> {
    let calls: Vec<(&str, Value)> =
        accounts.iter().map(|account| ("eth_getBalance", json!([account, "latest"]))).collect();
    let answers = chain.client().batch(&calls).await.expect("answers");
    let balance = |answer| serde_json::from_value(answer).expect("a balance");
    answers.into_iter().map(|answer| balance(answer.expect("an answer"))).collect()
}

fn sum(amounts: &[U256]) -> U256 {
    amounts.iter().sum()
}

fn total<E: SolEvent>(logs: &[Log], amount: impl Fn(E) -> U256) -> U256 {
    logs.iter().filter_map(|log| E::decode_log(log).ok()).map(|event| amount(event.data)).sum()
}
