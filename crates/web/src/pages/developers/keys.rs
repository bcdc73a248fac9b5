//! Developer keys: what a wallet has, buying another, taking one back; and its orders.

use std::sync::Arc;

use askama::Template;
use axum::{body::Bytes, extract::State};
use domain::portal::{KeyState, MOST_ACTIVE_KEYS, Scope, Scopes};
use hyper::StatusCode;
use merchant::{KeyTerms, Order, OrderError};
use store::portal::{DeveloperKeyRow, Purchase};

use super::{
    Member, Tabs,
    labels::{self, Tag, Until},
    portal, read_id, refused, show_as,
    welcome::{PlanLine, plans},
};
use crate::{
    failure::{Failure, Malformed},
    fields::Fields,
    frame::{Frame, Section},
    page::{Shown, go_to},
    parts::{Ago, Amount},
    site::Site,
    visit::Visit,
    words::Language,
};

/// Orders that are shown.
const ORDERS: u32 = 20;
/// Keys that are shown; at most five are good, and those are the newest.
const KEYS: usize = 25;

words! {
    KeyWords {
        title: "Developer keys", "Kunci pengembang";
        buy: "Buy a key", "Beli kunci";
        name: "Name", "Nama";
        name_hint: "Yours, to know it by: “shop backend”. Without one it is called after its plan.", "Terserah Anda, agar mudah dikenali: “backend toko”. Tanpa nama, kunci dinamai menurut paketnya.";
        scopes: "What it may do", "Yang boleh dilakukan";
        days: "days", "hari";
        of_which: "of which burned", "di antaranya dibakar";
        choose: "Buy", "Beli";
        next_page: "The next page shows the transaction before your wallet sends it.", "Halaman berikutnya menampilkan transaksi sebelum dompet Anda mengirimnya.";
        full: "You have as many keys as a wallet may have, those included that you have ordered. Revoke one, or let an order lapse.", "Jumlah kunci Anda sudah mencapai batas, termasuk yang sedang dipesan. Cabut salah satu, atau biarkan sebuah pesanan lewat waktunya.";
        bad_name: "A name has 1 to 64 characters.", "Nama terdiri dari 1 sampai 64 karakter.";
        bad_scopes: "Choose at least one thing that the key may do.", "Pilih setidaknya satu hal yang boleh dilakukan kunci ini.";
        keys: "Keys", "Kunci";
        none: "No keys yet.", "Belum ada kunci.";
        key: "Key", "Kunci";
        state: "State", "Status";
        plan: "Plan", "Paket";
        ends: "Ends", "Berakhir";
        used: "Last used", "Terakhir dipakai";
        never: "never", "belum pernah";
        revoke: "Revoke", "Cabut";
        revoke_ask: "Programs that use it are refused at once, and nothing is paid back.", "Program yang memakainya langsung ditolak, dan tidak ada pengembalian uang.";
        revoke_yes: "Yes, revoke it", "Ya, cabut";
        orders: "Orders", "Pesanan";
        no_orders: "No orders yet.", "Belum ada pesanan.";
        order: "Order", "Pesanan";
        price: "Price", "Harga";
        made: "Made", "Dibuat";
        webhook: "Webhook", "Webhook";
    }
}

#[derive(Template)]
#[template(path = "developers_keys.html")]
struct Page {
    frame: Frame,
    w: &'static KeyWords,
    tabs: Tabs,
    plans: Vec<PlanLine>,
    scopes: Vec<ScopeLine>,
    name: String,
    /// What is wrong with what was sent.
    error: Option<&'static str>,
    active: usize,
    most: u64,
    keys: Vec<KeyLine>,
    orders: Vec<OrderLine>,
}

struct ScopeLine {
    word: &'static str,
    title: &'static str,
    is_chosen: bool,
}

/// A key in a list.
pub(crate) struct KeyLine {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) last4: String,
    pub(crate) scopes: String,
    pub(crate) state: Tag,
    pub(crate) is_active: bool,
    pub(crate) plan: &'static str,
    pub(crate) ends: Until,
    pub(crate) used: Option<Ago>,
}

