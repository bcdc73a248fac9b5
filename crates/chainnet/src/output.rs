//! What people read in the terminal: results on standard output, failures on standard error.

use std::{
    fmt::Display,
    io::{self, Write},
};

/// Prints a result. A reader that has gone away (`chainnet … | head`) is no failure.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints why a command failed, with its causes.
pub fn say_error(error: &anyhow::Error) {
    let _ = writeln!(io::stderr().lock(), "error: {error:#}");
}
