//! A whole network in one thread: virtual time, one queue of happenings, one seeded source of chance. The same seed
//! always tells the same story.

pub(crate) mod chaos;
pub(crate) mod network;
pub(crate) mod node;
pub(crate) mod toy;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;

use alloy_primitives::{Address, B256};
use chainnet_ibft::consensus::{Action, Event, Message, ProposedBlock};
use chainnet_ibft::extra_data::ExtraData;
use chainnet_ibft::hash::block_hash;
use chainnet_ibft::proposer::proposer;
use chainnet_ibft::rules::{HeaderContext, check_sealed};
use chainnet_ibft::{BaseFee, IbftConfig};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use network::Weather;
use node::{MAX_SKEW_MS, Node};
use toy::{GENESIS_TIME, ToyBlock, genesis};

/// How often a node asks a peer for blocks it has missed.
const SYNC_MS: u64 = 700;

/// What may come to pass.
enum Happening {
    Arrival {
        to: usize,
        message: Arc<Message<ToyBlock>>,
    },
    /// A timer or an answer of the node's own driver; void after a restart.
    Own {
        node: usize,
        run: u32,
        event: Box<Event<ToyBlock>>,
    },
    Import {
        node: usize,
        run: u32,
        block: ToyBlock,
    },
    Sync {
        node: usize,
        run: u32,
    },
}

/// What was seen on the way; a campaign checks that its seeds reached the interesting corners.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Sights {
    pub(crate) blocks: u64,
    /// Blocks sealed after a round change.
    pub(crate) late_rounds: u64,
    /// Of these, blocks whose builder was not the proposer of the round: prepared before and proposed again.
    pub(crate) proposed_again: u64,
    pub(crate) set_changes: u64,
    pub(crate) messages: u64,
    pub(crate) restarts: u64,
}

pub(crate) struct World {
    pub(crate) config: IbftConfig,
    pub(crate) nodes: Vec<Node>,
    pub(crate) weather: Weather,
    /// Nodes reach each other if their numbers are equal.
    pub(crate) islands: Vec<usize>,
    pub(crate) now_ms: u64,
    pub(crate) sights: Sights,
    pub(crate) rng: StdRng,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    /// By id; a cancelled one is missing.
    happenings: HashMap<u64, Happening>,
    next_id: u64,
    /// The one block hash of each height, with the first sealed header under it.
    sealed: BTreeMap<u64, (B256, ToyBlock)>,
}

pub(crate) fn address(index: usize) -> Address {
    // Scattered over the address space, so that the order of the set is not that of the indexes.
    let scattered = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&scattered.to_be_bytes());
    bytes[19] = index as u8;
    Address::new(bytes)
}

pub(crate) fn config() -> IbftConfig {
    IbftConfig {
        block_period_secs: 2,
        request_timeout_secs: 4,
        base_fee: BaseFee::Zero,
        ..IbftConfig::default()
    }
}

