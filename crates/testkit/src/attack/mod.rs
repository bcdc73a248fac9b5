//! One hostile client against the whole product, with everything that has ever hurt it and in random shapes, while somebody else
//! uses it: nobody else waits, memory stays bounded, and the process still ends when it is told to.
//!
//! The same campaign runs short in the tests and long in `scripts/soak`.

mod chain;
mod client;
mod clock;
mod graphql;
mod observe;
mod wire;

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use rand::{SeedableRng, rngs::StdRng, seq::IndexedRandom};
use tempfile::TempDir;
use tokio::time::timeout;

use self::{client::Attacker, clock::Clock, observe::Observer};
use crate::{AppProcess, StartError};

/// How long one attack goes on.
const ATTACK_TIME: Duration = Duration::from_secs(15);
/// Attacks under way at once, each from an address of its own.
const ATTACKS_AT_ONCE: usize = 2;
/// How long the process may take to end while it is attacked: its drain time, and what ending takes.
const END_LIMIT: Duration = Duration::from_secs(20);

/// A campaign to run.
#[derive(Debug, Clone)]
pub struct AttackCampaign {
    /// The `chainnet` binary.
    pub binary: PathBuf,
    /// How long.
    pub time: Duration,
    /// Where the campaign's random choices start.
    pub seed: u64,
    /// How late an answer or a block of somebody else may be.
    pub max_delay: Duration,
    /// What the process may occupy, in bytes.
    pub max_memory: u64,
    /// Only the attack of this name.
    pub only: Option<String>,
    /// The library `libfaketime`: a third part of the time is then spent on a machine whose clock is set again and again.
    pub clock_library: Option<PathBuf>,
}

/// What others noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AttackReport {
    /// Attacks that were made.
    pub attacks: u32,
    /// Answers that somebody else got.
    pub answers: u32,
    /// The slowest of them.
    pub slowest_answer: Duration,
    /// The longest that a block was overdue.
    pub latest_block: Duration,
    /// The most memory that the process occupied, in bytes.
    pub memory: u64,
    /// Seconds in which the machine's host gave much of it to others, which are not judged.
    pub stolen_seconds: u32,
    /// How long the process took to end.
    pub ending: Duration,
}

