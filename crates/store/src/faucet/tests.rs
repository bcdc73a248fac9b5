//! Claims on both engines, with rivals.

use std::collections::BTreeSet;

use alloy_primitives::{Address, B256, Bytes, keccak256};
use domain::{ClaimState, Wei};

use super::*;
use crate::{Db, engine_tests};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const NOW: u64 = 1_767_225_600_000;

fn claim(wallet: u64, visitor: u8, at: u64) -> NewClaim {
    NewClaim {
        wallet: Address::left_padding_from(&(wallet + 1).to_be_bytes()),
        visitor: B256::repeat_byte(visitor),
        amount: Wei::from_coin(500),
        at,
    }
}

/// The specification's limits and plenty of coin.
fn terms(now: u64) -> ClaimTerms {
    ClaimTerms {
        since: now - DAY,
        visitor_claims: 3,
        outflow: Wei::from_coin(1_000_000),
        spendable: Wei::from_coin(1_000_000),
        spendable_at: 10,
        open_claims: 1_000,
    }
}

async fn reserve(db: &Db, wallet: u64, visitor: u8, now: u64) -> Reservation {
    db.reserve_claim(&claim(wallet, visitor, now), &terms(now)).await.unwrap()
}

async fn made(db: &Db, wallet: u64, visitor: u8, now: u64) -> u64 {
    match reserve(db, wallet, visitor, now).await {
        Reservation::Made(id) => id,
        other => panic!("{other:?}"),
    }
}

fn payment(nonce: u64) -> PaymentRow {
    let raw = Bytes::from(nonce.to_be_bytes());
    PaymentRow { payer: Address::repeat_byte(0xfa), nonce, signed_block: 10, hash: keccak256(&raw), raw }
}

fn signed(id: u64, nonce: u64) -> SignedClaim {
    SignedClaim { id, payment: payment(nonce) }
}

async fn lease(db: &Db) -> SenderLease {
    db.take_sender_lease("test", NOW, NOW + HOUR).await.unwrap().expect("nobody else has it")
}

async fn state(db: &Db, id: u64) -> ClaimState {
    db.find_claim(id).await.unwrap().expect("the claim").state
}

fn settlement(id: u64, nonce: u64, is_paid: bool) -> Settlement {
    Settlement { id, hash: payment(nonce).hash, block_number: 12, is_paid }
}

