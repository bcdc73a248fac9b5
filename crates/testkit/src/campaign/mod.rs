//! A campaign of `kill -9` against a node under load: after every restart the chain goes on, and nothing that a
//! client has seen is gone or different.
//!
//! The same campaign runs short in the tests and long in `scripts/soak`. Its choices follow from a seed; where in
//! the node's work a kill lands does not, which is the point.

mod audit;
mod load;
mod witness;

use std::{io, path::PathBuf, time::Duration};

use alloy_primitives::{Address, B256, U256};
use rand::{Rng, SeedableRng, rngs::StdRng};
use tempfile::TempDir;
use tokio::{process::Command, time::sleep};

use self::{audit::Audit, load::Load, witness::Witness};
use crate::{CallError, Mining, NodeProcess, StartError};

/// Longest time under load before a kill, when the campaign makes the blocks.
const ON_DEMAND_LIFE: Duration = Duration::from_millis(400);
/// The same when the node makes a block every 2 s.
const INTERVAL_LIFE: Duration = Duration::from_secs(3);
/// A start takes less than this, so a kill within it hits opening and recovery.
const OPENING: Duration = Duration::from_millis(150);

/// A campaign to run.
#[derive(Debug, Clone)]
pub struct KillCampaign {
    /// The `chainnet` binary.
    pub binary: PathBuf,
    /// How often the node is killed.
    pub kills: u32,
    /// Where the campaign's random choices start.
    pub seed: u64,
    /// Who makes the blocks.
    pub mining: Mining,
}

/// What a campaign went through without a breach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CampaignReport {
    /// Kills under load.
    pub kills_under_load: u32,
    /// Kills while the node was opening its data.
    pub kills_while_opening: u32,
    /// Height of the chain at the end.
    pub blocks: u64,
    /// Transactions on the chain at the end.
    pub transactions: u64,
    /// Blocks that were durable although no client had seen them when the node was killed.
    pub unseen_blocks: u64,
}

/// Something that must never be true after a restart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// The chain became shorter than a client had seen it.
    #[error("a client saw block {seen}, but after the restart the head is {head}")]
    HeadFell {
        /// Highest block that a client saw.
        seen: u64,
        /// The head after the restart.
        head: u64,
    },
    /// Another block stands where a client saw one.
    #[error("block {number} was {seen}, and is {found} after the restart")]
    BlockChanged {
        /// The height.
        number: u64,
        /// Hash before.
        seen: B256,
        /// Hash after.
        found: B256,
    },
    /// A block does not follow the one below it.
    #[error("block {number} does not follow block {}", number - 1)]
    BrokenLink {
        /// The height.
        number: u64,
    },
    /// A transaction that was mined is not any more.
    #[error("transaction {hash} was mined in block {block}, and is not there after the restart")]
    TransactionLost {
        /// The transaction.
        hash: B256,
        /// Where a client saw it.
        block: u64,
    },
    /// The state is not what the blocks make of the genesis.
    #[error("{account} should have {expected} wei, and has {found}")]
    Balance {
        /// The account.
        account: Address,
        /// What the transfers in the blocks add up to.
        expected: U256,
        /// What the node says.
        found: U256,
    },
    /// A nonce was used twice or left out, or the state does not know it.
    #[error("{account} should be at nonce {expected}, and is at {found}")]
    Nonce {
        /// The account.
        account: Address,
        /// The transactions it has in the blocks.
        expected: u64,
        /// What a block or the node says.
        found: u64,
    },
    /// The chain does not go on.
    #[error("no block came after {head}")]
    Stuck {
        /// The head after the restart.
        head: u64,
    },
    /// The node panicked.
    #[error("the node panicked:\n{output}")]
    Panicked {
        /// Its last words.
        output: String,
    },
    /// Executing all blocks again elsewhere gives another chain.
    #[error("the exported chain imports to something else: {output}")]
    OtherReplay {
        /// What the import said.
        output: String,
    },
}

