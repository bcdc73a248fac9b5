//! What a restarted validator remembers.

use super::*;

/// The lock of validator 2 after it has prepared, and possibly committed to, a block in round 0.
fn lock_after(block: &Bare, has_committed: bool) -> Lock<Bare> {
    let mut subject = Subject::new(2);
    let mut actions = subject.accept(proposal(0, 0, block.clone(), None));
    if has_committed {
        actions.extend(subject.hear(Message::Prepare(prepare(1, 0, digest(block)))));
        actions.extend(subject.hear(Message::Prepare(prepare(3, 0, digest(block)))));
    }
    locks(&actions).pop().expect("a promise was made")
}

#[test]
fn a_validator_that_has_prepared_does_not_vote_in_that_round_again() {
    let mut subject = Subject::resumed(2, lock_after(&block(0, 0, 1), false));
    assert_eq!(subject.round(), 1);
    assert!(matches!(broadcasts(&subject.first)[..], [Message::RoundChange(_)]));
    assert!(subject.hear(Message::Proposal(proposal(0, 0, block(0, 0, 2), None))).is_empty());
}

#[test]
fn a_validator_that_has_committed_shows_the_block_after_its_restart() {
    let block = block(0, 0, 1);
    let subject = Subject::resumed(2, lock_after(&block, true));
    let [Message::RoundChange(change)] = &broadcasts(&subject.first)[..] else {
        panic!("{:?}", subject.first)
    };
    assert_eq!(change.block.as_ref(), Some(&block));
}

#[test]
fn a_validator_that_only_asked_for_a_round_resumes_in_it() {
    let mut before = Subject::new(2);
    let lock = locks(&before.round_timer(0)).pop().unwrap();
    let subject = Subject::resumed(2, lock);
    assert_eq!(subject.round(), 1);
}

#[test]
fn a_lock_of_a_finished_height_is_worthless() {
    let lock = Lock { height: 0, ..lock_after(&block(0, 0, 1), true) };
    let mut subject = Subject::resumed(2, lock);
    assert_eq!(subject.round(), 0);
    let actions = subject.round_timer(0);
    let [Message::RoundChange(change)] = &broadcasts(&actions)[..] else { panic!("{actions:?}") };
    assert!(change.block.is_none());
}

#[test]
fn a_lock_waits_for_its_height_while_the_chain_catches_up() {
    let lock = Lock { height: 2, round: 3, voted: false, prepared: None };
    let mut subject = Subject::resumed(2, lock);
    assert_eq!(subject.round(), 0);
    subject.on(new_head(block(0, 0, 1).0, &VALIDATORS));
    assert_eq!(subject.validator.view(), Some(View { height: 2, round: 3 }));
}
