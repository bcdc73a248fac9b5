//! The cheap parts of the simulated chain: a signature scheme without curves and blocks without bodies.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, U256};
use chainnet_ibft::consensus::ProposedBlock;
use chainnet_ibft::extra_data::ExtraData;
use chainnet_ibft::rules::{DIFFICULTY, MIX_HASH};
use chainnet_ibft::seal::{Seal, SealScheme, ValidatorKey};
use chainnet_ibft::votes::Vote;

/// Seconds since the epoch at which every simulated chain begins.
pub(crate) const GENESIS_TIME: u64 = 1_700_000_000;

/// A key whose signature names its signer and is tied to the digest: it cannot be moved to another digest by accident,
/// and no code in the simulation forges one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToyKey(pub Address);

fn toy_seal(author: Address, digest: B256) -> Seal {
    let author = U256::from_be_slice(author.as_slice());
    let tied = (U256::from_be_bytes(digest.0) ^ author) >> 2usize;
    Seal::new(tied + U256::ONE, author, false).expect("both values are below the curve order")
}

impl SealScheme for ToyKey {
    fn recover(&self, digest: B256, seal: &Seal) -> Option<Address> {
        let author = Address::from_slice(&seal.signature().s().to_be_bytes::<32>()[12..]);
        (*seal == toy_seal(author, digest)).then_some(author)
    }
}

impl ValidatorKey for ToyKey {
    fn address(&self) -> Address {
        self.0
    }

    fn sign(&self, digest: B256) -> Seal {
        toy_seal(self.0, digest)
    }
}

/// A block that is only a header.
#[derive(Debug, Clone)]
pub(crate) struct ToyBlock(pub Arc<Header>);

impl ProposedBlock for ToyBlock {
    fn header(&self) -> &Header {
        &self.0
    }

    fn with_extra_data(&self, extra_data: Bytes) -> Self {
        Self(Arc::new(Header { extra_data, ..(*self.0).clone() }))
    }
}

/// The first block of a chain with these validators.
pub(crate) fn genesis(validators: Vec<Address>) -> ToyBlock {
    let extra = ExtraData { vanity: B256::ZERO, validators, vote: None, round: 0, seals: vec![] };
    ToyBlock(Arc::new(Header {
        difficulty: DIFFICULTY,
        mix_hash: MIX_HASH,
        gas_limit: 30_000_000,
        timestamp: GENESIS_TIME,
        base_fee_per_gas: Some(0),
        extra_data: extra.encode(),
        ..Header::default()
    }))
}

/// What differs from one built block to the next.
pub(crate) struct Recipe {
    pub(crate) parent_hash: B256,
    pub(crate) coinbase: Address,
    pub(crate) validators: Vec<Address>,
    pub(crate) vote: Option<Vote>,
    pub(crate) round: u32,
    pub(crate) timestamp: u64,
    /// Makes the block unlike any other.
    pub(crate) state_root: B256,
}

/// Builds a block on a parent.
pub(crate) fn build(parent: &Header, recipe: Recipe) -> ToyBlock {
    let Recipe { parent_hash, coinbase, validators, vote, round, timestamp, state_root } = recipe;
    let extra = ExtraData { vanity: B256::ZERO, validators, vote, round, seals: vec![] };
    ToyBlock(Arc::new(Header {
        parent_hash,
        beneficiary: coinbase,
        state_root,
        number: parent.number + 1,
        timestamp,
        extra_data: extra.encode(),
        ..parent.clone()
    }))
}
