//! One simulated node: a validator, its disk (chain and lock) and its operator's wishes.

use alloy_primitives::{Address, B256};
use chainnet_ibft::IbftConfig;
use chainnet_ibft::consensus::{Event, Lock, Validator};
use chainnet_ibft::hash::block_hash;
use chainnet_ibft::rules::{HeaderContext, check_sealed};
use chainnet_ibft::votes::{PendingVotes, VoteTally};

use super::toy::{Recipe, ToyBlock, ToyKey, build};

/// Clocks of nodes are ahead of true time by less than this.
pub(crate) const MAX_SKEW_MS: u64 = 300;

pub(crate) struct Node {
    pub(crate) key: ToyKey,
    /// `None` while the node is down.
    pub(crate) running: Option<Validator<ToyKey, ToyBlock>>,
    /// Counts starts, so that timers of an earlier run are void.
    pub(crate) run: u32,
    /// The happening that is the node's round timer.
    pub(crate) round_timer: Option<u64>,
    /// A faulty node that loses its lock in a restart.
    pub(crate) forgetful: bool,
    pub(crate) skew_ms: u64,
    pub(crate) votes: PendingVotes,
    pub(crate) tally: VoteTally,
    lock: Option<Lock<ToyBlock>>,
    chain: Vec<(ToyBlock, B256)>,
}

impl Node {
    pub(crate) fn new(address: Address, genesis: &ToyBlock, skew_ms: u64) -> Self {
        Self {
            key: ToyKey(address),
            running: None,
            run: 0,
            round_timer: None,
            forgetful: false,
            skew_ms,
            votes: PendingVotes::default(),
            tally: VoteTally::at_epoch(&genesis.0).unwrap(),
            lock: None,
            chain: vec![(genesis.clone(), block_hash(&genesis.0).unwrap())],
        }
    }

    pub(crate) fn head(&self) -> &(ToyBlock, B256) {
        self.chain.last().unwrap()
    }

    pub(crate) fn height(&self) -> u64 {
        self.head().0.0.number
    }

    pub(crate) fn block(&self, number: u64) -> &ToyBlock {
        &self.chain[number as usize].0
    }

    pub(crate) fn start(&mut self, config: &IbftConfig) {
        let lock = self.lock.clone().filter(|_| !self.forgetful);
        self.run += 1;
        self.running = Some(match lock {
            Some(lock) => Validator::resume(self.key, config.clone(), lock),
            None => Validator::new(self.key, config.clone()),
        });
    }

    pub(crate) fn persist(&mut self, lock: Lock<ToyBlock>) {
        self.lock = Some(lock);
    }

    pub(crate) fn new_head(&self) -> Event<ToyBlock> {
        Event::NewHead { header: (*self.head().0.0).clone(), validators: self.tally.validators() }
    }

    pub(crate) fn build(&mut self, round: u32, timestamp: u64, state_root: B256) -> ToyBlock {
        let vote = self.votes.next_vote(self.key.0, &self.tally);
        let (parent, parent_hash) = self.head().clone();
        let validators = self.tally.validators();
        let coinbase = self.key.0;
        build(&parent.0, Recipe { parent_hash, coinbase, validators, vote, round, timestamp, state_root })
    }

    /// Imports the next block, which must pass all rules.
    pub(crate) fn import(
        &mut self,
        block: &ToyBlock,
        config: &IbftConfig,
        now_ms: u64,
    ) -> Result<(), String> {
        let (parent, parent_hash) = self.head();
        let validators = self.tally.validators();
        let context = HeaderContext {
            parent: &parent.0,
            parent_hash: *parent_hash,
            validators: &validators,
            config,
            now_secs: (now_ms + self.skew_ms) / 1000,
        };
        check_sealed(&block.0, &context, &self.key)
            .map_err(|violation| format!("block {} breaks a rule: {violation}", block.0.number))?;
        self.tally.apply(&block.0, config).unwrap();
        self.chain.push((block.clone(), block_hash(&block.0).unwrap()));
        Ok(())
    }
}
