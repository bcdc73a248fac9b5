//! What the faucet answers with.

use domain::Wei;
use faucet::{Claim, FaucetHealth, FaucetSettings};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::view::{AddressText, CoinText, HashText, Long, TimeText, WeiText};

/// A claim.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaimView {
    /// The transaction that pays it.
    tx_hash: HashText,
    /// The wallet that is paid.
    address: AddressText,
    /// How much, in coin.
    #[schema(value_type = String, example = "500")]
    amount: CoinText,
    /// How much, in wei.
    #[schema(value_type = String, example = "500000000000000000000")]
    amount_wei: WeiText,
    /// `pending` until the transaction is in a block; `failed` if it was not paid and the wallet may claim again.
    #[schema(pattern = "^(pending|confirmed|failed)$", example = "pending")]
    status: &'static str,
    /// The block that the transaction is in.
    block_number: Option<Long>,
    /// When it was made.
    created_at: TimeText,
    /// When the wallet may claim again; null if it was not paid.
    next_claim_at: Option<TimeText>,
}

impl From<&Claim> for ClaimView {
    fn from(claim: &Claim) -> Self {
        Self {
            tx_hash: HashText(claim.hash),
            address: AddressText(claim.wallet),
            amount: CoinText(claim.amount),
            amount_wei: WeiText(claim.amount.0),
            status: claim.status.name(),
            block_number: claim.block_number.map(Long),
            created_at: TimeText(time(claim.created_at)),
            next_claim_at: claim.next_claim_at.map(|at| TimeText(time(at))),
        }
    }
}

/// Whether claims can be taken.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FaucetReadinessView {
    /// `ready` when claims can be taken, `draining` when the process is about to end.
    #[schema(example = "ready", pattern = "^(ready|not_ready|draining)$")]
    pub(super) status: &'static str,
    /// Whether a node answers.
    pub(super) chain: bool,
    /// Whether the database answers.
    pub(super) database: bool,
}

/// What a wallet may do.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusView {
    /// The wallet.
    pub(super) address: AddressText,
    /// Whether it may claim now, as far as the wallet is concerned; a network address has a limit of its own.
    pub(super) eligible: bool,
    /// When it may claim; null for now.
    pub(super) next_claim_at: Option<TimeText>,
    /// Whether it is on the allowlist; null where there is none.
    pub(super) allowlisted: Option<bool>,
    /// What a claim pays, in coin.
    #[schema(value_type = String, example = "500")]
    pub(super) amount: CoinText,
    /// What a claim pays, in wei.
    #[schema(value_type = String, example = "500000000000000000000")]
    pub(super) amount_wei: WeiText,
    /// Its newest claim that was paid or will be.
    pub(super) last_claim: Option<ClaimView>,
}

/// The process lives, and how the faucet is doing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FaucetHealthView {
    /// Always `ok`.
    #[schema(example = "ok", pattern = "^ok$")]
    pub(super) status: &'static str,
    /// The product's version.
    #[schema(example = "0.1.0")]
    pub(super) version: &'static str,
    /// The network that is served.
    #[schema(example = "testnet")]
    pub(super) network: &'static str,
    /// Seconds since the process started.
    pub(super) uptime_seconds: Long,
    /// How the faucet is doing.
    pub(super) faucet: FundsView,
}

/// Whether the faucet can pay.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FundsView {
    /// `low` when it must be topped up soon, `empty` when it cannot pay or has paid all it may today, `unknown` while the chain
    /// or the database does not answer.
    #[schema(pattern = "^(ok|low|empty|unknown)$", example = "ok")]
    funds: &'static str,
    /// The account that pays.
    address: AddressText,
    /// What a claim pays, in coin.
    #[schema(value_type = String, example = "500")]
    amount: CoinText,
    /// Most that it pays within 24 hours, in coin.
    #[schema(value_type = String, example = "100000")]
    daily_cap: CoinText,
    /// What it has, in coin.
    balance: Option<CoinText>,
    /// What it has, in wei.
    balance_wei: Option<WeiText>,
    /// Claims that it can still pay today.
    claims_left: Option<Long>,
    /// Claims that wait to be paid.
    open_claims: Option<Long>,
}

impl FundsView {
    pub(super) fn new(address: AddressText, settings: &FaucetSettings, health: &FaucetHealth) -> Self {
        Self {
            funds: health.funds.name(),
            address,
            amount: CoinText(settings.amount),
            daily_cap: CoinText(settings.daily_cap),
            balance: health.balance.map(CoinText),
            balance_wei: health.balance.map(|Wei(wei)| WeiText(wei)),
            claims_left: health.claims_left.map(Long),
            open_claims: health.open_claims.map(Long),
        }
    }
}

/// A point in time from Unix milliseconds.
pub(super) fn time(millis: u64) -> Timestamp {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
}
