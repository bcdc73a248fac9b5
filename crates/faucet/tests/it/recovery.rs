//! Everything that can go wrong between a claim and its block.

use alloy_consensus::TxEip1559;
use alloy_primitives::{Bytes, TxKind, bytes, keccak256};
use alloy_signer_local::PrivateKeySigner;
use chain::{ChainClient, Rejection};
use chainnet_faucet::{ClaimRefusal, ClaimStatus, FaucetSettings};
use domain::{ClaimState, Wei, devnet};
use store::engine_tests;
use testkit::Fault;

use crate::rig::{PATIENCE, Rig, payer, visitor, wallet};

/// That everything sent was the same bytes.
fn assert_same(sent: &[Bytes]) {
    assert!(sent.iter().all(|raw| raw == &sent[0]), "{sent:?}");
}

engine_tests! {
    async fn killed_between_signing_and_sending_it_sends_the_same_bytes_later(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::Silence);
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.sent(1).await;
        running.kill().await;
        assert!(rig.chain.pool().is_empty(), "no node has it");

        rig.line.spoil(Fault::None);
        rig.outlast_lease();
        let running = rig.start();
        rig.pooled(1).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        assert_same(&rig.sent(2).await);
        running.stop().await;
    }

    async fn a_node_that_takes_it_and_does_not_say_so_pays_once(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::AnswerLost);
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.pooled(1).await;
        let refused = running.faucet.claim(wallet(1), visitor(1), rig.now()).await.unwrap_err();
        assert!(matches!(refused, ClaimRefusal::WalletCooldown { .. }), "the slot is kept: {refused:?}");
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        assert_same(&rig.sent(1).await);
        running.stop().await;
    }

    async fn what_got_lost_is_sent_again_at_every_head(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::Lost);
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        for times in 1..4 {
            rig.sent(times).await;
            rig.mine().await;
        }
        rig.sent(4).await;
        rig.line.spoil(Fault::None);
        rig.mine().await;
        rig.pooled(1).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        assert_same(&rig.sent(4).await);
        running.stop().await;
    }

    async fn a_nonce_that_somebody_else_took_is_replaced(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::Lost);
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.sent(1).await;
        rig.submit_foreign(0);
        rig.line.spoil(Fault::None);
        rig.mine().await;
        rig.pooled(1).await;
        let now = running.faucet.find(claim.hash, rig.now()).await.unwrap().expect("found by its first hash");
        assert_ne!(now.hash, claim.hash);
        rig.mine().await;
        let paid = rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!((paid.hash, paid.block_number), (now.hash, Some(2)));
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        running.stop().await;
    }

    async fn what_waits_of_somebody_else_is_left_alone(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.submit_foreign(0);
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.pooled(2).await;
        rig.mine().await;
        let paid = rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(paid.block_number, Some(1), "both are mined together");
        running.stop().await;
    }

    async fn killed_after_sending_it_does_not_pay_again(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.pooled(1).await;
        running.kill().await;
        rig.outlast_lease();
        let running = rig.start();
        rig.sent(2).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        running.kill().await;

        // And once more when it is confirmed.
        rig.outlast_lease();
        let running = rig.start();
        rig.claim(&running, 2).await;
        rig.pooled(1).await;
        rig.mine().await;
        assert_eq!((rig.coin(wallet(1)), rig.coin(wallet(2))), (Wei::from_coin(500), Wei::from_coin(500)));
        running.stop().await;
    }

    async fn what_was_mined_while_it_was_down_is_noticed(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.pooled(1).await;
        running.kill().await;
        // More blocks than are looked through in one round.
        for _ in 0..100 {
            rig.mine().await;
        }
        rig.outlast_lease();
        let running = rig.start();
        let paid = rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(paid.block_number, Some(1));
        assert_eq!(rig.sent(1).await.len(), 1, "it was not even sent again");
        running.stop().await;
    }

    async fn what_is_reserved_is_paid_after_a_restart(test: TestDb) {
        let rig = Rig::new(test.db());
        let faucet = rig.idle(FaucetSettings { signing_limit: PATIENCE, ..FaucetSettings::default() });
        // A claimant that hangs up before anybody has signed.
        let now = rig.now();
        let claiming = tokio::spawn(async move { faucet.claim(wallet(1), visitor(1), now).await });
        while test.list_open_claims(10).await.unwrap().is_empty() {
            assert!(!claiming.is_finished(), "it waits to be signed");
            tokio::task::yield_now().await;
        }
        claiming.abort();
        assert_eq!(test.list_open_claims(10).await.unwrap()[0].state, ClaimState::Reserved);
        let running = rig.start();
        rig.pooled(1).await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        running.stop().await;
    }

    async fn a_refusal_of_what_nobody_has_frees_the_slot_and_the_nonce(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::Refused(Rejection::InsufficientFunds));
        let running = rig.start();
        let refused = rig.claim(&running, 1).await;
        rig.until(&running.faucet, refused.hash, ClaimStatus::Failed).await;
        rig.line.spoil(Fault::None);
        let claim = rig.claim(&running, 1).await;
        assert_eq!(claim.hash, refused.hash, "the nonce is free again, so it is the same transaction");
        rig.pooled(1).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        running.stop().await;
    }

    async fn a_refusal_of_what_somebody_may_have_frees_nothing(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::AnswerLost);
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.pooled(1).await;
        running.kill().await;
        rig.line.spoil(Fault::Refused(Rejection::Other));
        rig.outlast_lease();
        let running = rig.start();
        rig.sent(2).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        running.stop().await;
    }

    async fn a_gap_between_nonces_does_not_stop_what_is_above_it(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::Lost);
        let running = rig.start();
        let first = rig.claim(&running, 1).await;
        rig.sent(1).await;
        let second = rig.claim(&running, 2).await;
        running.kill().await;
        // As if the first had been given up after the second was signed.
        rig.outlast_lease();
        let lease = test.take_sender_lease("hand", rig.now(), rig.now()).await.unwrap().expect("it has lapsed");
        let open = test.list_open_claims(10).await.unwrap();
        assert!(test.release_signed_claim(lease, (open[0].id, first.hash), "by hand", rig.now()).await.unwrap());

        rig.line.spoil(Fault::None);
        let running = rig.start();
        rig.pooled(2).await;
        rig.mine().await;
        rig.until(&running.faucet, second.hash, ClaimStatus::Confirmed).await;
        assert_eq!((rig.coin(wallet(1)), rig.coin(wallet(2))), (Wei::from_coin(0), Wei::from_coin(500)));
        running.stop().await;
    }

    async fn what_waits_above_a_gap_does_not_stop_payments(test: TestDb) {
        let rig = Rig::on_besu(test.db());
        // Of the same key, and never mined as long as 0 to 2 are missing: Besu's pending nonce is 4 from now on.
        rig.submit_foreign(3);
        let running = rig.start();
        let first = rig.claim(&running, 1).await;
        rig.mine_until_paid(&running.faucet, first.hash).await;
        let second = rig.claim(&running, 2).await;
        rig.mine_until_paid(&running.faucet, second.hash).await;
        rig.mine().await;
        assert_eq!((rig.coin(wallet(1)), rig.coin(wallet(2))), (Wei::from_coin(500), Wei::from_coin(500)));
        assert!(rig.chain.pool().is_empty(), "what was stuck is through too");
        running.stop().await;
    }

    async fn on_besu_too_what_waits_of_somebody_else_is_left_alone(test: TestDb) {
        let rig = Rig::on_besu(test.db());
        let foreign = rig.submit_foreign(0);
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.pooled(2).await;
        rig.mine().await;
        let paid = rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(paid.block_number, Some(1), "both are mined together");
        assert!(rig.line.transaction(foreign).await.unwrap().is_some(), "and the foreign one was not replaced");
        running.stop().await;
    }

    async fn a_transfer_that_is_undone_frees_the_slot_once(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let deployer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[3].key).unwrap();
        // Nothing is there yet when it claims.
        let trap = deployer.address().create(0);
        let claim = running.faucet.claim(trap, visitor(1), rig.now()).await.expect("a claim");
        rig.pooled(1).await;
        // Code that does anything at all needs more than a transfer's gas. The tip puts it first into the block.
        rig.submit(&deployer, TxEip1559 {
            gas_limit: 200_000,
            max_fee_per_gas: 10,
            max_priority_fee_per_gas: 10,
            to: TxKind::Create,
            input: bytes!("600580600b6000396000f360006000fd"),
            ..TxEip1559::default()
        });
        let before = rig.coin(payer().address());
        rig.mine().await;
        let failed = rig.until(&running.faucet, claim.hash, ClaimStatus::Failed).await;
        assert_eq!((failed.next_claim_at, failed.block_number), (None, Some(1)));
        assert_eq!((rig.coin(trap), rig.coin(payer().address())), (Wei::from_coin(0), before));
        let status = running.faucet.status(trap, rig.now()).await.unwrap();
        assert_eq!(status.next_claim_at, None);
        let again = running.faucet.claim(trap, visitor(1), rig.now()).await.unwrap_err();
        assert!(matches!(again, ClaimRefusal::Contract), "{again:?}");
        running.stop().await;
    }

    async fn what_is_stored_is_what_is_sent(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        let sent = rig.sent(1).await;
        assert_eq!(keccak256(&sent[0]), claim.hash);
        let open = test.list_open_claims(10).await.unwrap();
        assert_eq!(open[0].payment.as_ref().map(|payment| &payment.raw), Some(&sent[0]));
        tokio::time::timeout(PATIENCE, running.stop()).await.expect("it ends");
    }
}
