//! One node's own word for what is at a height.
//!
//! [`crate::ChainClient`] speaks for all nodes together; whoever wants to know whether they agree asks each of them.

use async_trait::async_trait;

use crate::{ChainError, Head};

/// A node that can be asked on its own.
#[async_trait]
pub trait Witness: Send + Sync + 'static {
    /// Where it is, without credentials.
    fn name(&self) -> String;

    /// Its newest block, as far as it has told.
    fn newest(&self) -> Option<u64>;

    /// The header that it has at a height, with the seals it stored.
    async fn header(&self, number: u64) -> Result<Option<Head>, ChainError>;
}
