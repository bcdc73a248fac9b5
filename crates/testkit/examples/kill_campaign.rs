//! Kills a node again and again while it works:
//! `cargo run -p chainnet-testkit --example kill_campaign -- --chainnet target/release/chainnet --kills 200`.

use std::{path::PathBuf, process::ExitCode};

use chainnet_testkit::{Mining, campaign::KillCampaign};
use clap::Parser;

/// Kills a node again and again while it works, and checks what is left of its chain.
#[derive(Parser)]
struct Arguments {
    /// The binary to kill.
    #[arg(long)]
    chainnet: PathBuf,
    /// How often.
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// Where the random choices start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Let the node make a block every 2 s instead of as many as it can.
    #[arg(long)]
    paced: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { chainnet, kills, seed, paced } = Arguments::parse();
    let mining = if paced { Mining::Interval } else { Mining::OnDemand };
    let campaign = KillCampaign { binary: chainnet, kills, seed, mining };
    let outcome = campaign
        .run(|report| {
            if report.kills().is_multiple_of(20) {
                eprintln!(
                    "{} kills, block {}, {} transfers",
                    report.kills(),
                    report.blocks,
                    report.transactions
                );
            }
        })
        .await;
    match outcome {
        Ok(report) => {
            println!("kill campaign: nothing lost; {report:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("kill campaign, seed {seed}: {error}: {error:?}");
            ExitCode::FAILURE
        }
    }
}