/// Why a campaign ended early.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The node does not start.
    #[error("after {kills} kills: the node does not start")]
    Start {
        /// Kills so far.
        kills: u32,
        /// Why.
        #[source]
        source: StartError,
    },
    /// The node refused or garbled what it should have answered.
    #[error("the node did not answer as it should")]
    Call(#[from] CallError),
    /// The operating system refused something.
    #[error("cannot handle the node's process or files")]
    Io(#[from] io::Error),
    /// The node broke a promise.
    #[error("after {kills} kills: {breach}")]
    Breach {
        /// Kills so far.
        kills: u32,
        /// The promise.
        breach: Breach,
    },
}

/// Why a check did not pass.
#[derive(Debug, thiserror::Error)]
enum CheckError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Breach(#[from] Breach),
}

impl KillCampaign {
    /// Runs the campaign; `progress` hears of every kill.
    pub async fn run(
        &self,
        mut progress: impl FnMut(&CampaignReport),
    ) -> Result<CampaignReport, CampaignError> {
        let mut dice = StdRng::seed_from_u64(self.seed);
        let mut report = CampaignReport::default();
        let start = NodeProcess::start(&self.binary, self.arguments()).await;
        let mut node = start.map_err(|source| CampaignError::Start { kills: 0, source })?;
        let mut audit = Audit::begin(node.client()).await?;
        while report.kills() < self.kills {
            let witness = Witness::default();
            let load = Load::start(node.client().address(), self.mining, &witness, &mut dice).await?;
            sleep(dice.random_range(Duration::ZERO..self.longest_life())).await;
            node.kill9().await?;
            report.kills_under_load += 1;
            load.end().await?;
            if dice.random_ratio(1, 4) && report.kills() < self.kills {
                node.start_and_kill9(dice.random_range(Duration::ZERO..OPENING)).await?;
                report.kills_while_opening += 1;
            }
            let kills = report.kills();
            node.restart().await.map_err(|source| CampaignError::Start { kills, source })?;
            let seen = witness.highest_block();
            let outcome = audit.check(node.client(), witness, self.mining, &mut dice).await;
            let head = self.judge(kills, outcome, &node)?;
            report.unseen_blocks += seen.map_or(0, |seen| head - seen);
            (report.blocks, report.transactions) = (audit.height(), audit.transactions());
            progress(&report);
        }
        let outcome = audit.check_whole_history(node.client()).await;
        self.judge(report.kills(), outcome, &node)?;
        self.replay_elsewhere(&mut node, &report).await?;
        Ok(report)
    }

    fn arguments(&self) -> &'static [&'static str] {
        match self.mining {
            Mining::OnDemand => &["--on-demand"],
            Mining::Interval => &[],
        }
    }

    fn longest_life(&self) -> Duration {
        match self.mining {
            Mining::OnDemand => ON_DEMAND_LIFE,
            Mining::Interval => INTERVAL_LIFE,
        }
    }

    fn judge<T>(
        &self,
        kills: u32,
        outcome: Result<T, CheckError>,
        node: &NodeProcess,
    ) -> Result<T, CampaignError> {
        let output = node.server().output();
        if output.contains("panicked") {
            return Err(CampaignError::Breach { kills, breach: Breach::Panicked { output } });
        }
        outcome.map_err(|error| match error {
            CheckError::Call(error) => error.into(),
            CheckError::Breach(breach) => CampaignError::Breach { kills, breach },
        })
    }

    /// Executes the whole chain again in a fresh directory; the import itself checks every root.
    async fn replay_elsewhere(
        &self,
        node: &mut NodeProcess,
        report: &CampaignReport,
    ) -> Result<(), CampaignError> {
        node.stop().await?;
        let elsewhere = TempDir::new()?;
        let file = elsewhere.path().join("blocks.rlp");
        let mut export = Command::new(&self.binary);
        export.arg("--data").arg(node.data()).args(["chain", "export", "--to"]).arg(&file);
        let mut import = Command::new(&self.binary);
        import.arg("--data").arg(elsewhere.path().join("copy")).args(["chain", "import"]).arg(&file);
        for command in [&mut export, &mut import] {
            let output = command.kill_on_drop(true).output().await?;
            if !output.status.success() {
                let output = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(CampaignError::Breach {
                    kills: report.kills(),
                    breach: Breach::OtherReplay { output },
                });
            }
        }
        Ok(())
    }
}

impl CampaignReport {
    /// All kills.
    pub fn kills(&self) -> u32 {
        self.kills_under_load + self.kills_while_opening
    }
}
