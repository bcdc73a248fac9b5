//! A transaction that a wallet is asked to send.

use merchant::PaymentRequest;
use serde::Serialize;
use utoipa::ToSchema;

use crate::view::{AddressText, HexText, Long};

/// A transaction to sign and send.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransactionRequestView {
    /// The chain.
    #[schema(example = 8845)]
    chain_id: Long,
    /// The contract.
    to: AddressText,
    /// The amount to send, in wei and hexadecimal.
    #[schema(pattern = "^0x[0-9a-f]+$", example = "0x56bc75e2d63100000")]
    value: String,
    /// The call.
    data: HexText,
}

impl From<PaymentRequest> for TransactionRequestView {
    fn from(request: PaymentRequest) -> Self {
        let PaymentRequest { chain_id, to, value, data } = request;
        Self {
            chain_id: Long(chain_id),
            to: AddressText(to),
            value: format!("{:#x}", value.0),
            data: HexText(data),
        }
    }
}
