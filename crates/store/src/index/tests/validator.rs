//! What validators did.

use super::*;
use crate::engine_tests;

const HOUR: u64 = 3_600;

fn turn(index: u8, round: u32, outcome: TurnOutcome) -> NewTurn {
    NewTurn { validator: validator(index), round, outcome }
}

/// Block 2 was to be validator 2's; it came in round 2 and 4 built it.
fn late_block() -> NewBlock {
    NewBlock {
        round: 2,
        proposer: validator(4),
        turns: vec![
            turn(2, 0, TurnOutcome::Missed),
            turn(3, 1, TurnOutcome::Unclear),
            turn(4, 2, TurnOutcome::Kept),
        ],
        ..block(2)
    }
}

engine_tests! {
    async fn turns_are_listed_newest_first(test: TestDb) {
        fill(test, &[block(0), block(1), late_block(), block(3), NewBlock { proposer: validator(2), turns: vec![turn(2, 0, TurnOutcome::Kept)], ..block(4) }]).await;
        let turns = test.recent_turns(validator(2), 10).await.unwrap();
        let expected = [(4, 0, TurnOutcome::Kept), (2, 0, TurnOutcome::Missed)];
        assert_eq!(turns.iter().map(|t| (t.block_number, t.round, t.outcome)).collect::<Vec<_>>(), expected);
        assert_eq!(turns[1].timestamp, BEGIN + 20);
        assert_eq!(test.recent_turns(validator(2), 1).await.unwrap(), turns[..1]);
        assert_eq!(test.recent_turns(user(77), 1).await.unwrap(), []);
    }

    async fn missed_turns_are_listed_alone_and_page_by_block(test: TestDb) {
        let again = NewBlock { turns: vec![turn(2, 0, TurnOutcome::Missed), turn(3, 1, TurnOutcome::Kept)], ..block(5) };
        fill(test, &[block(0), block(1), late_block(), block(3), block(4), again]).await;
        let missed = test.missed_turns(validator(2), None, 10).await.unwrap();
        assert_eq!(missed.iter().map(|t| (t.block_number, t.outcome)).collect::<Vec<_>>(), [(5, TurnOutcome::Missed), (2, TurnOutcome::Missed)]);
        assert_eq!(test.missed_turns(validator(2), Some(5), 10).await.unwrap(), missed[1..]);
        assert_eq!(test.missed_turns(validator(2), None, 1).await.unwrap(), missed[..1]);
        assert_eq!(test.missed_turns(validator(3), None, 10).await.unwrap(), []);
        assert_eq!(test.missed_turns(user(77), None, 10).await.unwrap(), []);
    }

    async fn a_strip_shows_who_took_part(test: TestDb) {
        fill(test, &[block(0), block(1), late_block()]).await;
        let strip = test.recent_blocks_strip(2).await.unwrap();
        let all: Vec<_> = (0..5).map(validator).collect();
        assert_eq!(strip[0], StripBlock {
            number: 2,
            timestamp: BEGIN + 20,
            proposer: validator(4),
            round: 2,
            validators: all.clone(),
            sealers: all[..4].to_vec(),
            missed: vec![validator(2)],
            unclear: vec![validator(3)],
        });
        assert_eq!((strip[1].number, strip[1].missed.len()), (1, 0));
        assert_eq!(strip.len(), 2);
    }

    async fn activity_adds_up_over_windows(test: TestDb) {
        // Genesis and a block in the first hour, two blocks a day later, one 40 days later.
        let at = |number, timestamp| NewBlock { timestamp, ..block(number) };
        let late = NewBlock { timestamp: BEGIN + 24 * HOUR, ..late_block() };
        let last = BEGIN + 40 * 24 * HOUR;
        fill(test, &[at(0, BEGIN), at(1, BEGIN + 1), late]).await;
        fill(test, &[at(3, BEGIN + 25 * HOUR), at(4, last)]).await;

        let report = test.validator_activity(&[24 * HOUR, 39 * 24 * HOUR, 1_000 * 24 * HOUR]).await.unwrap();
        assert_eq!(report.as_of.unwrap().number, 4);
        assert_eq!(report.windows[0], WindowStart { seconds: 24 * HOUR, since: last - 24 * HOUR - 1_800 });
        assert_eq!(report.validators.iter().map(|v| v.validator).collect::<Vec<_>>(), (0..5).map(validator).collect::<Vec<_>>());
        let of = |index: u8| &report.validators[usize::from(index)];
        let sums = |proposed, kept, missed, unclear, sealed, blocks| ActivitySums { proposed, kept, missed, unclear, sealed, blocks };
        assert_eq!(of(2).total, sums(0, 0, 1, 0, 4, 4));
        assert_eq!(of(3).total, sums(1, 1, 0, 1, 4, 4));
        assert_eq!(of(4).total, sums(2, 2, 0, 0, 0, 4));
        assert_eq!(of(4).windows, [sums(1, 1, 0, 0, 0, 1), sums(2, 2, 0, 0, 0, 3), sums(2, 2, 0, 0, 0, 4)]);
        assert_eq!((of(4).last_proposed, of(4).last_sealed, of(3).last_sealed), (Some(4), None, Some(4)));
        assert_eq!((of(1).last_proposed, of(0).last_proposed), (Some(1), None));
        assert_eq!((of(0).first_block, of(0).first_timestamp), (1, BEGIN + 1));
    }

    async fn a_validator_that_left_stays_listed_and_a_new_one_is_counted_from_its_first_block(test: TestDb) {
        let smaller: Vec<_> = (1..5).map(validator).chain([validator(9)]).collect();
        let changed = NewBlock { validators: smaller.clone(), sealers: vec![validator(9)], ..block(2) };
        fill(test, &[block(0), block(1)]).await;
        fill(test, &[changed, block(3)]).await;
        let report = test.validator_activity(&[]).await.unwrap();
        let blocks: Vec<_> = report.validators.iter().map(|v| (v.total.blocks, v.first_block)).collect();
        assert_eq!(blocks, [(2, 1), (3, 1), (3, 1), (3, 1), (3, 1), (1, 2)]);
        assert_eq!(test.validator_set_at(1).await.unwrap().len(), 5);
        assert_eq!(test.validator_set_at(2).await.unwrap(), smaller);
        assert_eq!(test.validator_set_at(3).await.unwrap()[0], validator(0));
        assert_eq!(test.recent_blocks_strip(2).await.unwrap()[1].sealers, [validator(9)]);
    }

    async fn votes_are_listed_from_a_block_on(test: TestDb) {
        let voting = |number, adds| NewBlock { vote: Some(NewVote { recipient: user(5), adds }), ..block(number) };
        fill(test, &[block(0), voting(1, true), block(2), voting(3, false)]).await;
        let votes = test.votes_since(1).await.unwrap();
        assert_eq!(votes[0], VoteRow {
            block_number: 1,
            timestamp: BEGIN + 10,
            voter: validator(1),
            recipient: user(5),
            adds: true,
        });
        assert_eq!(votes.iter().map(|vote| vote.block_number).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(test.votes_since(2).await.unwrap(), votes[1..]);
        assert_eq!(test.votes_since(u64::MAX).await.unwrap(), []);
    }
}
