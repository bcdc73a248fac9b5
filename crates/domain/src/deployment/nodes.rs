//! The nodes that a deployment record names.

use serde::Deserialize;

use crate::{WebUrl, web_url::WebUrlError};

/// Nodes to read from, the preferred one first, written as in `PLATFORM_RPC_URL`: with commas between them, and `|`
/// between the HTTP and the WebSocket address of one node.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RecordedNodes(String);

impl RecordedNodes {
    /// The nodes as they were written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RecordedNodes {
    type Error = WebUrlError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.split([',', '|']).try_for_each(|url| url.trim().parse::<WebUrl>().map(|_| ()))?;
        Ok(Self(text))
    }
}
