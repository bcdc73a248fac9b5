//! A block's changes on top of its parent's state: what the interpreter reads from and commits to.

use std::collections::BTreeMap;

use alloy_primitives::{
    Address, B256, KECCAK256_EMPTY, U256,
    map::{AddressMap, HashMap, hash_map::Entry},
};
use alloy_trie::EMPTY_ROOT_HASH;
use revm::{
    Database, DatabaseCommit, DatabaseRef, bytecode::Bytecode, database_interface::DBErrorMarker,
    state::AccountInfo,
};

use super::{BlockHashes, code};
use crate::state::{Account, AccountDiff, AccountFields, StateDiff, StateError, StateView};

impl DBErrorMarker for StateError {}

/// The parent state, what was read from it, and what has changed since.
pub(super) struct Overlay<'a> {
    state: &'a StateView,
    hashes: &'a dyn BlockHashes,
    /// Block hashes that were set, or asked for before.
    known_hashes: BTreeMap<u64, B256>,
    accounts: AddressMap<OverlaidAccount>,
    new_code: HashMap<B256, Bytecode>,
}

struct OverlaidAccount {
    parent: Option<Account>,
    present: Option<AccountInfo>,
    changed: bool,
    /// Destroyed or created in this block: the parent's storage no longer shows through.
    wiped: bool,
    storage: HashMap<U256, Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    parent: U256,
    present: U256,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(state: &'a StateView, hashes: &'a dyn BlockHashes) -> Self {
        Self {
            state,
            hashes,
            known_hashes: BTreeMap::new(),
            accounts: AddressMap::default(),
            new_code: HashMap::default(),
        }
    }

    /// Makes BLOCKHASH answer with these hashes first.
    pub(super) fn override_hashes(&mut self, hashes: BTreeMap<u64, B256>) {
        self.known_hashes = hashes;
    }

    /// Changes an account's own fields outside of any transaction, creating the account if needed.
    pub(super) fn edit_account(
        &mut self,
        address: Address,
        edit: impl FnOnce(&mut AccountInfo),
    ) -> Result<(), StateError> {
        let account = self.load(address)?;
        edit(account.present.get_or_insert_default());
        account.changed = true;
        Ok(())
    }

    /// Sets a storage slot outside of any transaction.
    pub(super) fn set_storage(
        &mut self,
        address: Address,
        slot: U256,
        value: U256,
    ) -> Result<(), StateError> {
        let parent = self.storage(address, slot)?;
        let account = self.load(address)?;
        account.present.get_or_insert_default();
        account.changed = true;
        account.storage.entry(slot).or_insert(Slot { parent, present: value }).present = value;
        Ok(())
    }

    /// Forgets an account's storage outside of any transaction.
    pub(super) fn wipe_storage(&mut self, address: Address) -> Result<(), StateError> {
        let account = self.load(address)?;
        account.wiped = true;
        account.storage.clear();
        Ok(())
    }

    /// What has really changed against the parent state.
    pub(super) fn into_diff(self) -> StateDiff {
        let mut diff = StateDiff::default();
        for (address, account) in self.accounts {
            let Some(change) = account.into_diff() else {
                continue;
            };
            let created = change.account.and_then(|fields| self.new_code.get_key_value(&fields.code_hash));
            if let Some((hash, code)) = created {
                diff.code.insert(*hash, code.original_bytes());
            }
            diff.accounts.insert(address, change);
        }
        diff
    }

    fn load(&mut self, address: Address) -> Result<&mut OverlaidAccount, StateError> {
        match self.accounts.entry(address) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let parent = self.state.account(address)?;
                Ok(entry.insert(OverlaidAccount::unchanged(parent)))
            }
        }
    }
}

impl OverlaidAccount {
    fn unchanged(parent: Option<Account>) -> Self {
        Self {
            parent,
            present: parent.as_ref().map(account_info),
            changed: false,
            wiped: false,
            storage: HashMap::default(),
        }
    }

    fn remove(&mut self) {
        self.changed = true;
        self.wiped = true;
        self.present = None;
        self.storage.clear();
    }