engine_tests! {
    async fn two_hundred_claims_of_one_wallet_at_once_reserve_one(test: TestDb) {
        let claiming: Vec<_> = (0..200u64)
            .map(|index| {
                let db = test.db();
                tokio::spawn(async move { reserve(&db, 1, index as u8, NOW + index).await })
            })
            .collect();
        let mut won = 0;
        for claimed in claiming {
            match claimed.await.unwrap() {
                Reservation::Made(_) => won += 1,
                Reservation::WalletClaimed(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((won, test.list_open_claims(1_000).await.unwrap().len()), (1, 1));
    }

    async fn fifty_wallets_of_one_visitor_at_once_reserve_three(test: TestDb) {
        let claiming: Vec<_> = (0..50)
            .map(|wallet| {
                let db = test.db();
                tokio::spawn(async move { reserve(&db, wallet, 7, NOW).await })
            })
            .collect();
        let mut won = 0;
        for claimed in claiming {
            match claimed.await.unwrap() {
                Reservation::Made(_) => won += 1,
                Reservation::VisitorExhausted(at) => assert_eq!(at, NOW),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(won, 3);
    }

    async fn ids_are_in_the_order_of_reservation_and_refusals_leave_no_trace(test: TestDb) {
        let first = made(test, 1, 1, NOW).await;
        assert_eq!(reserve(test, 1, 2, NOW + 1).await, Reservation::WalletClaimed(NOW));
        let second = made(test, 2, 2, NOW + 2).await;
        assert!(first < second);
        let open = test.list_open_claims(10).await.unwrap();
        assert_eq!(open.iter().map(|claim| claim.id).collect::<Vec<_>>(), [first, second]);
        assert_eq!(test.list_open_claims(1).await.unwrap().len(), 1);
        let row = &open[0];
        assert_eq!((row.state, row.amount, row.created_at), (ClaimState::Reserved, Wei::from_coin(500), NOW));
        assert_eq!((&row.payment, row.block_number), (&None, None));
    }

    async fn a_day_later_everybody_may_claim_again_but_for_what_is_still_open(test: TestDb) {
        let lease = lease(test).await;
        let paid = made(test, 1, 1, NOW).await;
        let open = made(test, 2, 1, NOW).await;
        test.sign_claims(lease, &[signed(paid, 0)], NOW).await.unwrap();
        test.settle_claims(&[settlement(paid, 0, true)], NOW).await.unwrap();
        assert_eq!(reserve(test, 1, 1, NOW + DAY - 1).await, Reservation::WalletClaimed(NOW));
        made(test, 1, 1, NOW + DAY).await;
        assert_eq!(reserve(test, 2, 1, NOW + DAY).await, Reservation::WalletClaimed(NOW));
        assert_eq!(state(test, open).await, ClaimState::Reserved);
    }

    async fn the_outflow_and_the_balance_bound_what_is_reserved(test: TestDb) {
        let narrow = ClaimTerms { outflow: Wei::from_coin(1_200), ..terms(NOW) };
        for wallet in 0..2 {
            let made = test.reserve_claim(&claim(wallet, wallet as u8, NOW + wallet), &narrow).await.unwrap();
            assert!(matches!(made, Reservation::Made(_)), "{made:?}");
        }
        let refused = test.reserve_claim(&claim(2, 2, NOW), &narrow).await.unwrap();
        assert_eq!(refused, Reservation::OutflowReached(Some(NOW)));
        let nothing = ClaimTerms { outflow: Wei::from_coin(499), since: NOW + DAY, ..terms(NOW) };
        let refused = test.reserve_claim(&claim(2, 2, NOW), &nothing).await.unwrap();
        assert_eq!(refused, Reservation::OutflowReached(None));

        let poor = ClaimTerms { spendable: Wei::from_coin(1_499), ..terms(NOW) };
        assert_eq!(test.reserve_claim(&claim(2, 2, NOW), &poor).await.unwrap(), Reservation::Unfunded);
        let load = test.faucet_load(NOW - DAY, 10).await.unwrap();
        assert_eq!(load, FaucetLoad { open: 2, owed: Wei::from_coin(1_000), outflow: Wei::from_coin(1_000) });
        let crowded = ClaimTerms { open_claims: 2, ..terms(NOW) };
        assert_eq!(test.reserve_claim(&claim(2, 2, NOW), &crowded).await.unwrap(), Reservation::Crowded);
    }

    async fn what_was_paid_after_the_block_of_the_balance_is_still_owed(test: TestDb) {
        let lease = lease(test).await;
        let id = made(test, 1, 1, NOW).await;
        test.sign_claims(lease, &[signed(id, 0)], NOW).await.unwrap();
        test.settle_claims(&[settlement(id, 0, true)], NOW).await.unwrap();
        let owed = async |block| test.faucet_load(NOW - DAY, block).await.unwrap().owed;
        assert_eq!((owed(11).await, owed(12).await), (Wei::from_coin(500), Wei::from_coin(0)));
    }

    async fn a_claim_takes_its_course_and_no_step_twice(test: TestDb) {
        let lease = lease(test).await;
        let id = made(test, 1, 1, NOW).await;
        assert_eq!(test.sign_claims(lease, &[signed(id, 4)], NOW).await.unwrap(), Some(vec![id]));
        assert_eq!(test.sign_claims(lease, &[signed(id, 5)], NOW).await.unwrap(), Some(vec![]), "never again");
        let row = test.find_claim_by_hash(payment(4).hash).await.unwrap().expect("the claim");
        assert_eq!((row.id, row.payment), (id, Some(payment(4))));

        test.mark_claims_sent(&[(id, payment(5).hash)], NOW).await.unwrap();
        assert_eq!(state(test, id).await, ClaimState::Signed, "another transaction says nothing");
        test.mark_claims_sent(&[(id, payment(4).hash)], NOW).await.unwrap();
        assert_eq!(state(test, id).await, ClaimState::Sent);
        assert!(!test.release_signed_claim(lease, (id, payment(4).hash), "no", NOW).await.unwrap(), "a node has it");

        test.settle_claims(&[settlement(id, 4, true)], NOW + 1).await.unwrap();
        test.settle_claims(&[settlement(id, 4, false)], NOW + 2).await.unwrap();
        let row = test.find_claim(id).await.unwrap().expect("the claim");
        assert_eq!((row.state, row.block_number, row.updated_at), (ClaimState::Confirmed, Some(12), NOW + 1));
        assert_eq!(test.find_last_claim(row.wallet).await.unwrap(), Some(row));
    }

    async fn a_claim_that_is_not_paid_gives_its_slot_back(test: TestDb) {
        let lease = lease(test).await;
        let failed = made(test, 1, 1, NOW).await;
        test.sign_claims(lease, &[signed(failed, 0)], NOW).await.unwrap();
        test.settle_claims(&[settlement(failed, 0, false)], NOW).await.unwrap();
        assert_eq!(state(test, failed).await, ClaimState::Failed);

        let reserved = made(test, 1, 1, NOW + 1).await;
        assert!(!test.release_signed_claim(lease, (reserved, payment(0).hash), "no", NOW).await.unwrap());
        assert!(test.release_claim(reserved, "no sender", NOW).await.unwrap());
        assert!(!test.release_claim(reserved, "again", NOW).await.unwrap());

        let refused = made(test, 1, 1, NOW + 2).await;
        test.sign_claims(lease, &[signed(refused, 1)], NOW).await.unwrap();
        assert!(!test.release_claim(refused, "has one", NOW).await.unwrap());
        assert!(test.release_signed_claim(lease, (refused, payment(1).hash), "refused", NOW).await.unwrap());
        let row = test.find_claim(refused).await.unwrap().expect("the claim");
        assert_eq!((row.state, row.note.as_deref()), (ClaimState::Released, Some("refused")));
        assert_eq!(test.find_last_claim(row.wallet).await.unwrap(), None);
        let next = made(test, 1, 1, NOW + 3).await;
        assert_eq!(test.sign_claims(lease, &[signed(next, 1)], NOW).await.unwrap(), Some(vec![next]), "the same one");
        let found = test.find_claim_by_hash(payment(1).hash).await.unwrap().expect("the claim");
        assert_eq!(found.id, next);
    }

    async fn payouts_are_listed_newest_first_without_those_that_have_no_transaction(test: TestDb) {
        let lease = lease(test).await;
        let (paid, sent) = (made(test, 1, 1, NOW).await, made(test, 2, 2, NOW + 1).await);
        let (failed, _reserved) = (made(test, 3, 3, NOW + 2).await, made(test, 4, 4, NOW + 3).await);
        test.sign_claims(lease, &[signed(paid, 0), signed(sent, 1), signed(failed, 2)], NOW).await.unwrap();
        test.settle_claims(&[settlement(paid, 0, true), settlement(failed, 2, false)], NOW).await.unwrap();
        let payouts = test.list_recent_payouts(10).await.unwrap();
        assert_eq!(payouts.iter().map(|claim| claim.id).collect::<Vec<_>>(), [sent, paid]);
        assert_eq!(test.list_recent_payouts(1).await.unwrap(), payouts[..1]);
    }

    async fn a_transaction_whose_nonce_is_gone_is_replaced_and_still_found(test: TestDb) {
        let lease = lease(test).await;
        let id = made(test, 1, 1, NOW).await;
        test.sign_claims(lease, &[signed(id, 4)], NOW).await.unwrap();
        test.mark_claims_sent(&[(id, payment(4).hash)], NOW).await.unwrap();
        assert!(test.sign_claim_again(lease, payment(4).hash, &signed(id, 6), NOW).await.unwrap());
        assert!(!test.sign_claim_again(lease, payment(4).hash, &signed(id, 7), NOW).await.unwrap());
        for hash in [payment(4).hash, payment(6).hash] {
            let row = test.find_claim_by_hash(hash).await.unwrap().expect("the claim");
            assert_eq!((row.id, row.state, row.payment), (id, ClaimState::Signed, Some(payment(6))));
        }
        test.settle_claims(&[settlement(id, 4, true)], NOW).await.unwrap();
        assert_eq!(state(test, id).await, ClaimState::Signed, "the former transaction cannot be mined");
    }

    async fn one_nonce_is_given_to_one_open_claim(test: TestDb) {
        let lease = lease(test).await;
        let (first, second) = (made(test, 1, 1, NOW).await, made(test, 2, 2, NOW).await);
        test.sign_claims(lease, &[signed(first, 4)], NOW).await.unwrap();
        let mut other = signed(second, 4);
        other.payment.hash = B256::repeat_byte(9);
        let error = test.sign_claims(lease, &[other], NOW).await.unwrap_err();
        assert!(
            matches!(&error, StoreError::Conflict { constraint, .. } if constraint == "faucet_claim_payer_nonce_key"),
            "{error:?}"
        );
        assert_eq!(state(test, second).await, ClaimState::Reserved);
    }

    async fn of_many_senders_one_has_the_lease_until_it_lapses_or_is_returned(test: TestDb) {
        let taking: Vec<_> = (0..16)
            .map(|index| {
                let db = test.db();
                tokio::spawn(async move {
                    let lease = db.take_sender_lease(&format!("sender {index}"), NOW, NOW + 10).await.unwrap();
                    lease.map(|lease| (index, lease))
                })
            })
            .collect();
        let mut holders = Vec::new();
        for taken in taking {
            holders.extend(taken.await.unwrap());
        }
        let [(holder, first)] = holders[..] else { panic!("{holders:?}") };
        let renewed = test.take_sender_lease(&format!("sender {holder}"), NOW + 5, NOW + 15).await.unwrap();
        assert_eq!(renewed, Some(first));
        assert_eq!(test.take_sender_lease("late", NOW + 14, NOW + 20).await.unwrap(), None);
        let late = test.take_sender_lease("late", NOW + 15, NOW + 20).await.unwrap().expect("it has lapsed");
        assert!(late.turn > first.turn);

        let id = made(test, 1, 1, NOW).await;
        assert_eq!(test.sign_claims(first, &[signed(id, 0)], NOW).await.unwrap(), None, "its turn is over");
        assert_eq!(test.sign_claims(late, &[signed(id, 0)], NOW).await.unwrap(), Some(vec![id]));
        assert!(!test.sign_claim_again(first, payment(0).hash, &signed(id, 1), NOW).await.unwrap());
        assert!(!test.release_signed_claim(first, (id, payment(0).hash), "no", NOW).await.unwrap());

        test.return_sender_lease(first).await.unwrap();
        assert_eq!(test.take_sender_lease("next", NOW + 16, NOW + 20).await.unwrap(), None);
        test.return_sender_lease(late).await.unwrap();
        assert!(test.take_sender_lease("next", NOW + 16, NOW + 20).await.unwrap().is_some());
    }

    async fn signing_and_releasing_the_same_claims_at_once_leaves_each_either_signed_or_released(test: TestDb) {
        let lease = lease(test).await;
        let mut ids = BTreeSet::new();
        for wallet in 0..40 {
            ids.insert(made(test, wallet, wallet as u8, NOW).await);
        }
        let releasing: Vec<_> = ids
            .iter()
            .map(|&id| {
                let db = test.db();
                tokio::spawn(async move { db.release_claim(id, "too late", NOW).await.unwrap() })
            })
            .collect();
        let all: Vec<_> = ids.iter().map(|&id| signed(id, id)).collect();
        let stored = test.sign_claims(lease, &all, NOW).await.unwrap().expect("the lease");
        let mut released = 0;
        for release in releasing {
            released += usize::from(release.await.unwrap());
        }
        assert_eq!(stored.len() + released, ids.len());
        assert_eq!(test.list_open_claims(100).await.unwrap().len(), stored.len());
    }
}

#[tokio::test]
async fn what_is_signed_waits_for_the_disk() {
    let test = crate::testing::TestDb::sqlite().await;
    let mut tx = test.begin_durable().await.unwrap();
    let level: i64 = on_connection!(tx, connection => {
        sqlx::query_scalar("SELECT synchronous FROM pragma_synchronous").fetch_one(connection).await
    })
    .unwrap();
    assert_eq!(level, 2, "full");
}
