//! The chain read through its JSON-RPC port and read inside the process: nobody can tell the difference.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use ::chain::{
    Agreement, At, CacheLimits, Cached, ChainClient, ChainError, FoundTransaction, contract,
    remote::{NodeUrl, RemoteClient, RemoteConfig},
};
use alloy_consensus::{SignableTransaction, TxEip1559, TxEip2930, TxEnvelope, TxLegacy};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, address};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolCall;
use chainnet_devchain::{
    client::EmbeddedClient,
    rpc::{self, Node, RpcConfig},
};
use contracts::{
    PlatformFees, PlatformValidatorRegistry,
    address::{CHECKOUT, FEES, REGISTRY},
    fees::FeeSource,
};
use domain::devnet;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::rig::{CHAIN_ID, Rig, transfer};

const PATIENCE: Duration = Duration::from_secs(20);
const FRIEND: Address = address!("00000000000000000000000000000000000f12e4");

/// The chain's JSON-RPC port.
struct Port {
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<std::io::Result<()>>,
}

impl Port {
    async fn open(rig: &Rig) -> Self {
        Self::open_at(rig, "127.0.0.1:0".parse().expect("an address")).await
    }

    async fn open_at(rig: &Rig, address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("the port");
        let address = listener.local_addr().expect("an address");
        let node = Arc::new(Node { chain: Arc::clone(&rig.chain), control: rig.control.clone() });
        let stop = CancellationToken::new();
        let server = tokio::spawn(rpc::serve(listener, node, RpcConfig::default(), stop.clone()));
        Self { address, stop, server }
    }

    async fn close(self) {
        self.stop.cancel();
        self.server.await.expect("a clean end").expect("its threads");
    }

    fn url(&self) -> NodeUrl {
        format!("http://{}", self.address).parse().expect("a URL")
    }
}

/// Follows the node by its feed alone.
fn config() -> RemoteConfig {
    RemoteConfig { poll_interval: Duration::from_secs(3600), ..RemoteConfig::default() }
}

async fn head_at(client: &impl ChainClient, number: u64) {
    let mut heads = client.heads();
    let reached = heads.wait_for(|head| head.as_ref().is_some_and(|head| head.number() == number));
    tokio::time::timeout(PATIENCE, reached).await.expect("the head in time").expect("an open channel");
}

fn signed<T: SignableTransaction<Signature>>(account: usize, tx: T) -> Vec<u8>
where
    TxEnvelope: From<alloy_consensus::Signed<T>>,
{
    let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[account].key).expect("a key");
    let signature = signer.sign_hash_sync(&tx.signature_hash()).expect("a signature");
    TxEnvelope::from(tx.into_signed(signature)).encoded_2718()
}

