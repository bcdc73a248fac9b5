//! A wallet with a well-known key, for the demonstration.

use std::{sync::Arc, time::Duration};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use anyhow::Context;
use chain::{At, ChainClient, FoundTransaction};
use domain::devnet::DevAccount;
use merchant::PaymentRequest;

/// More than anything here needs.
const GAS: u64 = 300_000;
const GWEI: u128 = 1_000_000_000;
/// Blocks come every two seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// A wallet that signs and sends, one transaction after the other.
pub(super) struct Wallet {
    chain: Arc<dyn ChainClient>,
    chain_id: u64,
    signer: PrivateKeySigner,
    nonce: u64,
}

impl Wallet {
    /// The wallet of an account.
    pub(super) async fn open(
        chain: Arc<dyn ChainClient>,
        chain_id: u64,
        account: DevAccount,
    ) -> anyhow::Result<Self> {
        let signer = PrivateKeySigner::from_bytes(&account.key)?;
        let nonce = chain.account(account.address, At::Head).await?.nonce;
        Ok(Self { chain, chain_id, signer, nonce })
    }

    pub(super) fn address(&self) -> Address {
        self.signer.address()
    }

    /// Whether it has sent anything.
    pub(super) fn is_used(&self) -> bool {
        self.nonce > 0
    }

    /// Sends what a page would ask a wallet to send.
    pub(super) async fn pay(&mut self, request: &PaymentRequest) -> anyhow::Result<B256> {
        self.send(Some(request.to), request.value.0, request.data.clone()).await
    }

    /// Sends a transaction; without a recipient it creates a contract.
    pub(super) async fn send(
        &mut self,
        to: Option<Address>,
        value: U256,
        input: Bytes,
    ) -> anyhow::Result<B256> {
        let transaction = TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit: GAS,
            max_fee_per_gas: GWEI,
            max_priority_fee_per_gas: GWEI,
            to: to.map_or(TxKind::Create, TxKind::Call),
            value,
            input,
            access_list: alloy_eips::eip2930::AccessList::default(),
        };
        let signature = self.signer.sign_hash_sync(&transaction.signature_hash())?;
        let envelope = TxEnvelope::from(transaction.into_signed(signature));
        let hash = *envelope.tx_hash();
        self.chain.send_transaction(envelope.encoded_2718().into()).await?;
        self.nonce += 1;
        Ok(hash)
    }

    /// Waits until a transaction is in a block.
    pub(super) async fn wait_for(&self, hash: B256) -> anyhow::Result<()> {
        let mut heads = self.chain.heads();
        let mined = async {
            loop {
                if let Some(FoundTransaction::Mined { .. }) = self.chain.transaction(hash).await? {
                    return Ok(());
                }
                heads.changed().await?;
            }
        };
        tokio::time::timeout(PATIENCE, mined).await.context("a transaction was not mined in time")?
    }
}
