//! Everything that fails: reverts with and without data, halts of every kind, opcodes that later forks brought.

use alloy_primitives::{hex, keccak256};

use super::script::{Script, words};
use crate::{
    Draft,
    asm::{Code, op},
};

pub(super) fn add_to(script: &mut Script) {
    // revert(calldata): the input chooses the revert data.
    let mirror = Code::new().load_calldata().ops(&[op::CALLDATASIZE, op::PUSH0, op::REVERT]);
    let mirror = script.deploy("a contract that reverts with its input", mirror);
    script.run_failing("revert without data", mirror, []);
    script.run_failing("revert with a reason", mirror, reason("not today"));
    script.run_failing("revert with a long reason", mirror, reason(&"because ".repeat(40)));
    script.run_failing("revert with a custom error", mirror, coded("TooLarge(uint256,uint256)", &[101, 100]));
    script.run_failing("revert with a panic", mirror, coded("Panic(uint256)", &[0x11]));
    script.run_failing("revert with one byte", mirror, [0x42]);

    for (name, code) in [
        ("INVALID", Code::new().ops(&[op::INVALID])),
        ("an undefined opcode", Code::new().ops(&[op::UNDEFINED])),
        ("a stack underflow", Code::new().ops(&[op::ADD])),
        ("a jump to nowhere", Code::new().push(1).ops(&[op::JUMP])),
        ("a jump into push data", Code::new().push(4).ops(&[op::JUMP]).push(op::JUMPDEST.into())),
        (
            "reading past the return data",
            Code::new().push(1).ops(&[op::PUSH0, op::PUSH0, op::RETURNDATACOPY]),
        ),
        ("memory beyond any gas", Code::new().push(1).push(u64::MAX).ops(&[op::MSTORE])),
        ("TLOAD, of a later fork", Code::new().ops(&[op::PUSH0, op::TLOAD])),
        ("MCOPY, of a later fork", Code::new().ops(&[op::PUSH0, op::PUSH0, op::PUSH0, op::MCOPY])),
        ("BLOBHASH, of a later fork", Code::new().ops(&[op::PUSH0, op::BLOBHASH])),
        ("BLOBBASEFEE, of a later fork", Code::new().ops(&[op::BLOBBASEFEE])),
    ] {
        let contract = script.deploy(name, code);
        script.run_failing(name, contract, []);
    }
    add_out_of_gas(script);
    add_caught_failures(script);
}

fn add_out_of_gas(script: &mut Script) {
    // slot 0 = 1: 22,100 gas, so that 30,000 are not enough.
    let store = Code::new().push(1).ops(&[op::PUSH0, op::SSTORE]);
    let store = script.deploy("a contract that stores", store);
    script.send_failing("out of gas", Draft { gas_limit: 30_000, ..Draft::call(store, []) });
    script.send("just enough gas", Draft { gas_limit: 21_000 + 3 + 2 + 22_100, ..Draft::call(store, []) });

    // loop: jump(loop)
    let endless = Code::new().ops(&[op::JUMPDEST, op::PUSH0, op::JUMP]);
    let endless = script.deploy("an endless loop", endless);
    script.run_failing("loop until the gas is gone", endless, []);
}

/// Failures inside a call that the caller survives.
fn add_caught_failures(script: &mut Script) {
    // Emits a log and fails: neither log nor gas refund may survive.
    let loud = Code::new().log_words(&[&[op::ADDRESS]]).ops(&[op::INVALID]);
    let loud = script.deploy("a contract that logs and halts", loud);
    let survivor = |call: u8, value: &[u8]| {
        Code::new()
            .ops(&[op::PUSH0, op::PUSH0, op::PUSH0, op::PUSH0])
            .ops(value)
            .push_address(loud)
            .push(50_000)
            .ops(&[call])
            .return_word()
    };
    for (name, code) in [
        ("CALL", survivor(op::CALL, &[op::PUSH0])),
        ("CALLCODE", survivor(op::CALLCODE, &[op::PUSH0])),
        ("DELEGATECALL", survivor(op::DELEGATECALL, &[])),
        ("STATICCALL", survivor(op::STATICCALL, &[])),
    ] {
        let contract = script.deploy(&format!("a caller with {name}"), code);
        script.run(&format!("survive a failed {name}"), contract, []);
    }

    // Sends 1 wei it does not have: the call fails at once and its return data is empty.
    let poor = Code::new()
        .ops(&[op::PUSH0, op::PUSH0, op::PUSH0, op::PUSH0])
        .push(1)
        .push_address(loud)
        .ops(&[op::GAS, op::CALL])
        .return_word();
    let poor = script.deploy("a contract without coin", poor);
    script.run("send coin it does not have", poor, []);
}

/// `Error(string)` with its argument.
fn reason(text: &str) -> Vec<u8> {
    let mut data = hex!("08c379a0").to_vec();
    data.extend(words(&[32, text.len() as u64]));
    data.extend_from_slice(text.as_bytes());
    data.resize(data.len().next_multiple_of(32) + 4, 0);
    data
}

/// The selector of a signature, followed by words.
fn coded(signature: &str, numbers: &[u64]) -> Vec<u8> {
    let mut data = keccak256(signature).get(..4).unwrap_or_default().to_vec();
    data.extend(words(numbers));
    data
}
