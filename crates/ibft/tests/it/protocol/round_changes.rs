//! Giving up a round, proposing again, and certificates that prove nothing.

use chainnet_ibft::hash::block_hash;

use super::*;

#[test]
fn a_timed_out_round_is_given_up() {
    let mut subject = Subject::new(2);
    let actions = subject.round_timer(0);
    assert!(matches!(&actions[..], [
        Action::StartRoundTimer { round: 1, after_ms: 8_000, .. },
        Action::Persist(lock),
        Action::Broadcast(Message::RoundChange(change)),
    ] if lock.round == 1 && !lock.voted && change.signed.payload.prepared.is_none()));
    assert!(subject.round_timer(0).is_empty(), "a late timer changes nothing");
}

#[test]
fn a_validator_waits_for_a_quorum_in_the_round_it_asked_for() {
    let mut subject = Subject::new(2);
    subject.round_timer(0);
    for _ in 0..3 {
        let actions = subject.round_timer(1);
        assert!(matches!(broadcasts(&actions)[..], [Message::RoundChange(_)]), "it asks again");
        assert_eq!(subject.round(), 1);
    }
    assert!(subject.hear(Message::RoundChange(round_change(0, 1, None))).is_empty());
    assert!(subject.hear(Message::RoundChange(round_change(3, 1, None))).is_empty());
    let actions = subject.hear(Message::RoundChange(round_change(4, 1, None)));
    assert!(
        matches!(actions[..], [Action::StartRoundTimer { round: 1, .. }]),
        "the round gets its full time"
    );
    subject.round_timer(1);
    assert_eq!(subject.round(), 2);
}

#[test]
fn one_validator_cannot_pull_others_along_but_more_than_f_can() {
    let mut subject = Subject::new(2);
    assert!(subject.hear(Message::RoundChange(round_change(0, 7, None))).is_empty());
    assert_eq!(subject.round(), 0);
    let actions = subject.hear(Message::RoundChange(round_change(1, 5, None)));
    assert_eq!(subject.round(), 5, "the round that both of them have reached");
    assert!(matches!(broadcasts(&actions)[..], [Message::RoundChange(_)]));
}

#[test]
fn the_next_proposer_builds_a_fresh_block_if_nothing_was_prepared() {
    let mut subject = Subject::new(1);
    subject.round_timer(0);
    subject.hear(Message::RoundChange(round_change(2, 1, None)));
    subject.hear(Message::RoundChange(round_change(3, 1, None)));
    let actions = subject.hear(Message::RoundChange(round_change(4, 1, None)));
    assert!(matches!(actions.last(), Some(Action::BuildProposal { height: 1, round: 1, .. })), "{actions:?}");
    let actions = subject.on(Event::ProposalBuilt { height: 1, round: 1, block: block(1, 1, 1) });
    let [Message::Proposal(proposal)] = &broadcasts(&actions)[..] else { panic!("{actions:?}") };

    let mut other = Subject::new(4);
    let actions = other.accept(proposal.clone());
    assert!(matches!(broadcasts(&actions)[..], [Message::Prepare(_)]));
    assert_eq!(other.round(), 1, "the certificate takes others along");
}

#[test]
fn the_latest_prepared_block_is_proposed_again_with_only_its_round_changed() {
    let (older, newer) = (block(0, 0, 1), block(1, 1, 2));
    let mut subject = Subject::new(2);
    subject.hear(Message::RoundChange(round_change(0, 2, Some((prepared(0, 0, &older), older)))));
    subject.hear(Message::RoundChange(round_change(1, 2, Some((prepared(1, 1, &newer), newer.clone())))));
    let actions = subject.hear(Message::RoundChange(round_change(3, 2, None)));
    let [Message::Proposal(again)] = &broadcasts(&actions)[..] else { panic!("{actions:?}") };
    assert_eq!(again.block, in_round(&newer, 2));
    assert_eq!(again.block.0.beneficiary, VALIDATORS[1], "the builder stays");
    assert_eq!(block_hash(&again.block.0), block_hash(&newer.0));

    let mut other = Subject::new(4);
    let actions = other.accept(again.clone());
    assert!(matches!(broadcasts(&actions)[..], [Message::Prepare(_)]));
}

#[test]
fn a_prepared_block_is_shown_in_the_round_change() {
    let mut subject = Subject::new(2);
    let block = block(0, 0, 1);
    subject.accept(proposal(0, 0, block.clone(), None));
    subject.hear(Message::Prepare(prepare(1, 0, digest(&block))));
    subject.hear(Message::Prepare(prepare(3, 0, digest(&block))));
    let actions = subject.round_timer(0);
    let [Message::RoundChange(change)] = &broadcasts(&actions)[..] else { panic!("{actions:?}") };
    assert_eq!(change.block.as_ref(), Some(&block));
    let mut other = Subject::new(4);
    assert!(other.hear(Message::RoundChange(change.clone())).is_empty(), "and convinces others");
}

