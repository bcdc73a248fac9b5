//! The chain in miniature that the tests of execution share.

mod block;
mod build;
mod fork;
mod interrupt;
mod lifetime;
mod simulate;
mod trace;

use std::{borrow::Borrow, collections::BTreeMap, sync::Arc};

use alloy_consensus::{Header, Signed, TxEip1559, TxEnvelope, TxLegacy};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, hex, keccak256, map::HashMap};
use alloy_trie::EMPTY_ROOT_HASH;
use parking_lot::Mutex;

use super::{BlockHashes, BlockOutcome, CallContext, ChainSpec, ExecError, Interrupt, execute_block};
use crate::{
    block::Transaction,
    state::{Account, AccountDiff, AccountFields, NodeSource, StateDiff, StateError, StateView},
};

pub(super) const ALICE: Address = Address::repeat_byte(0xa1);
pub(super) const BOB: Address = Address::repeat_byte(0xb0);
pub(super) const PROPOSER: Address = Address::repeat_byte(0xcb);
pub(super) const CONTRACT: Address = Address::repeat_byte(0xc0);
pub(super) const ETHER: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);
pub(super) const GAS_LIMIT: u64 = 30_000_000;

#[derive(Default)]
struct Memory {
    nodes: Mutex<HashMap<B256, Bytes>>,
    code: Mutex<HashMap<B256, Bytes>>,
}

impl NodeSource for Memory {
    fn node(&self, hash: B256) -> Result<Bytes, StateError> {
        self.nodes.lock().get(&hash).cloned().ok_or(StateError::MissingNode(hash))
    }

    fn code(&self, hash: B256) -> Result<Bytes, StateError> {
        self.code.lock().get(&hash).cloned().ok_or(StateError::MissingCode(hash))
    }
}

impl BlockHashes for Memory {
    fn block_hash(&self, number: u64) -> Option<B256> {
        Some(keccak256(number.to_be_bytes()))
    }
}

/// A chain whose blocks are executed one by one.
pub(super) struct World {
    pub(super) spec: ChainSpec,
    pub(super) state: StateView,
    pub(super) header: Header,
    source: Arc<Memory>,
}

impl World {
    pub(super) fn london() -> Self {
        let source = Arc::new(Memory::default());
        let spec = ChainSpec {
            chain_id: 1337,
            london_block: 0,
            shanghai_time: None,
            cancun_time: None,
            zero_base_fee: true,
            ibft: ibft::IbftConfig::default(),
            contract_size_limit: 24_576,
            block_reward: U256::ZERO,
            mining_beneficiary: None,
        };
        let header = Header {
            number: 1,
            timestamp: 100,
            gas_limit: GAS_LIMIT,
            base_fee_per_gas: Some(0),
            beneficiary: PROPOSER,
            ..Header::default()
        };
        let world = Self { spec, state: StateView::new(EMPTY_ROOT_HASH, source.clone()), header, source };
        world.funded(ALICE, ETHER).funded(BOB, ETHER)
    }

    pub(super) fn shanghai() -> Self {
        let mut world = Self::london();
        world.spec.shanghai_time = Some(0);
        world
    }

    pub(super) fn funded(mut self, address: Address, balance: U256) -> Self {
        let account = AccountFields { nonce: 0, balance, code_hash: keccak256([]) };
        let diff = AccountDiff { account: Some(account), ..AccountDiff::default() };
        self.apply(&StateDiff { accounts: BTreeMap::from([(address, diff)]), code: BTreeMap::new() });
        self
    }

    /// Puts code, given in hex, at an address.
    pub(super) fn with_code(self, address: Address, code: &str) -> Self {
        self.with_contract(address, code, &[])
    }

    pub(super) fn with_contract(mut self, address: Address, code: &str, storage: &[(u64, u64)]) -> Self {
        let code = Bytes::from(hex::decode(code.replace(' ', "")).unwrap());
        let hash = keccak256(&code);
        let account = AccountFields { nonce: 1, balance: U256::ZERO, code_hash: hash };
        let storage = storage.iter().map(|&(key, value)| (U256::from(key), U256::from(value))).collect();
        let diff = AccountDiff { account: Some(account), wiped: false, storage };
        self.apply(&StateDiff {
            accounts: BTreeMap::from([(address, diff)]),
            code: BTreeMap::from([(hash, code)]),
        });
        self
    }

    pub(super) fn apply(&mut self, diff: &StateDiff) {
        let update = self.state.apply(diff).unwrap();
        self.source.nodes.lock().extend(update.nodes);
        self.source.code.lock().extend(diff.code.clone());
        self.state = StateView::new(update.root, self.source.clone());
    }

    pub(super) fn try_run<T: Borrow<Transaction>>(
        &self,
        transactions: &[T],
    ) -> Result<BlockOutcome, ExecError> {
        execute_block(&self.spec, &self.state, &*self.source, &self.header, transactions)
    }

    /// Executes a block and moves on to the next.
    pub(super) fn run(&mut self, transactions: &[Transaction]) -> BlockOutcome {
        let outcome = self.try_run(transactions).unwrap();
        self.apply(&outcome.diff);
        self.header.number += 1;
        self.header.timestamp += 2;
        outcome
    }

    pub(super) fn hashes(&self) -> &dyn BlockHashes {
        &*self.source
    }

    pub(super) fn call_context(&self) -> CallContext<'_> {
        CallContext {
            spec: &self.spec,
            state: &self.state,
            hashes: self.hashes(),
            header: &self.header,
            gas_cap: GAS_LIMIT,
            interrupt: Interrupt::never(),
        }
    }

    pub(super) fn account(&self, address: Address) -> Option<Account> {
        self.state.account(address).unwrap()
    }

    pub(super) fn slot(&self, address: Address, slot: u64) -> u64 {
        self.state.storage(address, U256::from(slot)).unwrap().to()
    }
}

/// A legacy transaction with room for all gas a test may need and no price; signatures are not execution's business.
pub(super) fn tx(nonce: u64, to: impl Into<TxKind>) -> TxLegacy {
    TxLegacy { chain_id: Some(1337), nonce, gas_limit: 1_000_000, to: to.into(), ..TxLegacy::default() }
}

/// Turns a legacy transaction into one sent by `from`.
pub(super) fn legacy(from: Address, tx: TxLegacy) -> Transaction {
    let hash = keccak256([from.as_slice(), &alloy_rlp::encode(&tx)].concat());
    let signed = Signed::new_unchecked(tx, Signature::test_signature(), hash);
    Transaction::new_unchecked(TxEnvelope::Legacy(signed), from)
}

/// Turns an EIP-1559 transaction into one sent by `from`.
pub(super) fn dynamic(from: Address, tx: TxEip1559) -> Transaction {
    let hash = keccak256([from.as_slice(), &tx.nonce.to_be_bytes()].concat());
    let signed = Signed::new_unchecked(tx, Signature::test_signature(), hash);
    Transaction::new_unchecked(TxEnvelope::Eip1559(signed), from)
}

/// A plain call of a contract.
pub(super) fn call_of(from: Address, nonce: u64, to: Address) -> Transaction {
    legacy(from, tx(nonce, to))
}

/// A transfer of one wei.
pub(super) fn transfer(from: Address, nonce: u64, to: Address) -> Transaction {
    legacy(from, TxLegacy { value: U256::ONE, gas_limit: 21_000, ..tx(nonce, to) })
}
