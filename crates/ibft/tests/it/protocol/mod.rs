//! One validator, move by move, against messages made by hand with real signatures.

mod messages;
mod proposals;
mod restarts;
mod round_changes;

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes};
use chainnet_ibft::consensus::{
    Action, CommitPayload, Event, Lock, Message, PreparePayload, PreparedCertificate, Proposal,
    ProposalPayload, ProposedBlock, Rejection, RoundChange, RoundChangeCertificate, RoundChangePayload,
    Signed, Validator, View,
};
use chainnet_ibft::extra_data::ExtraData;
use chainnet_ibft::hash::seal_hash;
use chainnet_ibft::seal::{Secp256k1Key, ValidatorKey};

use crate::fixture::{SECRETS, VALIDATORS, child, config, genesis, key};

/// A block that is only a header.
#[derive(Debug, Clone, PartialEq)]
struct Bare(Header);

impl ProposedBlock for Bare {
    fn header(&self) -> &Header {
        &self.0
    }

    fn with_extra_data(&self, extra_data: Bytes) -> Self {
        Self(Header { extra_data, ..self.0.clone() })
    }
}

type Actions = Vec<Action<Bare>>;

/// The head on which block 1 is agreed, in turn of validator 0.
fn head() -> Header {
    Header { gas_limit: 30_000_000, base_fee_per_gas: Some(0), ..genesis() }
}

/// A moment at which block 1 is due.
fn now_ms() -> u64 {
    (head().timestamp + 2) * 1000
}

fn key_of(index: usize) -> Secp256k1Key {
    key(SECRETS[index])
}

fn view(round: u32) -> View {
    View { height: 1, round }
}

/// A block 1 built by a validator for a round. `salt` tells blocks apart.
fn block(builder: usize, round: u32, salt: u8) -> Bare {
    let header = Header { state_root: B256::repeat_byte(salt), ..child(&head(), VALIDATORS[builder]) };
    in_round(&Bare(header), round)
}

fn in_round(block: &Bare, round: u32) -> Bare {
    let extra = ExtraData { round, ..ExtraData::decode(&block.0.extra_data).unwrap() };
    block.with_extra_data(extra.encode())
}

fn digest(block: &Bare) -> B256 {
    seal_hash(&block.0).unwrap()
}

fn signed_proposal(author: usize, view: View, block: &Bare) -> Signed<ProposalPayload> {
    Signed::sign(ProposalPayload { view, digest: digest(block) }, &key_of(author))
}

fn proposal(
    author: usize,
    round: u32,
    block: Bare,
    certificate: Option<RoundChangeCertificate>,
) -> Proposal<Bare> {
    Proposal { signed: signed_proposal(author, view(round), &block), block, certificate }
}

fn prepare(author: usize, round: u32, digest: B256) -> Signed<PreparePayload> {
    Signed::sign(PreparePayload { view: view(round), digest }, &key_of(author))
}

fn commit(author: usize, round: u32, digest: B256) -> Signed<CommitPayload> {
    let seal = key_of(author).sign(digest);
    Signed::sign(CommitPayload { view: view(round), digest, seal }, &key_of(author))
}

/// Proof that the proposer of a round and three more have prepared a block.
fn prepared(proposer: usize, round: u32, block: &Bare) -> Arc<PreparedCertificate> {
    let others = (0..5).filter(|&index| index != proposer).take(3);
    let prepares = others.map(|index| prepare(index, round, digest(block))).collect();
    Arc::new(PreparedCertificate { proposal: signed_proposal(proposer, view(round), block), prepares })
}

fn round_change(
    author: usize,
    round: u32,
    shown: Option<(Arc<PreparedCertificate>, Bare)>,
) -> RoundChange<Bare> {
    let (prepared, block) = shown.unzip();
    let payload = RoundChangePayload { view: view(round), prepared };
    RoundChange { signed: Signed::sign(payload, &key_of(author)), block }
}

fn certificate(changes: &[RoundChange<Bare>]) -> RoundChangeCertificate {
    changes.iter().map(|change| change.signed.clone()).collect()
}

/// A validator under test.
struct Subject {
    validator: Validator<Secp256k1Key, Bare>,
    /// What it did at the head.
    first: Actions,
}

impl Subject {
    fn new(index: usize) -> Self {
        Self::begin(Validator::new(key_of(index), config()))
    }

    fn resumed(index: usize, lock: Lock<Bare>) -> Self {
        Self::begin(Validator::resume(key_of(index), config(), lock))
    }

    fn begin(mut validator: Validator<Secp256k1Key, Bare>) -> Self {
        let first = validator.on_event(new_head(head(), &VALIDATORS), now_ms());
        Self { validator, first }
    }

    fn on(&mut self, event: Event<Bare>) -> Actions {
        self.validator.on_event(event, now_ms())
    }

    fn hear(&mut self, message: Message<Bare>) -> Actions {
        self.on(Event::Message(message))
    }

    fn round_timer(&mut self, round: u32) -> Actions {
        self.on(Event::RoundTimerFired { height: 1, round })
    }

    fn round(&self) -> u32 {
        self.validator.view().unwrap().round
    }

    /// Hears a proposal and finds its block valid.
    fn accept(&mut self, proposal: Proposal<Bare>) -> Actions {
        let digest = proposal.signed.payload.digest;
        let asked = self.hear(Message::Proposal(proposal));
        assert!(asked.iter().any(|action| matches!(action, Action::CheckProposal { .. })), "{asked:?}");
        self.on(Event::ProposalChecked { digest, valid: true })
    }
}

fn new_head(header: Header, validators: &[Address]) -> Event<Bare> {
    Event::NewHead { header, validators: validators.to_vec() }
}

/// The only reason reported.
fn reason(actions: &Actions) -> Option<Rejection> {
    match &actions[..] {
        [Action::Report { reason, .. }] => Some(reason.clone()),
        _ => None,
    }
}

fn broadcasts(actions: &Actions) -> Vec<Message<Bare>> {
    let said = actions.iter().filter_map(|action| match action {
        Action::Broadcast(message) => Some(message.clone()),
        _ => None,
    });
    said.collect()
}

fn locks(actions: &Actions) -> Vec<Lock<Bare>> {
    let kept = actions.iter().filter_map(|action| match action {
        Action::Persist(lock) => Some(lock.clone()),
        _ => None,
    });
    kept.collect()
}

fn imported(actions: &Actions) -> Option<Bare> {
    actions.iter().find_map(|action| match action {
        Action::ImportBlock(block) => Some(block.clone()),
        _ => None,
    })
}
