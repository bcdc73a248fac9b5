//! Messages of the wrong people and of other times.

use super::*;

#[test]
fn strangers_and_forgers_are_not_heard() {
    let mut subject = Subject::new(2);
    let mut stranger = prepare(1, 0, B256::ZERO);
    stranger.author = Address::ZERO;
    assert_eq!(reason(&subject.hear(Message::Prepare(stranger))), Some(Rejection::NotValidator));
    let mut forged = prepare(1, 0, B256::ZERO);
    forged.author = VALIDATORS[3];
    assert_eq!(reason(&subject.hear(Message::Prepare(forged))), Some(Rejection::ForgedSignature));
    let mut changed = proposal(0, 0, block(0, 0, 1), None);
    changed.signed.payload.digest = B256::ZERO;
    assert_eq!(reason(&subject.hear(Message::Proposal(changed))), Some(Rejection::ForgedSignature));
}

#[test]
fn a_commit_must_carry_its_authors_seal() {
    let digest = digest(&block(0, 0, 1));
    let payload = CommitPayload { view: view(0), digest, seal: key_of(3).sign(digest) };
    let borrowed = Signed::sign(payload, &key_of(1));
    let found = reason(&Subject::new(2).hear(Message::Commit(borrowed)));
    assert_eq!(found, Some(Rejection::ForgedSeal));
}

#[test]
fn the_proposer_does_not_prepare() {
    let found = reason(&Subject::new(2).hear(Message::Prepare(prepare(0, 0, B256::ZERO))));
    assert_eq!(found, Some(Rejection::PrepareFromProposer));
}

#[test]
fn an_echo_of_its_own_words_is_ignored() {
    let mut subject = Subject::new(0);
    assert!(subject.hear(Message::Proposal(proposal(0, 0, block(0, 0, 1), None))).is_empty());
}

#[test]
fn votes_of_a_later_round_wait_for_it() {
    let fresh = block(1, 1, 1);
    let mut subject = Subject::new(2);
    for author in [3, 4] {
        assert!(subject.hear(Message::Prepare(prepare(author, 1, digest(&fresh)))).is_empty());
    }
    let changes: Vec<_> = [0, 1, 3, 4].map(|index| round_change(index, 1, None)).to_vec();
    let actions = subject.accept(proposal(1, 1, fresh, Some(certificate(&changes))));
    assert!(matches!(broadcasts(&actions)[..], [Message::Prepare(_), Message::Commit(_)]));
}

/// A prepare for a height ahead, in its round 0.
fn prepare_at(author: usize, height: u64, digest: B256) -> Message<Bare> {
    let payload = PreparePayload { view: View { height, round: 0 }, digest };
    Message::Prepare(Signed::sign(payload, &key_of(author)))
}

/// Block 2 of validator 1, on block 1 of validator 0, with the votes of three others sent ahead of its parent.
fn early_votes_then_block_two(limit: usize) -> Actions {
    let first = block(0, 0, 1).0;
    let second = Bare(child(&first, VALIDATORS[1]));
    let config = chainnet_ibft::IbftConfig { future_messages_limit: limit, ..config() };
    let mut subject = Subject::begin(Validator::new(key_of(2), config));
    for author in [0, 3, 4] {
        assert!(subject.hear(prepare_at(author, 2, digest(&second))).is_empty());
    }
    subject.on(new_head(first, &VALIDATORS));
    let signed = signed_proposal(1, View { height: 2, round: 0 }, &second);
    let later = now_ms() + 2_000;
    let digest = signed.payload.digest;
    let proposal = Proposal { signed, block: second, certificate: None };
    subject.validator.on_event(Event::Message(Message::Proposal(proposal)), later);
    subject.validator.on_event(Event::ProposalChecked { digest, valid: true }, later)
}

#[test]
fn messages_for_the_next_heights_are_kept_within_the_limit() {
    let enough = early_votes_then_block_two(1000);
    assert!(matches!(broadcasts(&enough)[..], [Message::Prepare(_), Message::Commit(_)]));
    let too_few = early_votes_then_block_two(1);
    assert!(matches!(broadcasts(&too_few)[..], [Message::Prepare(_)]));
}

#[test]
fn old_and_far_messages_are_dropped() {
    let mut subject = Subject::new(2);
    for height in [0, 12, u64::MAX] {
        assert!(subject.hear(prepare_at(1, height, B256::ZERO)).is_empty());
    }
    subject.round_timer(0);
    assert!(
        subject.hear(Message::Proposal(proposal(0, 0, block(0, 0, 1), None))).is_empty(),
        "round 0 is over"
    );
}

#[test]
fn a_node_outside_the_set_says_nothing() {
    let mut validator = Validator::<_, Bare>::new(key(6), config());
    let mut on = |event| validator.on_event(event, now_ms());
    assert!(on(new_head(head(), &VALIDATORS)).is_empty());
    assert!(on(Event::Message(Message::Proposal(proposal(0, 0, block(0, 0, 1), None)))).is_empty());
    assert!(on(Event::RoundTimerFired { height: 1, round: 0 }).is_empty());
}

#[test]
fn a_head_that_is_not_new_is_ignored() {
    let mut subject = Subject::new(2);
    assert!(subject.on(new_head(head(), &VALIDATORS)).is_empty());
    assert!(!subject.on(new_head(block(0, 0, 1).0, &VALIDATORS)).is_empty());
    assert!(subject.on(new_head(head(), &VALIDATORS)).is_empty());
}

#[test]
fn a_single_validator_seals_alone() {
    let alone = [VALIDATORS[3]];
    let head = Header { extra_data: crate::fixture::extra(&alone).encode(), ..head() };
    let mut validator = Validator::<_, Bare>::new(key(1), config());
    validator.on_event(new_head(head.clone(), &alone), now_ms());
    validator.on_event(Event::BlockTimerFired { height: 1 }, now_ms());
    let extra_data = crate::fixture::extra(&alone).encode();
    let block = Bare(Header { extra_data, ..child(&head, VALIDATORS[3]) });
    let actions = validator.on_event(Event::ProposalBuilt { height: 1, round: 0, block }, now_ms());
    assert!(imported(&actions).is_some());
}
