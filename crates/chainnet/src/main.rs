//! The `chainnet` binary; everything it does is in the library beside it.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

/// Every simulated call allocates an interpreter; glibc keeps giving that memory back to the kernel and faulting it in
/// again, which a profile of `eth_call` shows. The price is resident memory, see bench/README.md.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match chainnet::run(chainnet::cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            chainnet::say_error(&error);
            ExitCode::FAILURE
        }
    }
}
