//! Coin on the move: plain transfers, call data that nobody reads, contracts that take or refuse coin.

use alloy_primitives::{Address, U256, address};

use super::script::{Script, access_list};
use crate::{
    Draft,
    asm::{Code, op},
};

const NOBODY: Address = address!("0x00000000000000000000000000000000c0ffee01");

pub(super) fn add_to(script: &mut Script) {
    let sender = script.sender();
    for (name, to, wei) in [
        ("transfer to a new account", NOBODY, 5_u64),
        ("transfer to an existing account", NOBODY, 7),
        ("transfer of nothing", NOBODY, 0),
        ("transfer to oneself", sender, 9),
    ] {
        script.send(name, Draft::transfer(to, U256::from(wei)));
    }
    script.read_account("after transfers", NOBODY);
    add_idle_calldata(script);

    let listed = Draft {
        access_list: access_list(NOBODY, &[1, 2, 3]),
        gas_limit: 100_000,
        ..Draft::transfer(NOBODY, U256::ONE)
    };
    script.send("transfer with an access list nobody uses", listed);
    script.send(
        "transfer to a precompile",
        Draft { value: U256::ONE, ..Draft::call(Address::with_last_byte(4), [1, 2, 3]) },
    );
    add_payable(script);
}

fn add_idle_calldata(script: &mut Script) {
    script.send("zero bytes to an account without code", Draft::call(NOBODY, vec![0; 1_000]));
    script.send("other bytes to an account without code", Draft::call(NOBODY, vec![0xab; 1_000]));
    let large: Vec<u8> = (0..100_000_u32).map(|i| (i % 251).to_le_bytes()).map(|[low, ..]| low).collect();
    let gas_limit = 3_000_000;
    script.send("100 kB of call data", Draft { gas_limit, ..Draft::call(NOBODY, large.clone()) });

    // keccak256 of the whole call data.
    let hasher = Code::new().load_calldata().ops(&[op::CALLDATASIZE, op::PUSH0, op::KECCAK256]).return_word();
    let hasher = script.deploy("a hasher of call data", hasher);
    script.run("hash nothing", hasher, []);
    script.run("hash 20 kB", hasher, large.get(..20_000).unwrap_or_default().to_vec());
}

fn add_payable(script: &mut Script) {
    // Logs what came and what it holds.
    let payable = Code::new().log_words(&[&[op::CALLVALUE], &[op::SELFBALANCE]]);
    let payable = script.deploy("a contract that takes coin", payable);
    script.send("pay a contract", Draft { value: U256::from(1_234), ..Draft::call(payable, []) });
    script.send("pay a contract again", Draft { value: U256::from(1), ..Draft::call(payable, []) });
    script.read_account("paid contract", payable);

    // if (callvalue != 0) revert()
    let strict = Code::new().ops(&[op::CALLVALUE, op::ISZERO]).push(8).ops(&[
        op::JUMPI,
        op::PUSH0,
        op::PUSH0,
        op::REVERT,
        op::JUMPDEST,
        op::STOP,
    ]);
    let strict = script.deploy("a contract that refuses coin", strict);
    script.send("call it without coin", Draft::call(strict, []));
    script.send_failing(
        "pay a contract that refuses coin",
        Draft { value: U256::ONE, ..Draft::call(strict, []) },
    );
    script.read_account("unpaid contract", strict);
}
