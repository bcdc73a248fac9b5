//! A chain that seals when asked, and a history with something of everything.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use ::devchain::{
    chain::Chain,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    produce::{Control, Pacing, Production},
};
use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256, bytes};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolCall;
use chain::ChainClient;
use contracts::{
    PlatformCheckout, PlatformFees, PlatformValidatorRegistry as Registry,
    address::{CHECKOUT, FEES, REGISTRY},
    fees::FeeSource,
    quote::QuoteTerms,
};
use domain::{Wei, devnet};
use ibft::{
    seal::{Secp256k1Key, ValidatorKey},
    votes::{Vote, VoteKind},
};
use tempfile::TempDir;
use testkit::TestNode;

pub(crate) const CHAIN_ID: u64 = 8845;
pub(crate) const BEGIN: u64 = 1_767_225_600;

/// Keys 1 to 6: five validators and one that stands by.
pub(crate) fn keys() -> Vec<Secp256k1Key> {
    (1u64..=6).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).expect("a small key")).collect()
}

/// The address of the validator that is named `V<number>`.
pub(crate) fn validator(number: usize) -> Address {
    keys()[number - 1].address()
}

pub(crate) fn user(index: usize) -> Address {
    devnet::ACCOUNTS[index].address
}

fn genesis(timestamp: u64) -> Genesis {
    let validators = keys().into_iter().take(5).map(|key| GenesisValidator {
        operator: key.address(),
        consensus: key.address(),
        moniker: "Validator".to_owned(),
        website: String::new(),
        commission_bps: 0,
    });
    let spec = GenesisSpec {
        chain_id: CHAIN_ID,
        timestamp,
        validators: validators.collect(),
        treasury_owners: (0..5).map(user).collect(),
        admin: user(0),
        slasher: user(1),
        funded: (0..10).map(|index| (user(index), Wei::from_coin(1_000_000).0)).collect(),
        ..GenesisSpec::default()
    };
    spec.build().expect("a genesis")
}

