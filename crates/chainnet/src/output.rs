//! What people read in the terminal: results on standard output, failures on standard error.

use std::{
    fmt::Display,
    io::{self, Write},
};

use jiff::Timestamp;

use crate::logging;

/// Prints a result. A reader that has gone away (`chainnet … | head`) is no failure.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints something that is no result, such as what is waited for.
pub(crate) fn say_note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "note: {text}");
}

/// A time in Unix milliseconds, for programs.
pub(crate) fn time(millis: u64) -> Option<String> {
    let millis = i64::try_from(millis).ok()?;
    Some(Timestamp::from_millisecond(millis).ok()?.to_string())
}

/// A time as people read it in a table: to the second.
pub(crate) fn seconds(millis: u64) -> String {
    time(millis - millis % 1000).unwrap_or_default()
}

/// Prints why a command failed, with its causes.
pub fn say_error(error: &anyhow::Error) {
    let line = in_one_line(error);
    if logging::is_json() {
        tracing::error!("{line}");
        return;
    }
    let _ = writeln!(io::stderr().lock(), "error: {line}");
}

/// The error and its causes, without those that the text before them has quoted already.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.ends_with(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::in_one_line;

    #[test]
    fn a_cause_that_was_quoted_is_not_said_again() {
        let error =
            anyhow!("the disk is full").context("cannot write: the disk is full").context("import stopped");
        assert_eq!(in_one_line(&error), "import stopped: cannot write: the disk is full");
    }
}
