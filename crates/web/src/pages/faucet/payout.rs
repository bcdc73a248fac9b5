//! Claims that have their transaction, as they are shown: to whom, how much, when. Never whose network address it was.

use domain::ClaimState;
use store::ClaimRow;

use crate::{
    parts::{AddressLink, Ago, Amount, BlockLink, TransactionLink},
    site::Site,
    words::Language,
};

/// A payout in the list.
pub(super) struct PayoutLine {
    pub(super) wallet: AddressLink,
    pub(super) amount: Amount,
    pub(super) transaction: TransactionLink,
    pub(super) tone: &'static str,
    pub(super) state: &'static str,
    /// The usual case, which is not worth a word.
    pub(super) is_paid: bool,
    pub(super) age: Ago,
}

impl PayoutLine {
    /// None without a transaction.
    pub(super) fn of(site: &Site, row: &ClaimRow, now: u64, language: Language) -> Option<Self> {
        let (tone, state) = state(row.state, language);
        Some(Self {
            wallet: site.address_link(row.wallet).pictured(),
            amount: Amount(row.amount.0),
            transaction: TransactionLink(row.payment.as_ref()?.hash),
            tone,
            state,
            is_paid: row.state == ClaimState::Confirmed,
            age: Ago { at: row.created_at / 1_000, now, language },
        })
    }
}

/// The claim that a visitor follows.
pub(super) struct ClaimCard {
    pub(super) wallet: AddressLink,
    pub(super) amount: Amount,
    pub(super) transaction: TransactionLink,
    pub(super) tone: &'static str,
    pub(super) state: &'static str,
    pub(super) block: Option<BlockLink>,
    pub(super) age: Ago,
}

impl ClaimCard {
    /// None without a transaction.
    pub(super) fn of(site: &Site, row: &ClaimRow, language: Language) -> Option<Self> {
        let line = PayoutLine::of(site, row, site.now(), language)?;
        Some(Self {
            wallet: line.wallet,
            amount: line.amount,
            transaction: line.transaction,
            tone: line.tone,
            state: line.state,
            block: row.block_number.map(BlockLink),
            age: line.age,
        })
    }
}

/// A state as the claimant sees it.
const fn state(state: ClaimState, language: Language) -> (&'static str, &'static str) {
    match state {
        ClaimState::Reserved | ClaimState::Signed | ClaimState::Sent => {
            ("warn", language.choose("on its way", "sedang dikirim"))
        }
        ClaimState::Confirmed => ("good", language.choose("✓ paid", "✓ dibayar")),
        ClaimState::Failed | ClaimState::Released => {
            ("bad", language.choose("✕ not paid", "✕ tidak dibayar"))
        }
    }
}
