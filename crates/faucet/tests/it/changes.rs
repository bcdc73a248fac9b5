//! Changes under a running faucet: another key, a chain that goes back.

use alloy_signer_local::PrivateKeySigner;
use chainnet_faucet::{ClaimStatus, FaucetSettings};
use domain::{Wei, devnet};
use store::engine_tests;
use testkit::Fault;

use crate::rig::{Rig, wallet};

engine_tests! {
    async fn what_the_old_key_signed_is_paid_after_a_change_of_keys(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.line.spoil(Fault::Lost);
        let running = rig.start();
        let old = rig.claim(&running, 1).await;
        rig.sent(1).await;
        running.stop().await;

        rig.line.spoil(Fault::None);
        let key = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[8].key).unwrap();
        let running = rig.start_as(key, FaucetSettings::default());
        let new = rig.claim(&running, 2).await;
        rig.pooled(2).await;
        rig.mine().await;
        rig.until(&running.faucet, old.hash, ClaimStatus::Confirmed).await;
        rig.until(&running.faucet, new.hash, ClaimStatus::Confirmed).await;
        assert_eq!((rig.coin(wallet(1)), rig.coin(wallet(2))), (Wei::from_coin(500), Wei::from_coin(500)));
        running.stop().await;
    }

    async fn a_chain_that_goes_back_does_not_stop_the_faucet(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let snapshot = rig.control.snapshot().await.unwrap();
        let undone = rig.claim(&running, 1).await;
        rig.pooled(1).await;
        rig.mine().await;
        rig.mine().await;
        rig.until(&running.faucet, undone.hash, ClaimStatus::Confirmed).await;
        assert!(rig.control.revert(snapshot).await.unwrap());

        let claim = rig.claim(&running, 2).await;
        rig.pooled(1).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!((rig.coin(wallet(1)), rig.coin(wallet(2))), (Wei::from_coin(0), Wei::from_coin(500)));
        running.stop().await;
    }
}
