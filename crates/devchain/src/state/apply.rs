//! A block's changes as changes of the account trie and of the storage tries below it.

use alloy_primitives::{B256, U256, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, Nibbles};

use super::{
    Account, AccountDiff, StateDiff, StateError, StateUpdate, StateView,
    trie::path_of,
    update::{Change, TrieWriter},
};

impl StateView {
    /// The state after a block's changes. Nothing is stored: the caller commits the returned nodes.
    pub fn apply(&self, diff: &StateDiff) -> Result<StateUpdate, StateError> {
        let mut changes: Vec<_> = diff
            .accounts
            .iter()
            .map(|(address, diff)| AccountChange { path: path_of(&keccak256(address)), diff })
            .collect();
        changes.sort_unstable_by_key(|change| change.path);
        let mut writer = TrieWriter::new(self.source());
        let root = writer.update(self.root(), &changes)?;
        Ok(writer.finish(root))
    }
}

struct AccountChange<'a> {
    path: Nibbles,
    diff: &'a AccountDiff,
}

impl AccountChange<'_> {
    fn storage_root(&self, old: Option<&[u8]>, writer: &mut TrieWriter<'_>) -> Result<B256, StateError> {
        let before = match old {
            Some(old) if !self.diff.wiped => {
                let corrupt = || StateError::CorruptValue(B256::from_slice(&self.path.pack()));
                Account::decode(old).ok_or_else(corrupt)?.storage_root
            }
            Some(_) | None => EMPTY_ROOT_HASH,
        };
        let mut slots: Vec<_> = self.diff.storage.iter().map(SlotChange::new).collect();
        slots.sort_unstable_by_key(|slot| slot.path);
        writer.update(before, &slots)
    }
}

impl Change for AccountChange<'_> {
    fn path(&self) -> &Nibbles {
        &self.path
    }

    fn value(&self, old: Option<&[u8]>, writer: &mut TrieWriter<'_>) -> Result<Option<Vec<u8>>, StateError> {
        let Some(fields) = self.diff.account else {
            return Ok(None);
        };
        let account = Account {
            nonce: fields.nonce,
            balance: fields.balance,
            storage_root: self.storage_root(old, writer)?,
            code_hash: fields.code_hash,
        };
        Ok(Some(account.encode()))
    }
}

struct SlotChange {
    path: Nibbles,
    value: U256,
}

impl SlotChange {
    fn new((slot, value): (&U256, &U256)) -> Self {
        Self { path: path_of(&keccak256(B256::from(*slot))), value: *value }
    }
}

impl Change for SlotChange {
    fn path(&self) -> &Nibbles {
        &self.path
    }

    fn value(
        &self,
        _old: Option<&[u8]>,
        _writer: &mut TrieWriter<'_>,
    ) -> Result<Option<Vec<u8>>, StateError> {
        Ok((!self.value.is_zero()).then(|| alloy_rlp::encode(self.value)))
    }
}
