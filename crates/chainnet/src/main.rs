//! The `chainnet` binary; everything it does is in the library beside it.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match chainnet::run(chainnet::cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            chainnet::say_error(&error);
            ExitCode::FAILURE
        }
    }
}
