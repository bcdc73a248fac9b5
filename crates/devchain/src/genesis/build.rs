//! The genesis of a new network: funded accounts and the contracts in the state their constructors and first calls
//! leave behind.

use std::collections::BTreeMap;

use alloy_genesis::GenesisAccount;
use alloy_primitives::{Address, B64, B256, Bytes, U256, uint};
use alloy_sol_types::SolConstructor;
use contracts::bindings::{
    CompatibilityFallbackHandler, MultiSendCallOnly, Multicall3, PlatformCheckout, PlatformFees,
    PlatformValidatorRegistry, SafeL2, SafeProxy, SafeProxyFactory,
};
use contracts::{CREATE2_DEPLOYER_CODE, address};
use ibft::extra_data::ExtraData;

use super::config::{BlobFields, ChainConfig, Genesis, Ibft2Config};
use super::scratch::{ScratchChain, SetUpError};
use super::spec::{GenesisSpec, GenesisValidator};

/// What each genesis validator stakes: 100000 coin.
pub const GENESIS_STAKE: U256 = uint!(100_000_000_000_000_000_000_000_U256);

/// Slots of the three phases.
const PHASE_SLOTS: [(u8, usize); 3] = [(1, 5), (2, 11), (3, 21)];

/// Why a specification gives no genesis.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Not 1 to 21 validators.
    #[error("a network starts with 1 to 21 validators, not {count}")]
    ValidatorCount {
        /// How many were given.
        count: usize,
    },
    /// Two validators would seal with one address.
    #[error("two validators seal with {consensus}")]
    DuplicateConsensusAddress {
        /// The address.
        consensus: Address,
    },
    /// The funds of one account exceed what a balance can hold.
    #[error("the funds of {account} overflow")]
    FundsOverflow {
        /// The account.
        account: Address,
    },
    /// A contract refused to be set up like this.
    #[error("setting up the contracts failed")]
    SetUp(#[from] SetUpError),
}

impl GenesisSpec {
    /// Builds the genesis; the same specification always gives the same one.
    pub fn build(&self) -> Result<Genesis, BuildError> {
        let extra_data = self.extra_data()?;
        let mut chain = ScratchChain::new(self.chain_id, self.fork, self.timestamp);
        deploy_published(&mut chain)?;
        self.deploy_treasury(&mut chain)?;
        self.deploy_platform(&mut chain)?;
        self.register_validators(&mut chain)?;
        let mut alloc = chain.into_contracts();
        self.fund(&mut alloc)?;
        Ok(Genesis {
            config: ChainConfig {
                chain_id: self.chain_id,
                fork: self.fork,
                cancun_time: None,
                zero_base_fee: true,
                contract_size_limit: None,
                ibft2: Ibft2Config {
                    block_period_secs: self.block_period_secs,
                    epoch_length: self.epoch_length,
                    request_timeout_secs: self.request_timeout_secs,
                    ..Ibft2Config::default()
                },
            },
            nonce: B64::ZERO,
            timestamp: self.timestamp,
            extra_data,
            gas_limit: self.gas_limit,
            difficulty: ibft::rules::DIFFICULTY,
            mix_hash: ibft::rules::MIX_HASH,
            coinbase: Address::ZERO,
            base_fee_per_gas: Some(0),
            blob: BlobFields::default(),
            alloc,
        })
    }

    fn extra_data(&self) -> Result<Bytes, BuildError> {
        let mut validators: Vec<_> = self.validators.iter().map(|validator| validator.consensus).collect();
        validators.sort_unstable();
        let duplicate = validators.windows(2).find_map(|pair| match pair {
            [first, second] if first == second => Some(*first),
            _ => None,
        });
        if let Some(consensus) = duplicate {
            return Err(BuildError::DuplicateConsensusAddress { consensus });
        }
        Ok(ExtraData { vanity: B256::ZERO, validators, vote: None, round: 0, seals: Vec::new() }.encode())
    }

