//! Orders, and the transaction that pays one.

use domain::portal::FeeSplit;
use merchant::Order;
use serde::Serialize;
use store::portal::{OrderRow, Purchase};
use utoipa::ToSchema;

use super::{key::scope_names, transaction::TransactionRequestView};
use crate::view::{AddressText, CoinText, HashText, Long, TimeText, WeiText};

/// An order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderView {
    /// Its id.
    #[schema(pattern = "^ord_[0-9a-hjkmnp-tv-z]{26}$", example = "ord_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    id: String,
    /// What it buys.
    #[schema(pattern = "^(api_key|webhook)$", example = "api_key")]
    kind: &'static str,
    /// The plan of the key.
    #[schema(example = "monthly")]
    plan: Option<&'static str>,
    /// What the key will be called.
    #[schema(example = "shop backend")]
    name: Option<String>,
    /// What the key may be used for.
    #[schema(example = json!(["invoices:read", "invoices:write"]))]
    scopes: Option<Vec<&'static str>>,
    /// The price, in coin.
    #[schema(value_type = String, example = "100")]
    amount: CoinText,
    /// The price, in wei.
    #[schema(value_type = String, example = "100000000000000000000")]
    amount_wei: WeiText,
    /// Where the price goes.
    split: SplitView,
    /// The transaction that pays it. It may be sent from any wallet.
    payment: TransactionRequestView,
    /// Where it stands. `paid_waiting` was paid late, when the wallet had no slot left: it can be claimed once it has one. A payment of
    /// what is `expired` or `cancelled` still counts.
    #[schema(
        pattern = "^(awaiting_payment|paid|paid_waiting|claimed|expired|cancelled)$",
        example = "awaiting_payment"
    )]
    state: &'static str,
    /// When it was ordered.
    created_at: TimeText,
    /// Until when it should be paid. A later payment counts, too, if there is still a slot for the key.
    expires_at: TimeText,
    /// When it was paid, by the chain's time.
    paid_at: Option<TimeText>,
    /// When its key was made, or its webhook saved.
    claimed_at: Option<TimeText>,
    /// The transaction that has paid it.
    tx_hash: Option<HashText>,
    /// Who has paid it.
    payer: Option<AddressText>,
    /// How much was paid, in coin.
    amount_paid: Option<CoinText>,
    /// How much was paid, in wei.
    amount_paid_wei: Option<WeiText>,
    /// The block of the payment.
    block_number: Option<Long>,
    /// What is odd about the payment: `none`, `overpaid` or `paid_late`.
    #[schema(pattern = "^(none|overpaid|paid_late)$", example = "none")]
    exception: Option<&'static str>,
}

/// Where a fee goes.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SplitView {
    /// Destroyed, in coin.
    #[schema(value_type = String, example = "30")]
    burned: CoinText,
    /// Destroyed, in wei.
    #[schema(value_type = String, example = "30000000000000000000")]
    burned_wei: WeiText,
    /// Kept for operations, in coin.
    #[schema(value_type = String, example = "70")]
    held: CoinText,
    /// Kept for operations, in wei.
    #[schema(value_type = String, example = "70000000000000000000")]
    held_wei: WeiText,
}

impl From<FeeSplit> for SplitView {
    fn from(split: FeeSplit) -> Self {
        let FeeSplit { burned, held } = split;
        Self {
            burned: CoinText(burned),
            burned_wei: WeiText(burned.0),
            held: CoinText(held),
            held_wei: WeiText(held.0),
        }
    }
}

impl From<Order> for OrderView {
    fn from(order: Order) -> Self {
        let split = order.split().into();
        let Order { row, request, payment } = order;
        let OrderRow {
            id,
            wallet: _,
            purchase,
            amount,
            reference: _,
            state,
            created_at,
            expires_at,
            paid_at,
            claimed_at,
        } = row;
        let kind = purchase.kind().name();
        let (plan, name, scopes) = match purchase {
            Purchase::Key { plan, name, scopes } => {
                (Some(plan.name()), Some(name), Some(scope_names(scopes)))
            }
            Purchase::Webhook => (None, None, None),
        };
        let payment = payment.as_ref();
        Self {
            id: id.to_string(),
            kind,
            plan,
            name,
            scopes,
            amount: CoinText(amount),
            amount_wei: WeiText(amount.0),
            split,
            payment: request.into(),
            state: state.name(),
            created_at: TimeText::from_millis(created_at),
            expires_at: TimeText::from_millis(expires_at),
            paid_at: paid_at.map(TimeText::from_millis),
            claimed_at: claimed_at.map(TimeText::from_millis),
            tx_hash: payment.map(|payment| HashText(payment.tx_hash)),
            payer: payment.map(|payment| AddressText(payment.payer)),
            amount_paid: payment.map(|payment| CoinText(payment.amount)),
            amount_paid_wei: payment.map(|payment| WeiText(payment.amount.0)),
            block_number: payment.map(|payment| Long(payment.block_number)),
            exception: payment.map(|payment| payment.exception.name()),
        }
    }
}

/// An order by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderAnswerView {
    /// The order.
    pub(crate) order: OrderView,
}

/// A page of orders.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderListView {
    /// The orders, newest first.
    pub(crate) orders: Vec<OrderView>,
    /// What to ask for the next page with; null on the last.
    pub(crate) next_cursor: Option<String>,
}
