//! Attacks the product as one hostile client while others use it:
//! `cargo run -p chainnet-testkit --example attack_campaign -- --chainnet target/release/chainnet --seconds 3600`.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use chainnet_testkit::attack::AttackCampaign;
use clap::Parser;
use tokio::runtime::Builder;

/// Attacks the product as one hostile client, and checks that nobody else notices.
#[derive(Parser)]
struct Arguments {
    /// The binary to attack.
    #[arg(long)]
    chainnet: PathBuf,
    /// How long.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// Where the random choices start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How late others may be served, in milliseconds.
    #[arg(long, default_value_t = 1000)]
    max_delay: u64,
    /// What the process may occupy, in megabytes.
    #[arg(long, default_value_t = 500)]
    max_memory: u64,
    /// Only this attack, by name.
    #[arg(long)]
    only: Option<String>,
    /// The library libfaketime, for a part in which the clock is set.
    #[arg(long)]
    clock_library: Option<PathBuf>,
}

/// Attackers have machines of their own in life; here they have what the product leaves of this one.
const NICENESS: i32 = 10;

fn main() -> ExitCode {
    let step_back = || {
        // On Linux this is about the calling thread alone: the product and whoever observes it start on the first one.
        if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
            eprintln!("attackers run at the priority of all others: {error}");
        }
    };
    match Builder::new_multi_thread().enable_all().on_thread_start(step_back).build() {
        Ok(runtime) => runtime.block_on(attack()),
        Err(error) => {
            println!("attack campaign: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn attack() -> ExitCode {
    let Arguments { chainnet, seconds, seed, max_delay, max_memory, only, clock_library } =
        Arguments::parse();
    let campaign = AttackCampaign {
        binary: chainnet,
        time: Duration::from_secs(seconds),
        seed,
        max_delay: Duration::from_millis(max_delay),
        max_memory: max_memory * 1_000_000,
        only,
        clock_library,
    };
    let outcome = campaign.run(|attack, report| eprintln!("{attack}: {report:?}")).await;
    match outcome {
        Ok(report) => {
            println!("attack campaign: nobody noticed; {report:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("attack campaign, seed {seed}: {error}: {error:?}");
            ExitCode::FAILURE
        }
    }
}
