//! What the faucet has, and what it may give.

use alloy_consensus::Transaction as _;
use chainnet_faucet::{ClaimRefusal, ClaimStatus, FaucetSettings, Funds};
use domain::{Wei, gas::GWEI};
use store::engine_tests;

use crate::rig::{DAY, Rig, visitor, wallet};

engine_tests! {
    async fn what_is_reserved_is_not_promised_again(test: TestDb) {
        // For two claims and the gas, not for three.
        let rig = Rig::with_funds(test.db(), 1_499);
        let running = rig.start();
        let health = running.faucet.health(rig.now()).await;
        assert_eq!((health.funds, health.claims_left, health.open_claims), (Funds::Low, Some(2), Some(0)));
        let mut claims = Vec::new();
        for number in 0..2 {
            claims.push(rig.claim(&running, number).await);
        }
        let health = running.faucet.health(rig.now()).await;
        assert_eq!((health.funds, health.claims_left, health.open_claims), (Funds::Empty, Some(0), Some(2)));
        rig.pooled(2).await;
        for _ in 0..2 {
            let refused = running.faucet.claim(wallet(2), visitor(2), rig.now()).await.unwrap_err();
            assert!(matches!(refused, ClaimRefusal::Empty), "{refused:?}");
            rig.mine().await;
        }
        rig.until(&running.faucet, claims[1].hash, ClaimStatus::Confirmed).await;
        let health = running.faucet.health(rig.now()).await;
        assert_eq!((health.balance, health.open_claims), (Some(Wei::from_coin(499)), Some(0)));
        running.stop().await;
    }

    async fn a_claim_pays_the_least_price_of_gas(test: TestDb) {
        let rig = Rig::with_min_gas_price(test.db(), GWEI.into());
        let running = rig.start();
        let claim = rig.claim(&running, 1).await;
        rig.pooled(1).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        let paid = rig.chain.head().block.transactions[0].effective_gas_price(Some(0));
        assert_eq!(paid, u128::from(GWEI));
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        running.stop().await;
    }

    async fn the_daily_cap_holds_for_all_together(test: TestDb) {
        let rig = Rig::new(test.db());
        let settings = FaucetSettings { daily_cap: Wei::from_coin(1_000), ..FaucetSettings::default() };
        let running = rig.start_with(settings);
        rig.claim(&running, 0).await;
        rig.advance(1_000);
        rig.claim(&running, 1).await;
        let refused = running.faucet.claim(wallet(2), visitor(2), rig.now()).await.unwrap_err();
        let until = rig.now() - 1_000 + DAY;
        assert!(matches!(refused, ClaimRefusal::DailyCap { until: Some(at) } if at == until), "{refused:?}");
        assert_eq!(running.faucet.health(rig.now()).await.funds, Funds::Empty);
        rig.advance(DAY - 1_000);
        rig.claim(&running, 2).await;
        running.stop().await;
    }

    async fn a_faucet_that_cannot_see_the_chain_says_so(test: TestDb) {
        let rig = Rig::new(test.db());
        let faucet = rig.idle(FaucetSettings::default());
        assert_eq!(faucet.health(rig.now()).await.funds, Funds::Ok);
        rig.line.cut(true);
        let health = faucet.health(rig.now()).await;
        assert_eq!((health.funds, health.balance, health.open_claims), (Funds::Unknown, None, Some(0)));
    }
}
