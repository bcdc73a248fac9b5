//! Several processes with one database and one key.

use chainnet_faucet::ClaimStatus;
use domain::Wei;
use store::engine_tests;

use crate::rig::{Rig, visitor, wallet};

engine_tests! {
    async fn of_several_senders_one_pays_and_all_take_claims(test: TestDb) {
        let rig = Rig::new(test.db());
        let fleet = [rig.start(), rig.start(), rig.start()];
        let claims: Vec<_> = (0..30)
            .map(|number| {
                let (faucet, now) = (fleet[number as usize % 3].faucet.clone(), rig.now());
                tokio::spawn(async move { faucet.claim(wallet(number), visitor(number as u32), now).await })
            })
            .collect();
        for claim in claims {
            claim.await.unwrap().expect("a claim");
        }
        rig.pooled(30).await;
        rig.mine().await;
        rig.mine().await;
        for number in 0..30 {
            assert_eq!(rig.coin(wallet(number)), Wei::from_coin(500), "wallet {number}");
        }
        for running in fleet {
            running.stop().await;
        }
    }

    async fn a_sender_that_dies_is_replaced_when_its_lease_lapses(test: TestDb) {
        let rig = Rig::new(test.db());
        let first = rig.start();
        rig.claim(&first, 1).await;
        let second = rig.start();
        first.kill().await;
        rig.outlast_lease();
        let claim = rig.claim(&second, 2).await;
        rig.pooled(2).await;
        rig.mine().await;
        rig.until(&second.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!((rig.coin(wallet(1)), rig.coin(wallet(2))), (Wei::from_coin(500), Wei::from_coin(500)));
        second.stop().await;
    }

    async fn a_sender_that_stops_in_order_leaves_its_place_at_once(test: TestDb) {
        let rig = Rig::new(test.db());
        let first = rig.start();
        rig.claim(&first, 1).await;
        first.stop().await;
        let second = rig.start();
        rig.claim(&second, 2).await;
        second.stop().await;
    }
}
