//! Whatever happens to the pool, its promises hold.

use std::collections::BTreeMap;

use alloy_consensus::Transaction as _;
use alloy_primitives::Address;
use proptest::prelude::*;

use super::{account, limits, priced, rules};
use crate::{
    block::Transaction,
    pool::{Pool, PoolLimits, PoolRules},
};

const SMALL: fn() -> PoolLimits =
    || PoolLimits { max_transactions: 24, max_per_sender: 8, max_future_gap: 5, ..limits() };

#[derive(Debug, Clone)]
enum Step {
    Add { sender: u8, nonce: u64, price: u128 },
    Mine { count: usize },
    Remove { pick: prop::sample::Index },
    Revert { sender: u8, to: u64 },
    BaseFee { base_fee: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..5_u8, 0..14_u64, 0..4_u128).prop_map(|(sender, nonce, price)| Step::Add { sender, nonce, price }),
        2 => (0..6_usize).prop_map(|count| Step::Mine { count }),
        1 => any::<prop::sample::Index>().prop_map(|pick| Step::Remove { pick }),
        1 => (0..5_u8, 0..6_u64).prop_map(|(sender, to)| Step::Revert { sender, to }),
        1 => (0..3_u64).prop_map(|base_fee| Step::BaseFee { base_fee }),
    ]
}

/// The accounts as the chain would know them.
#[derive(Default)]
struct Accounts {
    nonces: BTreeMap<Address, u64>,
    base_fee: u64,
}

impl Accounts {
    fn nonce(&self, sender: Address) -> u64 {
        self.nonces.get(&sender).copied().unwrap_or_default()
    }

    fn run(&mut self, pool: &Pool, step: Step) {
        match step {
            Step::Add { sender, nonce, price } => {
                let tx = priced(Address::repeat_byte(sender), nonce, price);
                let rules = PoolRules { base_fee: self.base_fee, ..rules() };
                // Refusals are part of the game.
                let _ = pool.add(tx.clone(), account(self.nonce(tx.signer())), &rules);
            }
            Step::Mine { count } => {
                let mined: Vec<Transaction> =
                    pool.best(self.base_fee, count).iter().map(|tx| (**tx).clone()).collect();
                for tx in &mined {
                    assert_eq!(tx.nonce(), self.nonce(tx.signer()), "a block takes nonces in order");
                    self.nonces.insert(tx.signer(), tx.nonce() + 1);
                }
                pool.on_block(&mined);
            }
            Step::Remove { pick } => {
                let content = pool.content();
                if !content.is_empty() {
                    pool.remove(*pick.get(&content).transaction.inner().tx_hash());
                }
            }
            Step::Revert { sender, to } => {
                let sender = Address::repeat_byte(sender);
                self.nonces.insert(sender, self.nonce(sender).min(to));
                pool.on_revert(|sender| self.nonce(sender));
            }
            Step::BaseFee { base_fee } => self.base_fee = base_fee,
        }
    }

    fn check(&self, pool: &Pool) {
        let content = pool.content();
        assert_eq!(content.len(), pool.len());
        assert!(content.len() <= SMALL().max_transactions);
        let mut executable: BTreeMap<Address, Vec<u128>> = BTreeMap::new();
        for sender in (0..5).map(Address::repeat_byte) {
            let queue = pool.content_of(sender);
            assert!(queue.len() <= SMALL().max_per_sender);
            let mut next = self.nonce(sender);
            for pooled in &queue {
                assert!(pooled.transaction.nonce() >= self.nonce(sender), "stale transaction kept");
                assert_eq!(pooled.executable, pooled.transaction.nonce() == next);
                if pooled.executable {
                    next += 1;
                    executable.entry(sender).or_default().push(pooled.transaction.max_fee_per_gas());
                }
            }
            assert_eq!(pool.pending_nonce(sender), (!queue.is_empty()).then_some(next));
        }
        self.check_order(pool, executable);
    }

    /// Each transaction of `best` pays at least as much as any other that could have stood in its place.
    fn check_order(&self, pool: &Pool, mut available: BTreeMap<Address, Vec<u128>>) {
        let affordable = |price: &&u128| **price >= u128::from(self.base_fee);
        for tx in pool.best(self.base_fee, usize::MAX) {
            let highest = available.values().filter_map(|prices| prices.first().filter(affordable)).max();
            assert_eq!(Some(&tx.max_fee_per_gas()), highest);
            available.get_mut(&tx.signer()).unwrap().remove(0);
        }
        assert!(available.values().all(|prices| prices.first().filter(affordable).is_none()));
    }
}

proptest! {
    #[test]
    fn any_sequence_keeps_nonce_order_and_limits(steps in prop::collection::vec(step(), 1..200)) {
        let pool = Pool::new(SMALL());
        let mut accounts = Accounts::default();
        for step in steps {
            accounts.run(&pool, step);
            accounts.check(&pool);
        }
    }
}