pub(crate) struct Rig {
    pub(crate) chain: Arc<Chain>,
    pub(crate) control: Control,
    node: TestNode,
    nonces: [AtomicU64; 10],
    _production: Production,
    _dir: TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::beginning(BEGIN)
    }

    /// A chain whose genesis has this timestamp, and so a hash of its own.
    pub(crate) fn beginning(timestamp: u64) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let chain = Chain::open(&dir.path().join("chain"), &genesis(timestamp)).expect("a chain");
        let production = Production::start(chain.clone(), keys(), Pacing::OnDemand).expect("production");
        let control = production.control().clone();
        let node = TestNode::new(&chain, &control);
        Self { chain, control, node, nonces: Default::default(), _production: production, _dir: dir }
    }

    pub(crate) fn client(&self) -> Arc<dyn ChainClient> {
        self.node.client()
    }

    /// An address of somebody the chain does not know yet.
    pub(crate) fn stranger(number: usize) -> Address {
        Address::left_padding_from(&(0xf000_0000 + number as u64).to_be_bytes())
    }

    pub(crate) fn head(&self) -> u64 {
        self.chain.head().block.number()
    }

    pub(crate) async fn mine(&self, blocks: usize) {
        for _ in 0..blocks {
            self.control.mine(None).await.expect("a block");
        }
        self.node.catch_up().await;
    }

    /// Sends a transaction of a development account.
    pub(crate) fn send(&self, from: usize, to: TxKind, value: U256, input: Bytes) -> B256 {
        let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[from].key).expect("a key");
        let tx = TxEip1559 {
            chain_id: CHAIN_ID,
            nonce: self.nonces[from].fetch_add(1, Ordering::Relaxed),
            gas_limit: 1_000_000,
            // Gas is free here; this one pays all the same, so that there are fees to be seen.
            max_fee_per_gas: 7,
            max_priority_fee_per_gas: 3,
            to,
            value,
            input,
            ..TxEip1559::default()
        };
        let signature = signer.sign_hash_sync(&tx.signature_hash()).expect("a signature");
        let raw = TxEnvelope::from(tx.into_signed(signature)).encoded_2718();
        self.chain.submit(&raw).expect("a pooled transaction")
    }

    pub(crate) fn call(&self, from: usize, to: Address, value: U256, call: &impl SolCall) -> B256 {
        self.send(from, TxKind::Call(to), value, call.abi_encode().into())
    }

    pub(crate) fn transfer(&self, from: usize, to: Address, value: u64) -> B256 {
        self.send(from, TxKind::Call(to), U256::from(value), Bytes::new())
    }

    pub(crate) fn pay_fee(&self, from: usize, source: FeeSource, amount: u64) -> B256 {
        let call = PlatformFees::payCall { source: source.id(), r#ref: B256::repeat_byte(0x77) };
        self.call(from, FEES, U256::from(amount), &call)
    }

    /// Some thirty blocks in which everything happens that the index knows of.
    pub(crate) async fn live_through_everything(&self) {
        self.pay_and_deploy().await;
        self.run_the_registry().await;
        self.miss_turns().await;
        self.vote().await;
    }

    async fn pay_and_deploy(&self) {
        self.transfer(0, user(5), 1);
        self.transfer(5, user(5), 2);
        self.transfer(2, Address::repeat_byte(0x99), 3);
        self.mine(1).await;
        // Deploys a contract without code; the next one reverts in its constructor.
        self.send(3, TxKind::Create, U256::ZERO, bytes!("600080f3"));
        self.send(3, TxKind::Create, U256::ZERO, bytes!("600080fd"));
        self.mine(2).await;
        for (index, source) in FeeSource::ALL.into_iter().enumerate() {
            self.pay_fee(index, source, 1_000 + index as u64);
        }
        self.pay_fee(4, FeeSource::Payments, 7);
        // Nothing paid: reverts.
        self.pay_fee(4, FeeSource::Payments, 0);
        self.mine(1).await;
        let deadline = self.chain.head().block.header.timestamp + 3_600;
        let (merchant, amount, salt) = (user(8), U256::from(55), B256::repeat_byte(1));
        let terms = QuoteTerms { chain_id: CHAIN_ID, checkout: CHECKOUT, merchant, amount, deadline, salt };
        let deadline = U256::from(deadline);
        let pay = PlatformCheckout::payCall { quoteId: terms.id(), merchant, amount, deadline, salt };
        self.call(7, CHECKOUT, amount, &pay);
        self.mine(1).await;
    }

    async fn run_the_registry(&self) {
        self.call(0, REGISTRY, U256::ZERO, &Registry::expandToPhaseCall { phase: 2 });
        self.mine(1).await;
        let stake = Wei::from_coin(100_000).0;
        let register = Registry::registerValidatorCall {
            moniker: "Sixth".to_owned(),
            website: "https://sixth.example".to_owned(),
            stake,
            commissionBps: 500,
        };
        self.call(6, REGISTRY, stake, &register);
        self.call(
            1,
            REGISTRY,
            U256::ZERO,
            &Registry::slashValidatorCall { operator: validator(2), reason: 1 },
        );
        let reward = U256::from(12_345);
        self.call(
            0,
            REGISTRY,
            reward,
            &Registry::distributeRewardsCall { operator: validator(1), amount: reward },
        );
        // Not the slasher: reverts.
        self.call(
            9,
            REGISTRY,
            U256::ZERO,
            &Registry::slashValidatorCall { operator: validator(1), reason: 1 },
        );
        self.mine(1).await;
    }

    async fn miss_turns(&self) {
        self.control.stop_validator("V3").await.expect("a stop");
        self.mine(11).await;
        self.control.start_validator("V3").await.expect("a start");
        self.transfer(0, user(1), 9);
        self.mine(3).await;
    }

    async fn vote(&self) {
        let vote = Vote { recipient: validator(6), kind: VoteKind::Add };
        for name in ["V1", "V2", "V3"] {
            self.control.propose_vote(name, vote).await.expect("a vote");
        }
        self.mine(9).await;
    }
}
