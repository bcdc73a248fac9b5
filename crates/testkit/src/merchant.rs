//! A merchant of the portal, over HTTP and with coin of its own: signs in, buys a key, saves a webhook, sends invoices.

use alloy_primitives::{Address, B256, Bytes, U256, hex, keccak256};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::{CallError, Draft, HttpAnswer, HttpClient, HttpError, Mining, RpcClient, Wallet};

const BASE: &str = "/api/v1/platform-dev";
/// How long a payment may take to count after it was mined.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Why the portal did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum MerchantError {
    /// No answer.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The node did not answer.
    #[error(transparent)]
    Rpc(#[from] CallError),
    /// Another answer than the one that was expected.
    #[error("{path} was answered with {status}: {body}")]
    Refused {
        /// What was asked.
        path: String,
        /// The status.
        status: u16,
        /// The body.
        body: String,
    },
    /// A member of an answer is missing or of another type.
    #[error("an answer without {0}")]
    Odd(&'static str),
}

/// A transaction that the portal has prepared.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The contract.
    pub to: Address,
    /// Coin sent along.
    pub value: U256,
    /// The call.
    pub data: Bytes,
}

/// An invoice that was made.
#[derive(Debug, Clone)]
pub struct Invoice {
    /// Its id.
    pub id: String,
    /// The last part of its payment link.
    pub token: String,
}

/// A wallet that is signed in.
#[derive(Debug)]
pub struct Merchant {
    api: HttpClient,
    node: RpcClient,
    /// Signs and pays.
    pub wallet: Wallet,
    bearer: String,
    key: String,
}

impl Merchant {
    /// Signs a wallet in that has coin and a known nonce.
    pub async fn sign_in(api: HttpClient, node: RpcClient, wallet: Wallet) -> Result<Self, MerchantError> {
        let mut merchant = Self { api, node, wallet, bearer: String::new(), key: String::new() };
        let address = merchant.wallet.address().to_string();
        let challenge = merchant.post("/session/challenge", &json!({ "address": address }), 201).await?;
        let message = text(&challenge, "/message")?;
        let signature = hex::encode_prefixed(merchant.wallet.sign_message(message.as_bytes()).as_bytes());
        let answer = json!({ "challengeId": text(&challenge, "/challengeId")?, "signature": signature });
        let session = merchant.post("/session", &answer, 201).await?;
        merchant.bearer = format!("Bearer {}", text(&session, "/token")?);
        Ok(merchant)
    }

    /// Goes on at another server.
    pub fn move_to(&mut self, api: HttpClient) {
        self.api = api;
    }

    /// The header that proves who is signed in.
    pub fn bearer(&self) -> (&'static str, &str) {
        ("authorization", &self.bearer)
    }

    /// The token of its session.
    pub fn session_token(&self) -> &str {
        self.bearer.strip_prefix("Bearer ").unwrap_or_default()
    }

    /// Buys a monthly key, pays it and uses it from now on.
    pub async fn buy_key(&mut self, mining: Mining) -> Result<String, MerchantError> {
        let refused = self.post("/keys", &json!({ "plan": "monthly" }), 402).await?;
        self.pay(&prepared(&refused, "/order/payment")?, mining).await?;
        let claim = json!({ "orderId": text(&refused, "/order/id")? });
        let bought = self.post("/keys", &claim, 201).await?;
        self.key = text(&bought, "/secret")?;
        Ok(self.key.clone())
    }

