//! The trie against alloy's hash builder, and the state against a plain map.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use alloy_primitives::{
    Address, B256, Bytes, U256, keccak256,
    map::{B256HashMap, HashMap},
};
use alloy_trie::{
    EMPTY_ROOT_HASH, HashBuilder, KECCAK_EMPTY, Nibbles, TrieAccount,
    proof::verify_proof,
    root::{state_root_unhashed, storage_root_unhashed},
};
use parking_lot::RwLock;
use proptest::{collection::vec, option, prelude::*};

use super::{
    AccountDiff, AccountFields, NodeSource, StateDiff, StateError, StateUpdate, StateView,
    trie::{find, path_of},
    update::{Change, TrieWriter},
};

#[derive(Default)]
struct MemoryNodes {
    nodes: RwLock<B256HashMap<Bytes>>,
    reads: AtomicUsize,
}

impl MemoryNodes {
    fn keep(&self, nodes: Vec<(B256, Bytes)>) {
        for (hash, rlp) in &nodes {
            assert_eq!(*hash, keccak256(rlp));
        }
        self.nodes.write().extend(nodes);
    }
}

impl NodeSource for MemoryNodes {
    fn node(&self, hash: B256) -> Result<Bytes, StateError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.nodes.read().get(&hash).cloned().ok_or(StateError::MissingNode(hash))
    }

    fn code(&self, hash: B256) -> Result<Bytes, StateError> {
        Err(StateError::MissingCode(hash))
    }
}

struct PlainChange {
    path: Nibbles,
    value: Option<Vec<u8>>,
}

impl Change for PlainChange {
    fn path(&self) -> &Nibbles {
        &self.path
    }

    fn value(&self, _: Option<&[u8]>, _: &mut TrieWriter<'_>) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.value.clone())
    }
}

type Values = BTreeMap<B256, Vec<u8>>;
type Edits = BTreeMap<B256, Option<Vec<u8>>>;

fn oracle_root(values: &Values) -> B256 {
    let mut builder = HashBuilder::default();
    for (key, value) in values {
        builder.add_leaf(path_of(key), value);
    }
    builder.root()
}

fn update(source: &MemoryNodes, root: B256, edits: &Edits) -> (B256, usize) {
    let changes: Vec<_> =
        edits.iter().map(|(key, value)| PlainChange { path: path_of(key), value: value.clone() }).collect();
    let mut writer = TrieWriter::new(source);
    let root = writer.update(root, &changes).unwrap();
    let nodes = writer.finish(root).nodes;
    let count = nodes.len();
    source.keep(nodes);
    (root, count)
}

/// Keys that differ in a few bits at the front, in the middle and at the very end: they force extensions, deep
/// branches, nodes that are embedded in their parents, and all the ways in which these collapse.
fn crowded_key() -> impl Strategy<Value = B256> {
    (0u8..4, 0u8..3, 0u8..3, 0u8..16).prop_map(|(front, middle, near_end, end)| {
        let mut key = B256::ZERO;
        key[0] = [0x00, 0x01, 0x10, 0x1f][usize::from(front)];
        key[15] = middle * 0x10;
        key[30] = near_end;
        key[31] = end * 0x11;
        key
    })
}

fn edits() -> impl Strategy<Value = Edits> {
    let value = option::weighted(0.6, vec(1u8.., 1..40));
    vec((crowded_key(), value), 0..24).prop_map(|edits| edits.into_iter().collect())
}

