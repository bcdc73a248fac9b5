//! Sending transactions.

use jsonrpc::{Answer, Params};

use crate::{gateway::Gateway, head::Served, method::Known, refusal::Refusal};

impl Gateway {
    /// Passes a signed transaction on. It goes to two nodes, so nothing of it is kept and nobody shares it.
    pub(crate) async fn send(
        &self,
        known: Known,
        params: Params<'_>,
        head: &Served,
    ) -> Result<Answer, Refusal> {
        let elements = params.elements().ok_or(Refusal::InvalidParams { reason: "named_params" })?;
        let is_one_text = elements.count() == 1 && elements.get(0).is_some_and(|json| json.starts_with('"'));
        if !is_one_text {
            return Err(Refusal::InvalidParams { reason: "bad_transaction" });
        }
        self.pass_on(known, params.text().into(), head.number).await
    }
}
