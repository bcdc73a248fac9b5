//! A chain in a temporary directory that seals when asked.

use std::sync::Arc;

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chainnet_devchain::{
    chain::Chain,
    clock::ChainClock,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    pool::PoolLimits,
    produce::{Control, Pacing, Production},
};
use domain::devnet;
use ibft::seal::{Secp256k1Key, ValidatorKey};
use tempfile::TempDir;

pub(crate) const CHAIN_ID: u64 = 8845;

/// Keys 1 to 7: five validators and two that stand by.
pub(crate) fn keys() -> Vec<Secp256k1Key> {
    (1u64..=7).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).expect("a small key")).collect()
}

pub(crate) fn genesis() -> Genesis {
    let validators = keys().into_iter().take(5).map(|key| GenesisValidator {
        operator: key.address(),
        consensus: key.address(),
        moniker: "Validator".to_owned(),
        website: String::new(),
        commission_bps: 0,
    });
    let owners = devnet::ACCOUNTS.iter().take(5).map(|account| account.address);
    let spec = GenesisSpec {
        chain_id: CHAIN_ID,
        timestamp: 1_767_225_600,
        validators: validators.collect(),
        treasury_owners: owners.collect(),
        admin: devnet::ACCOUNTS[0].address,
        slasher: devnet::ACCOUNTS[1].address,
        funded: devnet::ACCOUNTS.iter().map(|a| (a.address, U256::from(10).pow(U256::from(24)))).collect(),
        ..GenesisSpec::default()
    };
    spec.build().expect("a genesis")
}

pub(crate) struct Rig {
    pub(crate) chain: Arc<Chain>,
    pub(crate) control: Control,
    production: Option<Production>,
    pub(crate) dir: Arc<TempDir>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::open(Arc::new(tempfile::tempdir().expect("a directory")))
    }

    /// A chain whose pool has other limits.
    pub(crate) fn with_limits(limits: PoolLimits) -> Self {
        Self::open_with(Arc::new(tempfile::tempdir().expect("a directory")), limits)
    }

    pub(crate) fn open(dir: Arc<TempDir>) -> Self {
        Self::open_with(dir, PoolLimits::default())
    }

    fn open_with(dir: Arc<TempDir>, limits: PoolLimits) -> Self {
        let chain = Chain::open_with(&dir.path().join("chain"), &genesis(), limits, ChainClock::default())
            .expect("a chain");
        let production = Production::start(chain.clone(), keys(), Pacing::OnDemand).expect("production");
        Self { chain, control: production.control().clone(), production: Some(production), dir }
    }

    /// Closes everything and opens the directory again.
    pub(crate) fn reopen(mut self) -> Self {
        self.production.take().expect("running").stop().expect("a clean stop");
        let Self { chain, dir, .. } = self;
        drop(Arc::try_unwrap(chain).ok().expect("nobody else holds the chain"));
        Self::open(dir)
    }

    pub(crate) async fn mine(&self) -> u64 {
        self.control.mine(None).await.expect("a block")
    }

    /// Sends a transfer from a development account.
    pub(crate) fn transfer(&self, account: usize, nonce: u64, to: Address, value: u64) -> B256 {
        self.chain.submit(&transfer(account, nonce, to, value)).expect("a pooled transfer")
    }

    pub(crate) fn balance(&self, address: Address) -> U256 {
        self.chain.head().state.account(address).expect("state").map_or(U256::ZERO, |account| account.balance)
    }
}

/// A signed transfer of a development account.
pub(crate) fn transfer(account: usize, nonce: u64, to: Address, value: u64) -> Vec<u8> {
    transfer_of(devnet::ACCOUNTS[account].key, nonce, to, value)
}

/// A transfer signed with this key.
pub(crate) fn transfer_of(key: B256, nonce: u64, to: Address, value: u64) -> Vec<u8> {
    let to = TxKind::Call(to);
    signed(key, TxEip1559 { nonce, gas_limit: 21_000, to, value: U256::from(value), ..TxEip1559::default() })
}

/// A contract's creation with this code, signed with this key.
pub(crate) fn creation_of(key: B256, nonce: u64, input: Bytes, gas_limit: u64) -> Vec<u8> {
    signed(key, TxEip1559 { nonce, gas_limit, to: TxKind::Create, input, ..TxEip1559::default() })
}

fn signed(key: B256, tx: TxEip1559) -> Vec<u8> {
    let signer = PrivateKeySigner::from_bytes(&key).expect("a key");
    let tx = TxEip1559 { chain_id: CHAIN_ID, ..tx };
    let signature = signer.sign_hash_sync(&tx.signature_hash()).expect("a signature");
    TxEnvelope::from(tx.into_signed(signature)).encoded_2718()
}