    fn deploy_treasury(&self, chain: &mut ScratchChain) -> Result<(), SetUpError> {
        let proxy = SafeProxy::constructorCall { _singleton: address::SAFE_L2 };
        chain.construct(address::TREASURY, &SafeProxy::BYTECODE, &proxy.abi_encode())?;
        let setup = SafeL2::setupCall {
            _owners: self.treasury_owners.clone(),
            _threshold: U256::from(self.treasury_threshold),
            to: Address::ZERO,
            data: Bytes::new(),
            fallbackHandler: address::SAFE_FALLBACK_HANDLER,
            paymentToken: Address::ZERO,
            payment: U256::ZERO,
            paymentReceiver: Address::ZERO,
        };
        chain.call(self.admin, address::TREASURY, U256::ZERO, &setup)
    }

    fn deploy_platform(&self, chain: &mut ScratchChain) -> Result<(), SetUpError> {
        let registry = PlatformValidatorRegistry::constructorCall {
            admin: self.admin,
            slasher: self.slasher,
            treasury_: address::TREASURY,
        };
        let fees = PlatformFees::constructorCall { treasury_: address::TREASURY };
        chain.construct(address::REGISTRY, &PlatformValidatorRegistry::BYTECODE, &registry.abi_encode())?;
        chain.construct(address::FEES, &PlatformFees::BYTECODE, &fees.abi_encode())?;
        chain.construct(address::CHECKOUT, &PlatformCheckout::BYTECODE, &[])
    }

    fn register_validators(&self, chain: &mut ScratchChain) -> Result<(), BuildError> {
        use PlatformValidatorRegistry as Registry;
        let registry = address::REGISTRY;
        let count = self.validators.len();
        let phase = PHASE_SLOTS.iter().find(|(_, slots)| (1..=*slots).contains(&count));
        let (phase, _) = *phase.ok_or(BuildError::ValidatorCount { count })?;
        if phase > 1 {
            chain.call(self.admin, registry, U256::ZERO, &Registry::expandToPhaseCall { phase })?;
            let close = Registry::setCommunityRegistrationOpenCall { open: false };
            chain.call(self.admin, registry, U256::ZERO, &close)?;
        }
        for validator in &self.validators {
            let operator = validator.operator;
            let approve = Registry::setOperatorApprovalCall { operator, approved: true };
            chain.call(self.admin, registry, U256::ZERO, &approve)?;
            let register = Registry::registerValidatorCall {
                moniker: validator.moniker.clone(),
                website: validator.website.clone(),
                stake: GENESIS_STAKE,
                commissionBps: validator.commission_bps,
            };
            chain.call(operator, registry, GENESIS_STAKE, &register)?;
        }
        // After all have registered, because registering takes one's own address back from others.
        for GenesisValidator { operator, consensus, .. } in &self.validators {
            if consensus != operator {
                let call = Registry::setConsensusAddressCall { consensus: *consensus };
                chain.call(*operator, registry, U256::ZERO, &call)?;
            }
        }
        Ok(())
    }

    fn fund(&self, alloc: &mut BTreeMap<Address, GenesisAccount>) -> Result<(), BuildError> {
        for (account, amount) in &self.funded {
            let entry = alloc.entry(*account).or_default();
            let balance = entry.balance.checked_add(*amount);
            entry.balance = balance.ok_or(BuildError::FundsOverflow { account: *account })?;
        }
        Ok(())
    }
}

/// The contracts of others, at the addresses where every tool looks for them.
fn deploy_published(chain: &mut ScratchChain) -> Result<(), SetUpError> {
    chain.construct(address::SAFE_L2, &SafeL2::BYTECODE, &[])?;
    chain.construct(address::SAFE_PROXY_FACTORY, &SafeProxyFactory::BYTECODE, &[])?;
    chain.construct(address::SAFE_FALLBACK_HANDLER, &CompatibilityFallbackHandler::BYTECODE, &[])?;
    chain.construct(address::SAFE_MULTI_SEND_CALL_ONLY, &MultiSendCallOnly::BYTECODE, &[])?;
    chain.place(address::MULTICALL3, Multicall3::DEPLOYED_BYTECODE.clone());
    chain.place(address::CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE);
    Ok(())
}
