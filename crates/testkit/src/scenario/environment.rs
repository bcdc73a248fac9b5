//! What code sees of its surroundings, and arithmetic at the edges.

use alloy_primitives::{Address, U256, address};

use super::script::Script;
use crate::{
    Draft,
    asm::{Code, op},
};

const UNTOUCHED: Address = address!("0x00000000000000000000000000000000c0ffee03");

pub(super) fn add_to(script: &mut Script) {
    let surroundings = Code::new().log_words(&[
        &[op::CHAINID],
        &[op::BASEFEE],
        &[op::GASPRICE],
        &[op::SELFBALANCE],
        &[op::ADDRESS],
        &[op::ORIGIN],
        &[op::CALLER],
        &[op::CALLVALUE],
        &[op::CALLDATASIZE],
        &[op::CODESIZE],
        &[op::RETURNDATASIZE],
        &[op::PC],
        &[op::MSIZE],
        &[op::GAS],
        // Genesis's own number is no ancestor of itself; far ahead is zero everywhere.
        &[op::GAS, op::BLOCKHASH],
    ]);
    let surroundings = script.deploy("a contract that looks around", surroundings);
    script.send("look around", Draft { value: U256::from(3), ..Draft::call(surroundings, [1, 2, 3]) });

    add_code_queries(script, surroundings);
    add_log_topics(script);
    add_arithmetic(script);
}

/// EXTCODEHASH, EXTCODESIZE and BALANCE of accounts of every kind.
fn add_code_queries(script: &mut Script, contract: Address) {
    let subject = [op::PUSH0, op::CALLDATALOAD];
    let query = |opcode: u8| [subject.as_slice(), &[opcode]].concat();
    let parts = [query(op::EXTCODEHASH), query(op::EXTCODESIZE)];
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let inspector = script.deploy("an inspector", Code::new().log_words(&parts));
    for (name, of) in [
        ("a contract", contract),
        ("an account without code", script.sender()),
        ("an account that never was", UNTOUCHED),
        ("a precompile", Address::with_last_byte(1)),
        ("itself", inspector),
    ] {
        script.run(&format!("inspect {name}"), inspector, of.into_word().to_vec());
    }
    let balance = Code::new().push_address(contract).ops(&[op::BALANCE]).return_word();
    let balance = script.deploy("a reader of a balance", balance);
    script.run("read a balance", balance, []);
}

/// LOG0 to LOG4 with the call data.
fn add_log_topics(script: &mut Script) {
    for topics in 0..=4_u8 {
        let pushed =
            (1..=topics).fold(Code::new().load_calldata(), |code, topic| code.push(0x70 + u64::from(topic)));
        let code = pushed.ops(&[op::CALLDATASIZE, op::PUSH0, op::LOG0 + topics]);
        let logger = script.deploy(&format!("a logger with {topics} topics"), code);
        script.run(
            &format!("log with {topics} topics"),
            logger,
            b"some data that is not a multiple of 32".to_vec(),
        );
        script.run(&format!("log nothing with {topics} topics"), logger, []);
    }
}

fn add_arithmetic(script: &mut Script) {
    let (least, minus_one) = (U256::ONE << 255, U256::MAX);
    // Operands are pushed in reverse: the first one named is on the stack's top.
    let binary = |opcode: u8, a: U256, b: U256| Code::new().push_word(b).push_word(a).ops(&[opcode]);
    let ternary = |opcode: u8, n: U256| {
        Code::new().push_word(n).push_word(U256::MAX).push_word(U256::MAX).ops(&[opcode])
    };
    let results = [
        binary(op::SDIV, least, minus_one),
        binary(op::SDIV, least, U256::ZERO),
        binary(op::SMOD, least + U256::ONE, U256::from(3)),
        binary(op::MUL, U256::MAX, U256::MAX),
        binary(op::EXP, U256::from(3), U256::from(300)),
        binary(op::EXP, U256::ZERO, U256::ZERO),
        binary(op::SIGNEXTEND, U256::ZERO, U256::from(0xff)),
        binary(op::SIGNEXTEND, U256::from(31), least),
        binary(op::SAR, U256::from(256), least),
        binary(op::SAR, U256::from(4), least),
        binary(op::BYTE, U256::from(32), U256::MAX),
        binary(op::SLT, least, U256::ZERO),
        ternary(op::ADDMOD, U256::from(12)),
        ternary(op::MULMOD, U256::from(12)),
        ternary(op::MULMOD, U256::ZERO),
    ];
    let results = results.map(Code::bytes);
    let parts: Vec<&[u8]> = results.iter().map(Vec::as_slice).collect();
    let calculator = script.deploy("a calculator", Code::new().log_words(&parts));
    script.run("calculate at the edges", calculator, []);
}
