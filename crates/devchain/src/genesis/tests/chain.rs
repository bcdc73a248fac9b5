//! A chain in memory that starts from a built genesis, ready to be called.

use alloy_primitives::{Address, Bytes, TxKind, U256, uint};
use alloy_sol_types::SolCall;
use revm::context::result::ExecutionResult;
use revm::context::{BlockEnv, CfgEnv, ContextTr, TxEnv};
use revm::database::{CacheDB, EmptyDB};
use revm::handler::MainnetContext;
use revm::primitives::hardfork::SpecId;
use revm::state::{AccountInfo, Bytecode};
use revm::{Context, ExecuteCommitEvm, MainBuilder, MainContext, MainnetEvm};

use crate::genesis::{Fork, Genesis, GenesisSpec, GenesisValidator};

pub(super) const CHAIN_ID: u64 = 8845;
pub(super) const START: u64 = 1_700_000_000;
/// What every person of the tests starts with.
pub(super) const FUNDS: U256 = uint!(10_000_000_000_000_000_000_000_000_U256);

pub(super) const ADMIN: Address = Address::repeat_byte(0xad);
pub(super) const SLASHER: Address = Address::repeat_byte(0x51);
pub(super) const OWNERS: [Address; 5] = [
    Address::repeat_byte(0xa1),
    Address::repeat_byte(0xa2),
    Address::repeat_byte(0xa3),
    Address::repeat_byte(0xa4),
    Address::repeat_byte(0xa5),
];
pub(super) const STRANGER: Address = Address::repeat_byte(0x5a);

/// The operator of genesis validator `index` (0 to 4), or an outsider.
pub(super) fn operator(index: u8) -> Address {
    Address::repeat_byte(0x10 + index)
}

/// The node address of genesis validator `index`.
pub(super) fn node(index: u8) -> Address {
    Address::repeat_byte(0x30 + index)
}

/// Five validators, three of five owners, and funds for everybody in the tests.
pub(super) fn spec(fork: Fork) -> GenesisSpec {
    let people = (0..10).map(operator).chain([ADMIN, SLASHER, STRANGER]);
    GenesisSpec {
        chain_id: CHAIN_ID,
        timestamp: START,
        fork,
        validators: (0..5)
            .map(|index| GenesisValidator {
                operator: operator(index),
                consensus: node(index),
                moniker: format!("validator {index}"),
                website: format!("https://v{index}.example"),
                commission_bps: 500,
            })
            .collect(),
        treasury_owners: OWNERS.to_vec(),
        admin: ADMIN,
        slasher: SLASHER,
        funded: people.map(|account| (account, FUNDS)).collect(),
        ..GenesisSpec::default()
    }
}

pub(super) struct TestChain {
    evm: MainnetEvm<MainnetContext<CacheDB<EmptyDB>>>,
    now: u64,
}

impl TestChain {
    pub(super) fn new() -> Self {
        Self::start(&spec(Fork::Shanghai).build().unwrap())
    }

    pub(super) fn start(genesis: &Genesis) -> Self {
        let mut db = CacheDB::new(EmptyDB::default());
        for (address, account) in &genesis.alloc {
            let code = account.code.clone().map(Bytecode::new_legacy).unwrap_or_default();
            let info = AccountInfo::from_bytecode(code)
                .with_balance(account.balance)
                .with_nonce(account.nonce.unwrap_or_default());
            db.insert_account_info(*address, info);
            for (slot, value) in account.storage_slots() {
                db.insert_account_storage(*address, slot.into(), value).unwrap();
            }
        }
        let mut cfg = CfgEnv::new_with_spec(match genesis.config.fork {
            Fork::London => SpecId::LONDON,
            Fork::Shanghai => SpecId::SHANGHAI,
            Fork::Cancun => SpecId::CANCUN,
        });
        cfg.chain_id = genesis.config.chain_id;
        cfg.disable_nonce_check = true;
        cfg.disable_eip3607 = true;
        let evm = Context::mainnet().with_db(db).with_cfg(cfg).build_mainnet();
        Self { evm, now: genesis.timestamp }
    }

    /// Sends a call without coin.
    pub(super) fn send<C: SolCall>(
        &mut self,
        from: Address,
        to: Address,
        call: C,
    ) -> Result<C::Return, Bytes> {
        self.pay(from, to, U256::ZERO, call)
    }

    /// Sends a call with coin; the error is what the contract reverted with.
    pub(super) fn pay<C: SolCall>(
        &mut self,
        from: Address,
        to: Address,
        value: U256,
        call: C,
    ) -> Result<C::Return, Bytes> {
        let output = self.raw(from, to, value, call.abi_encode().into())?;
        Ok(C::abi_decode_returns(&output).unwrap())
    }

    pub(super) fn raw(
        &mut self,
        from: Address,
        to: Address,
        value: U256,
        data: Bytes,
    ) -> Result<Bytes, Bytes> {
        self.evm.ctx.block = BlockEnv {
            number: U256::ONE,
            timestamp: U256::from(self.now),
            gas_limit: 30_000_000,
            prevrandao: Some(ibft::rules::MIX_HASH),
            ..BlockEnv::default()
        };
        let tx = TxEnv {
            caller: from,
            kind: TxKind::Call(to),
            value,
            data,
            gas_limit: 10_000_000,
            chain_id: None,
            ..TxEnv::default()
        };
        match self.evm.transact_commit(tx).unwrap() {
            ExecutionResult::Success { output, .. } => Ok(output.into_data()),
            ExecutionResult::Revert { output, .. } => Err(output),
            ExecutionResult::Halt { reason, .. } => panic!("halted: {reason:?}"),
        }
    }

    /// Reads a view, which must not fail.
    pub(super) fn view<C: SolCall>(&mut self, to: Address, call: C) -> C::Return {
        self.send(Address::repeat_byte(0xee), to, call).unwrap()
    }

    pub(super) fn code(&self, account: Address) -> Bytes {
        let cache = &self.evm.ctx.db().cache;
        cache.contracts[&cache.accounts[&account].info.code_hash].original_bytes()
    }
}
