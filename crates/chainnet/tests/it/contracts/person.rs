//! Who acts in the tests: the devnet's well-known accounts, and newcomers without coin.

use alloy_primitives::{Address, B256, keccak256};
use domain::devnet::{self, DevRole};
use testkit::Wallet;

/// Somebody with a key. Gas is free, so that even those without coin can send transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Person {
    /// A development account, 0 to 9, with a million coin. 5 to 9 own the treasury.
    Dev(usize),
    /// A validator of the genesis, 0 to 4: operator and node at once, all its coin staked.
    Validator(usize),
    /// Holds the registry's slasher role.
    Keeper,
    /// Holds a hundred million coin.
    Faucet,
    /// Not in the genesis.
    Newcomer(usize),
}

pub(super) const ADMIN: Person = Person::Dev(0);
pub(super) const SLASHER: Person = Person::Keeper;
pub(super) const STRANGER: Person = Person::Dev(1);

impl Person {
    pub(super) fn key(self) -> B256 {
        match self {
            Self::Dev(index) => devnet::ACCOUNTS[index].key,
            Self::Validator(index) => devnet::role_key(DevRole::Validator(index)),
            Self::Keeper => devnet::role_key(DevRole::Keeper),
            Self::Faucet => devnet::role_key(DevRole::Faucet),
            Self::Newcomer(index) => keccak256(format!("newcomer {index}")),
        }
    }

    pub(super) fn wallet(self) -> Wallet {
        Wallet::from_key(self.key()).expect("a valid key")
    }

    pub(super) fn address(self) -> Address {
        self.wallet().address()
    }
}
