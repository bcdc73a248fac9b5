//! Storage: its gas by old and new value (EIP-2200, EIP-2929), refunds and their cap (EIP-3529), access lists.

use super::script::{Script, access_list, words};
use crate::{
    Draft,
    asm::{Code, op},
};

pub(super) fn add_to(script: &mut Script) {
    // slot[word 0] = word 1
    let cell = Code::new().push(32).ops(&[op::CALLDATALOAD, op::PUSH0, op::CALLDATALOAD, op::SSTORE]);
    let cell = script.deploy("a storage cell", cell);
    for (name, value) in [
        ("store into an empty slot", 5),
        ("store the same value", 5),
        ("store another value", 6),
        ("clear a slot", 0),
        ("clear an empty slot", 0),
    ] {
        script.send(name, Draft::call(cell, words(&[1, value])));
        script.read_slot(&format!("{name}: the slot"), cell, 1);
    }
    let listed =
        |slots: &[u64]| Draft { access_list: access_list(cell, slots), ..Draft::call(cell, words(&[2, 7])) };
    script.send("store with the slot in the access list", listed(&[2]));
    script.send("store with another slot in the access list", listed(&[9]));

    // slots 0..12 = word 0: clearing them is refunded up to a fifth of the gas used.
    let row = (0..12).fold(Code::new(), |code, slot| {
        code.ops(&[op::PUSH0, op::CALLDATALOAD]).push(slot).ops(&[op::SSTORE])
    });
    let row = script.deploy("a row of slots", row);
    script.send("fill a row", Draft::call(row, words(&[3])));
    script.send("clear a row", Draft::call(row, words(&[0])));

    // In one transaction: empty -> 1 -> 0 -> 2, then read: the net metering of EIP-2200.
    let flicker =
        [1, 0, 2].into_iter().fold(Code::new(), |code, value| code.push(value).ops(&[op::PUSH0, op::SSTORE]));
    let flicker = flicker.ops(&[op::PUSH0, op::SLOAD]).return_word();
    let flicker = script.deploy("a flickering slot", flicker);
    script.run("write a slot three times", flicker, []);
    script.run("write a filled slot three times", flicker, []);
    script.send_failing(
        "store with less than the stipend left (EIP-2200)",
        Draft { gas_limit: 21_000 + 16 * 64 + 2_350, ..Draft::call(cell, words(&[0x0101, 1])) },
    );
}
