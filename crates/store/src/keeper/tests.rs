use alloy_primitives::{Address, B256, Bytes, keccak256};

use super::*;
use crate::{Db, Lease, engine_tests};

const NOW: u64 = 1_767_225_600_000;
const OPERATOR: Address = Address::repeat_byte(0x0e);
const NODE: Address = Address::repeat_byte(0x0d);

async fn lease(db: &Db, holder: &str, now: u64) -> Option<Lease> {
    db.take_lease(KEEPER_LEASE, holder, now, now + 10).await.unwrap()
}

fn unjail(until: u64) -> NewAction {
    NewAction {
        occasion: format!("unjail:{until}"),
        task: KeeperTask::Unjail,
        operator: OPERATOR,
        expects: until,
    }
}

fn slash(offence: u64) -> NewAction {
    NewAction {
        occasion: format!("downtime:{offence}"),
        task: KeeperTask::SlashDowntime,
        operator: OPERATOR,
        expects: 0,
    }
}

fn transaction(nonce: u64) -> ActionTransaction {
    let raw = Bytes::from(nonce.to_be_bytes());
    let hash = keccak256(&raw);
    ActionTransaction { signer: Address::repeat_byte(0xaa), nonce, raw, hash, is_void: false }
}

fn report(height: u64) -> NewReport {
    NewReport {
        occasion: format!("double-sign:{height}"),
        kind: OffenceKind::DoubleSign,
        operator: Some(OPERATOR),
        node: NODE,
        block_number: height,
        proof: Some(DoubleSign {
            round: 2,
            digests: [B256::repeat_byte(1), B256::repeat_byte(2)],
            headers: [Bytes::from_static(b"one"), Bytes::from_static(b"two")],
        }),
        note: "seen".to_owned(),
        seen_at: height,
    }
}

engine_tests! {
    async fn of_many_keepers_one_has_the_lease_until_it_lapses_or_is_returned(test: TestDb) {
        let taking: Vec<_> = (0..16)
            .map(|index| {
                let db = test.db();
                tokio::spawn(async move { lease(&db, &format!("keeper {index}"), NOW).await })
            })
            .collect();
        let mut held = Vec::new();
        for taken in taking {
            held.extend(taken.await.unwrap());
        }
        let [first] = held[..] else { panic!("{held:?}") };
        assert_eq!(lease(test, "late", NOW + 9).await, None);
        let late = lease(test, "late", NOW + 10).await.expect("it has lapsed");
        assert!(late.turn > first.turn);
        assert_eq!(test.begin_action(first, &slash(1), NOW).await.unwrap(), Begun::LeaseLost);
        assert!(!test.report_offence(first, &report(1), NOW).await.unwrap());
        test.return_lease(first).await.unwrap();
        assert_eq!(lease(test, "next", NOW + 11).await, None, "somebody else's was not returned");
        test.return_lease(late).await.unwrap();
        assert!(lease(test, "next", NOW + 11).await.is_some());
    }

    async fn an_offence_is_reported_and_punished_once(test: TestDb) {
        let lease = lease(test, "keeper", NOW).await.unwrap();
        assert!(test.report_offence(lease, &report(7), NOW).await.unwrap());
        assert!(!test.report_offence(lease, &report(7), NOW + 1).await.unwrap());
        assert!(test.report_offence(lease, &report(8), NOW).await.unwrap());
        for address in [NODE, OPERATOR] {
            let rows = test.offences_of(address, OffenceKind::DoubleSign, 10).await.unwrap();
            assert_eq!(rows.iter().map(|row| &row.report).collect::<Vec<_>>(), [&report(8), &report(7)]);
        }
        assert_eq!(test.offences_of(Address::ZERO, OffenceKind::DoubleSign, 10).await.unwrap(), []);
        assert_eq!(test.offences_of(NODE, OffenceKind::Downtime, 10).await.unwrap(), []);

        assert_eq!(test.begin_action(lease, &slash(1), NOW).await.unwrap(), Begun::New);
        assert_eq!(test.begin_action(lease, &slash(1), NOW).await.unwrap(), Begun::Known);
        let [open] = &test.open_actions().await.unwrap()[..] else { panic!("not one") };
        assert!(test.close_action(lease, open.id, (ActionState::Done, Some(5), None), NOW).await.unwrap());
        assert!(!test.close_action(lease, open.id, (ActionState::Failed, None, None), NOW).await.unwrap());
        assert_eq!(test.begin_action(lease, &slash(1), NOW).await.unwrap(), Begun::Known, "never again");
        assert_eq!(test.recent_actions(5).await.unwrap()[0].block_number, Some(5));
    }

    async fn a_transaction_is_replaced_only_by_who_knows_it(test: TestDb) {
        let lease = lease(test, "keeper", NOW).await.unwrap();
        test.begin_action(lease, &unjail(3), NOW).await.unwrap();
        let id = test.open_actions().await.unwrap()[0].id;
        let (first, second) = (transaction(4), transaction(5));
        assert!(test.sign_action(lease, (id, None), (&first, 3), NOW).await.unwrap());
        assert!(!test.sign_action(lease, (id, None), (&second, 3), NOW).await.unwrap());
        assert!(test.sign_action(lease, (id, Some(first.hash)), (&second, 3), NOW).await.unwrap());
        let [open] = &test.open_actions().await.unwrap()[..] else { panic!("not one") };
        assert_eq!((open.transaction.as_ref(), open.attempts), (Some(&second), 2));
    }

    async fn a_jail_that_is_there_again_is_ended_again(test: TestDb) {
        let lease = lease(test, "keeper", NOW).await.unwrap();
        for state in [ActionState::Done, ActionState::Superseded, ActionState::Failed] {
            assert_eq!(test.begin_action(lease, &unjail(3), NOW).await.unwrap(), Begun::New);
            let id = test.open_actions().await.unwrap()[0].id;
            test.close_action(lease, id, (state, None, None), NOW).await.unwrap();
        }
        assert_eq!(test.begin_action(lease, &unjail(3), NOW).await.unwrap(), Begun::Known, "it failed for good");
    }
}
