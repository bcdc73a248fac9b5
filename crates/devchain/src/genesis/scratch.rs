//! A throw-away chain in memory, on which the contracts of a genesis are set up before their state is copied out.

use std::collections::BTreeMap;
use std::convert::Infallible;

use alloy_genesis::GenesisAccount;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_sol_types::SolCall;
use revm::context::result::{EVMError, ExecutionResult, HaltReason};
use revm::context::{BlockEnv, CfgEnv, ContextTr, TxEnv};
use revm::database::{CacheDB, EmptyDB};
use revm::handler::MainnetContext;
use revm::primitives::hardfork::SpecId;
use revm::state::{AccountInfo, Bytecode};
use revm::{Context, ExecuteCommitEvm, MainBuilder, MainContext, MainnetEvm};

use super::config::Fork;

/// Gas of one step; far more than any takes.
const STEP_GAS: u64 = 100_000_000;

/// What a contract's nonce starts with (EIP-161).
const CONTRACT_NONCE: u64 = 1;

/// Why a step of setting contracts up failed.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The step was not accepted as a transaction.
    #[error("the call to {to} was refused")]
    Refused {
        /// The contract.
        to: Address,
        /// Why.
        #[source]
        source: EVMError<Infallible>,
    },
    /// The contract reverted.
    #[error("the call to {to} reverted with {output}")]
    Reverted {
        /// The contract.
        to: Address,
        /// Its ABI-encoded error.
        output: Bytes,
    },
    /// The contract's code stopped the machine.
    #[error("the call to {to} halted: {reason}")]
    Halted {
        /// The contract.
        to: Address,
        /// Why.
        reason: HaltReason,
    },
}

/// The chain in memory.
pub(super) struct ScratchChain {
    evm: MainnetEvm<MainnetContext<CacheDB<EmptyDB>>>,
}

impl ScratchChain {
    pub(super) fn new(chain_id: u64, fork: Fork, timestamp: u64) -> Self {
        let mut cfg = CfgEnv::new_with_spec(match fork {
            Fork::London => SpecId::LONDON,
            Fork::Shanghai => SpecId::SHANGHAI,
            Fork::Cancun => SpecId::CANCUN,
        });
        cfg.chain_id = chain_id;
        cfg.disable_nonce_check = true;
        // The admin may be a contract, such as the treasury.
        cfg.disable_eip3607 = true;
        let block = BlockEnv {
            timestamp: U256::from(timestamp),
            gas_limit: STEP_GAS,
            prevrandao: Some(ibft::rules::MIX_HASH),
            ..BlockEnv::default()
        };
        let context =
            Context::mainnet().with_db(CacheDB::new(EmptyDB::default())).with_cfg(cfg).with_block(block);
        Self { evm: context.build_mainnet() }
    }

    /// Puts runtime code at an address.
    pub(super) fn place(&mut self, address: Address, code: Bytes) {
        let account = AccountInfo::from_bytecode(Bytecode::new_legacy(code));
        self.evm.ctx.db_mut().insert_account_info(address, account);
    }

    /// Runs a constructor as if the contract had been created at `address`.
    ///
    /// The creation code stands at the address while it is called: it finds its arguments behind itself, writes the
    /// storage of that address, and answers with the runtime code.
    pub(super) fn construct(
        &mut self,
        address: Address,
        creation_code: &Bytes,
        arguments: &[u8],
    ) -> Result<(), SetUpError> {
        self.place(address, [creation_code, arguments].concat().into());
        let runtime = self.transact(Address::ZERO, address, U256::ZERO, Bytes::new())?;
        self.place(address, runtime);
        Ok(())
    }

    /// Calls a contract; `from` is given the coin it sends.
    pub(super) fn call<C: SolCall>(
        &mut self,
        from: Address,
        to: Address,
        value: U256,
        call: &C,
    ) -> Result<(), SetUpError> {
        let accounts = &mut self.evm.ctx.db_mut().cache.accounts;
        let sender = accounts.entry(from).or_default();
        sender.info.balance = sender.info.balance.saturating_add(value);
        self.transact(from, to, value, call.abi_encode().into())?;
        Ok(())
    }

    fn transact(
        &mut self,
        from: Address,
        to: Address,
        value: U256,
        data: Bytes,
    ) -> Result<Bytes, SetUpError> {
        let tx = TxEnv {
            caller: from,
            kind: TxKind::Call(to),
            value,
            data,
            gas_limit: STEP_GAS,
            chain_id: None,
            ..TxEnv::default()
        };
        match self.evm.transact_commit(tx).map_err(|source| SetUpError::Refused { to, source })? {
            ExecutionResult::Success { output, .. } => Ok(output.into_data()),
            ExecutionResult::Revert { output, .. } => Err(SetUpError::Reverted { to, output }),
            ExecutionResult::Halt { reason, .. } => Err(SetUpError::Halted { to, reason }),
        }
    }

    /// The accounts that have code.
    pub(super) fn into_contracts(self) -> BTreeMap<Address, GenesisAccount> {
        let cache = &self.evm.ctx.db().cache;
        let contracts = cache.accounts.iter().filter_map(|(address, account)| {
            let code = cache.contracts.get(&account.info.code_hash).filter(|code| !code.is_empty())?;
            let storage: BTreeMap<B256, B256> = account
                .storage
                .iter()
                .filter(|(_, value)| !value.is_zero())
                .map(|(slot, value)| ((*slot).into(), (*value).into()))
                .collect();
            let account = GenesisAccount {
                nonce: Some(CONTRACT_NONCE),
                balance: account.info.balance,
                code: Some(code.original_bytes()),
                storage: (!storage.is_empty()).then_some(storage),
                ..GenesisAccount::default()
            };
            Some((*address, account))
        });
        contracts.collect()
    }
}
