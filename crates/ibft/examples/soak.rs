//! A longer campaign of the consensus simulation: `cargo run --example soak -- FIRST_SEED COUNT`.
//! Every seed is played with every trouble and every network size; failures are printed and end with status 1.

#![allow(missing_docs, dead_code, reason = "shares the modules of the simulation tests")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test in all but name"
)]

#[path = "../tests/simulation/world/mod.rs"]
mod world;

use std::process::ExitCode;

use world::chaos::{Trouble, play};

const TROUBLES: [Trouble; 5] =
    [Trouble::Crashes, Trouble::BareQuorum, Trouble::Twins, Trouble::Amnesia, Trouble::Votes];
const SIZES: [usize; 5] = [4, 5, 7, 11, 21];

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let [first, count] = numbers[..] else {
        eprintln!("usage: soak FIRST_SEED COUNT");
        return ExitCode::FAILURE;
    };
    let mut failures = 0;
    let mut blocks = 0;
    for seed in first..first.saturating_add(count) {
        for trouble in TROUBLES {
            for validators in SIZES {
                match play(seed, validators, trouble) {
                    Ok(sights) => blocks += sights.blocks,
                    Err(failure) => {
                        failures += 1;
                        println!("{failure}");
                    }
                }
            }
        }
    }
    println!("{count} seeds from {first}: {blocks} blocks sealed, {failures} failures");
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
