//! From a proposal to a sealed block, and proposals that are refused.

use chainnet_ibft::hash::block_hash;
use chainnet_ibft::rules::{HeaderContext, check_sealed};
use chainnet_ibft::seal::Secp256k1;

use super::*;

#[test]
fn the_proposer_waits_for_the_block_period_and_proposes_what_its_driver_builds() {
    let mut subject = Subject::new(0);
    let due = now_ms();
    assert!(matches!(subject.first[..], [
        Action::StartRoundTimer { height: 1, round: 0, after_ms: 4_000 },
        Action::StartBlockTimer { height: 1, at_ms },
    ] if at_ms == due));
    let actions = subject.on(Event::BlockTimerFired { height: 1 });
    let timestamp = head().timestamp + 2;
    assert!(
        matches!(actions[..], [Action::BuildProposal { height: 1, round: 0, timestamp: found }] if found == timestamp)
    );
    assert!(subject.on(Event::BlockTimerFired { height: 1 }).is_empty(), "one block is enough");

    let actions = subject.on(Event::ProposalBuilt { height: 1, round: 0, block: block(0, 0, 1) });
    assert!(
        matches!(&actions[..], [Action::Persist(lock), Action::Broadcast(Message::Proposal(_))] if lock.voted),
        "the promise is kept before it is given"
    );
}

#[test]
fn a_driver_cannot_propose_a_block_that_others_would_refuse() {
    let mut subject = Subject::new(0);
    subject.on(Event::BlockTimerFired { height: 1 });
    let actions = subject.on(Event::ProposalBuilt { height: 1, round: 0, block: block(1, 0, 1) });
    assert_eq!(reason(&actions), Some(Rejection::ForeignBlock { coinbase: VALIDATORS[1] }));
    let actions = subject.on(Event::ProposalBuilt { height: 1, round: 0, block: block(0, 3, 1) });
    assert_eq!(reason(&actions), Some(Rejection::RoundMismatch { found: 3, expected: 0 }));
    let actions = subject.on(Event::ProposalBuilt { height: 1, round: 0, block: block(0, 0, 1) });
    assert_eq!(broadcasts(&actions).len(), 1, "the right one is still welcome");
}

#[test]
fn a_proposal_is_checked_prepared_committed_and_imported() {
    let mut subject = Subject::new(2);
    let block = block(0, 0, 1);
    let digest = digest(&block);
    let actions = subject.accept(proposal(0, 0, block.clone(), None));
    assert!(matches!(&actions[..], [Action::Persist(_), Action::Broadcast(Message::Prepare(_))]));

    assert!(subject.hear(Message::Prepare(prepare(1, 0, digest))).is_empty());
    let actions = subject.hear(Message::Prepare(prepare(3, 0, digest)));
    assert!(
        matches!(&actions[..], [Action::Persist(lock), Action::Broadcast(Message::Commit(_))] if lock.prepared.is_some())
    );

    assert!(subject.hear(Message::Commit(commit(0, 0, digest))).is_empty());
    assert!(subject.hear(Message::Commit(commit(1, 0, digest))).is_empty());
    let actions = subject.hear(Message::Commit(commit(4, 0, digest)));
    let sealed = imported(&actions).expect("four commits are a quorum");
    assert_eq!(block_hash(&sealed.0), block_hash(&block.0));
    let head = head();
    let context = HeaderContext {
        parent: &head,
        parent_hash: block_hash(&head).unwrap(),
        validators: &VALIDATORS,
        config: &config(),
        now_secs: now_ms() / 1000,
    };
    assert_eq!(check_sealed(&sealed.0, &context, &Secp256k1), Ok(()));
    assert!(subject.hear(Message::Commit(commit(3, 0, digest))).is_empty(), "it is imported once");
}

#[test]
fn votes_may_come_before_the_proposal() {
    let mut subject = Subject::new(2);
    let block = block(0, 0, 1);
    let digest = digest(&block);
    for author in [1, 3] {
        assert!(subject.hear(Message::Prepare(prepare(author, 0, digest))).is_empty());
    }
    for author in [0, 1, 3] {
        assert!(subject.hear(Message::Commit(commit(author, 0, digest))).is_empty());
    }
    let actions = subject.accept(proposal(0, 0, block, None));
    assert_eq!(broadcasts(&actions).len(), 2, "prepare and commit");
    assert!(imported(&actions).is_some());
}

#[test]
fn votes_for_another_block_do_not_count() {
    let mut subject = Subject::new(2);
    subject.accept(proposal(0, 0, block(0, 0, 1), None));
    let other = digest(&block(0, 0, 2));
    for author in [1, 3, 4] {
        assert!(subject.hear(Message::Prepare(prepare(author, 0, other))).is_empty());
    }
    for author in [0, 1, 3, 4] {
        assert!(subject.hear(Message::Commit(commit(author, 0, other))).is_empty());
    }
}

#[test]
fn a_block_that_does_not_execute_is_not_prepared() {
    let mut subject = Subject::new(2);
    let block = block(0, 0, 1);
    let digest = digest(&block);
    subject.hear(Message::Proposal(proposal(0, 0, block.clone(), None)));
    let actions = subject.on(Event::ProposalChecked { digest, valid: false });
    assert_eq!(reason(&actions), Some(Rejection::InvalidBlock));
    assert!(subject.hear(Message::Proposal(proposal(0, 0, block, None))).is_empty(), "nor tried again");
}

#[test]
fn a_second_proposal_in_a_round_is_refused() {
    let mut subject = Subject::new(2);
    let first = proposal(0, 0, block(0, 0, 1), None);
    subject.accept(first.clone());
    assert!(subject.hear(Message::Proposal(first)).is_empty(), "a repetition is no offence");
    let actions = subject.hear(Message::Proposal(proposal(0, 0, block(0, 0, 2), None)));
    assert_eq!(reason(&actions), Some(Rejection::SecondProposal { round: 0 }));
}

#[test]
fn unfit_proposals_are_refused_with_their_reason() {
    let good = block(0, 0, 1);
    let early = Bare(Header { timestamp: head().timestamp + 1, ..good.0.clone() });
    let unreadable = good.with_extra_data(Bytes::new());
    let mut mismatched = proposal(0, 0, good.clone(), None);
    mismatched.block = block(0, 0, 2);
    let mut unread = proposal(0, 0, good.clone(), None);
    unread.block = unreadable;
    let sealed = Bare(crate::fixture::sealed(&good.0, &[1]));
    let changes: Vec<_> = (0..4).map(|index| round_change(index, 1, None)).collect();
    let cases = [
        (proposal(1, 0, block(1, 0, 1), None), "proposer is"),
        (proposal(0, 0, early, None), "block breaks the rule block-period"),
        (mismatched, "block does not match the signed digest"),
        (unread, "extra data of the block is not valid"),
        (proposal(0, 0, block(0, 1, 1), None), "block names round 1 instead of 0"),
        (proposal(0, 0, sealed, None), "proposal carries seals"),
        (proposal(0, 0, block(3, 0, 1), None), "block was built by"),
        (proposal(0, 0, good, Some(certificate(&changes))), "round-change certificate is missing"),
        (proposal(1, 1, block(1, 1, 1), None), "round-change certificate is missing"),
    ];
    for (proposal, expected) in cases {
        let mut subject = Subject::new(2);
        let actions = subject.hear(Message::Proposal(proposal));
        let found = reason(&actions).expect(expected).to_string();
        assert!(found.starts_with(expected), "{found} instead of {expected}");
        assert_eq!(subject.round(), 0);
    }
}
