//! The board on a real chain with a real index.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes};
use chainnet_validators::{
    Board, BoardKeeper, BoardSettings,
    board::{Boards, SlashReason, Standing, newest},
    detail::{Evidence, read_detail},
    expansion::ExpansionView,
};
use contracts::PlatformValidatorRegistry as Registry;
use domain::{Failure, Wei};
use store::{
    index::{ContractEvent, TurnOutcome},
    keeper::{DoubleSign, KEEPER_LEASE, NewReport, OffenceKind},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::rig::{ADMIN, PATIENCE, Rig, SLASHER, node, operator, rank, record};

const DAY: u64 = 86_400;

/// The newest board that satisfies a condition.
async fn await_board(boards: &mut Boards, wanted: impl Fn(&Board) -> bool) -> Arc<Board> {
    let is_wanted = |board: &Option<Arc<Board>>| board.as_deref().is_some_and(&wanted);
    let board = timeout(PATIENCE, boards.wait_for(is_wanted)).await.expect("in time").expect("a keeper");
    board.clone().expect("a board")
}

store::engine_tests! {
    async fn a_stopped_validator_falls_and_rises_again(test: TestDb) {
        let rig = Rig::start(test.db());
        rig.mine(20).await;
        let healthy = rig.board().await;
        assert_eq!(rank(&healthy, operator(3)), 1);
        assert_eq!(record(&healthy, operator(3)).activity.day.uptime_ppm(), Some(1_000_000));

        rig.control.stop_validator("V3").await.expect("a stop");
        rig.mine(20).await;
        let fallen = rig.board().await;
        let fallen_record = record(&fallen, operator(3));
        let missed = fallen_record.activity.missed_turns;
        assert!(missed >= 3, "{missed}");
        assert!(fallen_record.activity.day.uptime_ppm() < Some(700_000), "{fallen_record:?}");
        assert_eq!(rank(&fallen, operator(3)), 5);
        for other in [1, 2, 4, 5] {
            assert_eq!(record(&fallen, operator(other)).activity.day.uptime_ppm(), Some(1_000_000));
        }
        let detail = read_detail(test, &fallen, node(3)).await.expect("a detail");
        let missed_blocks: Vec<_> = detail
            .recent_turns
            .iter()
            .filter(|turn| turn.outcome == TurnOutcome::Missed)
            .map(|turn| turn.block_number)
            .collect();
        assert_eq!(missed_blocks.len() as u64, missed);
        assert!(missed_blocks.iter().all(|block| (21..=40).contains(block)), "{missed_blocks:?}");

        rig.control.start_validator("V3").await.expect("a start");
        rig.mine(30).await;
        let rising = rig.board().await;
        let uptime = |board: &Board| record(board, operator(3)).activity.day.uptime_ppm();
        assert!(uptime(&rising) > uptime(&fallen));
        // What is past the windows is forgiven, not forgotten.
        rig.mine_after(32 * DAY).await;
        rig.mine(20).await;
        let risen = rig.board().await;
        assert_eq!(uptime(&risen), Some(1_000_000));
        assert_eq!(rank(&risen, operator(3)), 1);
        assert_eq!(record(&risen, operator(3)).activity.missed_turns, missed);
    }

    async fn a_board_lists_the_registry_with_the_set_and_finds_by_either_address(test: TestDb) {
        let rig = Rig::start(test.db());
        rig.mine(5).await;
        let board = rig.board().await;
        assert_eq!(board.validators.len(), 5);
        assert_eq!((board.active_count(), board.set_size()), (5, 5));
        assert_eq!(board.total_staked, Wei::from_coin(500_000));
        let mut set: Vec<_> = (1..=5).map(node).collect();
        set.sort_unstable();
        assert_eq!(board.votes.validator_set, set);
        for number in 1..=5 {
            let by_operator = record(&board, operator(number));
            assert_eq!(by_operator, record(&board, node(number)));
            assert_eq!(by_operator.moniker, format!("Validator {number}"));
            assert_eq!(by_operator.activity.proposed_blocks, 1);
            assert!(by_operator.in_validator_set && by_operator.standing == Standing::Active);
        }
        let error = board.get(node(7)).expect_err("nobody");
        assert_eq!(error.code(), "validator_not_found");
        let expansion = ExpansionView::of(&board);
        assert_eq!((expansion.status.phase, expansion.status.current, expansion.status.max), (1, 5, 5));
        assert_eq!((expansion.status.open_slots, expansion.members_without_region), (0, 5));
    }

    async fn votes_are_counted_until_they_change_the_set(test: TestDb) {
        let rig = Rig::start(test.db());
        let stranger = node(7);
        rig.vote_to_add([1, 2], stranger).await;
        rig.mine(6).await;
        let board = rig.board().await;
        let expansion = ExpansionView::of(&board);
        let [vote] = expansion.votes.as_slice() else { panic!("{expansion:?}") };
        assert_eq!((vote.candidate, vote.needed, vote.operator), (stranger, 3, None));
        let mut voters = [node(1), node(2)];
        voters.sort_unstable();
        assert_eq!(vote.voters, voters);
        assert_eq!(expansion.blocks_left, 30_000 - 6);
        assert!(board.find(stranger).is_none());

        rig.vote_to_add([3], stranger).await;
        rig.mine(6).await;
        let board = rig.board().await;
        assert!(board.votes.ballots.is_empty());
        let record = record(&board, stranger);
        assert_eq!((record.standing, record.operator), (Standing::None, None));
        assert!(record.in_validator_set);
        assert_eq!(rank(&board, stranger), 6);
        assert_eq!(board.set_size(), 6);
        assert_eq!(board.validators.len(), 6);
    }

    async fn slashes_and_rewards_are_told_in_the_detail_and_cost_points(test: TestDb) {
        let rig = Rig::start(test.db());
        rig.mine(5).await;
        let before = rig.board().await;
        rig.registry(SLASHER, 0, &Registry::slashValidatorCall { operator: operator(3), reason: 1 }).await;
        let reward = Wei::from_coin(7);
        rig.registry(ADMIN, 7, &Registry::distributeRewardsCall { operator: operator(3), amount: reward.0 }).await;
        let after = rig.board().await;
        let jailed = record(&after, operator(3));
        assert_eq!((jailed.standing, jailed.slash_count, jailed.rewards), (Standing::Jailed, 1, reward));
        assert_eq!(jailed.stake, Wei::from_coin(99_000));
        assert_eq!(jailed.offences[0].reason, SlashReason::Downtime);
        assert_eq!(jailed.jailed_until, Some(jailed.offences[0].at + 7 * DAY));
        let detail = read_detail(test, &after, operator(3)).await.expect("a detail");
        let ranked = detail.ranked.expect("a rank");
        assert_eq!(ranked.score.penalty.to_string(), "10.00");
        assert_eq!((rank(&before, operator(3)), ranked.rank), (1, 5));
        let kinds: Vec<_> = detail.history.iter().map(|row| &row.event).collect();
        assert!(
            matches!(kinds[..2], [ContractEvent::ValidatorJailed { .. }, ContractEvent::ValidatorSlashed { .. }]),
            "{kinds:?}"
        );
        assert!(matches!(detail.rewards[0].event, ContractEvent::RewardsDistributed { amount, .. } if amount == reward));
        assert!(detail.evidence.is_empty());

        rig.registry(SLASHER, 0, &Registry::slashValidatorCall { operator: operator(1), reason: 2 }).await;
        let board = rig.board().await;
        let last = board.ranking().entries.last().expect("a validator");
        assert_eq!(last.record.operator, Some(operator(1)));
        assert_eq!(last.score.total.to_string(), "0.00");
    }

    async fn what_the_keeper_found_is_shown_as_evidence_of_its_validator_alone(test: TestDb) {
        let rig = Rig::start(test.db());
        rig.mine(2).await;
        let lease = test.take_lease(KEEPER_LEASE, "keeper", 1, 2).await.expect("a lease").expect("a free lease");
        let digests = [B256::repeat_byte(1), B256::repeat_byte(2)];
        let report = |kind: OffenceKind, proof| NewReport {
            occasion: kind.name().to_owned(),
            kind,
            operator: Some(operator(3)),
            node: node(3),
            block_number: 2,
            proof,
            note: String::new(),
            seen_at: 7,
        };
        let proof = DoubleSign { round: 1, digests, headers: [Bytes::new(), Bytes::new()] };
        for report in [report(OffenceKind::DoubleSign, Some(proof)), report(OffenceKind::Downtime, None)] {
            assert!(test.report_offence(lease, &report, 1).await.expect("a report"));
        }
        let board = rig.board().await;
        for address in [operator(3), node(3)] {
            let detail = read_detail(test, &board, address).await.expect("a detail");
            assert_eq!(detail.evidence, [Evidence { block_number: 2, round: 1, digests, seen_at: 7 }]);
        }
        assert_eq!(read_detail(test, &board, operator(1)).await.expect("a detail").evidence, []);
    }

    async fn a_board_without_an_index_has_the_registry_and_the_set_and_says_so(test: TestDb) {
        let rig = Rig::without_index(test.db());
        rig.mine(3).await;
        let board = rig.board_now().await;
        assert_eq!(board.as_of_block, None);
        assert!(!board.is_current());
        assert_eq!((board.validators.len(), board.set_size()), (5, 5));
        assert_eq!(record(&board, operator(1)).activity.day.uptime_ppm(), None);
    }

    async fn the_keeper_has_a_board_for_every_head_soon(test: TestDb) {
        let rig = Rig::start(test.db());
        let keeper = BoardKeeper::new(rig.client.clone(), test.db(), BoardSettings::default());
        let mut boards = keeper.boards();
        assert_eq!(newest(&boards).expect_err("no board yet").code(), "chain_unavailable");
        let stop = CancellationToken::new();
        let running = tokio::spawn(keeper.run(stop.clone()));
        for _ in 0..5 {
            rig.mine(1).await;
            let head = rig.head();
            let board = await_board(&mut boards, |board| board.block_hash == head.hash && board.is_current()).await;
            assert_eq!(board.time, head.header.timestamp);
        }
        assert_eq!(newest(&boards).expect("a board").block, 5);
        stop.cancel();
        running.await.expect("a clean end");
    }
}
