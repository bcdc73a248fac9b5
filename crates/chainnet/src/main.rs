//! The `chainnet` binary; everything it does is in the library beside it.

use std::process::ExitCode;

use chainnet::{cli::Cli, config::ConfigError};

/// What was asked for makes no sense; the same code as for a flag that does not exist.
const MISUSED: u8 = 2;

fn main() -> ExitCode {
    let (cli, given) = Cli::read();
    match chainnet::run(cli, given) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            chainnet::say_error(&error);
            if error.is::<ConfigError>() { ExitCode::from(MISUSED) } else { ExitCode::FAILURE }
        }
    }
}
