//! What a built genesis holds.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::SolCall;
use contracts::bindings::{
    CompatibilityFallbackHandler, MultiSendCallOnly, Multicall3, PlatformCheckout, PlatformFees,
    PlatformValidatorRegistry as Registry, SafeL2, SafeProxy, SafeProxyFactory, multicall3,
};
use contracts::{CREATE2_DEPLOYER_CODE, address};

use super::chain::{ADMIN, CHAIN_ID, FUNDS, SLASHER, START, STRANGER, TestChain, node, operator, spec};
use crate::genesis::{BuildError, Fork, GENESIS_STAKE, Genesis, GenesisSpec, SetUpError};

fn build(spec: &GenesisSpec) -> Genesis {
    spec.build().unwrap()
}

#[test]
fn the_same_specification_gives_the_same_bytes() {
    let text = build(&spec(Fork::Shanghai)).to_json().unwrap();
    for _ in 0..3 {
        assert_eq!(build(&spec(Fork::Shanghai)).to_json().unwrap(), text);
    }
}

#[test]
fn both_forks_start_from_the_same_state() {
    let (london, shanghai) = (build(&spec(Fork::London)), build(&spec(Fork::Shanghai)));
    assert_eq!(london.alloc, shanghai.alloc);
    assert_ne!(london.header(B256::ZERO).hash_slow(), shanghai.header(B256::ZERO).hash_slow());
}

#[test]
fn the_code_is_that_of_the_artifacts() {
    let genesis = build(&spec(Fork::Shanghai));
    let code = |address: Address| genesis.alloc[&address].code.clone().unwrap();
    let published = [
        (address::CHECKOUT, &PlatformCheckout::DEPLOYED_BYTECODE),
        (address::TREASURY, &SafeProxy::DEPLOYED_BYTECODE),
        (address::SAFE_L2, &SafeL2::DEPLOYED_BYTECODE),
        (address::SAFE_PROXY_FACTORY, &SafeProxyFactory::DEPLOYED_BYTECODE),
        (address::SAFE_FALLBACK_HANDLER, &CompatibilityFallbackHandler::DEPLOYED_BYTECODE),
        (address::SAFE_MULTI_SEND_CALL_ONLY, &MultiSendCallOnly::DEPLOYED_BYTECODE),
        (address::MULTICALL3, &Multicall3::DEPLOYED_BYTECODE),
        (address::CREATE2_DEPLOYER, &CREATE2_DEPLOYER_CODE),
    ];
    for (address, expected) in published {
        assert_eq!(code(address), *expected, "{address}");
    }
    // These two carry the treasury's address where the artifact has zeroes.
    for (address, expected) in
        [(address::REGISTRY, &Registry::DEPLOYED_BYTECODE), (address::FEES, &PlatformFees::DEPLOYED_BYTECODE)]
    {
        let code = code(address);
        assert_eq!(code.len(), expected.len());
        let differing = code.iter().zip(expected.iter()).filter(|(left, right)| left != right);
        let set = differing.clone().all(|(left, right)| (*left == 0x88 || *left == 0x04) && *right == 0);
        assert!(set && differing.count() > 0, "{address}");
    }
}

#[test]
fn the_validators_are_registered_with_their_stake() {
    let genesis = build(&spec(Fork::Shanghai));
    assert_eq!(genesis.alloc[&address::REGISTRY].balance, GENESIS_STAKE * U256::from(5));
    assert_eq!(genesis.alloc[&operator(0)].balance, FUNDS);
    assert_eq!(genesis.validators().unwrap(), (0..5).map(node).collect::<Vec<_>>());

    let mut chain = TestChain::start(&genesis);
    let status = chain.view(address::REGISTRY, Registry::getExpansionStatusCall {});
    assert_eq!((status.phase, status.current, status.max), (1, U256::from(5), U256::from(5)));
    assert_eq!((status.target, status.communityOpen), (U256::from(21), false));
    let call = Registry::getValidatorsCall { offset: U256::ZERO, limit: U256::MAX };
    let validators = chain.view(address::REGISTRY, call);
    assert_eq!(validators.len(), 5);
    for (index, validator) in (0..).zip(&validators) {
        assert_eq!((validator.operator, validator.consensus), (operator(index), node(index)));
        assert_eq!((validator.stake, validator.commissionBps), (GENESIS_STAKE, 500));
        assert_eq!((validator.status, validator.registeredAt), (1, START));
        assert_eq!(validator.moniker, format!("validator {index}"));
        let holder = chain.view(address::REGISTRY, Registry::operatorOfCall { consensus: node(index) });
        assert_eq!(holder, operator(index));
    }
}