fn pay(source: B256) -> Bytes {
    PlatformFees::payCall { source, r#ref: B256::repeat_byte(9) }.abi_encode().into()
}

/// Transactions of every type, with logs, a revert, a halt and a creation; the last one stays in the pool.
async fn eventful_chain() -> (Rig, B256) {
    let rig = Rig::new();
    let value = U256::from(1_000);
    let (chain_id, gas_limit) = (CHAIN_ID, 500_000);
    let legacy = TxLegacy {
        chain_id: Some(CHAIN_ID),
        gas_limit,
        to: TxKind::Call(FEES),
        value,
        input: pay(FeeSource::Payments.id()),
        ..TxLegacy::default()
    };
    let listed = TxEip2930 { chain_id, gas_limit, to: TxKind::Call(FRIEND), value, ..TxEip2930::default() };
    let unknown_source = TxEip1559 {
        chain_id,
        gas_limit,
        to: TxKind::Call(FEES),
        value,
        input: pay(B256::ZERO),
        ..TxEip1559::default()
    };
    // Returns one byte of code, 0xfe, whose call halts.
    let creation = TxEip1559 {
        chain_id,
        gas_limit,
        to: TxKind::Create,
        input: Bytes::from_static(&[0x60, 0xfe, 0x5f, 0x53, 0x60, 0x01, 0x5f, 0xf3]),
        ..TxEip1559::default()
    };
    for raw in [signed(0, legacy), signed(1, listed), signed(2, unknown_source), signed(3, creation)] {
        rig.chain.submit(&raw).expect("a pooled transaction");
    }
    rig.mine().await;
    let created = devnet::ACCOUNTS[3].address.create(0);
    let halting = TxEip1559 { chain_id, gas_limit, to: TxKind::Call(created), ..TxEip1559::default() };
    rig.chain.submit(&signed(4, halting)).expect("a pooled transaction");
    rig.mine().await;
    rig.mine().await;
    let waiting = rig.chain.submit(&transfer(5, 0, FRIEND, 1)).expect("a pooled transaction");
    (rig, waiting)
}

/// An answer or a refusal, comparable.
fn said<T: std::fmt::Debug>(result: Result<T, ChainError>) -> String {
    format!("{result:?}")
}

#[tokio::test]
async fn both_ways_of_reading_give_the_same_answers() {
    let (rig, waiting) = eventful_chain().await;
    let port = Port::open(&rig).await;
    let inside = EmbeddedClient::new(Arc::clone(&rig.chain));
    let outside = RemoteClient::connect(&[port.url()], config()).await.expect("a client");

    assert_eq!(said(outside.chain_id().await), said(inside.chain_id().await));
    assert_eq!(*outside.heads().borrow(), *inside.heads().borrow());
    assert_eq!(said(outside.gas_price().await), said(inside.gas_price().await));
    let mut kinds = Vec::new();
    for number in 0..=4 {
        let block = inside.block(number).await.expect("an answer");
        assert_eq!(outside.block(number).await.expect("an answer"), block);
        let Some(block) = block else { continue };
        assert_eq!(outside.block_by_hash(block.hash).await.expect("an answer"), Some(Arc::clone(&block)));
        let receipts = inside.receipts(&block).await.expect("receipts");
        assert_eq!(outside.receipts(&block).await.expect("receipts"), receipts);
        kinds
            .extend(receipts.iter().map(|r| (r.tx_type, r.success, r.logs.len(), r.revert_reason.is_some())));
        for transaction in block.transactions.iter() {
            let hash = *transaction.tx_hash();
            assert_eq!(said(outside.transaction(hash).await), said(inside.transaction(hash).await));
        }
    }
    kinds.sort_unstable();
    let expected = [
        (0, true, 1, false),
        (1, true, 0, false),
        (2, false, 0, false),
        (2, false, 0, true),
        (2, true, 0, false),
    ];
    assert_eq!(kinds, expected);

    let Some(FoundTransaction::Pending(_)) = outside.transaction(waiting).await.expect("an answer") else {
        panic!("not pending")
    };
    assert_eq!(said(outside.transaction(waiting).await), said(inside.transaction(waiting).await));
    assert_eq!(said(outside.transaction(B256::ZERO).await), said(inside.transaction(B256::ZERO).await));
    assert_eq!(said(outside.block_by_hash(B256::ZERO).await), said(inside.block_by_hash(B256::ZERO).await));
}

#[tokio::test]
async fn accounts_and_calls_are_the_same_at_every_height() {
    let (rig, _) = eventful_chain().await;
    let port = Port::open(&rig).await;
    let inside = EmbeddedClient::new(Arc::clone(&rig.chain));
    let outside = RemoteClient::connect(&[port.url()], config()).await.expect("a client");
    let created = devnet::ACCOUNTS[3].address.create(0);
    let calls = [
        (FEES, Bytes::from(PlatformFees::getTotalsCall {}.abi_encode())),
        (CHECKOUT, Bytes::from_static(&[1; 4])),
        (FEES, pay(FeeSource::Payments.id())),
        (created, Bytes::new()),
        (FRIEND, Bytes::new()),
    ];
    for at in [At::Head, At::Number(0), At::Number(1), At::Number(2), At::Number(3), At::Number(4)] {
        for address in [FRIEND, FEES, created, devnet::ACCOUNTS[0].address, Address::ZERO] {
            assert_eq!(said(outside.account(address, at).await), said(inside.account(address, at).await));
        }
        for (to, input) in &calls {
            let (to, inside_says) = (*to, said(inside.call(*to, input.clone(), at).await));
            assert_eq!(said(outside.call(to, input.clone(), at).await), inside_says, "{to} {input} {at:?}");
        }
    }
    assert!(matches!(
        outside.call(CHECKOUT, Bytes::from_static(&[1; 4]), At::Head).await,
        Err(ChainError::Reverted { .. })
    ));
}

#[tokio::test]
async fn creation_code_returns_what_it_likes_and_creates_nothing() {
    let (rig, _) = eventful_chain().await;
    let port = Port::open(&rig).await;
    let inside = EmbeddedClient::new(Arc::clone(&rig.chain));
    let outside = RemoteClient::connect(&[port.url()], config()).await.expect("a client");
    let code = |text: &str| Bytes::from(alloy_primitives::hex::decode(text).expect("hex"));
    // Returns the byte 7, the number of its block, a revert with nothing.
    let codes = [code("600760005360016000f3"), code("4360005260206000f3"), code("60006000fd")];
    for at in [At::Head, At::Number(1), At::Number(9)] {
        for code in &codes {
            let inside_says = said(inside.call_creation(code.clone(), at).await);
            assert_eq!(said(outside.call_creation(code.clone(), at).await), inside_says, "{code} {at:?}");
        }
    }
    let [seven, _, revert] = codes;
    assert_eq!(outside.call_creation(seven, At::Head).await.expect("output")[..], [7]);
    let reverted = outside.call_creation(revert, At::Head).await;
    assert!(matches!(reverted, Err(ChainError::Reverted { .. })), "{reverted:?}");
    let ended = outside.call_creation(code("5b600056"), At::Head).await;
    assert!(matches!(ended, Err(ChainError::Refused { .. })), "it never ends by itself: {ended:?}");
    let created = Address::ZERO.create(0);
    assert!(outside.account(created, At::Head).await.expect("an account").code.is_empty());
}

#[tokio::test]
async fn contracts_answer_in_their_own_types() {
    let (rig, _) = eventful_chain().await;
    let port = Port::open(&rig).await;
    let outside = RemoteClient::connect(&[port.url()], config()).await.expect("a client");
    let totals =
        contract::call(&outside, FEES, &PlatformFees::getTotalsCall {}, At::Head).await.expect("totals");
    assert_eq!((totals.paid, totals.burned), (U256::from(1_000), U256::from(300)));

    let operators: Vec<_> = crate::rig::keys().iter().map(ibft::seal::ValidatorKey::address).collect();
    let calls: Vec<_> = operators[..5]
        .iter()
        .map(|&operator| (REGISTRY, PlatformValidatorRegistry::getValidatorCall { operator }))
        .collect();
    let validators = contract::call_many(&outside, &calls, At::Head).await.expect("validators");
    assert_eq!(validators.iter().map(|v| v.operator).collect::<Vec<_>>(), operators[..5]);

    let nobody = contract::call(&outside, FRIEND, &PlatformFees::getTotalsCall {}, At::Head).await;
    assert!(matches!(nobody, Err(contract::ContractError::Answer { contract: FRIEND, .. })), "{nobody:?}");
}

#[tokio::test]
async fn every_sealed_block_tells_how_it_was_agreed_on() {
    let (rig, _) = eventful_chain().await;
    let inside = EmbeddedClient::new(Arc::clone(&rig.chain));
    for number in 0..=3 {
        let block = inside.block(number).await.expect("an answer").expect("a block");
        let agreement = Agreement::of(&block.header).expect("IBFT");
        assert_eq!(agreement.validators.len(), 5);
        let committers = agreement.committers();
        assert_eq!(committers.len(), agreement.seal_count());
        assert!(committers.iter().all(|committer| agreement.validators.contains(committer)));
        assert_eq!(committers.len() >= 4, number > 0);
        assert_eq!(agreement.proposer.is_some(), number > 0);
    }
}

#[tokio::test]
async fn heads_arrive_by_websocket() {
    let rig = Rig::new();
    let port = Port::open(&rig).await;
    let outside = RemoteClient::connect(&[port.url()], config()).await.expect("a client");
    for _ in 0..5 {
        let number = rig.mine().await;
        head_at(&outside, number).await;
        assert_eq!(*outside.heads().borrow(), *rig.chain.heads().borrow());
    }
}

#[tokio::test]
async fn a_reverted_development_chain_is_followed_back() {
    let rig = Rig::new();
    let port = Port::open(&rig).await;
    let config = RemoteConfig {
        poll_interval: Duration::from_millis(20),
        follow_reverts: true,
        ..RemoteConfig::default()
    };
    let remote = RemoteClient::connect(&[port.url()], config).await.expect("a client");
    let outside = Cached::new(remote, &CacheLimits::default());
    let snapshot = rig.control.snapshot().await.expect("a snapshot");
    rig.mine().await;
    rig.mine().await;
    head_at(&outside, 2).await;
    let old = outside.block(1).await.expect("an answer").expect("a block");
    assert!(rig.control.revert(snapshot).await.expect("a revert"));
    head_at(&outside, 0).await;
    assert_eq!(outside.block(1).await.expect("an answer"), None);
    rig.transfer(0, 0, FRIEND, 1);
    rig.mine().await;
    head_at(&outside, 1).await;
    let new = outside.block(1).await.expect("an answer").expect("a block");
    assert_ne!(new.hash, old.hash);
}

#[tokio::test]
async fn a_node_that_goes_away_leaves_what_is_final_and_comes_back_by_itself() {
    let rig = Rig::new();
    rig.transfer(0, 0, FRIEND, 7);
    rig.mine().await;
    let port = Port::open(&rig).await;
    let (address, url) = (port.address, port.url());
    let config = RemoteConfig {
        poll_interval: Duration::from_millis(20),
        failures_before_pause: 1,
        ..RemoteConfig::default()
    };
    let remote = RemoteClient::connect(&[url], config).await.expect("a client");
    let outside = Cached::new(remote, &CacheLimits::default());
    let block = outside.block(1).await.expect("an answer").expect("a block");
    let receipts = outside.receipts(&block).await.expect("receipts");

    port.close().await;
    let gone = async {
        while outside.is_reachable() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("noticed in time");
    assert_eq!(outside.block(1).await.expect("an answer"), Some(Arc::clone(&block)));
    assert_eq!(outside.receipts(&block).await.expect("receipts"), receipts);
    let error = outside.account(FRIEND, At::Head).await.expect_err("nobody to ask");
    assert!(error.is_temporary(), "{error:?}");

    rig.mine().await;
    let _port = Port::open_at(&rig, address).await;
    head_at(&outside, 2).await;
    assert_eq!(outside.account(FRIEND, At::Head).await.expect("an account").balance, U256::from(7));
}
