//! Keys in memory, and how they follow the database.

use std::{sync::Arc, time::Duration};

use chainnet_access::{Grant, KeyDenied, KeyTerms, Keyring, KeyringHealth, Keys};
use domain::Failure;
use store::{KeyUsage, engine_tests};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::rig::{TestClock, address, terms};

const ANYWHERE: &str = "192.0.2.1";

fn ask(keyring: &Keyring, key: &str, from: &str, clock: &TestClock) -> Result<Arc<Grant>, KeyDenied> {
    keyring.authenticate(key, address(from), clock.now())
}

/// Waits until asking for a key answers so, and tells how long that took.
async fn until(mut is_so: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(30), "nothing has changed");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    begin.elapsed()
}

engine_tests! {
    async fn a_key_grants_what_it_was_issued_for(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let issued = keys.issue(&terms("Partner QA"), clock.now()).await.unwrap();
        let keyring = Keyring::open(test.db(), clock.clock()).await.unwrap();
        let grant = ask(&keyring, issued.text.expose(), ANYWHERE, &clock).unwrap();
        assert_eq!((grant.id, grant.team.as_str()), (issued.row.id, "Partner QA"));
        assert_eq!((grant.permissions.to_string().as_str(), grant.requests_per_minute.get()), ("rpc,explorer", 600));
    }

    async fn every_refusal_has_its_reason_and_none_without_the_secret(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let soon = clock.now() + Duration::from_secs(1);
        let good = keys.issue(&terms("a"), clock.now()).await.unwrap();
        let expiring = keys.issue(&KeyTerms { expires_at: Some(soon), ..terms("b") }, clock.now()).await.unwrap();
        let revoked = keys.issue(&terms("c"), clock.now()).await.unwrap();
        keys.revoke(&revoked.row.id, clock.now()).await.unwrap();
        let keyring = Keyring::open(test.db(), clock.clock()).await.unwrap();
        assert!(ask(&keyring, expiring.text.expose(), ANYWHERE, &clock).is_ok());
        clock.advance(1_000);
        let wrong_secret = |id| format!("cnk_{id}_{}", "x".repeat(32));
        for (key, denied, reason) in [
            (expiring.text.expose().to_owned(), KeyDenied::Expired, "api_key_expired"),
            (revoked.text.expose().to_owned(), KeyDenied::Revoked, "api_key_revoked"),
            (wrong_secret(good.row.id), KeyDenied::Unknown, "api_key_invalid"),
            (wrong_secret(revoked.row.id), KeyDenied::Unknown, "api_key_invalid"),
            (wrong_secret("nobody".parse().unwrap()), KeyDenied::Unknown, "api_key_invalid"),
            (String::new(), KeyDenied::Malformed, "api_key_invalid"),
            (format!("{} ", good.text.expose()), KeyDenied::Malformed, "api_key_invalid"),
        ] {
            assert_eq!(ask(&keyring, &key, ANYWHERE, &clock).err(), Some(denied), "{key}");
            assert_eq!(denied.code(), reason);
        }
    }

    async fn a_key_is_good_only_from_its_networks(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let networks = vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        let issued = keys.issue(&KeyTerms { networks, ..terms("a") }, clock.now()).await.unwrap();
        let keyring = Keyring::open(test.db(), clock.clock()).await.unwrap();
        for from in ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8:7::1"] {
            assert!(ask(&keyring, issued.text.expose(), from, &clock).is_ok(), "{from}");
        }
        for from in ["11.0.0.1", "2001:db9::1", "::1"] {
            assert_eq!(ask(&keyring, issued.text.expose(), from, &clock).err(), Some(KeyDenied::IpNotAllowed), "{from}");
        }
    }

    async fn every_process_follows_the_database_within_a_second(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let stop = CancellationToken::new();
        let mut running = Vec::new();
        let mut keyrings = Vec::new();
        for _ in 0..2 {
            let keyring = Arc::new(Keyring::open(test.db(), clock.clock()).await.unwrap());
            let (of_task, stop) = (keyring.clone(), stop.clone());
            running.push(tokio::spawn(async move { of_task.run(stop).await }));
            keyrings.push(keyring);
        }
        // On a busy machine a look may be late; of three one is not.
        let mut quickest = Duration::MAX;
        for team in ["a", "b", "c"] {
            let issued = keys.issue(&terms(team), clock.now()).await.unwrap();
            let answers = |wanted: Option<KeyDenied>| {
                keyrings.iter().all(|k| ask(k, issued.text.expose(), ANYWHERE, &clock).err() == wanted)
            };
            until(|| answers(None)).await;
            keys.revoke(&issued.row.id, clock.now()).await.unwrap();
            quickest = quickest.min(until(|| answers(Some(KeyDenied::Revoked))).await);
        }
        assert!(quickest < Duration::from_secs(1), "{quickest:?}");
        stop.cancel();
        for task in running {
            task.await.unwrap();
        }
    }

    async fn usage_survives_a_change_of_keys_and_is_written_at_the_end(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let issued = keys.issue(&terms("a"), clock.now()).await.unwrap();
        let keyring = Arc::new(Keyring::open(test.db(), clock.clock()).await.unwrap());
        let before = ask(&keyring, issued.text.expose(), ANYWHERE, &clock).unwrap();
        before.usage.count(1);
        keys.issue(&terms("b"), clock.now()).await.unwrap();
        keyring.refresh().await.unwrap();
        let after = ask(&keyring, issued.text.expose(), ANYWHERE, &clock).unwrap();
        after.usage.count(20);
        before.usage.count_denied();

        let stop = CancellationToken::new();
        stop.cancel();
        keyring.run(stop).await;
        let written = keys.usage(None, 1, clock.now()).await.unwrap();
        let expected = KeyUsage { requests: 2, denied: 1, units: 21 };
        assert_eq!(written.iter().map(|row| (row.key, row.usage)).collect::<Vec<_>>(), [(issued.row.id, expected)]);
    }

    async fn without_a_database_the_last_keys_stay_in_force(test: TestDb) {
        let (keys, clock) = (Keys::new(test.db()), TestClock::new());
        let issued = keys.issue(&terms("a"), clock.now()).await.unwrap();
        let db = store::Db::open(test.url()).await.unwrap();
        let keyring = Keyring::open(db.clone(), clock.clock()).await.unwrap();
        db.close().await;
        clock.advance(5_000);
        assert_eq!(keyring.health(), KeyringHealth::Fresh);
        clock.advance(1);
        assert!(keyring.refresh().await.is_err());
        assert!(matches!(keyring.health(), KeyringHealth::Stale { .. }));
        assert!(ask(&keyring, issued.text.expose(), ANYWHERE, &clock).is_ok());
    }
}
