//! Who signed two blocks of one height and round: by comparing what single nodes have.
//!
//! A node that follows another chain shares ours up to some height, and the block after it has the same parent on both. If both
//! headers there are of one round, every validator whose seal is on both has signed two digests where the protocol permits one.
//! Seals cannot be made up, so that a node that lies proves nothing against anybody, and the shared parent says that both
//! blocks were meant for this chain. Two blocks of different rounds prove nothing: a validator may commit to both.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, B256};
use chain::{ChainClient, ChainError, Head, Witness};
use ibft::{
    extra_data::ExtraData,
    hash,
    seal::{SealScheme, Secp256k1},
};
use store::keeper::DoubleSign;

/// What is known of the single nodes.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    /// The highest block up to which a node is known to have our chain.
    agreed: BTreeMap<String, u64>,
    /// Nodes that were found to have another chain, with the height from which on.
    pub(crate) forked: BTreeMap<String, u64>,
}

/// Validators that signed twice at a height.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Equivocation {
    pub(crate) height: u64,
    pub(crate) signers: BTreeSet<Address>,
    pub(crate) proof: DoubleSign,
}

impl Sightings {
    /// Compares a node with our chain. Says what was found when the node is found to have another chain, once.
    pub(crate) async fn compare(
        &mut self,
        ours: &dyn ChainClient,
        node: &dyn Witness,
        head: &Head,
    ) -> Result<Option<Equivocation>, ChainError> {
        let name = node.name();
        let Some(height) = node.newest().map(|newest| newest.min(head.number())) else { return Ok(None) };
        match agrees(ours, node, height).await? {
            Some(true) => {
                if self.forked.remove(&name).is_some() {
                    tracing::info!(node = name, "a node has our chain again");
                }
                self.agreed.insert(name, height);
                return Ok(None);
            }
            Some(false) => {}
            None => return Ok(None),
        }
        if self.forked.contains_key(&name) {
            return Ok(None);
        }
        let Some(first) = self.first_difference(ours, node, &name, height).await? else { return Ok(None) };
        tracing::warn!(node = name, block = first, "a node has another chain than the one that is followed");
        self.forked.insert(name, first);
        let (Some(our), Some(their)) = (ours.block(first).await?, node.header(first).await?) else {
            return Ok(None);
        };
        Ok(equivocation(&Head { header: our.header.clone(), hash: our.hash }, &their))
    }

    /// The lowest height at which the node's block is not ours; both have the same block below it.
    async fn first_difference(
        &self,
        ours: &dyn ChainClient,
        node: &dyn Witness,
        name: &str,
        height: u64,
    ) -> Result<Option<u64>, ChainError> {
        let known = self.agreed.get(name).copied().unwrap_or(0).min(height);
        // What was agreed on may be gone: a node that was set up anew, a development chain that was taken back.
        let mut low = if agrees(ours, node, known).await? == Some(true) { known } else { 0 };
        let mut high = height;
        if low == 0 && agrees(ours, node, 0).await? != Some(true) {
            return Ok(None);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match agrees(ours, node, middle).await? {
                Some(true) => low = middle,
                Some(false) => high = middle,
                None => return Ok(None),
            }
        }
        Ok(Some(high))
    }
}

/// Whether a node has our block at a height; none if one of the two has no block there.
async fn agrees(ours: &dyn ChainClient, node: &dyn Witness, height: u64) -> Result<Option<bool>, ChainError> {
    let (Some(our), Some(their)) = (ours.block(height).await?, node.header(height).await?) else {
        return Ok(None);
    };
    Ok(Some(our.hash == their.hash))
}

/// Who sealed both, if the two are different blocks of one height, parent and round.
pub(crate) fn equivocation(one: &Head, two: &Head) -> Option<Equivocation> {
    let (first, second) = (Sealed::of(one)?, Sealed::of(two)?);
    let is_same_place = one.number() == two.number()
        && one.header.parent_hash == two.header.parent_hash
        && first.round == second.round;
    let signers: BTreeSet<Address> = first.signers.intersection(&second.signers).copied().collect();
    if !is_same_place || first.digest == second.digest || signers.is_empty() {
        return None;
    }
    let round = first.round;
    let mut pair = [(first.digest, &one.header), (second.digest, &two.header)];
    pair.sort_by_key(|(digest, _)| *digest);
    let proof = DoubleSign {
        round,
        digests: pair.map(|(digest, _)| digest),
        headers: pair.map(|(_, header)| alloy_rlp::encode(header).into()),
    };
    Some(Equivocation { height: one.number(), signers, proof })
}

/// What the seals of a header say.
struct Sealed {
    digest: B256,
    round: u32,
    /// Validators of the header whose seals it carries.
    signers: BTreeSet<Address>,
}

impl Sealed {
    fn of(head: &Head) -> Option<Self> {
        let extra = ExtraData::decode(&head.header.extra_data).ok()?;
        let digest = hash::seal_hash_with(&head.header, &extra);
        let recovered = extra.seals.iter().filter_map(|seal| Secp256k1.recover(digest, seal));
        let signers = recovered.filter(|signer| extra.validators.contains(signer)).collect();
        Some(Self { digest, round: extra.round, signers })
    }
}
