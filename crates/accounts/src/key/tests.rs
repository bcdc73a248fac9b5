use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use domain::{
    Failure,
    portal::{Actor, AuditAction, AuditId, OrderId},
};
use store::{engine_tests, portal::AuditRow, testing::TestDb};
use tokio_util::sync::CancellationToken;

use super::*;

const NOW: i64 = 1_767_225_600_000;
const WALLET: Address = Address::repeat_byte(7);

/// Keys over a clock that stands still, and one key.
struct Rig {
    db: Db,
    keys: Arc<DeveloperKeys>,
    clock: Arc<AtomicI64>,
    key: MintedKey,
}

impl Rig {
    async fn new(test: &TestDb, life: Duration) -> Self {
        // A handle of its own, so that it can be closed before the test's.
        let db = Db::open(test.url()).await.unwrap();
        let clock = Arc::new(AtomicI64::new(NOW));
        let peppers = Peppers::new(vec![Pepper::new(1, vec![7; 32]).unwrap()]).unwrap();
        let key = peppers.mint(&mut rand::rng());
        let now = clock.clone();
        let now: Clock = Arc::new(move || Timestamp::from_millisecond(now.load(Ordering::SeqCst)).unwrap());
        let row = DeveloperKeyRow {
            id: key.id,
            wallet: WALLET,
            order: OrderId::new(0, rand::random()),
            plan: Plan::Monthly,
            name: "shop".to_owned(),
            scopes: [Scope::InvoicesRead].into_iter().collect(),
            mac: key.mac,
            pepper_version: key.pepper_version,
            last4: key.last4.clone(),
            created_at: NOW.cast_unsigned(),
            expires_at: NOW.cast_unsigned() + u64::try_from(life.as_millis()).unwrap(),
            revoked_at: None,
            last_used_at: None,
        };
        db.put_developer_key(&row).await.unwrap();
        let keys = Arc::new(DeveloperKeys::new(db.clone(), now, peppers));
        Self { db, keys, clock, key }
    }

    fn advance(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    async fn check(&self) -> Result<Arc<Grant>, &'static str> {
        self.keys.check(self.key.text.expose()).await.map_err(|denied| denied.code())
    }

    async fn revoke(&self) {
        let entry = AuditRow {
            id: AuditId::new(0, rand::random()),
            wallet: Some(WALLET),
            actor: Actor::Wallet,
            action: AuditAction::KeyRevoked,
            target: self.key.id.to_string(),
            origin: None,
            at: 0,
        };
        self.db.revoke_developer_key(WALLET, &self.key.id, NOW.cast_unsigned(), &entry).await.unwrap();
    }
}

engine_tests! {
    async fn a_good_key_is_granted_what_it_has(test: TestDb) {
        let rig = Rig::new(test, Duration::from_secs(60)).await;
        let grant = rig.check().await.unwrap();
        assert_eq!((grant.id, grant.wallet), (rig.key.id, WALLET));
        assert_eq!(grant.require(Scope::InvoicesRead), Ok(()));
        let missing = grant.require(Scope::InvoicesWrite).unwrap_err();
        assert_eq!((missing, missing.code()), (ScopeMissing(Scope::InvoicesWrite), "scope_missing"));
        let other = rig.keys.peppers().mint(&mut rand::rng());
        assert_eq!(rig.keys.check(other.text.expose()).await.unwrap_err().code(), "api_key_invalid");
        rig.db.close().await;
    }

    async fn a_second_of_requests_costs_one_look_at_the_database(test: TestDb) {
        let rig = Rig::new(test, Duration::from_secs(60)).await;
        rig.check().await.unwrap();
        rig.db.close().await;
        rig.advance(999);
        for _ in 0..100 {
            rig.check().await.unwrap();
        }
        rig.advance(1);
        assert_eq!(rig.check().await.unwrap_err(), "database_unavailable");
    }

    async fn a_key_ends_on_the_millisecond_without_a_look_at_the_database(test: TestDb) {
        let rig = Rig::new(test, Duration::from_millis(500)).await;
        rig.check().await.unwrap();
        rig.db.close().await;
        rig.advance(499);
        rig.check().await.unwrap();
        rig.advance(1);
        assert_eq!(rig.check().await.unwrap_err(), "api_key_expired");
    }

    async fn a_key_that_is_taken_back_is_refused_at_once_here_and_in_a_second_elsewhere(test: TestDb) {
        let rig = Rig::new(test, Duration::from_secs(60)).await;
        rig.check().await.unwrap();
        rig.revoke().await;
        rig.check().await.unwrap();
        rig.keys.forget(rig.key.id);
        assert_eq!(rig.check().await.unwrap_err(), "api_key_revoked");

        let rig = Rig::new(test, Duration::from_secs(60)).await;
        rig.check().await.unwrap();
        rig.revoke().await;
        rig.advance(1_000);
        assert_eq!(rig.check().await.unwrap_err(), "api_key_revoked");
        rig.db.close().await;
    }

    async fn the_last_use_is_written_when_it_ends(test: TestDb) {
        let rig = Rig::new(test, Duration::from_secs(60)).await;
        let stop = CancellationToken::new();
        let (keys, until) = (rig.keys.clone(), stop.clone());
        let running = tokio::spawn(async move { keys.run(until).await });
        rig.check().await.unwrap();
        rig.advance(1_234);
        rig.check().await.unwrap();
        stop.cancel();
        running.await.unwrap();
        let row = rig.db.find_developer_key(&rig.key.id).await.unwrap().unwrap();
        assert_eq!(row.last_used_at, Some(NOW.cast_unsigned() + 1_234));
        rig.db.close().await;
    }

    async fn a_use_that_cannot_be_written_is_kept(test: TestDb) {
        let rig = Rig::new(test, Duration::from_secs(60)).await;
        rig.check().await.unwrap();
        rig.db.close().await;
        assert!(rig.keys.write_uses().await.is_err());
        assert_eq!(rig.keys.uses.take(), [(rig.key.id, NOW.cast_unsigned())]);
    }
}
