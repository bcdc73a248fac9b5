//! What a check of a folder found, and what to do about it.

use std::fmt;

use serde::Serialize;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Ok,
    Warn,
    Fail,
}

impl Verdict {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What a check found.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) found: String,
    pub(crate) advice: Option<&'static str>,
}

impl Finding {
    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    pub(crate) fn warn(check: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { check, verdict: Verdict::Warn, found: found.into(), advice: Some(advice) }
    }

    pub(crate) fn fail(check: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { check, verdict: Verdict::Fail, found: found.into(), advice: Some(advice) }
    }

    /// Good if there is nothing to complain of.
    pub(crate) fn of(
        check: &'static str,
        complaints: &[String],
        good: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        if complaints.is_empty() {
            Self::ok(check, good)
        } else {
            Self::fail(check, complaints.join("; "), advice)
        }
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
