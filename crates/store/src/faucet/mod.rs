//! Claims of the faucet: reserving them within limits, the transactions that pay them, and who may sign.
//!
//! What the limits are, and when a transaction counts as lost, is decided above. Here every step of a claim is a
//! compare-and-set on the state or the transaction that it starts from.

mod lease;
mod pay;
mod read;
mod reserve;
#[cfg(test)]
mod tests;

use alloy_primitives::{Address, B256, Bytes};
use domain::{ClaimState, Wei};
use sqlx::FromRow;

use crate::{
    StoreError,
    convert::{parse_address, parse_hash, parse_wei, to_unsigned},
};

pub use lease::SenderLease;
pub use pay::{Settlement, SignedClaim};
pub use read::FaucetLoad;
pub use reserve::{ClaimTerms, NewClaim, Reservation};

/// A claim. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRow {
    /// Its place in the order of reservations.
    pub id: u64,
    /// Who is paid.
    pub wallet: Address,
    /// How much.
    pub amount: Wei,
    /// Where it stands.
    pub state: ClaimState,
    /// The transaction that pays it, once there is one.
    pub payment: Option<PaymentRow>,
    /// The block that the transaction is in.
    pub block_number: Option<u64>,
    /// Why it was released or failed.
    pub note: Option<String>,
    /// When it was reserved.
    pub created_at: u64,
    /// When its state last changed.
    pub updated_at: u64,
}

/// A signed transaction that pays a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentRow {
    /// Who signed it.
    pub payer: Address,
    /// With which nonce.
    pub nonce: u64,
    /// The head at that moment: the transaction can only be in a later block.
    pub signed_block: u64,
    /// Its bytes.
    pub raw: Bytes,
    /// Their hash.
    pub hash: B256,
}

const COLUMNS: &str = "id, wallet, amount_wei, state, payer, nonce, signed_block, raw, tx_hash, block_number, note, \
                       created_at, updated_at";

#[derive(FromRow)]
struct RawClaim {
    id: i64,
    wallet: Vec<u8>,
    amount_wei: String,
    state: String,
    payer: Option<Vec<u8>>,
    nonce: Option<i64>,
    signed_block: Option<i64>,
    raw: Option<Vec<u8>>,
    tx_hash: Option<Vec<u8>>,
    block_number: Option<i64>,
    note: Option<String>,
    created_at: i64,
    updated_at: i64,
}

impl TryFrom<RawClaim> for ClaimRow {
    type Error = StoreError;

    fn try_from(raw: RawClaim) -> Result<Self, StoreError> {
        let payment = match (raw.payer, raw.nonce, raw.signed_block, raw.raw, raw.tx_hash) {
            (Some(payer), Some(nonce), Some(signed_block), Some(bytes), Some(hash)) => Some(PaymentRow {
                payer: parse_address("payer", &payer)?,
                nonce: to_unsigned("nonce of a claim", nonce)?,
                signed_block: to_unsigned("block of a claim", signed_block)?,
                raw: bytes.into(),
                hash: parse_hash("hash of a claim", &hash)?,
            }),
            _ => None,
        };
        Ok(Self {
            id: to_unsigned("id of a claim", raw.id)?,
            wallet: parse_address("wallet of a claim", &raw.wallet)?,
            amount: parse_wei("amount of a claim", &raw.amount_wei)?,
            state: raw.state.parse().map_err(|error| StoreError::corrupt("claim state", error))?,
            payment,
            block_number: raw
                .block_number
                .map(|number| to_unsigned("block of a claim", number))
                .transpose()?,
            note: raw.note,
            created_at: to_unsigned("time of a claim", raw.created_at)?,
            updated_at: to_unsigned("time of a claim", raw.updated_at)?,
        })
    }
}