fn check_every_key(source: &MemoryNodes, root: B256, values: &Values, probes: &[B256]) {
    for key in values.keys().chain(probes) {
        let mut proof = Vec::new();
        let found = find(source, root, &path_of(key), |node| proof.push(node.clone())).unwrap();
        assert_eq!(found.as_ref(), values.get(key), "value at {key}");
        verify_proof(root, path_of(key), found, &proof).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn roots_values_and_proofs_match_the_hash_builder_over_many_commits(
        commits in vec(edits(), 1..12),
        probes in vec(crowded_key(), 8),
    ) {
        let source = MemoryNodes::default();
        let (mut root, mut values) = (EMPTY_ROOT_HASH, Values::new());
        let mut history = Vec::new();
        for edits in &commits {
            root = update(&source, root, edits).0;
            for (key, value) in edits {
                match value {
                    Some(value) => values.insert(*key, value.clone()),
                    None => values.remove(key),
                };
            }
            prop_assert_eq!(root, oracle_root(&values));
            prop_assert_eq!(update(&source, root, edits), (root, 0), "the same edits again change nothing");
            history.push((root, values.clone()));
        }
        for (root, values) in &history {
            check_every_key(&source, *root, values, &probes);
        }
        let removals = values.keys().map(|key| (*key, None)).collect();
        prop_assert_eq!(update(&source, root, &removals).0, EMPTY_ROOT_HASH);
    }

    #[test]
    fn states_match_a_plain_map_over_many_blocks(blocks in vec(block_diff(), 1..8)) {
        let source = Arc::new(MemoryNodes::default());
        let mut view = StateView::new(EMPTY_ROOT_HASH, Arc::clone(&source) as _);
        let mut accounts = PlainState::new();
        let mut history = Vec::new();
        for diff in &blocks {
            let StateUpdate { root, nodes, .. } = view.apply(diff).unwrap();
            source.keep(nodes);
            view = StateView::new(root, Arc::clone(&source) as _);
            apply_plainly(&mut accounts, diff);
            prop_assert_eq!(root, plain_root(&accounts));
            history.push((view.clone(), accounts.clone()));
        }
        for (view, accounts) in &history {
            check_state(view, accounts);
        }
    }
}

type PlainState = BTreeMap<Address, (AccountFields, BTreeMap<U256, U256>)>;

fn account_diff() -> impl Strategy<Value = AccountDiff> {
    let fields = (0u64..3, 0u64..3).prop_map(|(nonce, balance)| AccountFields {
        nonce,
        balance: U256::from(balance),
        code_hash: KECCAK_EMPTY,
    });
    let slots = vec((0u64..12, 0u64..3), 0..8);
    (option::weighted(0.8, fields), any::<bool>(), slots).prop_map(|(account, wiped, slots)| AccountDiff {
        account,
        wiped,
        storage: slots.into_iter().map(|(slot, value)| (U256::from(slot), U256::from(value))).collect(),
    })
}

fn block_diff() -> impl Strategy<Value = StateDiff> {
    vec((0u8..40, account_diff()), 0..30).prop_map(|accounts| StateDiff {
        accounts: accounts.into_iter().map(|(id, diff)| (Address::repeat_byte(id), diff)).collect(),
        code: BTreeMap::new(),
    })
}

fn apply_plainly(accounts: &mut PlainState, diff: &StateDiff) {
    for (address, change) in &diff.accounts {
        let Some(fields) = change.account else {
            accounts.remove(address);
            continue;
        };
        let (own, storage) = accounts.entry(*address).or_insert((fields, BTreeMap::new()));
        *own = fields;
        if change.wiped {
            storage.clear();
        }
        storage.extend(&change.storage);
        storage.retain(|_, value| !value.is_zero());
    }
}

fn plain_root(accounts: &PlainState) -> B256 {
    state_root_unhashed(accounts.iter().map(|(address, (fields, storage))| {
        let storage_root =
            storage_root_unhashed(storage.iter().map(|(slot, value)| (B256::from(*slot), *value)));
        (*address, TrieAccount::new(fields.nonce, fields.balance, storage_root, fields.code_hash))
    }))
}

fn check_state(view: &StateView, accounts: &PlainState) {
    let slots: Vec<_> = (0..12u64).map(|slot| B256::from(U256::from(slot))).collect();
    for address in (0..42).map(Address::repeat_byte) {
        let expected = accounts.get(&address);
        let account = view.account(address).unwrap();
        assert_eq!(account.map(|a| (a.nonce, a.balance)), expected.map(|(a, _)| (a.nonce, a.balance)));
        let proof = view.prove(address, &slots).unwrap();
        let leaf = account.map(|account| account.encode());
        verify_proof(view.root(), path_of(&keccak256(address)), leaf, &proof.account_proof).unwrap();
        for slot in &proof.storage_proof {
            let key = slot.key.as_b256();
            let value =
                expected.and_then(|(_, storage)| storage.get(&key.into()).copied()).unwrap_or_default();
            assert_eq!(view.storage(address, key.into()).unwrap(), value);
            assert_eq!(slot.value, value);
            let leaf = (!value.is_zero()).then(|| alloy_rlp::encode(value));
            verify_proof(proof.storage_hash, path_of(&keccak256(key)), leaf, &slot.proof).unwrap();
        }
    }
}

fn funded(count: u64) -> StateDiff {
    let account = |id: u64| AccountDiff {
        account: Some(AccountFields { nonce: id, balance: U256::from(id), code_hash: KECCAK_EMPTY }),
        wiped: false,
        storage: HashMap::default(),
    };
    let address = |id: u64| Address::from_word(keccak256(id.to_be_bytes()));
    StateDiff { accounts: (1..=count).map(|id| (address(id), account(id))).collect(), code: BTreeMap::new() }
}

#[test]
fn one_change_among_many_accounts_reads_and_writes_only_its_path() {
    let source = Arc::new(MemoryNodes::default());
    let empty = StateView::new(EMPTY_ROOT_HASH, Arc::clone(&source) as _);
    let StateUpdate { root, nodes, .. } = empty.apply(&funded(20_000)).unwrap();
    source.keep(nodes);
    let mut diff = funded(1);
    for change in diff.accounts.values_mut() {
        change.account = change.account.map(|fields| AccountFields { nonce: 77, ..fields });
    }
    source.reads.store(0, Ordering::Relaxed);
    let update = StateView::new(root, Arc::clone(&source) as _).apply(&diff).unwrap();
    assert!((4..=7).contains(&update.nodes.len()), "{} new nodes", update.nodes.len());
    assert_eq!(source.reads.load(Ordering::Relaxed), update.nodes.len());
    assert_eq!(update.replaced.len(), update.nodes.len());
    assert!(update.replaced.contains(&root));
}

#[test]
fn a_missing_node_is_named() {
    let root = B256::repeat_byte(7);
    let view = StateView::new(root, Arc::new(MemoryNodes::default()));
    assert!(matches!(view.account(Address::ZERO), Err(StateError::MissingNode(hash)) if hash == root));
    assert!(matches!(view.apply(&funded(1)), Err(StateError::MissingNode(hash)) if hash == root));
}

#[test]
fn a_corrupt_node_is_named() {
    let source = MemoryNodes::default();
    let root = B256::repeat_byte(7);
    source.nodes.write().insert(root, Bytes::from_static(&[0xc3, 0x01]));
    let view = StateView::new(root, Arc::new(source));
    assert!(matches!(view.account(Address::ZERO), Err(StateError::CorruptNode(hash)) if hash == root));
}
