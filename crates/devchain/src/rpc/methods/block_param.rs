//! Which block a caller means, and the state and header that go with it.

use std::{fmt, sync::Arc};

use alloy_primitives::B256;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

use super::quantity::{Number, parse_number};
use crate::{
    block::Block,
    chain::Moment,
    rpc::{
        error::{Param, RpcError},
        jsonrpc::Positional,
        service::Service,
    },
};

/// A block as named by a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockParam {
    /// `latest`; also `safe` and `finalized`, because IBFT is final at once.
    Latest,
    /// `pending`: latest for reads, the next block for simulations.
    Pending,
    /// `earliest` or a number.
    Number(u64),
    /// A hash of EIP-1898.
    Hash(B256),
}

impl BlockParam {
    /// Reads a tag or a number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "latest" | "safe" | "finalized" => Some(Self::Latest),
            "pending" => Some(Self::Pending),
            "earliest" => Some(Self::Number(0)),
            hash if hash.len() == 66 => hash.parse().ok().map(Self::Hash),
            number => parse_number(number).map(Self::Number),
        }
    }
}

impl<'de> Deserialize<'de> for BlockParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlockVisitor)
    }
}

struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = BlockParam;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block number, tag, hash or EIP-1898 object")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<BlockParam, E> {
        Ok(BlockParam::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<BlockParam, E> {
        BlockParam::parse(text).ok_or_else(|| E::custom("no such tag or number"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BlockParam, A::Error> {
        let mut named = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "blockHash" if named.is_none() => named = Some(BlockParam::Hash(map.next_value()?)),
                "blockNumber" if named.is_none() => {
                    named = Some(BlockParam::Number(map.next_value::<Number>()?.0));
                }
                // Every block we know is canonical.
                "requireCanonical" => {
                    map.next_value::<bool>()?;
                }
                _ => return Err(A::Error::custom("one of blockHash and blockNumber")),
            }
        }
        named.ok_or_else(|| A::Error::custom("blockHash or blockNumber"))
    }
}

impl Service {
    /// The block parameter at a position. Besu insists on it in most reads; a development chain does not.
    pub(super) fn block_param(&self, params: &Positional<'_>, index: usize) -> Result<BlockParam, RpcError> {
        Ok(params.optional(index, Param::BlockNumber)?.unwrap_or(BlockParam::Latest))
    }

    /// The number of the block meant, if it exists.
    pub(super) fn find_number(&self, block: BlockParam) -> Result<Option<u64>, RpcError> {
        let head = self.chain().head().block.number();
        match block {
            BlockParam::Latest | BlockParam::Pending => Ok(Some(head)),
            BlockParam::Number(number) => Ok(Some(number).filter(|number| *number <= head)),
            BlockParam::Hash(hash) => Ok(self.chain().store().number_of(hash)?),
        }
    }

    /// The block meant, if it exists.
    pub(super) fn find_block(&self, block: BlockParam) -> Result<Option<Arc<Block>>, RpcError> {
        let head = self.chain().head();
        match self.find_number(block)? {
            Some(number) if number == head.block.number() => Ok(Some(Arc::clone(&head.block))),
            Some(number) => Ok(self.chain().store().block(number)?),
            None => Ok(None),
        }
    }

    /// Header and state of the block meant, which must exist.
    pub(super) fn at(&self, block: BlockParam) -> Result<Moment, RpcError> {
        match block {
            BlockParam::Latest | BlockParam::Pending => Ok(Moment::Head(self.chain().head())),
            named => {
                let number = self.find_number(named)?.ok_or(RpcError::BlockNotFound)?;
                self.chain().moment(number)?.ok_or(RpcError::BlockNotFound)
            }
        }
    }
}