/// Why a campaign failed.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    /// The product does not start.
    #[error("the product does not start")]
    Start(#[from] StartError),
    /// The operating system refused something.
    #[error("cannot handle the product's process or files")]
    Io(#[from] io::Error),
    /// The process is gone.
    #[error("the process ended during {attack}:\n{output}")]
    Died {
        /// The attacks under way.
        attack: String,
        /// Its last words.
        output: String,
    },
    /// A promise was broken.
    #[error("{breach} during {attack}")]
    Breach {
        /// The promise.
        breach: Breach,
        /// The attacks under way.
        attack: String,
    },
}

/// What must not happen to others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// An answer was late.
    #[error("{what} took {took:?}")]
    LateAnswer {
        /// What was asked.
        what: &'static str,
        /// How long it took.
        took: Duration,
    },
    /// There was no answer.
    #[error("{what} failed: {reason}")]
    NoAnswer {
        /// What was asked.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// A block was late.
    #[error("block {number} was {overdue:?} overdue")]
    LateBlock {
        /// The block.
        number: u64,
        /// By how much.
        overdue: Duration,
    },
    /// The process occupies too much.
    #[error("the process occupies {bytes} bytes")]
    Memory {
        /// How much.
        bytes: u64,
    },
    /// The process did not end when it was told to.
    #[error("the process did not end within {END_LIMIT:?}")]
    DoesNotEnd,
}

/// What is attacked: a public network, one with free gas where the node itself is in reach, and the latter while somebody
/// sets the machine's clock.
const PARTS: [(&str, bool); 3] = [("testnet", false), ("devnet", false), ("devnet", true)];

impl AttackCampaign {
    /// Runs the campaign, an equal time on each part; `progress` hears of every round of attacks.
    pub async fn run(
        &self,
        mut progress: impl FnMut(&str, &AttackReport),
    ) -> Result<AttackReport, AttackError> {
        let mut dice = StdRng::seed_from_u64(self.seed);
        let mut report = AttackReport::default();
        let parts = PARTS.into_iter().filter(|(_, sets_clock)| !sets_clock || self.clock_library.is_some());
        let parts: Vec<_> = parts.collect();
        let time = self.time / u32::try_from(parts.len()).unwrap_or(1);
        for (network, sets_clock) in parts {
            let library = self.clock_library.as_ref().filter(|_| sets_clock);
            let clock = library.map(|library| Clock::new(library, &mut dice)).transpose()?;
            self.attack_network(network, clock, time, &mut dice, &mut report, &mut progress).await?;
        }
        Ok(report)
    }

    async fn attack_network(
        &self,
        network: &str,
        clock: Option<Clock>,
        time: Duration,
        dice: &mut StdRng,
        report: &mut AttackReport,
        progress: &mut impl FnMut(&str, &AttackReport),
    ) -> Result<(), AttackError> {
        let data = TempDir::new()?;
        let environment = clock.as_ref().map(Clock::environment).unwrap_or_default();
        let arguments = ["--network", network];
        let mut app = AppProcess::up_with(&self.binary, data.path(), arguments, environment).await?;
        let _clock = clock.map(Clock::start);
        let targets = client::Targets::of(&app, network);
        let observer = Observer::start(&app, targets, self.max_delay, self.max_memory)?;
        let until = Instant::now() + time;
        let mut is_first = true;
        while is_first || Instant::now() < until {
            is_first = false;
            let attack = self.round(targets, dice).await;
            report.attacks += 1;
            observer.add_to(report);
            if app.has_ended() {
                return Err(AttackError::Died { attack, output: app.server().output() });
            }
            if let Some(breach) = observer.breach() {
                return Err(AttackError::Breach { breach, attack });
            }
            progress(&attack, report);
        }
        self.end_under_attack(&mut app, targets, dice, report).await
    }

    /// Some attacks at once, for a while.
    async fn round(&self, targets: client::Targets, dice: &mut StdRng) -> String {
        let candidates: Vec<Attack> = ATTACKS
            .into_iter()
            .filter(|attack| self.only.as_ref().is_none_or(|only| *only == format!("{attack:?}")))
            .collect();
        let chosen: Vec<Attack> =
            (0..ATTACKS_AT_ONCE).filter_map(|_| candidates.choose(dice).copied()).collect();
        let under_way = chosen.iter().map(|attack| {
            let attacker = Attacker::new(targets, dice);
            let time = ATTACK_TIME.min(self.time);
            tokio::spawn(timeout(time, attack.run(attacker)))
        });
        for attack in under_way.collect::<Vec<_>>() {
            // Attacks fail all the time; what others notice is what counts.
            let _ = attack.await;
        }
        chosen.iter().map(|attack| format!("{attack:?}")).collect::<Vec<_>>().join(" and ")
    }

    async fn end_under_attack(
        &self,
        app: &mut AppProcess,
        targets: client::Targets,
        dice: &mut StdRng,
        report: &mut AttackReport,
    ) -> Result<(), AttackError> {
        let attackers: Vec<_> =
            ATTACKS.iter().map(|attack| tokio::spawn(attack.run(Attacker::new(targets, dice)))).collect();
        tokio::time::sleep(Duration::from_secs(2).min(self.time)).await;
        let told = Instant::now();
        let ended = timeout(END_LIMIT, app.stop()).await;
        attackers.iter().for_each(tokio::task::JoinHandle::abort);
        report.ending = report.ending.max(told.elapsed());
        match ended {
            Ok(status) => status.map(drop).map_err(AttackError::Io),
            Err(_) => {
                Err(AttackError::Breach { breach: Breach::DoesNotEnd, attack: "all of them".to_owned() })
            }
        }
    }
}

/// What a hostile client does.
#[derive(Debug, Clone, Copy)]
enum Attack {
    NestedDocuments,
    Fragments,
    Introspection,
    SocketDocuments,
    HeavyTransactions,
    HeavyCalls,
    AbandonedCalls,
    SocketsThatDoNotRead,
    AnswersThatNobodyReads,
    UnfinishedBodies,
    SlowHeads,
    Connections,
    Streams,
}

const ATTACKS: [Attack; 13] = [
    Attack::NestedDocuments,
    Attack::Fragments,
    Attack::Introspection,
    Attack::SocketDocuments,
    Attack::HeavyTransactions,
    Attack::HeavyCalls,
    Attack::AbandonedCalls,
    Attack::SocketsThatDoNotRead,
    Attack::AnswersThatNobodyReads,
    Attack::UnfinishedBodies,
    Attack::SlowHeads,
    Attack::Connections,
    Attack::Streams,
];

impl Attack {
    async fn run(self, attacker: Attacker) {
        match self {
            Self::NestedDocuments => graphql::post(attacker, graphql::nested).await,
            Self::Fragments => graphql::post(attacker, graphql::fragments).await,
            Self::Introspection => graphql::post(attacker, graphql::introspection).await,
            Self::SocketDocuments => graphql::send(attacker).await,
            Self::HeavyTransactions => chain::send_heavy_transactions(attacker).await,
            Self::HeavyCalls => chain::call(attacker, false).await,
            Self::AbandonedCalls => chain::call(attacker, true).await,
            Self::SocketsThatDoNotRead => wire::open_sockets_that_do_not_read(attacker).await,
            Self::AnswersThatNobodyReads => wire::ask_without_reading(attacker).await,
            Self::UnfinishedBodies => wire::begin_bodies(attacker).await,
            Self::SlowHeads => wire::send_slow_heads(attacker).await,
            Self::Connections => wire::take_connections(attacker).await,
            Self::Streams => wire::take_streams(attacker).await,
        }
    }
}
