//! The devnet's placeholder keys.

use chainnet_access::{KeyDenied, Keyring, Keys, PLACEHOLDERS, PlaceholderError, settle_placeholders};
use domain::{Network, Permission};
use store::engine_tests;

use crate::rig::{TestClock, address};

engine_tests! {
    async fn the_devnet_has_them_and_they_are_good(test: TestDb) {
        let clock = TestClock::new();
        for _ in 0..2 {
            let good = settle_placeholders(test, Network::Devnet, clock.now()).await.unwrap();
            assert_eq!(good, PLACEHOLDERS.iter().collect::<Vec<_>>());
        }
        let keyring = Keyring::open(test.db(), clock.clock()).await.unwrap();
        let [internal, partner] = PLACEHOLDERS
            .map(|p| keyring.authenticate(p.key, address("192.0.2.1"), clock.now()).unwrap().permissions);
        assert!(internal.contains(Permission::Faucet) && internal.contains(Permission::Explorer));
        assert!(!partner.contains(Permission::Faucet) && partner.contains(Permission::Rpc));
    }

    async fn one_that_was_revoked_does_not_come_back(test: TestDb) {
        let clock = TestClock::new();
        settle_placeholders(test, Network::Devnet, clock.now()).await.unwrap();
        Keys::new(test.db()).revoke(&"partner-qa".parse().unwrap(), clock.now()).await.unwrap();
        let good = settle_placeholders(test, Network::Devnet, clock.now()).await.unwrap();
        assert_eq!(good, [&PLACEHOLDERS[0]]);
        let keyring = Keyring::open(test.db(), clock.clock()).await.unwrap();
        let denied = keyring.authenticate(PLACEHOLDERS[1].key, address("192.0.2.1"), clock.now());
        assert_eq!(denied.err(), Some(KeyDenied::Revoked));
    }

    async fn every_other_network_refuses_them_until_they_are_revoked(test: TestDb) {
        let clock = TestClock::new();
        for network in [Network::Testnet, Network::Mainnet] {
            assert!(settle_placeholders(test, network, clock.now()).await.unwrap().is_empty());
        }
        settle_placeholders(test, Network::Devnet, clock.now()).await.unwrap();
        let refused = settle_placeholders(test, Network::Mainnet, clock.now()).await.unwrap_err();
        assert!(matches!(refused, PlaceholderError::Present { .. }), "{refused:?}");
        assert!(refused.to_string().contains("chainnet keys revoke internal-dev"), "{refused}");
        for placeholder in PLACEHOLDERS {
            Keys::new(test.db()).revoke(&placeholder.team.parse().unwrap(), clock.now()).await.unwrap();
        }
        settle_placeholders(test, Network::Mainnet, clock.now()).await.unwrap();
    }

    async fn the_secret_under_another_id_is_refused_too(test: TestDb) {
        let clock = TestClock::new();
        settle_placeholders(test, Network::Devnet, clock.now()).await.unwrap();
        let mut row = test.list_keys().await.unwrap().remove(0);
        let url = test.fresh_url().await;
        let other = store::Db::open(&url).await.unwrap();
        row.id = "innocent".parse().unwrap();
        other.insert_key(&row).await.unwrap();
        let refused = settle_placeholders(&other, Network::Testnet, clock.now()).await.unwrap_err();
        assert!(refused.to_string().contains("innocent"), "{refused}");
        other.close().await;
    }
}
