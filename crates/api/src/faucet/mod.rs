//! The faucet's HTTP, on a port of its own: `POST /claim`, `GET /claim/{txHash}`, `GET /status`, `GET /health`, `GET /ready`, and its
//! OpenAPI document. What a claim is, and when it is paid, is decided in the crate `faucet`.

mod admission;
mod claim;
mod description;
mod health;
mod honeypot;
mod request;
mod status;
mod view;

use std::sync::Arc;

use access::{Keyring, UniformLimiter};
use axum::{extract::FromRef, routing::get};
use chain::ChainClient;
use domain::Network;
use faucet::Faucet;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::Db;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    clock::Clock,
    code::Code,
    describe::{self, Description, Surface},
    edge::{Edge, EdgeConfig, cache::AnswerCache, limiter::RequestLimiter},
    metrics::HttpMetrics,
    not_found,
};

/// Requests to `POST /claim` per client and minute.
const CLAIM_REQUESTS_PER_MINUTE: u32 = 20;

/// What the faucet's handlers work with.
pub struct FaucetState {
    /// Takes the claims. Its sender must run for them to be paid.
    pub faucet: Faucet,
    /// The chain.
    pub chain: Arc<dyn ChainClient>,
    /// The network that is served.
    pub network: Network,
    /// Who may claim.
    pub access: FaucetAccess,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// When the process started.
    pub started_at: Timestamp,
    /// The product's version.
    pub version: &'static str,
}

/// Who may claim.
pub enum FaucetAccess {
    /// Everybody.
    Open,
    /// Who has a key with the permission `faucet`, for wallets on the allowlist; and the honeypot field must be there.
    Invited {
        /// The keys.
        keyring: Arc<Keyring>,
        /// Where the allowlist is.
        db: Db,
    },
}

/// What handlers may ask for.
#[derive(Clone)]
struct Shared {
    desk: Arc<Desk>,
    description: Arc<Description>,
}

/// The state, and what is counted beside it.
struct Desk {
    state: FaucetState,
    claim_requests: UniformLimiter,
}

impl FromRef<Shared> for Arc<Desk> {
    fn from_ref(shared: &Shared) -> Self {
        shared.desk.clone()
    }
}

impl FromRef<Shared> for Arc<Description> {
    fn from_ref(shared: &Shared) -> Self {
        shared.description.clone()
    }
}

impl Desk {
    /// Milliseconds since 1970.
    fn now_millis(&self) -> u64 {
        u64::try_from(self.state.clock.now().as_millisecond()).unwrap_or(0)
    }
}

/// The faucet over `state`. `config.requests_per_minute` is for all its requests together; those to `POST /claim` are
/// counted once more, to 20.
pub fn faucet(state: FaucetState, config: EdgeConfig) -> Edge {
    let cache = Arc::new(AnswerCache::new(state.chain.clone(), config.cache_bytes));
    let limiter = Arc::new(RequestLimiter::new("faucet", &config));
    let clock = state.clock.clone();
    let (router, handlers) = routes().split_for_parts();
    let description = Arc::new(Description::new(handlers, &SURFACE));
    let claim_requests = config.counting.limiter("claims", CLAIM_REQUESTS_PER_MINUTE);
    let desk = Arc::new(Desk { state, claim_requests });
    let router = router.with_state(Shared { desk, description }).fallback(not_found);
    let metrics = HttpMetrics::new("/", ROUTES);
    Edge::new(router, cache, limiter, clock, config, metrics)
}

/// First words of paths that are counted apart.
const ROUTES: &[&str] = &["claim", "status", "health", "other"];

/// The faucet's OpenAPI document, as its `GET /openapi.json` answers it.
pub fn faucet_openapi_document() -> String {
    describe::openapi_text(routes().into_openapi(), &SURFACE)
}

fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
        .routes(routes!(claim::create_claim))
        .routes(routes!(claim::get_claim))
        .routes(routes!(status::get_status))
        .routes(routes!(description::get_openapi))
        .route("/api/v1/docs", get(description::get_docs))
        .route("/api/v1/docs/style.css", get(describe::get_style))
}

const SURFACE: Surface = Surface {
    title: "chainnet faucet",
    description: "Test coin for wallets: 500 a day.",
    parts: None,
    introduction: "\
<p>A wallet gets 500 coin once in 24 hours, a network address three claims. On the private testnet an API key with the \
permission <code>faucet</code> is needed, and the wallet must be on the allowlist.</p>\
<p><a href=\"/openapi.json\">OpenAPI document</a> · <a href=\"#errors\">Error codes</a></p>",
    refusals: &[&[
        (
            "create_claim",
            &[
                Code::InvalidAddress,
                Code::InvalidJson,
                Code::HoneypotFilled,
                Code::HoneypotMissing,
                Code::ApiKeyMissing,
                Code::ApiKeyInvalid,
                Code::PermissionMissing,
                Code::WalletNotAllowlisted,
                Code::BodyTooLarge,
                Code::UnsupportedMediaType,
                Code::ValidationFailed,
                Code::UnknownField,
                Code::AddressReserved,
                Code::AddressIsContract,
                Code::WalletCooldown,
                Code::IpLimit,
                Code::FaucetEmpty,
                Code::ChainUnavailable,
                Code::DatabaseUnavailable,
            ],
        ),
        (
            "get_claim",
            &[
                Code::InvalidHash,
                Code::ApiKeyMissing,
                Code::ApiKeyInvalid,
                Code::PermissionMissing,
                Code::ClaimNotFound,
                Code::DatabaseUnavailable,
            ],
        ),
        (
            "get_status",
            &[
                Code::InvalidAddress,
                Code::InvalidParameter,
                Code::UnknownParameter,
                Code::ApiKeyMissing,
                Code::ApiKeyInvalid,
                Code::PermissionMissing,
                Code::DatabaseUnavailable,
            ],
        ),
    ]],
    extend: add_next_claim,
};

/// What a problem of the faucet says beyond those of the API.
fn add_next_claim(document: &mut Value) {
    let problem = document.pointer_mut("/components/schemas/Problem/properties");
    if let Some(properties) = problem.and_then(Value::as_object_mut) {
        let described = json!({
            "type": "string", "format": "date-time",
            "description": "When the same claim may succeed, if that is known.",
        });
        properties.insert("nextClaimAt".into(), described);
    }
}
