//! `/faucet`: claiming test coin, what became of a claim, how the faucet is doing, and whom it has paid lately.
//!
//! Claims go through the faucet's own edge, as everybody's do, in the visitor's name. Without a faucet in this process the
//! page says how to ask the one that the network has.

mod ask;
mod payout;
mod refusal;

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Query, State},
    routing::get,
};
use domain::Network;
use faucet::FaucetSettings;
use hyper::{HeaderMap, StatusCode};
use url::form_urlencoded;

use self::{
    ask::{Asked, Health},
    payout::{ClaimCard, PayoutLine},
    refusal::Refusal,
};
use crate::{
    door::key_of,
    failure::{Failure, Malformed, Missing},
    frame::{Frame, Section},
    page::{Shown, go_to, show_with},
    segment::repeated,
    site::Site,
    visit::Visit,
};

/// Bytes of the form.
const MOST_BYTES: usize = 8 * 1024;
/// Payouts that are listed.
const PAYOUTS: u32 = 10;

words! {
    FaucetWords {
        title: "Faucet", "Faucet";
        about: "Test coin for your wallet. It has no price anywhere.", "Koin uji untuk dompet Anda. Tidak bernilai di mana pun.";
        gives: "A claim pays", "Satu klaim membayar";
        wallet_limit: "once in 24 hours for a wallet,", "sekali dalam 24 jam untuk satu dompet,";
        visitor_limit: "times for a network address", "kali untuk satu alamat jaringan";
        address: "Wallet address", "Alamat dompet";
        address_hint: "0x and 40 hexadecimal digits.", "0x dan 40 digit heksadesimal.";
        key: "API key", "Kunci API";
        key_hint: "This network is by invitation: the key needs the permission “faucet”. Leave it empty to use the key you came in with.", "Jaringan ini khusus undangan: kunci memerlukan izin “faucet”. Kosongkan untuk memakai kunci yang Anda pakai masuk.";
        key_hint_needed: "This network is by invitation: the key needs the permission “faucet”.", "Jaringan ini khusus undangan: kunci memerlukan izin “faucet”.";
        claim: "Claim", "Klaim";
        leave_empty: "Leave this empty", "Biarkan kosong";
        next_claim: "Next claim possible", "Klaim berikutnya";
        allowlist_hint: "The operator of the network lets a wallet in with", "Operator jaringan mengizinkan dompet dengan";
        your_claim: "Your claim", "Klaim Anda";
        wallet: "Wallet", "Dompet";
        amount: "Amount", "Jumlah";
        transaction: "Transaction", "Transaksi";
        block: "Block", "Blok";
        time: "Time", "Waktu";
        how: "How the faucet is doing", "Keadaan faucet";
        funds: "Funds", "Dana";
        balance: "Balance", "Saldo";
        claims_left: "Claims it can still pay today", "Klaim yang masih dapat dibayar hari ini";
        daily_cap: "Most in 24 hours", "Maksimum dalam 24 jam";
        waiting: "Claims waiting", "Klaim menunggu";
        account: "Account", "Akun";
        funds_ok: "enough", "cukup";
        funds_low: "low", "menipis";
        funds_empty: "empty", "kosong";
        funds_unknown: "not known", "tidak diketahui";
        recent: "Recent payouts", "Pembayaran terbaru";
        nobody: "Nobody has claimed yet.", "Belum ada yang mengklaim.";
        elsewhere: "The faucet of this network is another server. Ask it with a request:", "Faucet jaringan ini ada di server lain. Mintalah dengan permintaan:";
        copy: "Copy", "Salin";
    }
}

/// The routes of these pages.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/faucet", get(show).post(claim)).layer(DefaultBodyLimit::max(MOST_BYTES))
}

#[derive(Template)]
#[template(path = "faucet.html")]
struct Page {
    frame: Frame,
    w: &'static FaucetWords,
    /// None where the faucet is elsewhere.
    desk: Option<Desk>,
    /// How to ask a faucet that is elsewhere.
    request: Option<String>,
    claimed: Option<ClaimCard>,
    payouts: Vec<PayoutLine>,
    visitor_claims: u32,
}

