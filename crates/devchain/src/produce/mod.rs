//! Block production: this node's validators agreeing on blocks through the `ibft` state machine.
//!
//! All validators live on one thread and talk through a queue, so a round of consensus is a loop, not a network. The
//! thread sleeps until a timer of a validator is due or a command arrives.

mod build;
mod command;
mod metrics;
mod seat;
mod travel;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use alloy_primitives::B256;
use ibft::{
    consensus::{Action, Event, Validator},
    extra_data::ExtraData,
    seal::Secp256k1Key,
};
use tracing::{debug, info, warn};

use command::Command;
pub use command::{Control, ControlError, PendingVote, ValidatorStatus};
pub use metrics::ProductionMetrics;
use seat::{Proposed, Seat, Timer};
use travel::Snapshots;

use crate::chain::{Chain, Executed, ImportError};

/// Longest sleep: if the machine's clock is set forward meanwhile, a block is due earlier than it looked.
const MAX_SLEEP: Duration = Duration::from_millis(500);

/// When blocks are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pacing {
    /// Every block period.
    #[default]
    Timed,
    /// Only when [`Control::mine`] asks.
    OnDemand,
}

/// Running block production; ends when dropped or when it fails.
pub struct Production {
    control: Control,
    metrics: Arc<ProductionMetrics>,
    thread: Option<JoinHandle<Result<(), ImportError>>>,
}

impl Production {
    /// Starts the validators with these keys, named `V1`, `V2`, … in order. Those in the validator set take part.
    pub fn start(chain: Arc<Chain>, keys: Vec<Secp256k1Key>, pacing: Pacing) -> std::io::Result<Self> {
        let (sender, commands) = mpsc::sync_channel(command::QUEUE);
        let seats =
            keys.into_iter().enumerate().map(|(i, key)| Seat::new(format!("V{}", i + 1), key)).collect();
        let metrics = Arc::new(ProductionMetrics::new());
        let producer = Producer {
            chain,
            metrics: metrics.clone(),
            seats,
            mail: VecDeque::new(),
            executed: HashMap::new(),
            snapshots: Snapshots::default(),
            next_timestamp: None,
            set_forward_ms: 0,
            pacing,
            commands,
        };
        let thread = thread::Builder::new().name("producer".to_owned()).spawn(move || producer.run())?;
        Ok(Self { control: Control::new(sender), metrics, thread: Some(thread) })
    }

    /// For asking something of the validators.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// What is counted, for operators.
    pub fn metrics(&self) -> &Arc<ProductionMetrics> {
        &self.metrics
    }

    /// Whether production has ended by itself, which only a failure does.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends production after the block under way and says how it went.
    pub fn stop(mut self) -> Result<(), ImportError> {
        self.join()
    }

