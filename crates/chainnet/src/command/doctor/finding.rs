//! What a check found, and how that is told.

use std::fmt;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, but somebody should look.
    Warn,
    /// It does not work.
    Fail,
}

impl Verdict {
    /// The word in front of a finding.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What a check found, and what to do about it.
#[derive(Debug)]
pub struct Finding {
    /// What was checked.
    pub check: &'static str,
    /// How it came out.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do.
    pub advice: Option<&'static str>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    pub(super) fn warn(check: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { check, verdict: Verdict::Warn, found: found.into(), advice: Some(advice) }
    }

    pub(super) fn fail(check: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { check, verdict: Verdict::Fail, found: found.into(), advice: Some(advice) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<5} {:<14} {}", self.verdict.name(), self.check, self.found)?;
        match self.advice {
            Some(advice) => write!(f, "\n{:<20} → {advice}", ""),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_what_to_do() {
        let text = Finding::fail("chain", "no node answers", "start the node").to_string();
        assert_eq!(text, "fail  chain          no node answers\n                     → start the node");
    }
}
