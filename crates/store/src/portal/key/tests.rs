use domain::portal::{Actor, AuditAction, AuditId};

use super::*;
use crate::engine_tests;

const WALLET: Address = Address::repeat_byte(7);

fn key(number: u8) -> DeveloperKeyRow {
    DeveloperKeyRow {
        id: format!("key{number:09}").parse().unwrap(),
        wallet: WALLET,
        order: OrderId::from_bytes([number; 16]),
        plan: Plan::Quarterly,
        name: "shop".to_owned(),
        scopes: Scopes::ALL,
        mac: [number; 32],
        pepper_version: 3,
        last4: "Zr0T".to_owned(),
        created_at: 1_000 + u64::from(number),
        expires_at: 9_000,
        revoked_at: None,
        last_used_at: None,
    }
}

fn entry(number: u8) -> AuditRow {
    AuditRow {
        id: AuditId::from_bytes([number; 16]),
        wallet: Some(WALLET),
        actor: Actor::Wallet,
        action: AuditAction::KeyRevoked,
        target: key(number).id.to_string(),
        origin: None,
        at: 2_000,
    }
}

engine_tests! {
    async fn a_key_comes_back_as_it_went_in(test: TestDb) {
        test.put_developer_key(&key(1)).await.unwrap();
        let other = DeveloperKeyRow { revoked_at: Some(5), last_used_at: Some(6), ..key(2) };
        test.put_developer_key(&other).await.unwrap();
        assert_eq!(test.find_developer_key(&key(1).id).await.unwrap(), Some(key(1)));
        assert_eq!(test.find_developer_key(&key(3).id).await.unwrap(), None);
        assert_eq!(test.list_developer_keys(WALLET, 9).await.unwrap(), [other.clone(), key(1)]);
        assert_eq!(test.list_developer_keys(WALLET, 1).await.unwrap(), [other]);
        assert_eq!(test.list_developer_keys(Address::ZERO, 9).await.unwrap(), []);
    }

    async fn a_key_is_taken_back_once_and_by_its_owner(test: TestDb) {
        test.put_developer_key(&key(1)).await.unwrap();
        let revoke = async |wallet, number, now| {
            test.revoke_developer_key(wallet, &key(number).id, now, &entry(number)).await.unwrap()
        };
        assert_eq!(revoke(Address::ZERO, 1, 2_000).await, KeyRevocation::NotFound);
        assert_eq!(revoke(WALLET, 2, 2_000).await, KeyRevocation::NotFound);
        let revoked = DeveloperKeyRow { revoked_at: Some(2_000), ..key(1) };
        assert_eq!(revoke(WALLET, 1, 2_000).await, KeyRevocation::Revoked(revoked.clone()));
        assert_eq!(revoke(WALLET, 1, 3_000).await, KeyRevocation::RevokedBefore(revoked));
        assert_eq!(test.list_audit(WALLET, 9).await.unwrap(), [entry(1)]);
        assert_eq!(test.find_wallet(Address::ZERO).await.unwrap(), None, "nothing was written");
    }

    async fn uses_are_noted_forwards_only(test: TestDb) {
        test.put_developer_key(&key(1)).await.unwrap();
        for (at, expected) in [(5_000, 5_000), (4_000, 5_000), (6_000, 6_000)] {
            test.use_developer_keys(&[(key(1).id, at), (key(2).id, at)]).await.unwrap();
            let row = test.find_developer_key(&key(1).id).await.unwrap().unwrap();
            assert_eq!(row.last_used_at, Some(expected));
        }
    }

    async fn active_keys_are_neither_expired_nor_taken_back(test: TestDb) {
        test.put_developer_key(&key(1)).await.unwrap();
        test.put_developer_key(&DeveloperKeyRow { revoked_at: Some(5), ..key(2) }).await.unwrap();
        test.put_developer_key(&DeveloperKeyRow { expires_at: 8_000, ..key(3) }).await.unwrap();
        let mut tx = test.begin().await.unwrap();
        touch_wallet(&mut tx, WALLET, 0).await.unwrap();
        for (now, active) in [(7_999, 2), (8_000, 1), (9_000, 0)] {
            assert_eq!(count_active_keys(&mut tx, WALLET, now).await.unwrap(), active, "{now}");
        }
    }
}
