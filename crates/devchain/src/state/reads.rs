//! What has been read from one state, kept for the next reader.
//!
//! The head is asked for the same accounts and slots over and over: by calls, by the pool, by the block built on it. A
//! state never changes, so nothing here is ever wrong; it is dropped as a whole when the next head comes.

use alloy_primitives::{
    Address, B256, U256,
    map::{AddressMap, HashMap},
};
use parking_lot::RwLock;

use super::Account;

/// Accounts and slots beyond these numbers are read each time.
const MAX_ACCOUNTS: usize = 16_384;
const MAX_SLOTS: usize = 16_384;

#[derive(Default)]
pub(super) struct Reads {
    accounts: RwLock<AddressMap<Option<Account>>>,
    /// By storage root, so that accounts with the same storage share it.
    slots: RwLock<HashMap<(B256, U256), U256>>,
}

impl Reads {
    pub(super) fn account<E>(
        &self,
        address: Address,
        read: impl FnOnce() -> Result<Option<Account>, E>,
    ) -> Result<Option<Account>, E> {
        if let Some(account) = self.accounts.read().get(&address) {
            return Ok(*account);
        }
        let account = read()?;
        let mut accounts = self.accounts.write();
        if accounts.len() < MAX_ACCOUNTS {
            accounts.insert(address, account);
        }
        Ok(account)
    }

    pub(super) fn slot<E>(
        &self,
        storage_root: B256,
        slot: U256,
        read: impl FnOnce() -> Result<U256, E>,
    ) -> Result<U256, E> {
        let key = (storage_root, slot);
        if let Some(value) = self.slots.read().get(&key) {
            return Ok(*value);
        }
        let value = read()?;
        let mut slots = self.slots.write();
        if slots.len() < MAX_SLOTS {
            slots.insert(key, value);
        }
        Ok(value)
    }
}
