//! People and programs of the portal, as its tests need them: wallets that sign in, and keys that nobody had to buy.

use std::time::Duration;

use accounts::MintedKey;
use alloy_primitives::{Address, hex};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chainnet_api::clock::Clock;
use domain::{
    devnet,
    portal::{OrderId, Plan, Scopes},
};
use serde_json::json;
use store::portal::DeveloperKeyRow;

use crate::rig::{Reply, Rig, peppers};

pub(crate) const CHALLENGE: &str = "/api/v1/platform-dev/session/challenge";
pub(crate) const SESSION: &str = "/api/v1/platform-dev/session";

/// A challenge as its wallet sees it.
pub(crate) struct Given {
    pub(crate) id: String,
    pub(crate) message: String,
}

/// A development account's key.
pub(crate) fn signer(account: usize) -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[account].key).unwrap()
}

/// A wallet's signature over a text, as `personal_sign` gives it.
pub(crate) fn personal_sign(account: usize, message: &str) -> String {
    hex::encode_prefixed(signer(account).sign_message_sync(message.as_bytes()).unwrap().as_bytes())
}

impl Rig {
    /// Asks for a text to sign.
    pub(crate) async fn challenge(&self, address: Address) -> Given {
        let reply = self.post(CHALLENGE, json!({ "address": address }).to_string()).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        let body = reply.json();
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        Given { id: text("challengeId"), message: text("message") }
    }

    /// Answers a challenge.
    pub(crate) async fn answer_challenge(&self, id: &str, signature: &str) -> Reply {
        self.post(SESSION, json!({ "challengeId": id, "signature": signature }).to_string()).await
    }

    /// Signs a development account in and gives its token.
    pub(crate) async fn sign_in(&self, account: usize) -> String {
        let given = self.challenge(signer(account).address()).await;
        let reply = self.answer_challenge(&given.id, &personal_sign(account, &given.message)).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.json()["token"].as_str().unwrap().to_owned()
    }

    /// A developer key of a wallet, good for a time from now on.
    pub(crate) async fn give_key(&self, wallet: Address, scopes: Scopes, life: Duration) -> MintedKey {
        let key = peppers().mint(&mut rand::rng());
        let now = u64::try_from(self.clock.now().as_millisecond()).unwrap();
        let row = DeveloperKeyRow {
            id: key.id,
            wallet,
            order: OrderId::new(now, rand::random()),
            plan: Plan::Monthly,
            name: "shop".to_owned(),
            scopes,
            mac: key.mac,
            pepper_version: key.pepper_version,
            last4: key.last4.clone(),
            created_at: now,
            expires_at: now + u64::try_from(life.as_millis()).unwrap(),
            revoked_at: None,
            last_used_at: None,
        };
        self.db.put_developer_key(&row).await.unwrap();
        key
    }
}

/// The headers of a session's bearer.
pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}