/// Reason for refusing a proposal of round 1 by its proposer, validator 1.
fn refusal(block: Bare, changes: &[RoundChange<Bare>]) -> Option<Rejection> {
    let mut subject = Subject::new(4);
    reason(&subject.hear(Message::Proposal(proposal(1, 1, block, Some(certificate(changes))))))
}

#[test]
fn a_prepared_block_cannot_be_passed_over() {
    let old = block(0, 0, 1);
    let shown = || Some((prepared(0, 0, &old), old.clone()));
    let changes = [0, 1, 2].map(|index| round_change(index, 1, None));
    let changes = [changes.to_vec(), vec![round_change(3, 1, shown())]].concat();
    assert_eq!(refusal(block(1, 1, 2), &changes), Some(Rejection::PreparedBlockIgnored));
    assert_eq!(refusal(in_round(&old, 1), &changes), None);

    let mut stripped = changes;
    stripped[3].signed.payload.prepared = None;
    assert_eq!(refusal(block(1, 1, 2), &stripped), Some(Rejection::ForgedSignature), "nor hidden");
}

#[test]
fn a_round_change_certificate_needs_a_quorum_of_distinct_validators_for_its_round() {
    let fresh = || block(1, 1, 2);
    let change = |index| round_change(index, 1, None);
    assert_eq!(
        refusal(fresh(), &[change(0), change(1), change(2)]),
        Some(Rejection::TooFewRoundChanges { found: 3, needed: 4 })
    );
    assert_eq!(
        refusal(fresh(), &[change(0), change(1), change(2), change(2)]),
        Some(Rejection::RepeatedAuthor { author: VALIDATORS[2] })
    );
    assert_eq!(
        refusal(fresh(), &[change(0), change(1), change(2), round_change(3, 2, None)]),
        Some(Rejection::ForeignCertificate { author: VALIDATORS[3] })
    );
    let stranger = Signed::sign(RoundChangePayload { view: view(1), prepared: None }, &key(6));
    let stranger = RoundChange { signed: stranger, block: None };
    assert_eq!(refusal(fresh(), &[change(0), change(1), change(2), stranger]), Some(Rejection::NotValidator));
    assert_eq!(
        refusal(block(3, 1, 2), &[change(0), change(1), change(2), change(3)]),
        Some(Rejection::ForeignBlock { coinbase: VALIDATORS[3] })
    );
}

#[test]
fn a_prepared_certificate_must_prove_its_claim() {
    let old = block(0, 0, 1);
    let sound = prepared(0, 0, &old);
    let hear = |certificate: PreparedCertificate, block: Option<Bare>| {
        let payload = RoundChangePayload { view: view(1), prepared: Some(Arc::new(certificate)) };
        let change = RoundChange { signed: Signed::sign(payload, &key_of(3)), block };
        reason(&Subject::new(4).hear(Message::RoundChange(change)))
    };
    let with = |change: &dyn Fn(&mut PreparedCertificate)| {
        let mut certificate = (*sound).clone();
        change(&mut certificate);
        hear(certificate, Some(old.clone()))
    };
    assert_eq!(with(&|_| ()), None);
    assert_eq!(with(&|it| it.prepares.truncate(2)), Some(Rejection::TooFewPrepares { found: 2, needed: 3 }));
    let repeated = Rejection::RepeatedAuthor { author: VALIDATORS[1] };
    assert_eq!(with(&|it| it.prepares[2] = it.prepares[0].clone()), Some(repeated));
    let foreign = |author: usize| Rejection::ForeignCertificate { author: VALIDATORS[author] };
    assert_eq!(with(&|it| it.prepares[0] = prepare(1, 0, B256::ZERO)), Some(foreign(1)));
    assert_eq!(with(&|it| it.prepares[0] = prepare(1, 4, digest(&old))), Some(foreign(1)));
    assert_eq!(
        with(&|it| it.prepares[0] = prepare(0, 0, digest(&old))),
        Some(Rejection::PrepareFromProposer)
    );
    assert_eq!(with(&|it| it.prepares[0].author = VALIDATORS[4]), Some(Rejection::ForgedSignature));
    assert_eq!(
        with(&|it| it.proposal = signed_proposal(1, view(0), &old)),
        Some(Rejection::NotProposer { expected: Some(VALIDATORS[0]) })
    );
    assert_eq!(
        with(&|it| it.proposal = signed_proposal(0, view(1), &old)),
        Some(foreign(0)),
        "not before the round"
    );
    assert_eq!(hear((*sound).clone(), None), Some(Rejection::PreparedBlockPresence));
    assert_eq!(hear((*sound).clone(), Some(block(0, 0, 9))), Some(Rejection::DigestMismatch));
}

#[test]
fn a_round_change_without_proof_has_no_block_and_never_asks_for_round_zero() {
    let mut change = round_change(3, 1, None);
    change.block = Some(block(0, 0, 1));
    let found = reason(&Subject::new(4).hear(Message::RoundChange(change)));
    assert_eq!(found, Some(Rejection::PreparedBlockPresence));
    let found = reason(&Subject::new(4).hear(Message::RoundChange(round_change(3, 0, None))));
    assert_eq!(found, Some(Rejection::ChangeToRoundZero));
}
