//! A node asked on its own, whatever the others say.

use alloy_primitives::U64;
use async_trait::async_trait;

use super::{decode, node::Node};
use crate::{ChainError, Head, Witness};

#[async_trait]
impl Witness for Node {
    fn name(&self) -> String {
        self.url().to_string()
    }

    fn newest(&self) -> Option<u64> {
        self.head()
    }

    async fn header(&self, number: u64) -> Result<Option<Head>, ChainError> {
        let read = |json: &serde_json::value::RawValue| decode::optional(json, decode::head);
        let header = self.ask("eth_getBlockByNumber", (U64::from(number), false), read).await?;
        Ok(header.filter(|head| head.number() == number))
    }
}
