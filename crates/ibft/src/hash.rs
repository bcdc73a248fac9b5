//! The two hashes of an IBFT 2.0 header. Neither is `Header::hash_slow`: the round and the seals are collected
//! after the block is built, so they cannot be part of its identity.

use alloy_consensus::Header;
use alloy_primitives::{B256, Bytes, keccak256};

use crate::extra_data::{ExtraData, ExtraDataError};

/// The hash under which the block is known on chain (parent hash, `BLOCKHASH`, JSON-RPC): round and seals left
/// out. Genesis is hashed as it is, but its extra data must decode.
pub fn block_hash(header: &Header) -> Result<B256, ExtraDataError> {
    let extra = ExtraData::decode(&header.extra_data)?;
    if header.number == 0 {
        return Ok(header.hash_slow());
    }
    Ok(hash_with(header, extra.encode_for_block_hash()))
}

/// The digest that commit seals sign and that names a proposal inside the protocol: only the seals left out.
pub fn seal_hash(header: &Header) -> Result<B256, ExtraDataError> {
    Ok(seal_hash_with(header, &ExtraData::decode(&header.extra_data)?))
}

/// [`seal_hash`] of a header whose extra data is `extra`.
pub fn seal_hash_with(header: &Header, extra: &ExtraData) -> B256 {
    hash_with(header, extra.encode_for_seal())
}

fn hash_with(header: &Header, extra_data: Bytes) -> B256 {
    let header = Header { extra_data, ..header.clone() };
    keccak256(alloy_rlp::encode(header))
}
