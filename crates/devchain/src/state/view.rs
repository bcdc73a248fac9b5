//! Reads and proofs of one block's state.

use std::{fmt, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_rlp::Decodable;
use alloy_rpc_types_eth::{EIP1186AccountProofResponse, EIP1186StorageProof};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY, TrieAccount};

use super::{
    Account, NodeSource, StateError, StateView,
    trie::{find, path_of},
};

impl StateView {
    /// The state with this root, whose nodes are in `source`.
    pub fn new(root: B256, source: Arc<dyn NodeSource>) -> Self {
        Self { root, source, reads: None }
    }

    /// The same state, remembering what is read from it. For a state that is read often, such as the head's.
    pub fn remembering(self) -> Self {
        Self { reads: Some(Arc::default()), ..self }
    }

    /// The state root.
    pub fn root(&self) -> B256 {
        self.root
    }

    /// The account at this address, if it exists.
    pub fn account(&self, address: Address) -> Result<Option<Account>, StateError> {
        let find = || self.find_account(address, |_| ());
        match &self.reads {
            Some(reads) => reads.account(address, find),
            None => find(),
        }
    }

    /// The value of a storage slot; zero when the slot or the account does not exist.
    pub fn storage(&self, address: Address, slot: U256) -> Result<U256, StateError> {
        match self.account(address)? {
            Some(account) => self.storage_at(&account, slot),
            None => Ok(U256::ZERO),
        }
    }

    /// Like [`StateView::storage`], for an account that is already at hand.
    pub fn storage_at(&self, account: &Account, slot: U256) -> Result<U256, StateError> {
        let root = account.storage_root;
        let find = || self.find_slot(root, B256::from(slot), |_| ());
        match &self.reads {
            Some(reads) => reads.slot(root, slot, find),
            None => find(),
        }
    }

    /// The code with this hash; empty for the hash of nothing.
    pub fn code(&self, hash: B256) -> Result<Bytes, StateError> {
        if hash == KECCAK_EMPTY { Ok(Bytes::new()) } else { self.source.code(hash) }
    }

    /// Merkle proofs (EIP-1186) of an account and of some of its slots, or of their absence.
    pub fn prove(&self, address: Address, slots: &[B256]) -> Result<EIP1186AccountProofResponse, StateError> {
        let mut account_proof = Vec::new();
        let account =
            self.find_account(address, |node| account_proof.push(node.clone()))?.unwrap_or(Account {
                nonce: 0,
                balance: U256::ZERO,
                storage_root: EMPTY_ROOT_HASH,
                code_hash: KECCAK_EMPTY,
            });
        let prove_slot = |slot: &B256| {
            let mut proof = Vec::new();
            let value = self.find_slot(account.storage_root, *slot, |node| proof.push(node.clone()))?;
            Ok(EIP1186StorageProof { key: (*slot).into(), value, proof })
        };
        Ok(EIP1186AccountProofResponse {
            address,
            balance: account.balance,
            code_hash: account.code_hash,
            nonce: account.nonce,
            storage_hash: account.storage_root,
            account_proof,
            storage_proof: slots.iter().map(prove_slot).collect::<Result<_, StateError>>()?,
        })
    }

    pub(super) fn source(&self) -> &dyn NodeSource {
        &*self.source
    }

    fn find_account(
        &self,
        address: Address,
        visit: impl FnMut(&Bytes),
    ) -> Result<Option<Account>, StateError> {
        let key = keccak256(address);
        let value = find(&*self.source, self.root, &path_of(&key), visit)?;
        value.map(|value| Account::decode(&value).ok_or(StateError::CorruptValue(key))).transpose()
    }

    fn find_slot(&self, root: B256, slot: B256, visit: impl FnMut(&Bytes)) -> Result<U256, StateError> {
        let key = keccak256(slot);
        match find(&*self.source, root, &path_of(&key), visit)? {
            Some(value) => U256::decode(&mut &value[..]).map_err(|_| StateError::CorruptValue(key)),
            None => Ok(U256::ZERO),
        }
    }
}

impl fmt::Debug for StateView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateView").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Account {
    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let TrieAccount { nonce, balance, storage_root, code_hash, .. } =
            TrieAccount::decode(&mut &value[..]).ok()?;
        Some(Self { nonce, balance, storage_root, code_hash })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        alloy_rlp::encode(TrieAccount::new(self.nonce, self.balance, self.storage_root, self.code_hash))
    }
}
