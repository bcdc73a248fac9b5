//! Sending a transaction once, and waiting for its block.
//!
//! From the moment a node has seen it, nothing that fails makes it undone: whatever happens then, its hash is told, and
//! that it has to be looked for before anything is sent again.

use std::{collections::BTreeSet, time::Duration};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use anyhow::{Context, bail};
use chain::{At, ChainClient, ChainError, FoundTransaction, NonceProgress, SendError};
use tokio::time::{Instant, sleep, timeout_at};

use crate::output::say_note;

/// How long a block is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long nodes that do not answer any more are waited for.
const LOST: Duration = Duration::from_secs(10);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Gas beyond the estimate, in percent: the state may change until the block.
const SPARE_GAS: u64 = 30;
/// Least price per gas that may be paid at most; what is not needed is not paid.
const PRICE_FLOOR: u128 = 1_000_000_000;

/// A transaction that is in a block.
pub(crate) struct Mined {
    pub(crate) hash: B256,
    pub(crate) block: u64,
    pub(crate) gas_used: u64,
    /// What a contract returned when it reverted, where nodes tell; none when it did not revert.
    pub(crate) reverted: Option<Option<Bytes>>,
}

/// What is sent.
pub(crate) struct Draft {
    pub(crate) to: Address,
    pub(crate) value: U256,
    pub(crate) input: Bytes,
    /// What it is estimated to use.
    pub(crate) gas: u64,
}

/// The nonce of an account's next transaction. What waits of it is waited for, so that nothing is decided on a state that is
/// about to change; a nonce that is missing below what waits is taken, because nothing above it can be mined without.
pub(crate) async fn next_nonce(client: &dyn ChainClient, account: Address) -> anyhow::Result<u64> {
    let (mut heads, mut progress) = (client.heads(), NonceProgress::default());
    let deadline = Instant::now() + PATIENCE;
    let mut has_said = false;
    loop {
        let head = heads.borrow_and_update().as_ref().map_or(0, |head| head.number());
        let mined = client.account(account, At::Number(head)).await?.nonce;
        let state = progress.observe(head, mined, client.pending_nonce(account).await?);
        if state.pending <= mined {
            return Ok(mined);
        }
        let last = state.pending.saturating_sub(1);
        if let Some(missing) = state.missing(&BTreeSet::new()) {
            say_note(format!(
                "{account} has a transaction with nonce {last} that waits, but none with nonce {missing}: this one takes \
                 that nonce, and what waits above it can be mined then"
            ));
            return Ok(missing);
        }
        if !has_said {
            say_note(format!(
                "{account} has transactions that wait for a block, up to nonce {last}; waiting for them"
            ));
            has_said = true;
        }
        let next = timeout_at(deadline, heads.changed()).await;
        next.ok().and_then(Result::ok).with_context(|| {
            format!(
                "{account} has transactions that wait for a block, up to nonce {last}, and no block comes"
            )
        })?;
    }
}

/// A signed transaction.
pub(crate) struct Signed {
    pub(crate) raw: Bytes,
    pub(crate) hash: B256,
}

/// Signs a transaction, hands it over and waits for its block.
pub(crate) async fn send(
    client: &dyn ChainClient,
    key: &PrivateKeySigner,
    nonce: u64,
    draft: Draft,
) -> anyhow::Result<Mined> {
    let signed = sign(client, key, nonce, draft).await?;
    deliver(client, signed).await
}

/// Signs a transaction.
pub(crate) async fn sign(
    client: &dyn ChainClient,
    key: &PrivateKeySigner,
    nonce: u64,
    draft: Draft,
) -> anyhow::Result<Signed> {
    let price = client.gas_price().await?.saturating_to::<u128>();
    let base_fee =
        client.heads().borrow().as_ref().and_then(|head| head.header.base_fee_per_gas).unwrap_or(0);
    let tx = TxEip1559 {
        chain_id: client.chain_id().await?,
        nonce,
        gas_limit: draft.gas.saturating_add(draft.gas.saturating_mul(SPARE_GAS) / 100),
        max_fee_per_gas: price.saturating_mul(2).max(PRICE_FLOOR),
        max_priority_fee_per_gas: price.saturating_sub(base_fee.into()),
        to: TxKind::Call(draft.to),
        value: draft.value,
        input: draft.input,
        ..TxEip1559::default()
    };
    let signature =
        key.sign_hash_sync(&tx.signature_hash()).context("the transaction could not be signed")?;
    let envelope = TxEnvelope::from(tx.into_signed(signature));
    Ok(Signed { raw: envelope.encoded_2718().into(), hash: *envelope.tx_hash() })
}

/// Hands a signed transaction over and waits for its block.
pub(crate) async fn deliver(client: &dyn ChainClient, Signed { raw, hash }: Signed) -> anyhow::Result<Mined> {
    // Said before anything can go wrong, so that whoever breaks off here knows what to look for.
    say_note(format!("sending transaction {hash}"));
    match client.send_transaction(raw).await {
        Ok(_) => wait(client, hash).await,
        // One that was sent before may be in a block by now.
        Err(SendError::Rejected { message, .. }) => match find(client, hash).await {
            Ok(Some(mined)) => Ok(mined),
            Ok(None) | Err(_) => bail!("the node refuses the transaction: {message}"),
        },
        // It may be on its way all the same.
        Err(SendError::Unknown(_)) => wait(client, hash).await,
    }
}

async fn wait(client: &dyn ChainClient, hash: B256) -> anyhow::Result<Mined> {
    let deadline = Instant::now() + PATIENCE;
    let mut answered = Instant::now();
    while Instant::now() < deadline {
        match find(client, hash).await {
            Ok(Some(mined)) => return Ok(mined),
            Ok(None) => answered = Instant::now(),
            // A node that is restarted answers again.
            Err(_) if answered.elapsed() < LOST => {}
            Err(error) => {
                let told = format!(
                    "transaction {hash} was given to a node, and no node answers any more: whether it is in a block is \
                     not known"
                );
                return Err(anyhow::Error::from(error).context(format!("{told}; {}", advice(hash))));
            }
        }
        sleep(LOOK).await;
    }
    bail!("transaction {hash} was sent, but is in no block after {} s; {}", PATIENCE.as_secs(), advice(hash))
}

/// What to do when the end of a transaction is not known.
fn advice(hash: B256) -> String {
    format!(
        "do not repeat the command, which would send another one: look for this hash first (eth_getTransactionReceipt, or \
         /tx/{hash} on the explorer), and at `chainnet registry status` for what it was to change"
    )
}

/// The transaction with a hash, if it is in a block.
pub(crate) async fn find(client: &dyn ChainClient, hash: B256) -> Result<Option<Mined>, ChainError> {
    let Some(FoundTransaction::Mined { block, index }) = client.transaction(hash).await? else {
        return Ok(None);
    };
    let receipts = client.receipts(&block).await?;
    // A block without the receipt of one of its transactions is not what was asked for.
    let Some(receipt) = receipts.get(index) else { return Ok(None) };
    let reverted = (!receipt.success).then(|| receipt.revert_reason.clone());
    Ok(Some(Mined { hash, block: block.number(), gas_used: receipt.gas_used, reverted }))
}
