//! Multicall3 and the CREATE2 deployer, where viem, ethers and Foundry look for them.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::{Revert, SolCall, SolError, SolEvent};
use contracts::{
    CREATE2_DEPLOYER_CODE,
    address::{CREATE2_DEPLOYER, FEES, MULTICALL3, REGISTRY, TREASURY},
    bindings::{Multicall3 as Multicall, PlatformFees as Fees, PlatformValidatorRegistry as Registry},
    fees::FeeSource,
};
use domain::Network;
use serde_json::json;
use testkit::{
    Draft,
    asm::{Code, deployer},
};

use super::{
    chain::{COIN, STAKE, TestChain},
    person::{Person, STRANGER},
};

use contracts::bindings::multicall3::IMulticall3::{Call3, Call3Value};

fn call3(target: Address, allow_failure: bool, call: &impl SolCall) -> Call3 {
    Call3 { target, allowFailure: allow_failure, callData: call.abi_encode().into() }
}

#[tokio::test]
async fn every_predeployed_contract_has_code() {
    let chain = TestChain::start().await;
    for (name, address) in contracts::address::PREDEPLOYED {
        assert!(!chain.code(address).await.is_empty(), "{name}");
    }
    assert_eq!(chain.code(MULTICALL3).await, contracts::Multicall3::DEPLOYED_BYTECODE);
    assert_eq!(chain.code(CREATE2_DEPLOYER).await, CREATE2_DEPLOYER_CODE);
}

#[tokio::test]
async fn multicall_answers_many_questions_about_one_block() {
    let chain = TestChain::start().await;
    chain.mine().await;
    let unknown = Fees::getSourceTotalsCall { source: B256::ZERO };
    let calls = vec![
        call3(REGISTRY, false, &Registry::getOpenSlotsCall {}),
        call3(MULTICALL3, false, &Multicall::getEthBalanceCall { addr: REGISTRY }),
        call3(FEES, true, &unknown),
        call3(MULTICALL3, false, &Multicall::getChainIdCall {}),
        call3(MULTICALL3, false, &Multicall::getBlockNumberCall {}),
        call3(MULTICALL3, false, &Multicall::getCurrentBlockTimestampCall {}),
        call3(MULTICALL3, false, &Multicall::getBasefeeCall {}),
    ];
    let results = chain.view(MULTICALL3, &Multicall::aggregate3Call { calls: calls.clone() }).await;
    let (refused, answered): (Vec<_>, Vec<_>) = results.into_iter().partition(|result| !result.success);
    let numbers: Vec<_> = answered.iter().map(|result| U256::from_be_slice(&result.returnData)).collect();
    let expected = [
        U256::ZERO,
        STAKE * U256::from(5),
        U256::from(Network::Devnet.chain_id()),
        U256::from(1),
        U256::from(chain.now().await),
        U256::ZERO,
    ];
    assert_eq!(numbers, expected);
    let reason = Fees::PlatformFeesUnknownSource { source: B256::ZERO }.abi_encode();
    assert_eq!(refused.iter().map(|result| result.returnData.to_vec()).collect::<Vec<_>>(), [reason]);

    let strict = calls.into_iter().map(|call| Call3 { allowFailure: false, ..call }).collect();
    let refused =
        chain.try_view(Address::ZERO, MULTICALL3, &Multicall::aggregate3Call { calls: strict }).await;
    assert_eq!(refused.map(drop).unwrap_err(), Revert::from("Multicall3: call failed").abi_encode());
}

#[tokio::test]
async fn multicall_pays_several_fees_with_one_transaction() {
    let mut chain = TestChain::start().await;
    let pay = |source: FeeSource, value: u64| Call3Value {
        target: FEES,
        allowFailure: false,
        value: U256::from(value),
        callData: Fees::payCall { source: source.id(), r#ref: B256::ZERO }.abi_encode().into(),
    };
    let calls = vec![pay(FeeSource::Bridge, 10), pay(FeeSource::Minting, 11)];
    let outcome =
        chain.pay(STRANGER, MULTICALL3, U256::from(21), &Multicall::aggregate3ValueCall { calls }).await;
    let outcome = outcome.succeeds();
    let amounts: Vec<_> = outcome.logs.iter().map(|log| Fees::FeePaid::decode_log(log).unwrap()).collect();
    assert!(amounts.iter().all(|event| event.payer == MULTICALL3));
    assert_eq!(amounts.iter().map(|event| event.held).collect::<Vec<_>>(), [U256::from(7), U256::from(8)]);
    assert_eq!(chain.balance(MULTICALL3).await, U256::ZERO);
}

#[tokio::test]
async fn multicall_sees_the_hash_and_number_of_blocks() {
    let chain = TestChain::start().await;
    chain.mine().await;
    chain.mine().await;
    let block: serde_json::Value =
        chain.client().call("eth_getBlockByNumber", json!(["0x1", false])).await.expect("a block");
    let parent: B256 = serde_json::from_value(block["hash"].clone()).expect("a hash");
    let number = U256::ONE;
    assert_eq!(chain.view(MULTICALL3, &Multicall::getBlockHashCall { blockNumber: number }).await, parent);
    assert_eq!(chain.view(MULTICALL3, &Multicall::getLastBlockHashCall {}).await, parent);
    let calls = Vec::new();
    let answer = chain.view(MULTICALL3, &Multicall::aggregateCall { calls }).await;
    assert_eq!(answer.blockNumber, U256::from(2));
}

#[tokio::test]
async fn the_create2_deployer_gives_the_same_address_to_everybody_and_once() {
    let mut chain = TestChain::start().await;
    let init_code = deployer(&Code::new().push(42).return_word().bytes());
    let salt = B256::repeat_byte(3);
    let expected = CREATE2_DEPLOYER.create2_from_code(salt, &init_code);
    let input = Bytes::from([salt.as_slice(), &init_code].concat());

    let simulation = json!([{ "to": CREATE2_DEPLOYER, "data": input }, "latest"]);
    let answer: Bytes = chain.client().call("eth_call", simulation).await.expect("an address");
    assert_eq!(answer.as_ref(), expected.as_slice());
    assert!(chain.code(expected).await.is_empty());

    let _ = chain.mine_one(STRANGER, Draft::call(CREATE2_DEPLOYER, input.clone())).await.succeeds();
    let number: U256 =
        chain.client().call("eth_call", json!([{ "to": expected }, "latest"])).await.expect("a number");
    assert_eq!(number, U256::from(42));
    chain.mine_one(Person::Dev(2), Draft::call(CREATE2_DEPLOYER, input)).await.reverts_silently();
}

#[tokio::test]
async fn our_contracts_can_be_deployed_through_the_create2_deployer() {
    let mut chain = TestChain::start().await;
    let arguments = alloy_sol_types::SolValue::abi_encode(&TREASURY);
    let init_code = [contracts::PlatformFees::BYTECODE.to_vec(), arguments].concat();
    let address = CREATE2_DEPLOYER.create2_from_code(B256::ZERO, &init_code);
    let input = [B256::ZERO.as_slice(), &init_code].concat();
    let _ = chain.mine_one(STRANGER, Draft::call(CREATE2_DEPLOYER, input)).await.succeeds();
    let fee = Fees::payCall { source: FeeSource::Payments.id(), r#ref: B256::ZERO };
    let _ = chain.pay(STRANGER, address, COIN, &fee).await.succeeds();
    assert_eq!(chain.view(address, &Fees::getTotalsCall {}).await.paid, COIN);
    assert_eq!(chain.view(FEES, &Fees::getTotalsCall {}).await.paid, U256::ZERO, "another till");
}