impl KeyLine {
    pub(crate) fn new(site: &Site, row: &DeveloperKeyRow, language: Language) -> Self {
        let state = row.state_at(site.now() * 1_000);
        let scopes: Vec<_> = row.scopes.iter().map(Scope::name).collect();
        Self {
            id: row.id.to_string(),
            name: row.name.clone(),
            last4: row.last4.clone(),
            scopes: scopes.join(" "),
            state: labels::key(state, language),
            is_active: state == KeyState::Active,
            plan: labels::plan(row.plan, language),
            ends: labels::until(site, row.expires_at, language),
            used: row.last_used_at.map(|at| labels::ago(site, at, language)),
        }
    }
}

struct OrderLine {
    id: String,
    what: String,
    state: Tag,
    odd: Option<Tag>,
    price: Amount,
    made: Ago,
}

impl OrderLine {
    fn new(site: &Site, order: &Order, language: Language) -> Self {
        let row = &order.row;
        Self {
            id: row.id.to_string(),
            what: match &row.purchase {
                Purchase::Key { plan, name, .. } => format!("{name} ({})", labels::plan(*plan, language)),
                Purchase::Webhook => KeyWords::of(language).webhook.to_owned(),
            },
            state: labels::order(row.state, language),
            odd: order.payment.as_ref().and_then(|payment| labels::exception(payment.exception, language)),
            price: Amount(row.amount.0),
            made: labels::ago(site, row.created_at, language),
        }
    }
}

/// What was sent and is wrong: what to say, and what was typed.
#[derive(Default)]
struct Draft {
    error: Option<&'static str>,
    name: String,
    scopes: Scopes,
}

/// `GET /developers/keys`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit, member: Member) -> Shown {
    render(&site, &visit, &member, Draft { scopes: Scopes::ALL, ..Draft::default() }).await
}

async fn render(site: &Site, visit: &Visit, member: &Member, draft: Draft) -> Shown {
    let (language, orders) = (visit.language, &portal(site)?.orders);
    let w = KeyWords::of(language);
    let keys = orders.list_keys(member.wallet()).await.map_err(refused)?;
    let (made, _) = orders.list(member.wallet(), None, ORDERS).await.map_err(refused)?;
    let keys: Vec<_> = keys.iter().take(KEYS).map(|row| KeyLine::new(site, row, language)).collect();
    let scope = |scope: Scope| ScopeLine {
        word: scope.name(),
        title: labels::scope(scope, language),
        is_chosen: draft.scopes.contains(scope),
    };
    let status = if draft.error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = Page {
        frame: Frame::new(site, visit, Section::Developers, w.title),
        w,
        tabs: Tabs::new("keys", member, language),
        plans: plans(language),
        scopes: Scope::ALL.into_iter().map(scope).collect(),
        name: draft.name,
        error: draft.error,
        active: keys.iter().filter(|key| key.is_active).count(),
        most: MOST_ACTIVE_KEYS,
        keys,
        orders: made.iter().map(|order| OrderLine::new(site, order, language)).collect(),
    };
    show_as(status, &page)
}

/// `POST /developers/keys`: with `plan` an order is opened, with `revoke` a key is taken back.
pub(crate) async fn change(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    body: Bytes,
) -> Shown {
    let fields = Fields::read(&body);
    let orders = &portal(&site)?.orders;
    if let Some(key) = fields.filled("revoke") {
        orders.revoke_key(member.wallet(), read_id(key)?, member.origin()).await.map_err(refused)?;
        return Ok(go_to("/developers/keys"));
    }
    let name = fields.filled("name").map(str::to_owned);
    let scopes: Vec<String> = fields.all("scope").map(str::to_owned).collect();
    let opened = match KeyTerms::read(fields.text("plan"), name.clone(), Some(&scopes)) {
        Ok(terms) => orders.open(member.wallet(), terms, None).await,
        Err(error) => Err(error),
    };
    let w = KeyWords::of(visit.language);
    let error = match opened {
        Ok(order) => return Ok(go_to(&format!("/developers/orders/{}", order.row.id))),
        Err(OrderError::KeyLimitReached) => w.full,
        Err(OrderError::Invalid(faults)) if faults.iter().any(|fault| fault.field == "name") => w.bad_name,
        Err(OrderError::Invalid(_)) => w.bad_scopes,
        Err(OrderError::PlanUnknown) => return Err(Failure::Malformed(Malformed::Parameter("plan"))),
        Err(error) => return Err(refused(error)),
    };
    let scopes = scopes.iter().filter_map(|word| word.parse::<Scope>().ok()).collect();
    render(&site, &visit, &member, Draft { error: Some(error), name: name.unwrap_or_default(), scopes }).await
}
