//! What operators do with keys.

use std::time::Duration;

use alloy_primitives::Address;
use chainnet_access::{KeyError, KeyTerms, Keys};
use store::{AllowedWallet, KeyUsage, KeyUsageRow, engine_tests};

use crate::rig::{TestClock, terms};

const HOUR: Duration = Duration::from_secs(3_600);

engine_tests! {
    async fn an_issued_key_is_kept_without_its_secret(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let issued = keys.issue(&terms("Partner QA"), clock.now()).await.unwrap();
        assert_eq!(keys.list().await.unwrap(), std::slice::from_ref(&issued.row));
        let secret = issued.text.expose().rsplit('_').next().unwrap();
        assert!(!format!("{:?} {issued:?}", keys.list().await.unwrap()).contains(secret));
    }

    async fn an_expiry_in_the_past_is_refused(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let terms = KeyTerms { expires_at: Some(clock.now()), ..terms("a") };
        assert!(matches!(keys.issue(&terms, clock.now()).await, Err(KeyError::ExpiryInThePast)));
        assert_eq!(keys.list().await.unwrap(), []);
    }

    async fn a_key_is_revoked_once(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let id = keys.issue(&terms("a"), clock.now()).await.unwrap().row.id;
        keys.revoke(&id, clock.now()).await.unwrap();
        assert!(matches!(keys.revoke(&id, clock.now()).await, Err(KeyError::Revoked(_))));
        let nobody = "nobody".parse().unwrap();
        assert!(matches!(keys.revoke(&nobody, clock.now()).await, Err(KeyError::NotFound(_))));
    }

    async fn a_rotated_key_keeps_its_terms_and_is_rotated_once(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let old = keys.issue(&terms("a"), clock.now()).await.unwrap();
        clock.advance(1_000);
        let new = keys.rotate(&old.row.id, HOUR, clock.now()).await.unwrap();
        assert_ne!((new.row.id, new.text.expose()), (old.row.id, old.text.expose()));
        assert_eq!((&new.row.team, new.row.permissions, new.row.expires_at), (&old.row.team, old.row.permissions, None));
        let kept = test.find_key(&old.row.id).await.unwrap().unwrap();
        let end = u64::try_from(clock.now().as_millisecond()).unwrap() + 3_600_000;
        assert_eq!((kept.expires_at, kept.replaced_by), (Some(end), Some(new.row.id)));

        let again = keys.rotate(&old.row.id, HOUR, clock.now()).await;
        assert!(matches!(again, Err(KeyError::Replaced { new: by, .. }) if by == new.row.id), "{again:?}");
        let next = keys.rotate(&new.row.id, Duration::MAX, clock.now()).await.unwrap();
        keys.revoke(&next.row.id, clock.now()).await.unwrap();
        assert!(matches!(keys.rotate(&next.row.id, HOUR, clock.now()).await, Err(KeyError::Revoked(_))));
    }

    async fn an_expired_key_is_not_rotated(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let end = clock.now() + Duration::from_secs(1);
        let id = keys.issue(&KeyTerms { expires_at: Some(end), ..terms("a") }, clock.now()).await.unwrap().row.id;
        clock.advance(1_000);
        assert!(matches!(keys.rotate(&id, HOUR, clock.now()).await, Err(KeyError::Expired(_))));
    }

    async fn a_partner_whose_wallet_is_listed_gets_no_key(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let team = terms("a").team;
        let wallet = AllowedWallet { wallet: Address::repeat_byte(1), team, note: None, added_at: 7 };
        keys.add_partner(&terms("a"), &wallet, clock.now()).await.unwrap();
        let again = keys.add_partner(&terms("b"), &wallet, clock.now()).await;
        assert!(matches!(again, Err(KeyError::WalletListed)), "{again:?}");
        assert_eq!((keys.list().await.unwrap().len(), test.list_allowed_wallets().await.unwrap()), (1, vec![wallet]));
    }

    async fn usage_is_listed_for_the_last_days(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let key = keys.issue(&terms("a"), clock.now()).await.unwrap().row.id;
        let today = u64::try_from(clock.now().as_millisecond()).unwrap() / 86_400_000;
        let row = |day| KeyUsageRow { key, day, usage: KeyUsage { requests: 1, ..KeyUsage::default() } };
        test.add_key_usage(&[row(today), row(today - 1), row(today - 2)]).await.unwrap();
        assert_eq!(keys.usage(Some(&key), 2, clock.now()).await.unwrap(), [row(today - 1), row(today)]);
        assert_eq!(keys.usage(None, 1, clock.now()).await.unwrap(), [row(today)]);
        let nobody = "nobody".parse().unwrap();
        assert!(matches!(keys.usage(Some(&nobody), 1, clock.now()).await, Err(KeyError::NotFound(_))));
    }
}
