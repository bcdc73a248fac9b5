//! Contracts that take part in bad faith, as init code.

use alloy_primitives::Address;
use testkit::asm::{Code, deployer, op};

/// Refuses every call and all coin.
pub(super) fn refuser() -> Vec<u8> {
    deployer(&Code::new().ops(&[op::PUSH0, op::PUSH0, op::REVERT]).bytes())
}

/// What a meddling call does with the coin that came.
#[derive(Clone, Copy)]
pub(super) enum Coin {
    Kept,
    SentAlong,
}

/// Whenever it is called, first calls `target` with `data`, and then accepts in any case.
pub(super) fn meddler(target: Address, data: &[u8], coin: Coin) -> Vec<u8> {
    deployer(&then_data(&[], |data_at| call_with_data(target, data_at, data.len(), coin), data))
}

/// Acts as an account: forwards every call with its coin to `target`, refused as the target refuses. Coin without a
/// call makes it call `target` with `on_receipt`; a proxy without an answer to that refuses the coin.
pub(super) fn proxy(target: Address, on_receipt: Option<&[u8]>) -> Vec<u8> {
    let forward = |receive_at: u64, fail_at: u64| {
        Code::new()
            .ops(&[op::CALLDATASIZE, op::ISZERO])
            .push(receive_at)
            .ops(&[op::JUMPI])
            .load_calldata()
            .ops(&[op::PUSH0, op::PUSH0, op::CALLDATASIZE, op::PUSH0, op::CALLVALUE])
            .push_address(target)
            .ops(&[op::GAS, op::CALL, op::ISZERO])
            .push(fail_at)
            .ops(&[op::JUMPI, op::STOP, op::JUMPDEST])
            .ops(&[op::RETURNDATASIZE, op::PUSH0, op::PUSH0, op::RETURNDATACOPY])
            .ops(&[op::RETURNDATASIZE, op::PUSH0, op::REVERT, op::JUMPDEST])
            .bytes()
    };
    // Offsets are one byte each, so that the code's length does not depend on them.
    let length = forward(0, 0).len() as u64;
    let forward = forward(length - 1, length - 9);
    match on_receipt {
        None => deployer(&[forward, vec![op::PUSH0, op::PUSH0, op::REVERT]].concat()),
        Some(data) => {
            let meddle = |data_at| call_with_data(target, data_at, data.len(), Coin::Kept);
            deployer(&then_data(&forward, meddle, data))
        }
    }
}

/// Calls `target` with `length` bytes of the own code, and stops whatever comes of it.
fn call_with_data(target: Address, data_at: u64, length: usize, coin: Coin) -> Vec<u8> {
    let length = length as u64;
    let value = match coin {
        Coin::Kept => op::PUSH0,
        Coin::SentAlong => op::CALLVALUE,
    };
    Code::new()
        .push(length)
        .push(data_at)
        .ops(&[op::PUSH0, op::CODECOPY, op::PUSH0, op::PUSH0])
        .push(length)
        .ops(&[op::PUSH0, value])
        .push_address(target)
        .ops(&[op::GAS, op::CALL, op::STOP])
        .bytes()
}

/// Code, code that is told where the data lies, and the data.
fn then_data(head: &[u8], tail: impl Fn(u64) -> Vec<u8>, data: &[u8]) -> Vec<u8> {
    // 1 is pushed with one byte, as every offset below 256 is.
    let data_at = head.len() + tail(1).len();
    assert!(data_at < 256, "an offset of one byte");
    [head, &tail(data_at as u64), data].concat()
}
