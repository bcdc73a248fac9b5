//! A wallet that is signed in, as a browser without a script has it: a cookie, an origin, and forms.

use alloy_primitives::{Bytes, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use domain::devnet;
use hyper::StatusCode;
use merchant::{NewRate, Rates};
use serde_json::{Value, json};

use crate::{
    rig::{Reply, Rig, deployment},
    shop,
};

const API: &str = "/api/v1/platform-dev";
const FORM: &str = "application/x-www-form-urlencoded";

/// A wallet that is signed in, and the account that it is.
pub(crate) struct Merchant<'r> {
    pub(crate) rig: &'r Rig,
    pub(crate) account: usize,
    cookie: String,
    nonce: std::sync::atomic::AtomicU64,
}

impl Rig {
    /// Signs a development account in.
    pub(crate) async fn sign_in(&self, account: usize) -> Merchant<'_> {
        let known = &devnet::ACCOUNTS[account];
        let challenge = self.api("/session/challenge", json!({ "address": known.address })).await;
        let challenge: Value = serde_json::from_str(&challenge.text).unwrap();
        let signer = PrivateKeySigner::from_bytes(&known.key).unwrap();
        let signature = signer.sign_message_sync(challenge["message"].as_str().unwrap().as_bytes()).unwrap();
        let answer = json!({ "challengeId": challenge["challengeId"], "signature": signature.to_string() });
        let session = self.api("/session", answer).await;
        assert_eq!(session.status, StatusCode::CREATED, "{}", session.text);
        let cookie = session.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Merchant { rig: self, account, cookie, nonce: 0.into() }
    }

    /// Asks the API of the pages' origin.
    pub(crate) async fn api(&self, path: &str, body: Value) -> Reply {
        let json = [("content-type", "application/json")];
        self.ask("POST", &format!("{API}{path}"), &json, &body.to_string()).await
    }

    /// Says what the coin costs.
    pub(crate) async fn set_rate(&self, rate: &str) {
        let rates = Rates::new(self.db.clone(), shop::time(&self.clock));
        let new = NewRate { rate: rate.parse().unwrap(), by: "ayu".into(), note: None, allow_jump: true };
        rates.set(new).await.unwrap();
    }
}

impl Merchant<'_> {
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.rig.get_with(path, &[("cookie", &self.cookie)]).await
    }

    /// Sends a form of our own page.
    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Reply {
        let origin = deployment().urls.explorer.origin();
        self.post_from(Some(&origin), path, form).await
    }

    /// Sends a form of somebody's page.
    pub(crate) async fn post_from(&self, origin: Option<&str>, path: &str, form: &[(&str, &str)]) -> Reply {
        let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut headers = vec![("cookie", self.cookie.as_str()), ("content-type", FORM)];
        headers.extend(origin.map(|origin| ("origin", origin)));
        self.rig.ask("POST", path, &headers, &body).await
    }

    /// Sends what a button of a page describes, and mines it.
    pub(crate) async fn pay(&self, page: &str) -> String {
        let nonce = self.nonce.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let value = U256::from_str_radix(attribute(page, "data-value").trim_start_matches("0x"), 16).unwrap();
        let data: Bytes = attribute(page, "data-data").parse().unwrap();
        let to: alloy_primitives::Address = attribute(page, "data-to").parse().unwrap();
        let hash = self.rig.send(self.account, nonce, to.into(), value, data);
        self.rig.mine().await;
        hash.to_string()
    }

    /// Buys a key as the pages do it; gives its secret.
    pub(crate) async fn buy_key(&self) -> String {
        let form = [("plan", "monthly"), ("name", "shop"), ("scope", "invoices:write")];
        let opened = self.post("/developers/keys", &form).await;
        let place = location(&opened);
        let order = self.get(&place).await.page();
        let hash = self.pay(&order).await;
        let claimed = self.post(&place, &[("tx", &hash)]).await.page();
        inside(&claimed, "<pre id=\"key-secret\">", "</pre>").to_owned()
    }

    /// Makes an invoice; gives its page and the path of its payment link.
    pub(crate) async fn invoice(&self, label: &str) -> (String, String) {
        let form = [("customerLabel", label), ("amountIdr", "150000"), ("note", "Kopi <susu> 6x")];
        let place = location(&self.post("/developers/invoices", &form).await);
        let page = self.get(&place).await.page();
        let url = inside(&page, "<code id=\"pay-url\" class=\"said\">", "</code>");
        let link = url.strip_prefix(&deployment().urls.explorer.origin()).unwrap().to_owned();
        (place, link)
    }
}

/// Where a form led to.
#[track_caller]
pub(crate) fn location(reply: &Reply) -> String {
    assert_eq!(reply.status, StatusCode::SEE_OTHER, "{}", reply.text);
    reply.header("location").unwrap().to_owned()
}

#[track_caller]
pub(crate) fn attribute<'a>(page: &'a str, name: &str) -> &'a str {
    inside(page, &format!(" {name}=\""), "\"")
}

/// What stands between two texts.
#[track_caller]
pub(crate) fn inside<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(start).unwrap_or_else(|| panic!("no {start} in {page}"));
    rest.split_once(end).unwrap().0
}