/// A faucet that can be claimed from here.
struct Desk {
    health: Health,
    /// What was typed.
    address: String,
    refusal: Option<Refusal>,
    /// Whether a key is needed, and whether the visitor came in with one.
    needs_key: bool,
    has_key: bool,
}

/// What a visitor did before the page is shown.
#[derive(Default)]
struct Attempt {
    address: String,
    refusal: Option<Refusal>,
    claimed: Option<ClaimCard>,
}

async fn page(
    site: &Site,
    visit: &Visit,
    headers: &HeaderMap,
    status: StatusCode,
    attempt: Attempt,
) -> Shown {
    let w = FaucetWords::of(visit.language);
    let is_invited = site.deployment().network == Network::Devnet;
    let desk = match &site.faucet {
        Some(edge) => Some(Desk {
            health: ask::health(edge, visit.address).await,
            address: attempt.address,
            refusal: attempt.refusal,
            needs_key: is_invited,
            has_key: key_of(headers).is_some(),
        }),
        None => None,
    };
    let payouts = site.api.db.list_recent_payouts(PAYOUTS).await?;
    let (now, language) = (site.now(), visit.language);
    let frame = Frame::new(site, visit, Section::Faucet, w.title).with_scripts(&["faucet.js"]);
    show_with(
        status,
        &Page {
            frame,
            w,
            request: desk.is_none().then(|| curl(site, is_invited)),
            desk,
            claimed: attempt.claimed,
            payouts: payouts.iter().filter_map(|row| PayoutLine::of(site, row, now, language)).collect(),
            visitor_claims: FaucetSettings::default().visitor_claims,
        },
    )
}

/// How to claim from a faucet that is elsewhere.
fn curl(site: &Site, is_invited: bool) -> String {
    let faucet = site.deployment().urls.faucet.as_ref().map(|url| url.as_str().trim_end_matches('/'));
    let key = if is_invited { " -H 'X-API-Key: <API_KEY>'" } else { "" };
    format!(
        "curl -X POST {}/claim -H 'content-type: application/json'{key} -d '{{\"address\":\"0x…\",\"website\":\"\"}}'",
        faucet.unwrap_or_default()
    )
}

/// The network must have a faucet.
fn check(site: &Site) -> Result<(), Failure> {
    let has_one = site.faucet.is_some() || site.deployment().urls.faucet.is_some();
    has_one.then_some(()).ok_or(Failure::Missing(Missing::Faucet))
}

/// `GET /faucet?claim=…`: with the transaction of a claim, what became of it.
async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    headers: HeaderMap,
    Query(query): Query<HashMap<String, String>>,
) -> Shown {
    check(&site)?;
    let claimed = match query.get("claim") {
        Some(text) => {
            let hash = text.parse().map_err(|_| Failure::Malformed(Malformed::Hash(repeated(text))))?;
            let row = site.api.db.find_claim_by_hash(hash).await?;
            row.and_then(|row| ClaimCard::of(&site, &row, visit.language))
        }
        None => None,
    };
    page(&site, &visit, &headers, StatusCode::OK, Attempt { claimed, ..Attempt::default() }).await
}

/// `POST /faucet` with `address`, the empty `website`, and where a key is needed perhaps `key`.
async fn claim(State(site): State<Arc<Site>>, visit: Visit, headers: HeaderMap, body: Bytes) -> Shown {
    check(&site)?;
    let Some(edge) = &site.faucet else { return Err(Failure::NoPage) };
    let field = |wanted: &str| {
        let mut fields = form_urlencoded::parse(&body);
        fields.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let address = field("address").trim().to_owned();
    // Whether it must be empty is for the faucet to say.
    let website = field("website");
    let typed = field("key").trim().to_owned();
    let key = Some(typed.as_str()).filter(|key| !key.is_empty()).or_else(|| key_of(&headers));
    match ask::claim(edge, visit.address, &address, &website, key).await? {
        Asked::Taken(hash) => Ok(go_to(&format!("/faucet?claim={hash}"))),
        Asked::Refused(answer) => {
            let refusal = Refusal::new(&answer, &address, visit.language, site.now());
            let attempt = Attempt { address, refusal: Some(refusal), claimed: None };
            page(&site, &visit, &headers, answer.status, attempt).await
        }
    }
}
