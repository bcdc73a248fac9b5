//! Why a deployment record is refused.

use std::fmt;

/// What is wrong with a deployment record: one problem or more.
#[derive(Debug)]
pub struct DeploymentError {
    problems: Vec<DeploymentProblem>,
}

impl DeploymentError {
    pub(super) fn new(problems: Vec<DeploymentProblem>) -> Self {
        Self { problems }
    }

    /// Each problem by itself.
    pub fn problems(&self) -> &[DeploymentProblem] {
        &self.problems
    }
}

impl fmt::Display for DeploymentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for DeploymentError {}

/// One thing that is wrong with a deployment record.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentProblem {
    /// Not JSON, an unknown or a missing key, a value of the wrong type.
    #[error("key `{key}`: {source}")]
    Malformed {
        /// Where in the record.
        key: String,
        /// What is wrong there.
        source: serde_json::Error,
    },
    /// The value contradicts the network or the product.
    #[error("key `{key}`: `{found}`, expected `{expected}`")]
    Unexpected {
        /// Where in the record.
        key: &'static str,
        /// What is written.
        found: String,
        /// What must be written.
        expected: String,
    },
    /// Something is needed here.
    #[error("key `{0}`: must not be empty")]
    Empty(&'static str),
    /// A public URL over which anybody on the way can read and change what is sent.
    #[error("key `{key}`: `{url}` must begin with https, or name this machine")]
    Readable {
        /// Where in the record.
        key: &'static str,
        /// What is written.
        url: String,
    },
}
