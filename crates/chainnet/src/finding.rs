//! What a check found, and how that is told.

use std::fmt;

use anyhow::bail;
use serde::Serialize;

use crate::output::say;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Debug, Serialize)]
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

/// Prints what was found. Fails if a check has.
pub(crate) fn report(findings: &[Finding], json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(findings)?);
    } else {
        findings.iter().for_each(say);
    }
    let failed = findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
    if failed > 0 {
        bail!("{failed} of {} checks failed", findings.len());
    }
    Ok(())
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