    fn join(&mut self) -> Result<(), ImportError> {
        self.control.shut_down();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

impl Drop for Production {
    fn drop(&mut self) {
        if let Err(error) = self.join() {
            warn!(%error, "block production had failed");
        }
    }
}

struct Producer {
    chain: Arc<Chain>,
    metrics: Arc<ProductionMetrics>,
    seats: Vec<Seat>,
    /// Events on their way to a seat.
    mail: VecDeque<(usize, Event<Proposed>)>,
    /// Effects of the proposals at this height, by block hash, so that a block is executed once, not once a validator.
    executed: HashMap<B256, Executed>,
    snapshots: Snapshots,
    /// Asked for by `evm_setNextBlockTimestamp`.
    next_timestamp: Option<u64>,
    /// How far the machine's clock had been set forward when it was last looked at.
    set_forward_ms: i64,
    pacing: Pacing,
    commands: Receiver<Command>,
}

impl Producer {
    fn run(mut self) -> Result<(), ImportError> {
        self.start_all()?;
        loop {
            match self.commands.recv_timeout(self.until_next_timer()) {
                Ok(Command::Shutdown) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(command) => self.obey(command)?,
                Err(RecvTimeoutError::Timeout) if self.is_due() => self.fire_due()?,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Whether a timer has gone off. A clock that was set, or is made to go slower, has woken us too early.
    fn is_due(&self) -> bool {
        let now = self.chain.clock().now_ms();
        self.pacing == Pacing::Timed && self.next_due_ms().is_some_and(|due| due <= now)
    }

    fn until_next_timer(&self) -> Duration {
        const LONG: Duration = Duration::from_secs(3600);
        if self.pacing == Pacing::OnDemand {
            return LONG;
        }
        let now = self.chain.clock().now_ms();
        let wait = self.next_due_ms().map_or(LONG, |due| Duration::from_millis(due.saturating_sub(now)));
        wait.min(MAX_SLEEP)
    }

    fn next_due_ms(&self) -> Option<u64> {
        self.seats.iter().filter_map(Seat::next_due_ms).min()
    }

    /// Delivers the timers that are due and all that follows from them.
    fn fire_due(&mut self) -> Result<(), ImportError> {
        self.follow_machine();
        if let Some(timestamp) = self.next_timestamp.take() {
            self.leap(timestamp);
        }
        let now = self.chain.clock().now_ms();
        for (index, seat) in self.seats.iter_mut().enumerate() {
            while let Some(timer) = seat.take_due(now) {
                self.mail.push_back((index, timer.event()));
            }
        }
        self.settle()
    }

    /// Delivers events until none is left.
    fn settle(&mut self) -> Result<(), ImportError> {
        while let Some((index, event)) = self.mail.pop_front() {
            let now = self.chain.clock().now_ms();
            let machine = self.seats.get_mut(index).and_then(|seat| seat.machine.as_mut());
            let actions = machine.map(|machine| machine.on_event(event, now)).unwrap_or_default();
            for action in actions {
                self.act(index, action)?;
            }
        }
        Ok(())
    }

    fn act(&mut self, index: usize, action: Action<Proposed>) -> Result<(), ImportError> {
        let Some(seat) = self.seats.get_mut(index) else { return Ok(()) };
        match action {
            Action::Persist(lock) => seat.lock = Some(lock),
            Action::Broadcast(message) => {
                let others =
                    self.seats.iter().enumerate().filter(|(i, seat)| *i != index && seat.machine.is_some());
                self.mail.extend(others.map(|(i, _)| (i, Event::Message(message.clone()))));
            }
            Action::BuildProposal { height, round, timestamp } => {
                let block = self.build(index, round, timestamp)?;
                self.mail.push_back((index, Event::ProposalBuilt { height, round, block }));
            }
            Action::CheckProposal { digest, block } => {
                let valid = self.is_valid(&block);
                self.mail.push_back((index, Event::ProposalChecked { digest, valid }));
            }
            Action::StartBlockTimer { height, at_ms } => seat.arm(Timer::Block { height }, at_ms),
            Action::StartRoundTimer { height, round, after_ms } => {
                seat.arm(
                    Timer::Round { height, round },
                    self.chain.clock().now_ms().saturating_add(after_ms),
                );
            }
            Action::ImportBlock(block) => self.import(&block)?,
            Action::Report { author, reason } => {
                debug!(validator = %seat.name, %author, %reason, "message refused")
            }
        }
        Ok(())
    }

    /// Makes the first sealed copy of a block the head; the other validators' copies are the same block.
    fn import(&mut self, proposed: &Proposed) -> Result<(), ImportError> {
        if proposed.header.number <= self.chain.head().block.number() {
            return Ok(());
        }
        let started = Instant::now();
        let block = proposed.to_block();
        self.chain.check_sealed(&block.header)?;
        let executed = match self.executed.remove(&block.hash) {
            Some(executed) => executed,
            None => self.chain.execute(&block)?,
        };
        let head = self.chain.extend(Arc::new(block), executed)?;
        self.executed.clear();
        self.count_block(proposed, started);
        debug!(number = head.block.number(), hash = %head.block.hash, "block sealed");
        self.announce_head();
        Ok(())
    }

    fn count_block(&self, proposed: &Proposed, started: Instant) {
        let metrics = &self.metrics;
        metrics.commit.observe(started.elapsed().as_secs_f64());
        metrics.blocks.inc();
        metrics.transactions.inc_by(proposed.transactions.len() as u64);
        let round = ExtraData::decode(&proposed.header.extra_data).map_or(0, |extra| extra.round);
        metrics.failed_rounds.inc_by(round.into());
        self.count_running();
    }

    fn count_running(&self) {
        let running = self.seats.iter().filter(|seat| seat.machine.is_some()).count();
        self.metrics.running.set(i64::try_from(running).unwrap_or(i64::MAX));
    }

    fn announce_head(&mut self) {
        let event = self.new_head();
        let running = self.seats.iter().enumerate().filter(|(_, seat)| seat.machine.is_some());
        self.mail.extend(running.map(|(index, _)| (index, event.clone())));
    }

    fn is_valid(&mut self, block: &Proposed) -> bool {
        if self.executed.contains_key(&block.hash) {
            return true;
        }
        match self.chain.execute(&block.to_block()) {
            Ok(executed) => {
                self.executed.insert(block.hash, executed);
                true
            }
            Err(error) => {
                warn!(%error, number = block.header.number, "proposal refused");
                false
            }
        }
    }

    /// Starts every validator at the head.
    fn start_all(&mut self) -> Result<(), ImportError> {
        for index in 0..self.seats.len() {
            self.start_seat(index);
        }
        self.count_running();
        self.settle()
    }

    fn start_seat(&mut self, index: usize) {
        let Some(seat) = self.seats.get_mut(index) else { return };
        let (key, config) = (seat.key.clone(), self.chain.spec().ibft.clone());
        seat.machine = Some(match seat.lock.clone() {
            Some(lock) => Validator::resume(key, config, lock),
            None => Validator::new(key, config),
        });
        let event = self.new_head();
        self.mail.push_back((index, event));
    }

    fn new_head(&self) -> Event<Proposed> {
        let head = self.chain.head();
        Event::NewHead { header: head.block.header.clone(), validators: head.tally.validators() }
    }

    fn obey(&mut self, command: Command) -> Result<(), ImportError> {
        // An asker that has gone away does not need its answer.
        match command {
            Command::Mine { timestamp, answer } => drop(answer.send(self.mine(timestamp)?)),
            Command::SetNextTimestamp { timestamp, answer } => {
                drop(answer.send(self.set_next_timestamp(timestamp)))
            }
            Command::IncreaseTime { secs, answer } => drop(answer.send(self.increase_time(secs))),
            Command::Snapshot { answer } => drop(answer.send(Ok(self.snapshot()))),
            Command::Revert { id, answer } => drop(answer.send(self.revert(id))),
            Command::SetRunning { validator, running, answer } => {
                drop(answer.send(self.set_running(&validator, running)?));
            }
            Command::SetVote { validator, subject, vote, answer } => {
                let set = self.seat_mut(&validator).map(|seat| match vote {
                    Some(vote) => seat.votes.propose(vote),
                    None => seat.votes.discard(subject),
                });
                drop(answer.send(set));
            }
            Command::Validators { answer } => drop(answer.send(Ok(self.status()))),
            Command::Shutdown => {}
        }
        Ok(())
    }

    fn set_running(
        &mut self,
        validator: &str,
        running: bool,
    ) -> Result<Result<(), ControlError>, ImportError> {
        let Some(index) = self.seats.iter().position(|seat| seat.answers_to(validator)) else {
            return Ok(Err(ControlError::UnknownValidator(validator.to_owned())));
        };
        let Some(seat) = self.seats.get_mut(index) else { return Ok(Ok(())) };
        if seat.machine.is_some() == running {
            return Ok(Ok(()));
        }
        info!(validator = %seat.name, running, "validator switched");
        if running {
            self.start_seat(index);
            self.settle()?;
        } else {
            seat.stop();
        }
        self.count_running();
        Ok(Ok(()))
    }

    fn seat_mut(&mut self, validator: &str) -> Result<&mut Seat, ControlError> {
        let found = self.seats.iter_mut().find(|seat| seat.answers_to(validator));
        found.ok_or_else(|| ControlError::UnknownValidator(validator.to_owned()))
    }

    fn status(&self) -> Vec<ValidatorStatus> {
        let head = self.chain.head();
        let status = |seat: &Seat| ValidatorStatus {
            name: seat.name.clone(),
            address: seat.address(),
            running: seat.machine.is_some(),
            in_validator_set: head.tally.is_validator(seat.address()),
            votes: seat.votes.iter().map(PendingVote::from).collect(),
        };
        self.seats.iter().map(status).collect()
    }
}