impl World {
    /// A network of `validators` and some nodes that are not yet validators, all down.
    pub(crate) fn new(seed: u64, validators: usize, candidates: usize, config: IbftConfig) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let genesis = genesis((0..validators).map(address).collect());
        let total = validators + candidates;
        let nodes =
            (0..total).map(|i| Node::new(address(i), &genesis, rng.random_range(0..MAX_SKEW_MS))).collect();
        Self {
            config,
            nodes,
            weather: Weather::GOOD,
            islands: vec![0; total],
            now_ms: GENESIS_TIME * 1000,
            sights: Sights::default(),
            rng,
            queue: BinaryHeap::new(),
            happenings: HashMap::new(),
            next_id: 0,
            sealed: BTreeMap::new(),
        }
    }

    /// Adds a second node with the key of another: an identity that says different things to different peers.
    pub(crate) fn add_twin(&mut self, of: usize) {
        let genesis = self.nodes[of].block(0).clone();
        let skew = self.rng.random_range(0..MAX_SKEW_MS);
        self.nodes.push(Node::new(address(of), &genesis, skew));
        self.islands.push(0);
    }

    pub(crate) fn start(&mut self, node: usize) -> Result<(), String> {
        if self.nodes[node].running.is_some() {
            return Ok(());
        }
        let config = self.config.clone();
        self.nodes[node].start(&config);
        self.sights.restarts += u64::from(self.nodes[node].run > 1);
        let run = self.nodes[node].run;
        self.schedule(SYNC_MS, Happening::Sync { node, run });
        self.give(node, self.nodes[node].new_head())
    }

    pub(crate) fn start_all(&mut self) -> Result<(), String> {
        (0..self.nodes.len()).try_for_each(|node| self.start(node))
    }

    pub(crate) fn stop(&mut self, node: usize) {
        self.nodes[node].running = None;
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.running.is_some())
    }

    pub(crate) fn highest(&self) -> u64 {
        self.nodes.iter().map(Node::height).max().unwrap_or(0)
    }

    pub(crate) fn lowest_running(&self) -> u64 {
        self.running().map(Node::height).min().unwrap_or(0)
    }

    /// Lets virtual time pass.
    pub(crate) fn run_for(&mut self, ms: u64) -> Result<(), String> {
        self.run_until(ms, |_| false).map(|_| ())
    }

    /// Lets virtual time pass until the goal is reached or the time is over; tells whether the goal was reached.
    pub(crate) fn run_until(&mut self, ms: u64, goal: impl Fn(&Self) -> bool) -> Result<bool, String> {
        let end = self.now_ms + ms;
        while let Some(&Reverse((at, id))) = self.queue.peek() {
            if goal(self) {
                return Ok(true);
            }
            if at > end {
                break;
            }
            self.queue.pop();
            self.now_ms = at;
            if let Some(happening) = self.happenings.remove(&id) {
                self.happen(happening)?;
            }
        }
        self.now_ms = end;
        Ok(goal(self))
    }

    fn schedule(&mut self, after_ms: u64, happening: Happening) {
        let id = self.next_id;
        self.next_id += 1;
        self.queue.push(Reverse((self.now_ms + after_ms, id)));
        self.happenings.insert(id, happening);
    }

    fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Arrival { to, message } => self.give(to, Event::Message((*message).clone())),
            Happening::Own { node, run, event } if self.nodes[node].run == run => self.give(node, *event),
            Happening::Import { node, run, block } if self.nodes[node].run == run => {
                self.import(node, &[block])
            }
            Happening::Sync { node, run } if self.nodes[node].run == run => self.sync(node),
            Happening::Own { .. } | Happening::Import { .. } | Happening::Sync { .. } => Ok(()),
        }
    }

    /// Feeds an event to a node, if it is up, and carries out what it wants.
    fn give(&mut self, index: usize, event: Event<ToyBlock>) -> Result<(), String> {
        let node = &mut self.nodes[index];
        let now_ms = self.now_ms + node.skew_ms;
        let Some(validator) = &mut node.running else {
            return Ok(());
        };
        let actions = validator.on_event(event, now_ms);
        actions.into_iter().try_for_each(|action| self.carry_out(index, action))
    }

    fn carry_out(&mut self, index: usize, action: Action<ToyBlock>) -> Result<(), String> {
        let run = self.nodes[index].run;
        let (after_ms, event) = match action {
            Action::Persist(lock) => {
                self.nodes[index].persist(lock);
                return Ok(());
            }
            Action::Broadcast(message) => {
                self.broadcast(index, message);
                return Ok(());
            }
            Action::ImportBlock(block) => {
                self.witness(index, &block)?;
                let delay = self.rng.random_range(0..40);
                self.schedule(delay, Happening::Import { node: index, run, block });
                return Ok(());
            }
            // Twins accuse each other, and a lagging node misjudges; neither is a failure.
            Action::Report { .. } => return Ok(()),
            Action::BuildProposal { height, round, timestamp } => {
                let state_root = B256::from(self.rng.random::<[u8; 32]>());
                let block = self.nodes[index].build(round, timestamp, state_root);
                (self.rng.random_range(0..60), Event::ProposalBuilt { height, round, block })
            }
            Action::CheckProposal { digest, .. } => {
                (self.rng.random_range(0..60), Event::ProposalChecked { digest, valid: true })
            }
            Action::StartBlockTimer { height, at_ms } => {
                let now_ms = self.now_ms + self.nodes[index].skew_ms;
                (at_ms.saturating_sub(now_ms), Event::BlockTimerFired { height })
            }
            Action::StartRoundTimer { height, round, after_ms } => {
                if let Some(replaced) = self.nodes[index].round_timer.replace(self.next_id) {
                    self.happenings.remove(&replaced);
                }
                (after_ms, Event::RoundTimerFired { height, round })
            }
        };
        let event = Box::new(event);
        self.schedule(after_ms, Happening::Own { node: index, run, event });
        Ok(())
    }

    fn broadcast(&mut self, from: usize, message: Message<ToyBlock>) {
        let message = Arc::new(message);
        for to in (0..self.nodes.len()).filter(|&to| to != from) {
            if self.islands[to] != self.islands[from] {
                continue;
            }
            for delay in self.weather.fates(&mut self.rng) {
                self.sights.messages += 1;
                self.schedule(delay, Happening::Arrival { to, message: Arc::clone(&message) });
            }
        }
    }

    /// The invariant: a sealed block is valid, and the only one of its height.
    fn witness(&mut self, index: usize, block: &ToyBlock) -> Result<(), String> {
        let node = &self.nodes[index];
        let number = block.0.number;
        let hash = block_hash(&block.0).map_err(|error| error.to_string())?;
        let (parent, parent_hash) = node.head();
        if parent.0.number + 1 == number {
            let context = HeaderContext {
                parent: &parent.0,
                parent_hash: *parent_hash,
                validators: &node.tally.validators(),
                config: &self.config,
                now_secs: (self.now_ms + node.skew_ms) / 1000,
            };
            check_sealed(&block.0, &context, &node.key)
                .map_err(|violation| format!("sealed block {number} breaks a rule: {violation}"))?;
        }
        match self.sealed.get(&number) {
            Some((known, _)) if *known == hash => Ok(()),
            Some((known, _)) => Err(format!("two blocks sealed at height {number}: {known} and {hash}")),
            None => {
                self.note_sights(index, block);
                self.sealed.insert(number, (hash, block.clone()));
                Ok(())
            }
        }
    }

    fn note_sights(&mut self, index: usize, block: &ToyBlock) {
        let node = &self.nodes[index];
        let extra = ExtraData::decode(&block.header().extra_data).unwrap();
        let parent = &node.head().0.0;
        let turn = proposer(parent.beneficiary, &extra.validators, extra.round);
        self.sights.blocks += 1;
        self.sights.late_rounds += u64::from(extra.round > 0);
        self.sights.proposed_again += u64::from(turn != Some(block.0.beneficiary));
        let before = ExtraData::decode(&parent.extra_data).unwrap().validators;
        self.sights.set_changes += u64::from(parent.number > 0 && before != extra.validators);
    }

    /// Imports blocks that follow the node's head, skipping those it has.
    fn import(&mut self, index: usize, blocks: &[ToyBlock]) -> Result<(), String> {
        let before = self.nodes[index].height();
        for block in blocks {
            if block.0.number == self.nodes[index].height() + 1 {
                self.nodes[index].import(block, &self.config, self.now_ms)?;
                let hash = self.nodes[index].head().1;
                if self.sealed.get(&block.0.number).map(|(known, _)| *known) != Some(hash) {
                    return Err(format!("block {} was imported without being sealed", block.0.number));
                }
            }
        }
        if self.nodes[index].height() > before {
            self.give(index, self.nodes[index].new_head())?;
        }
        Ok(())
    }

    /// A node asks one reachable peer for what it has missed.
    fn sync(&mut self, index: usize) -> Result<(), String> {
        if self.nodes[index].running.is_none() {
            return Ok(());
        }
        let run = self.nodes[index].run;
        self.schedule(SYNC_MS, Happening::Sync { node: index, run });
        let peer = self.rng.random_range(0..self.nodes.len());
        let reachable = self.nodes[peer].running.is_some() && self.islands[peer] == self.islands[index];
        let from = self.nodes[index].height() + 1;
        if !reachable || self.nodes[peer].height() < from {
            return Ok(());
        }
        let missed: Vec<_> =
            (from..=self.nodes[peer].height()).map(|number| self.nodes[peer].block(number).clone()).collect();
        self.import(index, &missed)
    }
}
