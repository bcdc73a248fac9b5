//! Sending a change, and waiting for its block.

use std::time::Duration;

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, TxKind};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use anyhow::{Context, bail};
use chain::{ChainClient, FoundTransaction, SendError};
use tokio::time::{Instant, sleep};

use super::{plan::Plan, refusal};

/// How long a block is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Gas beyond the estimate, in percent: the state may change until the block.
const SPARE_GAS: u64 = 30;
/// Least price per gas that may be paid at most; what is not needed is not paid.
const PRICE_FLOOR: u128 = 1_000_000_000;

/// A change that is in a block.
pub(super) struct Mined {
    pub(super) hash: B256,
    pub(super) block: u64,
    pub(super) gas_used: u64,
}

/// Signs the call, hands it over and waits for its block.
pub(super) async fn send(
    client: &dyn ChainClient,
    key: &PrivateKeySigner,
    (to, plan): (Address, &Plan),
    gas: u64,
) -> anyhow::Result<Mined> {
    let price = client.gas_price().await?.saturating_to::<u128>();
    let base_fee =
        client.heads().borrow().as_ref().and_then(|head| head.header.base_fee_per_gas).unwrap_or(0);
    let tx = TxEip1559 {
        chain_id: client.chain_id().await?,
        nonce: client.pending_nonce(key.address()).await?,
        gas_limit: gas.saturating_add(gas.saturating_mul(SPARE_GAS) / 100),
        max_fee_per_gas: price.saturating_mul(2).max(PRICE_FLOOR),
        max_priority_fee_per_gas: price.saturating_sub(base_fee.into()),
        to: TxKind::Call(to),
        value: plan.value,
        input: plan.input.clone(),
        ..TxEip1559::default()
    };
    let signature =
        key.sign_hash_sync(&tx.signature_hash()).context("the transaction could not be signed")?;
    let envelope = TxEnvelope::from(tx.into_signed(signature));
    let hash = *envelope.tx_hash();
    match client.send_transaction(envelope.encoded_2718().into()).await {
        Ok(_) => wait(client, hash).await,
        Err(SendError::Rejected { message, .. }) => bail!("the node refuses the transaction: {message}"),
        // It may be on its way all the same.
        Err(SendError::Unknown(_)) => wait(client, hash).await,
    }
}

async fn wait(client: &dyn ChainClient, hash: B256) -> anyhow::Result<Mined> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(FoundTransaction::Mined { block, index }) = client.transaction(hash).await? {
            let receipts = client.receipts(&block).await?;
            let receipt = receipts.get(index).context("the block has no receipt of the transaction")?;
            if !receipt.success {
                let reason = refusal::in_words(receipt.revert_reason.as_ref());
                bail!("the registry refused transaction {hash} in block {}: {reason}", block.number());
            }
            return Ok(Mined { hash, block: block.number(), gas_used: receipt.gas_used });
        }
        sleep(LOOK).await;
    }
    bail!(
        "transaction {hash} was sent, but is in no block after {} s; look for it before you try again",
        PATIENCE.as_secs()
    )
}
