//! A campaign of `kill -9` against a node under load: after every restart the chain goes on, and nothing that a
//! client has seen is gone or different.
//!
//! The same campaign runs short in the tests and long in `scripts/soak`. Its choices follow from a seed; where in
//! the node's work a kill lands does not, which is the point.

mod audit;
mod error;
mod load;
mod witness;

use std::{path::PathBuf, time::Duration};

use rand::{Rng, SeedableRng, rngs::StdRng};
use tempfile::TempDir;
use tokio::{process::Command, time::sleep};

pub use self::error::{Breach, CampaignError};
use self::{audit::Audit, error::CheckError, load::Load, witness::Witness};
use crate::{Mining, NodeProcess};

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
            let head = judge(kills, outcome, &node)?;
            report.unseen_blocks += seen.map_or(0, |seen| head - seen);
            (report.blocks, report.transactions) = (audit.height(), audit.transactions());
            progress(&report);
        }
        let outcome = audit.check_whole_history(node.client()).await;
        judge(report.kills(), outcome, &node)?;
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

/// Adds to a check's outcome how many kills came before it, and what the node said while it ran.
fn judge<T>(kills: u32, outcome: Result<T, CheckError>, node: &NodeProcess) -> Result<T, CampaignError> {
    let output = node.server().output();
    if output.contains("panicked") {
        return Err(CampaignError::Breach { kills, breach: Breach::Panicked { output } });
    }
    outcome.map_err(|error| match error {
        CheckError::Call(error) => error.into(),
        CheckError::Breach(breach) => CampaignError::Breach { kills, breach },
    })
}
