//! Who may claim, and when.

use std::{net::IpAddr, sync::Arc, time::Duration};

use alloy_primitives::{Address, address};
use chainnet_faucet::{ClaimRefusal, ClaimStatus, Faucet, FaucetSettings, WalletStatus};
use domain::{Network, Wei};
use store::{engine_tests, testing::TestDb};

use crate::rig::{DAY, Rig, payer, visitor, wallet};

#[tokio::test]
async fn mainnet_has_no_faucet() {
    let test = TestDb::sqlite().await;
    let rig = Rig::new(test.db());
    let refused = Faucet::new(
        Network::Mainnet,
        rig.line.clone(),
        test.db(),
        payer(),
        FaucetSettings::default(),
        Arc::new(jiff::Timestamp::now),
    );
    assert!(refused.is_err());
}

engine_tests! {
    async fn a_wallet_claims_once_a_day(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let nobody = WalletStatus { next_claim_at: None, last_claim: None };
        assert_eq!(running.faucet.status(wallet(1), rig.now()).await.unwrap(), nobody);

        let claim = rig.claim(&running, 1).await;
        let until = rig.now() + DAY;
        assert_eq!((claim.wallet, claim.amount, claim.status), (wallet(1), Wei::from_coin(500), ClaimStatus::Pending));
        assert_eq!(claim.next_claim_at, Some(until));
        rig.pooled(1).await;
        rig.mine().await;
        let paid = rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(paid.block_number, Some(1));

        rig.advance(DAY - 1);
        let again = running.faucet.claim(wallet(1), visitor(7), rig.now()).await.unwrap_err();
        assert!(matches!(again, ClaimRefusal::WalletCooldown { until: at } if at == until), "{again:?}");
        let status = running.faucet.status(wallet(1), rig.now()).await.unwrap();
        assert_eq!((status.next_claim_at, status.last_claim), (Some(until), Some(paid)));

        rig.advance(1);
        assert_eq!(running.faucet.status(wallet(1), rig.now()).await.unwrap().next_claim_at, None);
        let claim = rig.claim(&running, 1).await;
        rig.pooled(1).await;
        rig.mine().await;
        rig.until(&running.faucet, claim.hash, ClaimStatus::Confirmed).await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(1_000));
        running.stop().await;
    }

    async fn ten_wallets_of_one_address_get_three_claims(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        // Ten addresses of one IPv6 network of 64 bits count as one, and so does an IPv4 address in IPv6's clothes.
        for (first, addresses) in [(0, "2001:db8:1:2:"), (100, "::ffff:203.0.113.7")] {
            let mut paid = 0;
            for number in 0..10 {
                let text = if first == 0 { format!("{addresses}:{number}") } else { addresses.to_owned() };
                let visitor = text.parse::<IpAddr>().unwrap().into();
                match running.faucet.claim(wallet(first + number), visitor, rig.now()).await {
                    Ok(_) => paid += 1,
                    Err(ClaimRefusal::VisitorLimit { until }) => assert_eq!(until, rig.now() + DAY),
                    Err(other) => panic!("{other:?}"),
                }
            }
            assert_eq!(paid, 3);
        }
        rig.pooled(6).await;
        rig.mine().await;
        let paid = (0..10).filter(|number| rig.coin(wallet(*number)) == Wei::from_coin(500)).count();
        assert_eq!(paid, 3);
        let other = "2001:db8:1:3::1".parse::<IpAddr>().unwrap().into();
        assert!(running.faucet.claim(wallet(50), other, rig.now()).await.is_ok());
        running.stop().await;
    }

    async fn nobody_is_paid_at_an_address_that_cannot_use_it(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        let precompile = Address::with_last_byte(4);
        let p256 = address!("0000000000000000000000000000000000000100");
        for reserved in [Address::ZERO, precompile, p256, payer().address()] {
            let refused = running.faucet.claim(reserved, visitor(1), rig.now()).await.unwrap_err();
            assert!(matches!(refused, ClaimRefusal::ReservedAddress), "{reserved}: {refused:?}");
        }
        // Multicall3 is in the genesis.
        let contract = address!("cA11bde05977b3631167028862bE2a173976CA11");
        let refused = running.faucet.claim(contract, visitor(1), rig.now()).await.unwrap_err();
        assert!(matches!(refused, ClaimRefusal::Contract), "{refused:?}");
        running.stop().await;
    }

    async fn a_claim_that_nobody_signs_is_given_up_and_costs_nothing(test: TestDb) {
        let rig = Rig::new(test.db());
        let settings = FaucetSettings { signing_limit: Duration::from_millis(20), ..FaucetSettings::default() };
        let faucet = rig.idle(settings);
        let refused = faucet.claim(wallet(1), visitor(1), rig.now()).await.unwrap_err();
        assert!(matches!(refused, ClaimRefusal::NotSigned), "{refused:?}");
        let running = rig.start();
        rig.claim(&running, 1).await;
        rig.pooled(1).await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        running.stop().await;
    }

    async fn without_a_chain_nothing_is_reserved(test: TestDb) {
        let rig = Rig::new(test.db());
        let running = rig.start();
        rig.line.cut(true);
        let refused = running.faucet.claim(wallet(1), visitor(1), rig.now()).await.unwrap_err();
        assert!(matches!(refused, ClaimRefusal::Chain(_)), "{refused:?}");
        rig.line.cut(false);
        rig.claim(&running, 1).await;
        running.stop().await;
    }
}
