//! Sending transactions: what no node should have to deal with is refused here.

use alloy_consensus::{Transaction as _, TxEnvelope};
use alloy_eips::Decodable2718;
use alloy_primitives::Bytes;
use jsonrpc::{Answer, Params};

use crate::{gateway::Gateway, head::Served, method::Known, refusal::Refusal};

const BAD_TRANSACTION: Refusal = Refusal::InvalidParams { reason: "bad_transaction" };

impl Gateway {
    /// Passes a signed transaction on. It goes to two nodes, so nothing of it is kept and nobody shares it.
    pub(crate) async fn send(
        &self,
        known: Known,
        params: Params<'_>,
        head: &Served,
    ) -> Result<Answer, Refusal> {
        let elements = params.elements().ok_or(Refusal::InvalidParams { reason: "named_params" })?;
        let raw = elements.get(0).filter(|_| elements.count() == 1).ok_or(BAD_TRANSACTION)?;
        self.check_transaction(raw)?;
        self.pass_on(known, params.text().into(), head.number).await
    }

    /// Whether a transaction, as JSON, asks for no more gas than one may, and pays enough for it. Nodes look at it again, and at
    /// everything else.
    fn check_transaction(&self, json: &str) -> Result<(), Refusal> {
        let raw: Bytes = serde_json::from_str(json).map_err(|_| BAD_TRANSACTION)?;
        let transaction = TxEnvelope::decode_2718_exact(&raw).map_err(|_| BAD_TRANSACTION)?;
        let cap = self.config.max_transaction_gas;
        if transaction.gas_limit() > cap {
            return Err(Refusal::GasAboveCap { cap });
        }
        let minimum = self.config.min_gas_price;
        if minimum > 0 {
            let price = transaction.effective_gas_price(Some(self.base_fee()));
            if price < u128::from(minimum) {
                return Err(Refusal::PriceTooLow { minimum });
            }
        }
        Ok(())
    }

    /// The base fee of the newest block.
    pub(crate) fn base_fee(&self) -> u64 {
        let heads = self.upstream.heads();
        let head = heads.borrow();
        head.as_ref().and_then(|head| head.header.base_fee_per_gas).unwrap_or(0)
    }
}