    fn into_diff(self) -> Option<AccountDiff> {
        if !self.changed {
            return None;
        }
        let wiped = self.wiped && self.parent.is_some_and(|parent| parent.storage_root != EMPTY_ROOT_HASH);
        let account = self.present.map(|info| AccountFields {
            nonce: info.nonce,
            balance: info.balance,
            code_hash: info.code_hash,
        });
        let storage: HashMap<U256, U256> = self
            .storage
            .into_iter()
            .filter(|(_, slot)| slot.present != slot.parent)
            .map(|(key, slot)| (key, slot.present))
            .collect();
        let parent = self.parent.map(|parent| AccountFields {
            nonce: parent.nonce,
            balance: parent.balance,
            code_hash: parent.code_hash,
        });
        let same = account == parent && !wiped && storage.is_empty();
        (!same).then_some(AccountDiff { account, wiped, storage })
    }
}

fn account_info(account: &Account) -> AccountInfo {
    AccountInfo {
        balance: account.balance,
        nonce: account.nonce,
        code_hash: account.code_hash,
        account_id: None,
        code: (account.code_hash == KECCAK256_EMPTY).then(Bytecode::default),
    }
}

impl Database for Overlay<'_> {
    type Error = StateError;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, StateError> {
        Ok(self.load(address)?.present.clone())
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, StateError> {
        self.code_by_hash_ref(hash)
    }

    fn storage(&mut self, address: Address, slot: U256) -> Result<U256, StateError> {
        let state = self.state;
        let account = self.load(address)?;
        if let Some(known) = account.storage.get(&slot) {
            return Ok(known.present);
        }
        let value = match &account.parent {
            Some(parent) if !account.wiped => state.storage_at(parent, slot)?,
            _ => U256::ZERO,
        };
        account.storage.insert(slot, Slot { parent: value, present: value });
        Ok(value)
    }

    /// Asked for a few gas only, so the store is asked once.
    fn block_hash(&mut self, number: u64) -> Result<B256, StateError> {
        let hashes = self.hashes;
        let known = self.known_hashes.entry(number);
        Ok(*known.or_insert_with(|| hashes.block_hash(number).unwrap_or_default()))
    }
}

impl DatabaseRef for Overlay<'_> {
    type Error = StateError;

    fn basic_ref(&self, address: Address) -> Result<Option<AccountInfo>, StateError> {
        match self.accounts.get(&address) {
            Some(account) => Ok(account.present.clone()),
            None => Ok(self.state.account(address)?.as_ref().map(account_info)),
        }
    }

    fn code_by_hash_ref(&self, hash: B256) -> Result<Bytecode, StateError> {
        match self.new_code.get(&hash) {
            Some(code) => Ok(code.clone()),
            None => code::load(self.state, hash),
        }
    }

    fn storage_ref(&self, address: Address, slot: U256) -> Result<U256, StateError> {
        let Some(account) = self.accounts.get(&address) else {
            return self.state.storage(address, slot);
        };
        match (account.storage.get(&slot), &account.parent) {
            (Some(known), _) => Ok(known.present),
            (None, Some(parent)) if !account.wiped => self.state.storage_at(parent, slot),
            (None, _) => Ok(U256::ZERO),
        }
    }

    fn block_hash_ref(&self, number: u64) -> Result<B256, StateError> {
        let overridden = self.known_hashes.get(&number).copied();
        Ok(overridden.or_else(|| self.hashes.block_hash(number)).unwrap_or_default())
    }
}

impl DatabaseCommit for Overlay<'_> {
    fn commit(&mut self, changes: AddressMap<revm::state::Account>) {
        for (address, change) in changes {
            // Everything in `changes` was read through `basic`, hence is present.
            let Some(account) = self.accounts.get_mut(&address).filter(|_| change.is_touched()) else {
                continue;
            };
            // EIP-161: an account that a transaction touches and leaves empty does not exist.
            if change.is_selfdestructed() || change.info.is_empty() {
                account.remove();
                continue;
            }
            if change.is_created() {
                account.wiped = true;
                account.storage.clear();
                if let Some(code) = change.info.code.as_ref().filter(|code| !code.is_empty()) {
                    self.new_code.insert(change.info.code_hash, code.clone());
                }
            }
            account.changed = true;
            account.present = Some(change.info);
            for (key, slot) in change.storage {
                if slot.is_changed() {
                    let unread = Slot { parent: U256::ZERO, present: U256::ZERO };
                    account.storage.entry(key).or_insert(unread).present = slot.present_value;
                }
            }
        }
    }
}
