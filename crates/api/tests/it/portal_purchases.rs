//! Wallets that buy something, as the tests of orders need them.

use alloy_primitives::{Address, B256, Bytes, U256, hex};
use domain::{Wei, devnet};
use serde_json::{Value, json};

use crate::{
    portal_people::bearer,
    rig::{Reply, Rig},
};

pub(crate) const KEYS: &str = "/api/v1/platform-dev/keys";
pub(crate) const REVOKE: &str = "/api/v1/platform-dev/keys/revoke";
pub(crate) const ORDERS: &str = "/api/v1/platform-dev/orders";
pub(crate) const PLANS: &str = "/api/v1/platform-dev/plans";

/// A wallet that is signed in.
pub(crate) struct Buyer<'a> {
    pub(crate) rig: &'a Rig,
    pub(crate) account: usize,
    token: String,
}

impl Rig {
    /// A development account that is signed in.
    pub(crate) async fn buyer(&self, account: usize) -> Buyer<'_> {
        Buyer { rig: self, account, token: bearer(&self.sign_in(account).await) }
    }

    /// Sends an order's transaction from a development account with other coin, without mining it.
    pub(crate) fn send_fee(&self, account: usize, nonce: u64, order: &Value, coin: u64) -> B256 {
        let payment = &order["payment"];
        let to: Address = payment["to"].as_str().unwrap().parse().unwrap();
        let data = Bytes::from(hex::decode(payment["data"].as_str().unwrap()).unwrap());
        self.send(account, nonce, to.into(), Wei::from_coin(coin).0, data)
    }
}

impl Buyer<'_> {
    pub(crate) fn address(&self) -> Address {
        devnet::ACCOUNTS[self.account].address
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.rig.get_with(path, &[("authorization", &self.token)]).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.post_with(path, &[], body.to_string()).await
    }

    pub(crate) async fn post_with(&self, path: &str, more: &[(&str, &str)], body: String) -> Reply {
        let mut headers = vec![("authorization", self.token.as_str()), ("content-type", "application/json")];
        headers.extend(more);
        self.rig.ask("POST", path, &headers, body).await
    }

    /// Opens an order and gives it.
    pub(crate) async fn order(&self, plan: &str) -> Value {
        let reply = self.post(KEYS, json!({ "plan": plan })).await;
        assert_eq!(reply.refusal(), (402, "payment_required".into()), "{reply:?}");
        reply.json()["order"].clone()
    }

    /// Sends an order's transaction as it is described, without mining it.
    pub(crate) fn pay(&self, nonce: u64, order: &Value) -> B256 {
        let value: U256 = order["payment"]["value"].as_str().unwrap().parse().unwrap();
        assert_eq!(value.to_string(), order["amountWei"].as_str().unwrap());
        let coin = u64::try_from(value / Wei::from_coin(1).0).unwrap();
        self.rig.send_fee(self.account, nonce, order, coin)
    }

    pub(crate) async fn claim(&self, order: &Value) -> Reply {
        self.post(KEYS, json!({ "orderId": order["id"] })).await
    }

    /// The order as it stands.
    pub(crate) async fn look(&self, order: &Value) -> Value {
        let reply = self.get(&format!("{ORDERS}/{}", order["id"].as_str().unwrap())).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()["order"].clone()
    }

    /// Buys a key and gives the answer to the claim.
    pub(crate) async fn buy(&self, nonce: u64, plan: &str) -> Value {
        let order = self.order(plan).await;
        self.pay(nonce, &order);
        self.rig.mine().await;
        let reply = self.claim(&order).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.json()
    }

    pub(crate) async fn revoke(&self, key: &Value) -> Reply {
        self.post(REVOKE, json!({ "keyId": key["id"] })).await
    }
}