    /// Saves the first webhook, pays its fee, and answers the secret.
    pub async fn save_webhook(&mut self, url: &str, mining: Mining) -> Result<String, MerchantError> {
        let body = json!({ "url": url });
        let refused = self.post("/webhooks", &body, 402).await?;
        self.pay(&prepared(&refused, "/order/payment")?, mining).await?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.post("/webhooks", &body, 201).await {
                Ok(saved) => return text(&saved, "/secret"),
                // The payment is mined, and counts in a moment.
                Err(MerchantError::Refused { status: 402, .. }) if Instant::now() < deadline => {
                    sleep(POLL_INTERVAL).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes an invoice.
    pub async fn create_invoice(&self, label: &str, amount_idr: u64) -> Result<Invoice, MerchantError> {
        let body = json!({ "customerLabel": label, "amountIdr": amount_idr, "note": "" });
        Self::read_invoice(&self.post("/v1/invoices", &body, 201).await?)
    }

    /// Makes an invoice under a name that may be used again: it is made once.
    pub async fn create_invoice_once(&self, name: &str, amount_idr: u64) -> Result<Invoice, MerchantError> {
        let body = json!({ "customerLabel": name, "amountIdr": amount_idr, "note": "" });
        let once = [("idempotency-key", name)];
        Self::read_invoice(&self.post_with("/v1/invoices", &once, &body, 201).await?)
    }

    fn read_invoice(made: &Value) -> Result<Invoice, MerchantError> {
        let pay_url = text(made, "/invoice/payUrl")?;
        let token = pay_url.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(Invoice { id: text(made, "/invoice/id")?, token })
    }

    /// The transaction that pays an invoice. Every customer comes from an address of its own, as far as the portal believes
    /// its proxies.
    pub async fn quote(&self, invoice: &Invoice) -> Result<Prepared, MerchantError> {
        let path = format!("{BASE}/pay/{}/quote", invoice.token);
        let [a, b, c, ..] = *keccak256(&invoice.token);
        let from = format!("10.{a}.{b}.{c}");
        let answer = self.api.post_with(&path, &[("x-forwarded-for", &from)], &Value::Null).await?;
        prepared(&expect(&path, answer, 200)?, "/quote/tx")
    }

    /// Sends a prepared transaction from the merchant's own wallet and waits for its block.
    pub async fn pay(&mut self, prepared: &Prepared, mining: Mining) -> Result<B256, MerchantError> {
        let hash = self.node.send_raw(&prepared.sign(&mut self.wallet)).await?;
        self.node.wait_receipt(hash, mining).await?;
        Ok(hash)
    }

    /// Posts to the portal as this merchant, with session and key, and demands a status.
    pub async fn post(&self, path: &str, body: &Value, status: u16) -> Result<Value, MerchantError> {
        self.post_with(path, &[], body, status).await
    }

    /// The same with more headers.
    pub async fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
        status: u16,
    ) -> Result<Value, MerchantError> {
        let path = format!("{BASE}{path}");
        let credentials =
            [("authorization", self.bearer.as_str()), ("x-platform-dev-key", self.key.as_str())];
        let given = credentials.into_iter().filter(|(_, value)| !value.is_empty());
        let given: Vec<_> = given.chain(headers.iter().copied()).collect();
        let answer = self.api.post_with(&path, &given, body).await?;
        expect(&path, answer, status)
    }
}

impl Prepared {
    /// The bytes of the transaction, signed by whoever pays.
    pub fn sign(&self, payer: &mut Wallet) -> Bytes {
        let draft = Draft { value: self.value, ..Draft::call(self.to, self.data.clone()) };
        payer.sign_dynamic_fee(draft).raw
    }
}

fn expect(path: &str, answer: HttpAnswer, status: u16) -> Result<Value, MerchantError> {
    if answer.status.as_u16() == status {
        return Ok(answer.json());
    }
    Err(MerchantError::Refused {
        path: path.to_owned(),
        status: answer.status.as_u16(),
        body: String::from_utf8_lossy(&answer.body).into_owned(),
    })
}

fn text(answer: &Value, pointer: &'static str) -> Result<String, MerchantError> {
    answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned).ok_or(MerchantError::Odd(pointer))
}

fn prepared(answer: &Value, pointer: &'static str) -> Result<Prepared, MerchantError> {
    let payment = answer.pointer(pointer).ok_or(MerchantError::Odd(pointer))?;
    let member = |name| payment.get(name).and_then(Value::as_str).ok_or(MerchantError::Odd(pointer));
    Ok(Prepared {
        to: member("to")?.parse().map_err(|_| MerchantError::Odd("an address"))?,
        value: member("value")?.parse().map_err(|_| MerchantError::Odd("a value"))?,
        data: member("data")?.parse().map_err(|_| MerchantError::Odd("a call"))?,
    })
}
