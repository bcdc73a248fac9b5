//! Many at once.

use chainnet_faucet::{ClaimRefusal, ClaimStatus, FaucetSettings};
use domain::Wei;
use store::engine_tests;

use crate::rig::{Rig, visitor, wallet};

engine_tests! {
    async fn two_hundred_claims_of_one_wallet_are_paid_once(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let claims: Vec<_> = (0..200)
            .map(|number| {
                let (faucet, now) = (running.faucet.clone(), rig.now());
                tokio::spawn(async move { faucet.claim(wallet(1), visitor(number), now).await })
            })
            .collect();
        let mut won = Vec::new();
        for claim in claims {
            match claim.await.unwrap() {
                Ok(claim) => won.push(claim),
                Err(ClaimRefusal::WalletCooldown { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let [claim] = &won[..] else { panic!("{won:?}") };
        rig.pooled(1).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        running.stop().await;
    }

    async fn five_hundred_wallets_are_paid_once_each_within_five_blocks(test: TestDb) {
        let rig = Rig::new(test.db());
        let settings = FaucetSettings { daily_cap: Wei::from_coin(250_000), ..FaucetSettings::default() };
        let running = rig.start_with(settings);
        let claims: Vec<_> = (0..500)
            .map(|number| {
                let (faucet, now) = (running.faucet.clone(), rig.now());
                tokio::spawn(async move { faucet.claim(wallet(number), visitor(number as u32), now).await })
            })
            .collect();
        let mut last = None;
        for claim in claims {
            last = Some(claim.await.unwrap().expect("a claim"));
        }
        // Nodes get 200 at a time, because Besu keeps no more of one account.
        for waiting in [200, 200, 100] {
            rig.pooled(waiting).await;
            rig.mine().await;
        }
        assert!(rig.chain.head().block.number() <= 5);
        rig.until(&running.faucet, last.expect("a claim").hash, ClaimStatus::Confirmed).await;
        rig.mine().await;
        for number in 0..500 {
            assert_eq!(rig.coin(wallet(number)), Wei::from_coin(500), "wallet {number}");
        }
        running.stop().await;
    }
}