#[test]
fn roles_are_with_the_admin_and_the_slasher_alone() {
    let mut chain = TestChain::new();
    let mut has =
        |role: B256, account: Address| chain.view(address::REGISTRY, Registry::hasRoleCall { role, account });
    for (role, holder) in
        [(B256::ZERO, ADMIN), (keccak256("ADMIN_ROLE"), ADMIN), (keccak256("SLASHER_ROLE"), SLASHER)]
    {
        for account in [ADMIN, SLASHER, STRANGER, Address::ZERO] {
            assert_eq!(has(role, account), account == holder);
        }
    }
}

#[test]
fn the_treasury_may_be_admin_and_slasher() {
    let genesis =
        build(&GenesisSpec { admin: address::TREASURY, slasher: address::TREASURY, ..spec(Fork::London) });
    assert_eq!(genesis.alloc[&address::TREASURY].nonce, Some(1));
    assert_eq!(genesis.alloc[&address::TREASURY].code, Some(SafeProxy::DEPLOYED_BYTECODE.clone()));
    assert_eq!(genesis.alloc[&address::TREASURY].balance, U256::ZERO);
}

#[test]
fn a_larger_set_starts_in_a_later_phase_with_registration_closed() {
    let mut large = spec(Fork::Shanghai);
    for index in 5..7 {
        let mut validator = large.validators[0].clone();
        (validator.operator, validator.consensus) = (operator(index), operator(index));
        large.validators.push(validator);
    }
    let mut chain = TestChain::start(&build(&large));
    let status = chain.view(address::REGISTRY, Registry::getExpansionStatusCall {});
    assert_eq!((status.phase, status.current, status.communityOpen), (2, U256::from(7), false));
}

#[test]
fn an_impossible_specification_is_refused() {
    let good = spec(Fork::Shanghai);
    let none = GenesisSpec { validators: Vec::new(), ..good.clone() };
    assert!(matches!(none.build(), Err(BuildError::ValidatorCount { count: 0 })));

    let mut twice = good.clone();
    twice.validators[1].consensus = node(0);
    assert!(
        matches!(twice.build(), Err(BuildError::DuplicateConsensusAddress { consensus }) if consensus == node(0))
    );

    let mut greedy = good.clone();
    greedy.validators[0].commission_bps = 2_001;
    assert!(matches!(
        greedy.build(),
        Err(BuildError::SetUp(SetUpError::Reverted { to: address::REGISTRY, .. }))
    ));

    let few = GenesisSpec { treasury_threshold: 6, ..good.clone() };
    assert!(matches!(
        few.build(),
        Err(BuildError::SetUp(SetUpError::Reverted { to: address::TREASURY, .. }))
    ));

    let rich = GenesisSpec { funded: vec![(STRANGER, U256::MAX), (STRANGER, U256::ONE)], ..good };
    assert!(matches!(rich.build(), Err(BuildError::FundsOverflow { account: STRANGER })));
}

#[test]
fn multicall_reads_several_contracts_at_once() {
    let mut chain = TestChain::new();
    let calls = vec![
        multicall3::IMulticall3::Call3 {
            target: address::REGISTRY,
            allowFailure: false,
            callData: Registry::validatorCountCall {}.abi_encode().into(),
        },
        multicall3::IMulticall3::Call3 {
            target: address::MULTICALL3,
            allowFailure: true,
            callData: Multicall3::getChainIdCall {}.abi_encode().into(),
        },
    ];
    let results = chain.view(address::MULTICALL3, Multicall3::aggregate3Call { calls });
    let numbers: Vec<_> = results.iter().map(|result| U256::from_be_slice(&result.returnData)).collect();
    assert_eq!(numbers, [U256::from(5), U256::from(CHAIN_ID)]);
}

#[test]
fn the_create2_deployer_deploys_where_it_should() {
    let mut chain = TestChain::new();
    // Creation code that answers with the one byte of runtime code 0x00.
    let creation_code = [0x60, 0x01, 0x60, 0x00, 0xf3];
    let salt = B256::repeat_byte(3);
    let call: Bytes = [salt.as_slice(), creation_code.as_slice()].concat().into();
    let output = chain.raw(STRANGER, address::CREATE2_DEPLOYER, U256::ZERO, call).unwrap();
    let expected = address::CREATE2_DEPLOYER.create2(salt, keccak256(creation_code));
    assert_eq!(output, Bytes::copy_from_slice(expected.as_slice()));
    assert_eq!(chain.code(expected).len(), 1);
}
