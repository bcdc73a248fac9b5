//! Writes a scenario: every step is signed when it is added, so that both nodes get the same bytes.

use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_primitives::{Address, B256, Bytes, U256};
use serde_json::{Value, json};

use super::{Action, Expected, Step};
use crate::{
    Draft, SignedTransaction, Wallet,
    asm::{Code, deployer},
};

/// Gas of simulated calls: given, because `GAS` and out-of-gas cases see it.
const CALL_GAS: u64 = 5_000_000;

/// A scenario under construction.
pub(super) struct Script {
    wallet: Wallet,
    steps: Vec<Step>,
}

impl Script {
    pub(super) fn new(wallet: Wallet) -> Self {
        Self { wallet, steps: Vec::new() }
    }

    pub(super) fn finish(self) -> Vec<Step> {
        self.steps
    }

    pub(super) fn sender(&self) -> Address {
        self.wallet.address()
    }

    /// A transaction that succeeds.
    pub(super) fn send(&mut self, name: &str, draft: Draft) {
        self.send_expecting(name, draft, Expected::Success);
    }

    /// A transaction that is mined and fails.
    pub(super) fn send_failing(&mut self, name: &str, draft: Draft) {
        self.send_expecting(name, draft, Expected::Failure);
    }

    /// Deploys a contract and returns where it lives.
    pub(super) fn deploy(&mut self, name: &str, runtime: Code) -> Address {
        let address = self.wallet.next_contract();
        self.send(&format!("deploy {name}"), Draft::deploy(deployer(&runtime.bytes())));
        address
    }

    /// The same input as a transaction and as `eth_call`: one shows gas and logs, the other return or revert data.
    pub(super) fn run(&mut self, name: &str, to: Address, input: impl Into<Bytes>) {
        self.run_expecting(name, to, input.into(), Expected::Success);
    }

    /// Like [`Self::run`], for what must fail.
    pub(super) fn run_failing(&mut self, name: &str, to: Address, input: impl Into<Bytes>) {
        self.run_expecting(name, to, input.into(), Expected::Failure);
    }

    /// Reads something that must be the same on both nodes.
    pub(super) fn read(&mut self, name: &str, method: &'static str, params: Value) {
        let action = Action::Read { method, params };
        self.steps.push(Step { name: name.to_owned(), action, expected: Expected::Success });
    }

    /// Reads code, balance and nonce of an account.
    pub(super) fn read_account(&mut self, name: &str, address: Address) {
        for method in ["eth_getCode", "eth_getBalance", "eth_getTransactionCount"] {
            self.read(&format!("{name}: {method}"), method, json!([address, "latest"]));
        }
    }

    /// Reads a storage slot.
    pub(super) fn read_slot(&mut self, name: &str, address: Address, slot: u64) {
        self.read(name, "eth_getStorageAt", json!([address, B256::from(U256::from(slot)), "latest"]));
    }

    fn run_expecting(&mut self, name: &str, to: Address, input: Bytes, expected: Expected) {
        // The call comes first: both see the state before the transaction.
        let request =
            json!({ "from": self.sender(), "to": to, "data": input, "gas": format!("{CALL_GAS:#x}") });
        let action = Action::Read { method: "eth_call", params: json!([request, "latest"]) };
        self.steps.push(Step { name: format!("{name} (call)"), action, expected });
        self.send_expecting(name, Draft::call(to, input), expected);
    }

    fn send_expecting(&mut self, name: &str, draft: Draft, expected: Expected) {
        let transaction = self.sign(draft);
        self.steps.push(Step { name: name.to_owned(), action: Action::Send(transaction), expected });
    }

    /// Goes through the three kinds in turn, so that each kind of step meets each kind of envelope somewhere.
    fn sign(&mut self, draft: Draft) -> SignedTransaction {
        match self.wallet.nonce() % 3 {
            _ if !draft.access_list.0.is_empty() => self.wallet.sign_access_list(draft),
            0 => self.wallet.sign_legacy(draft),
            1 => self.wallet.sign_access_list(draft),
            _ => self.wallet.sign_dynamic_fee(draft),
        }
    }
}

/// An access list with one account and some of its slots.
pub(super) fn access_list(address: Address, slots: &[u64]) -> AccessList {
    let storage_keys = slots.iter().map(|slot| B256::from(U256::from(*slot))).collect();
    AccessList(vec![AccessListItem { address, storage_keys }])
}

/// Words one after the other, as contracts of the scenario take them.
pub(super) fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| U256::from(*number).to_be_bytes::<32>()).collect()
}
