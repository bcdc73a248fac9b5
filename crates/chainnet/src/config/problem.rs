//! What is wrong with a configuration, all of it at once.

use std::fmt;

/// One thing that is wrong: where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The setting as it was named there, and where that was.
    pub place: String,
    /// What is wrong and what is allowed.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// The configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Every problem that was found.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [problem] => write!(f, "the configuration is refused: {problem}"),
            problems => {
                write!(f, "the configuration is refused, {} problems:", problems.len())?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for ConfigError {}
