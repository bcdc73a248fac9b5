//! The nine precompiles, with good and bad input, through a contract that logs what they answered.

use alloy_primitives::{Address, U256, hex, keccak256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use domain::devnet;

use super::script::{Script, words};
use crate::asm::{Code, op};

/// Order of the bn254 base field, minus two: the y of the negated generator (1, 2).
const NEGATED_Y: [u8; 32] = hex!("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd45");
/// Generator of bn254's second group, as EIP-197 encodes it.
const G2: [u8; 128] = hex!(
    "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"
    "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"
    "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"
    "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa"
);
/// State of blake2b before "abc" (EIP-152, test vector 5).
const BLAKE2_STATE: [u8; 64] = hex!(
    "48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5"
    "d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b"
);

pub(super) fn add_to(script: &mut Script) {
    let forwarder = script.deploy("a forwarder", forwarder());
    for (name, number, input) in inputs() {
        let order = [Address::with_last_byte(number).into_word().to_vec(), input.clone()].concat();
        script.run(name, forwarder, order);
        script.read(&format!("{name}, directly"), "eth_call", serde_json::json!([
            { "to": Address::with_last_byte(number), "data": alloy_primitives::Bytes::from(input), "gas": "0x100000" },
            "latest"
        ]));
    }
}

/// Calls the address in word 0 with the rest of the call data; logs and returns success and what came back.
fn forwarder() -> Code {
    let size = |code: Code| code.push(32).ops(&[op::CALLDATASIZE, op::SUB]);
    let copied = size(Code::new()).push(32).ops(&[op::PUSH0, op::CALLDATACOPY]);
    let called = size(copied.ops(&[op::PUSH0, op::PUSH0]))
        .ops(&[op::PUSH0, op::PUSH0, op::PUSH0, op::CALLDATALOAD])
        // Bounded, because a failing precompile takes all it was given.
        .push(300_000)
        .ops(&[op::CALL, op::PUSH0, op::MSTORE]);
    let answered = called.ops(&[op::RETURNDATASIZE, op::PUSH0]).push(32).ops(&[op::RETURNDATACOPY]);
    let answer_size = |code: Code| code.push(32).ops(&[op::RETURNDATASIZE, op::ADD, op::PUSH0]);
    let logged = answer_size(answered).ops(&[op::LOG0]);
    answer_size(logged).ops(&[op::RETURN])
}

fn inputs() -> Vec<(&'static str, u8, Vec<u8>)> {
    let text = b"chainnet".to_vec();
    let point = words(&[1, 2]);
    let negated = [words(&[1]), NEGATED_Y.to_vec()].concat();
    let pair = |first: &[u8]| [first, &G2].concat();
    vec![
        ("ecrecover", 1, recoverable(27)),
        ("ecrecover with a wrong v", 1, recoverable(29)),
        ("ecrecover of nothing", 1, Vec::new()),
        ("sha256", 2, text.clone()),
        ("sha256 of nothing", 2, Vec::new()),
        ("ripemd160", 3, text.clone()),
        ("identity", 4, text.repeat(20)),
        ("modexp 3^5 mod 7", 5, [words(&[1, 1, 1]), vec![3, 5, 7]].concat()),
        ("modexp with 64-byte numbers", 5, [words(&[64, 64, 64]), vec![0xfd; 192]].concat()),
        ("modexp of nothing", 5, Vec::new()),
        ("bn254 add", 6, [point.clone(), point.clone()].concat()),
        ("bn254 add of nothing", 6, Vec::new()),
        ("bn254 mul", 7, [point.clone(), words(&[9])].concat()),
        ("bn254 pairing that holds", 8, [pair(&point), pair(&negated)].concat()),
        ("bn254 pairing that does not hold", 8, [pair(&point), pair(&point)].concat()),
        ("bn254 pairing of nothing", 8, Vec::new()),
        ("blake2f, 12 rounds", 9, blake2_input(12, 1)),
        ("blake2f, no round", 9, blake2_input(0, 1)),
        ("no precompile in Shanghai: 10", 10, text),
    ]
    .into_iter()
    .collect()
}

fn recoverable(v: u64) -> Vec<u8> {
    let hash = keccak256("recover me");
    let signed = devnet::ACCOUNTS.first().and_then(|account| {
        let signer = PrivateKeySigner::from_bytes(&account.key).ok()?;
        signer.sign_hash_sync(&hash).ok()
    });
    let (r, s, odd) = signed.map_or((U256::ZERO, U256::ZERO, false), |s| (s.r(), s.s(), s.v()));
    [hash.to_vec(), words(&[v + u64::from(odd)]), r.to_be_bytes_vec(), s.to_be_bytes_vec()].concat()
}

/// EIP-152's input for the single block "abc"; `last` is 1 for a final block.
fn blake2_input(rounds: u32, last: u8) -> Vec<u8> {
    let mut message = b"abc".to_vec();
    message.resize(128, 0);
    let mut counter = vec![3];
    counter.resize(16, 0);
    [rounds.to_be_bytes().to_vec(), BLAKE2_STATE.to_vec(), message, counter, vec![last]].concat()
}
