//! Contracts that make, call and destroy contracts.

use alloy_primitives::{Address, U256, address};
use serde_json::json;

use super::script::{Script, words};
use crate::{
    Draft,
    asm::{Code, deployer, op},
};

const HEIR: Address = address!("0x00000000000000000000000000000000c0ffee02");

pub(super) fn add_to(script: &mut Script) {
    add_init_code(script);
    add_factories(script);
    add_selfdestruct(script);
    add_calls(script);
}

/// Deployments that end in special ways.
fn add_init_code(script: &mut Script) {
    script.send("deploy empty code", Draft::deploy([op::STOP]));
    script.send("deploy with coin", Draft { value: U256::from(77), ..Draft::deploy(deployer(&[op::STOP])) });
    script.send_failing("deploy with reverting init code", Draft::deploy([op::PUSH0, op::PUSH0, op::REVERT]));
    script.send_failing("deploy with halting init code", Draft::deploy([op::INVALID]));
    script
        .send_failing("deploy code that starts with 0xEF (EIP-3541)", Draft::deploy(deployer(&[0xef, 0x00])));
    script.send_failing(
        "deploy without gas for the code",
        Draft { gas_limit: 80_000, ..Draft::deploy(deployer(&[op::STOP; 200])) },
    );
    script.send("deploy 4 kB of code", Draft::deploy(deployer(&[op::STOP; 4_096])));
    let init = Code::new().ops(&[op::CALLER]).return_word().bytes();
    script.read("call init code without an address", "eth_call", json!([
        { "from": script.sender(), "data": alloy_primitives::Bytes::from(init), "gas": "0x100000" }, "latest"
    ]));
}

fn add_factories(script: &mut Script) {
    // create2(value 0, init code = calldata[32..], salt = word 0); returns the address.
    let create2 = factory(&[op::PUSH0, op::CALLDATALOAD], op::CREATE2);
    let create2 = script.deploy("a CREATE2 factory", create2);
    let child = deployer(&Code::new().log_words(&[&[op::ADDRESS]]).bytes());
    let order = |salt: u64, init: &[u8]| [words(&[salt]), init.to_vec()].concat();
    script.run("create with CREATE2", create2, order(1, &child));
    script.run("create at a taken address", create2, order(1, &child));
    script.run("create with another salt", create2, order(2, &child));
    script.run("create with reverting init code", create2, order(3, &[op::PUSH0, op::PUSH0, op::REVERT]));
    script.run("create with halting init code", create2, order(4, &[op::INVALID]));
    script.read_account("CREATE2 factory", create2);

    let create = script.deploy("a CREATE factory", factory(&[], op::CREATE));
    script.run("create with CREATE", create, order(0, &child));
    script.run("create with CREATE again", create, order(0, &child));
    script.read_account("first child", create.create(1));

    // Init code above the limit of EIP-3860: 49,153 bytes of memory.
    let oversized = Code::new().push(49_153).ops(&[op::PUSH0, op::PUSH0, op::CREATE]).return_word();
    let oversized = script.deploy("a factory with too large init code", oversized);
    script.run_failing("create from too large init code (EIP-3860)", oversized, []);
}

/// Copies `calldata[32..]` to memory and creates from it; `salt` leaves CREATE2's on the stack.
fn factory(salt: &[u8], create: u8) -> Code {
    let size = |code: Code| code.push(32).ops(&[op::CALLDATASIZE, op::SUB]);
    let copied = size(Code::new()).push(32).ops(&[op::PUSH0, op::CALLDATACOPY]);
    size(copied.ops(salt)).ops(&[op::PUSH0, op::PUSH0, create]).return_word()
}

fn add_selfdestruct(script: &mut Script) {
    // selfdestruct(word 0)
    let mortal = Code::new().ops(&[op::PUSH0, op::CALLDATALOAD, op::SELFDESTRUCT]);
    let contract = script.deploy("a mortal contract", mortal.clone());
    script.send("pay the mortal", Draft { value: U256::from(555), ..Draft::call(contract, heir(HEIR)) });
    script.read_account("destroyed contract", contract);
    script.read_account("heir", HEIR);
    script.send("call what was destroyed", Draft::call(contract, heir(HEIR)));

    let selfish = script.deploy("a mortal contract that inherits itself", mortal.clone());
    script.send(
        "destroy in favour of itself",
        Draft { value: U256::from(9), ..Draft::call(selfish, heir(selfish)) },
    );
    script.read_account("its own heir", selfish);

    // Destroyed in one transaction, made again at the same address in a later one.
    let phoenix_factory =
        script.deploy("a factory of mortals", factory(&[op::PUSH0, op::CALLDATALOAD], op::CREATE2));
    let init = deployer(&mortal.bytes());
    let phoenix = phoenix_factory.create2_from_code(U256::from(6).to_be_bytes(), &init);
    let order = [words(&[6]), init].concat();
    script.send("create a mortal", Draft::call(phoenix_factory, order.clone()));
    script.send("destroy it", Draft::call(phoenix, heir(HEIR)));
    script.send("create it again", Draft::call(phoenix_factory, order));
    script.read_account("created again", phoenix);
    script.send(
        "destroy during creation",
        Draft::deploy(Code::new().ops(&[op::CALLER, op::SELFDESTRUCT]).bytes()),
    );
}

fn add_calls(script: &mut Script) {
    // Calls itself with what it has minus its own needs; every frame that returns adds one to slot 0.
    let deep = Code::new()
        .ops(&[op::PUSH0, op::PUSH0, op::PUSH0, op::PUSH0, op::PUSH0, op::ADDRESS])
        .push(40_000)
        .ops(&[op::GAS, op::SUB, op::CALL])
        .ops(&[op::PUSH0, op::SLOAD, op::ADD])
        .push(1)
        .ops(&[op::ADD, op::PUSH0, op::SSTORE]);
    let deep = script.deploy("a contract that calls itself", deep);
    script.run("call deep", deep, []);
    script.read_slot("frames that returned", deep, 0);

    // slot 0 = caller, as a library: its storage and caller are those of who delegates.
    let library = Code::new().ops(&[op::CALLER, op::PUSH0, op::SSTORE]);
    let library = script.deploy("a library", library);
    let through = |call: u8, value: &[u8]| {
        Code::new()
            .ops(&[op::PUSH0, op::PUSH0, op::PUSH0, op::PUSH0])
            .ops(value)
            .push_address(library)
            .ops(&[op::GAS, call])
            .return_word()
    };
    for (name, code) in [
        ("DELEGATECALL", through(op::DELEGATECALL, &[])),
        ("CALLCODE", through(op::CALLCODE, &[op::PUSH0])),
        ("CALL", through(op::CALL, &[op::PUSH0])),
        ("STATICCALL, which must not write", through(op::STATICCALL, &[])),
    ] {
        let contract = script.deploy(&format!("a user of the library by {name}"), code);
        script.run(&format!("use a library by {name}"), contract, []);
        script.read_slot(&format!("what {name} wrote"), contract, 0);
    }
    script.read_slot("what the library wrote for itself", library, 0);
}

fn heir(address: Address) -> Vec<u8> {
    address.into_word().to_vec()
}
