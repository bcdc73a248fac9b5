//! A shop with a developer key, and customers who pay its invoices on the chain.

use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, U256, hex};
use chainnet_api::{EdgeConfig, clock::Clock};
use domain::{
    devnet,
    portal::{Actor, AuditAction, AuditId, DeveloperKeyId, Scopes},
};
use merchant::{NewRate, Rates};
use serde_json::{Value, json};
use store::{portal::AuditRow, testing::TestDb};

use crate::{
    contract::Walk,
    rig::{Reply, Rig, peppers},
};

pub(crate) const INVOICES: &str = "/api/v1/platform-dev/v1/invoices";
pub(crate) const DASHBOARD: &str = "/api/v1/platform-dev/v1/dashboard";
pub(crate) const PAY: &str = "/api/v1/platform-dev/pay";
const YEAR: Duration = Duration::from_secs(365 * 86_400);
/// The development account that sells.
pub(crate) const MERCHANT: usize = 1;

/// A merchant's program.
pub(crate) struct Shop<'a> {
    pub(crate) rig: &'a Rig,
    pub(crate) wallet: Address,
    pub(crate) key: String,
}

/// What an invoice asks for when nothing matters.
pub(crate) fn order() -> Value {
    json!({ "customerLabel": "Budi #1042", "amountIdr": 150_000, "note": "Kopi susu 6x" })
}

impl Rig {
    /// The shop of a development account, on a chain that has begun.
    pub(crate) async fn shop(&self) -> Shop<'_> {
        self.mine().await;
        let wallet = devnet::ACCOUNTS[MERCHANT].address;
        self.shop_of(wallet, Scopes::ALL).await
    }

    pub(crate) async fn shop_of(&self, wallet: Address, scopes: Scopes) -> Shop<'_> {
        let key = self.give_key(wallet, scopes, YEAR).await;
        Shop { rig: self, wallet, key: key.text.expose().to_owned() }
    }

    /// Says what the coin costs, from now on.
    pub(crate) async fn set_rate(&self, rate: &str) {
        let clock = self.clock.clone();
        let rates = Rates::new(self.db.clone(), std::sync::Arc::new(move || clock.now()));
        let rate = rate.parse().unwrap();
        rates.set(NewRate { rate, by: "test".into(), note: None, allow_jump: true }).await.unwrap();
    }

    /// Takes a developer key back.
    pub(crate) async fn revoke(&self, wallet: Address, id: DeveloperKeyId) {
        let at = u64::try_from(self.clock.now().as_millisecond()).unwrap();
        let entry = AuditRow {
            id: AuditId::new(at, rand::random()),
            wallet: Some(wallet),
            actor: Actor::Wallet,
            action: AuditAction::KeyRevoked,
            target: id.to_string(),
            origin: None,
            at,
        };
        self.db.revoke_developer_key(wallet, &id, at, &entry).await.unwrap();
    }

    /// Sends the transaction of a quote from a development account, without mining it.
    pub(crate) fn send_quote(&self, account: usize, nonce: u64, quote: &Value) -> B256 {
        let tx = &quote["tx"];
        let to: Address = tx["to"].as_str().unwrap().parse().unwrap();
        let value: U256 = tx["value"].as_str().unwrap().parse().unwrap();
        let data = Bytes::from(hex::decode(tx["data"].as_str().unwrap()).unwrap());
        self.send(account, nonce, to.into(), value, data)
    }
}

impl Shop<'_> {
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.rig.get_with(path, &[("x-platform-dev-key", &self.key)]).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<String>) -> Reply {
        self.post_with(path, &[], body).await
    }

    pub(crate) async fn post_with(
        &self,
        path: &str,
        more: &[(&str, &str)],
        body: impl Into<String>,
    ) -> Reply {
        let mut headers =
            vec![("x-platform-dev-key", self.key.as_str()), ("content-type", "application/json")];
        headers.extend(more);
        self.rig.ask("POST", path, &headers, body).await
    }

    /// Makes an invoice and gives it.
    pub(crate) async fn invoice(&self, body: Value) -> Value {
        let reply = self.post(INVOICES, body.to_string()).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.json()["invoice"].clone()
    }

    /// The invoice as it is now.
    pub(crate) async fn look(&self, invoice: &Value) -> Value {
        let reply = self.get(&format!("{INVOICES}/{}", invoice["id"].as_str().unwrap())).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()["invoice"].clone()
    }

    pub(crate) async fn void(&self, invoice: &Value) -> Reply {
        self.post(&format!("{INVOICES}/{}/void", invoice["id"].as_str().unwrap()), "").await
    }

    /// A quote of an invoice.
    pub(crate) async fn quote(&self, invoice: &Value) -> Value {
        let reply = self.ask_quote(invoice).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()["quote"].clone()
    }

    pub(crate) async fn ask_quote(&self, invoice: &Value) -> Reply {
        self.rig.post(&format!("{}/quote", link(invoice)), "").await
    }
}

/// The API's path of an invoice's payment link.
pub(crate) fn link(invoice: &Value) -> String {
    let url = invoice["payUrl"].as_str().unwrap();
    let token = url.strip_prefix("http://127.0.0.1:3000/pay/").unwrap();
    format!("{PAY}/{token}")
}

/// Calls operations of developer keys in every way that a key is refused, with too long a path, too often, and when the
/// database does not answer.
pub(crate) async fn walk_keys(
    walk: &mut Walk,
    rig: &Rig,
    test: &TestDb,
    shop: &Shop<'_>,
    calls: &[(&str, &str, &str)],
) {
    let nothing = rig.shop_of(shop.wallet, Scopes::default()).await.key;
    let short = rig.give_key(shop.wallet, Scopes::ALL, Duration::from_secs(60)).await;
    let gone = rig.give_key(shop.wallet, Scopes::ALL, YEAR).await;
    rig.revoke(shop.wallet, gone.id).await;
    let stranger = peppers().mint(&mut rand::rng());
    rig.clock.advance(Duration::from_secs(61));
    let body = order().to_string();
    let ask = async |rig: &Rig, method: &str, path: &str, keys: &[&str]| {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(["x-platform-dev-key", "x-api-key"].into_iter().zip(keys.iter().copied()));
        rig.ask(method, path, &headers, if path.ends_with("void") { "" } else { &body }).await
    };
    let good = shop.key.as_str();
    for (operation, method, path) in calls {
        let texts = [short.text.expose(), gone.text.expose(), stranger.text.expose(), &nothing];
        for keys in texts.iter().map(std::slice::from_ref).chain([&[][..], &[good, texts[0]]]) {
            walk.note(operation, path, &ask(rig, method, path, keys).await);
        }
        let long = format!("{path}?{}", "x".repeat(2048));
        walk.note(operation, path, &ask(rig, method, &long, &[good]).await);
    }
    let closed = Rig::with(
        test,
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() },
    )
    .await;
    for (operation, method, path) in calls {
        walk.note(operation, path, &ask(&closed, method, path, &[good]).await);
    }
    rig.db.close().await;
    for (operation, method, path) in calls {
        walk.note(operation, path, &ask(rig, method, path, &[good]).await);
    }
}
