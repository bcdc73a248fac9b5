//! How the validators agreed on a block: what the header of an IBFT 2.0 block says beside what is in the block.
//!
//! The header is decoded once, here, for everybody who asks. What the facts mean for a validator's record is not decided
//! here; note that a missing seal is no sign of absence, because a block is sealed as soon as a quorum has signed.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256};
use ibft::{
    extra_data::ExtraData,
    hash::seal_hash_with,
    seal::{Seal, SealScheme, Secp256k1},
    votes::Vote,
};

/// How the validators agreed on a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// Who proposed the block; nobody proposed genesis.
    pub proposer: Option<Address>,
    /// The round in which it was agreed on, 0 unless a proposer missed its turn.
    pub round: u32,
    /// The validators whose agreement it took, ascending from block 1 on.
    pub validators: Vec<Address>,
    /// The proposer's vote to add or drop a validator.
    pub vote: Option<Vote>,
    seals: Vec<Seal>,
    /// What the seals sign.
    digest: B256,
}

impl Agreement {
    /// Reads a header; `None` for a header that is not one of IBFT 2.0.
    pub fn of(header: &Header) -> Option<Self> {
        let extra = ExtraData::decode(&header.extra_data).ok()?;
        let digest = seal_hash_with(header, &extra);
        let proposer = (header.number > 0).then_some(header.beneficiary);
        let ExtraData { validators, vote, round, seals, .. } = extra;
        Some(Self { proposer, round, validators, vote, seals, digest })
    }

    /// How many validators sealed the block, without finding out who.
    pub fn seal_count(&self) -> usize {
        self.seals.len()
    }

    /// Who sealed the block, in the order of the seals. Recovers a key per seal, so ask once and keep the answer.
    pub fn committers(&self) -> Vec<Address> {
        self.seals.iter().filter_map(|seal| Secp256k1.recover(self.digest, seal)).collect()
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{U256, address};
    use ibft::{
        seal::{Secp256k1Key, ValidatorKey},
        votes::VoteKind,
    };

    use super::*;

    fn keys() -> Vec<Secp256k1Key> {
        let mut keys: Vec<_> =
            (1u64..=4).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).expect("a key")).collect();
        keys.sort_by_key(ValidatorKey::address);
        keys
    }

    fn header(number: u64, extra: &ExtraData) -> Header {
        Header { number, beneficiary: extra.validators[1], extra_data: extra.encode(), ..Header::default() }
    }

    fn extra() -> ExtraData {
        ExtraData {
            vanity: B256::ZERO,
            validators: keys().iter().map(ValidatorKey::address).collect(),
            vote: None,
            round: 0,
            seals: Vec::new(),
        }
    }

    #[test]
    fn a_sealed_block_names_its_proposer_round_vote_and_committers() {
        let recipient = address!("00000000000000000000000000000000000000aa");
        let vote = Vote { recipient, kind: VoteKind::Add };
        let unsealed = ExtraData { vote: Some(vote), round: 2, ..extra() };
        let digest = ibft::hash::seal_hash(&header(7, &unsealed)).expect("a digest");
        let seals = keys().iter().take(3).map(|key| key.sign(digest)).collect();
        let agreement = Agreement::of(&header(7, &ExtraData { seals, ..unsealed })).expect("IBFT");
        assert_eq!(agreement.proposer, Some(extra().validators[1]));
        assert_eq!((agreement.round, agreement.vote, agreement.seal_count()), (2, Some(vote), 3));
        assert_eq!(agreement.validators, extra().validators);
        assert_eq!(agreement.committers(), extra().validators[..3]);
    }

    #[test]
    fn genesis_has_validators_but_neither_proposer_nor_committers() {
        let agreement = Agreement::of(&header(0, &extra())).expect("IBFT");
        assert_eq!(agreement.proposer, None);
        assert_eq!(agreement.validators.len(), 4);
        assert!(agreement.committers().is_empty());
    }

    #[test]
    fn a_header_of_another_chain_has_no_agreement() {
        assert_eq!(Agreement::of(&Header::default()), None);
        let vanity = Header { extra_data: vec![0xaa; 32].into(), ..Header::default() };
        assert_eq!(Agreement::of(&vanity), None);
    }
}
