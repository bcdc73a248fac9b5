//! Changing a trie: one walk over the touched paths that rebuilds them bottom up and collects the new nodes.
//!
//! A walk never changes a node in place. It takes the node at some depth and the sorted changes below it, and
//! returns what stands there afterwards as a [`Subtrie`]. A leaf or an extension stays unsealed (neither encoded
//! nor hashed) until a branch above it is known to stay, because a branch that is left with one child gives that
//! child its nibble. A branch of two or more children can no longer change shape and is sealed at once.

use std::mem;

use alloy_primitives::{B256, Bytes, keccak256};
use alloy_rlp::Encodable;
use alloy_trie::{
    EMPTY_ROOT_HASH, Nibbles, TrieMask,
    nodes::{BranchNode, BranchNodeRef, ExtensionNode, LeafNode, RlpNode, TrieNode},
};

use super::{NodeSource, StateError, StateUpdate, trie::load};

/// A change of the value at one key.
pub(super) trait Change {
    /// The hashed key as a full-length path.
    fn path(&self) -> &Nibbles;
    /// What to store, given what is there; `None` removes the key.
    fn value(&self, old: Option<&[u8]>, writer: &mut TrieWriter<'_>) -> Result<Option<Vec<u8>>, StateError>;
}

/// Changes tries and collects the nodes that are new.
pub(super) struct TrieWriter<'a> {
    source: &'a dyn NodeSource,
    nodes: Vec<(B256, Bytes)>,
    replaced: Vec<B256>,
    buffer: Vec<u8>,
}

/// What stands at some place of a trie.
#[derive(Default, PartialEq)]
enum Subtrie {
    #[default]
    Empty,
    /// A node of the old trie that did not change.
    Stored(RlpNode),
    Leaf(LeafNode),
    Extension(ExtensionNode),
    /// A sealed branch.
    Branch(RlpNode),
}

type Children = [Subtrie; 16];

impl<'a> TrieWriter<'a> {
    pub(super) fn new(source: &'a dyn NodeSource) -> Self {
        Self { source, nodes: Vec::new(), replaced: Vec::new(), buffer: Vec::with_capacity(1024) }
    }

    /// The result of the updates, of which the last was of the account trie.
    pub(super) fn finish(self, root: B256) -> StateUpdate {
        StateUpdate { root, nodes: self.nodes, replaced: self.replaced }
    }

    /// Applies the changes, which are sorted by path and of distinct paths, and returns the new root.
    pub(super) fn update<C: Change>(&mut self, root: B256, changes: &[C]) -> Result<B256, StateError> {
        if changes.is_empty() {
            return Ok(root);
        }
        let before =
            if root == EMPTY_ROOT_HASH { Subtrie::Empty } else { Subtrie::Stored(RlpNode::word_rlp(&root)) };
        let after = self.change(before, changes, 0)?;
        let Some(reference) = self.seal(after) else {
            return Ok(EMPTY_ROOT_HASH);
        };
        Ok(reference.as_hash().unwrap_or_else(|| {
            // A root is found by its hash even when it is short enough to be embedded in a parent.
            let hash = keccak256(&reference);
            self.nodes.push((hash, Bytes::copy_from_slice(&reference)));
            hash
        }))
    }

    /// Applies changes, of which there is at least one, to what stands at `depth`.
    fn change<C: Change>(
        &mut self,
        before: Subtrie,
        changes: &[C],
        depth: usize,
    ) -> Result<Subtrie, StateError> {
        let reference = match before {
            Subtrie::Empty => return self.insert(None, changes, depth),
            Subtrie::Leaf(leaf) => return self.insert(Some(&leaf), changes, depth),
            Subtrie::Extension(extension) => return self.change_extension(&extension, changes, depth),
            Subtrie::Stored(reference) | Subtrie::Branch(reference) => reference,
        };
        let (before, after) = match load(self.source, &reference)? {
            TrieNode::EmptyRoot => (Subtrie::Empty, self.insert(None, changes, depth)?),
            TrieNode::Leaf(leaf) => {
                let after = self.insert(Some(&leaf), changes, depth)?;
                (Subtrie::Leaf(leaf), after)
            }
            TrieNode::Extension(extension) => {
                let after = self.change_extension(&extension, changes, depth)?;
                (Subtrie::Extension(extension), after)
            }
            TrieNode::Branch(branch) => {
                let mut children = children_of(branch);
                if !self.change_children(&mut children, changes, depth)? {
                    return Ok(Subtrie::Stored(reference));
                }
                (Subtrie::Branch(reference.clone()), self.join(children)?)
            }
        };
        if after == before {
            return Ok(Subtrie::Stored(reference));
        }
        self.replaced.extend(reference.as_hash());
        Ok(after)
    }

    /// Applies changes where there is at most one leaf.
    fn insert<C: Change>(
        &mut self,
        leaf: Option<&LeafNode>,
        changes: &[C],
        depth: usize,
    ) -> Result<Subtrie, StateError> {
        let mut old = leaf.zip(changes.first()).map(|(leaf, change)| {
            let path = change.path().slice(..depth).join(&leaf.key);
            (path, leaf.value.as_slice())
        });
        let mut entries = Vec::with_capacity(changes.len() + 1);
        for change in changes {
            let path = *change.path();
            if let Some((old_path, value)) = old.take_if(|(old_path, _)| *old_path < path) {
                entries.push((old_path, value.to_vec()));
            }
            let replaced = old.take_if(|(old_path, _)| *old_path == path).map(|(_, value)| value);
            if let Some(value) = change.value(replaced, self)? {
                entries.push((path, value));
            }
        }
        entries.extend(old.map(|(path, value)| (path, value.to_vec())));
        Ok(self.build(&mut entries, depth))
    }

    /// A subtrie of nothing but the sorted entries.
    fn build(&mut self, entries: &mut [(Nibbles, Vec<u8>)], depth: usize) -> Subtrie {
        let (first, fork) = match entries {
            [] => return Subtrie::Empty,
            [(path, value)] => return Subtrie::Leaf(LeafNode::new(path.slice(depth..), mem::take(value))),
            [(first, _), .., (last, _)] => (*first, first.common_prefix_length(last)),
        };
        let mut children = Children::default();
        for group in entries.chunk_by_mut(|(a, _), (b, _)| a.get(fork) == b.get(fork)) {
            let nibble = group.first().and_then(|(path, _)| path.get(fork));
            if let Some(child) = nibble.and_then(|nibble| children.get_mut(usize::from(nibble))) {
                *child = self.build(group, fork + 1);
            }
        }
        let branch = self.seal_branch(children);
        prefixed(first.slice(depth..fork), Subtrie::Branch(branch))
    }

    fn change_extension<C: Change>(
        &mut self,
        extension: &ExtensionNode,
        changes: &[C],
        depth: usize,
    ) -> Result<Subtrie, StateError> {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
            return Ok(Subtrie::Extension(extension.clone()));
        };
        // The changes are sorted, so those between the first and the last share at least as much of the path.
        let [shared, also_shared] =
            [first, last].map(|change| change.path().slice(depth..).common_prefix_length(&extension.key));
        let shared = shared.min(also_shared);
        let below = Subtrie::Stored(extension.child.clone());
        let Some(nibble) = extension.key.get(shared) else {
            let child = self.change(below, changes, depth + shared)?;
            let child = self.resolve(child)?;
            return Ok(prefixed(extension.key, child));
        };
        // Some keys leave the extension's path midway: a branch may have to stand there.
        let rest = extension.key.slice(shared + 1..);
        let mut children = Children::default();
        if let Some(child) = children.get_mut(usize::from(nibble)) {
            *child = if rest.is_empty() {
                below
            } else {
                prefixed(rest, Subtrie::Branch(extension.child.clone()))
            };
        }
        self.change_children(&mut children, changes, depth + shared)?;
        let after = self.join(children)?;
        Ok(prefixed(extension.key.slice(..shared), after))
    }

    /// Applies the changes below a branch at `depth`; false when nothing changed.
    fn change_children<C: Change>(
        &mut self,
        children: &mut Children,
        changes: &[C],
        depth: usize,
    ) -> Result<bool, StateError> {
        let mut changed = false;
        let nibble_of = |change: &C| change.path().get(depth);
        for group in changes.chunk_by(|a, b| nibble_of(a) == nibble_of(b)) {
            let nibble = group.first().and_then(nibble_of);
            let Some(child) = nibble.and_then(|nibble| children.get_mut(usize::from(nibble))) else {
                continue;
            };
            let before = mem::take(child);
            let was_empty = matches!(before, Subtrie::Empty);
            *child = self.change(before, group, depth + 1)?;
            changed |= match child {
                Subtrie::Stored(_) => false,
                Subtrie::Empty => !was_empty,
                Subtrie::Leaf(_) | Subtrie::Extension(_) | Subtrie::Branch(_) => true,
            };
        }
        Ok(changed)
    }

    /// What a branch with these children becomes: itself, its only child, or nothing.
    fn join(&mut self, mut children: Children) -> Result<Subtrie, StateError> {
        let mut present = (0u8..).zip(&mut children).filter(|(_, child)| !matches!(child, Subtrie::Empty));
        let Some((nibble, child)) = present.next() else {
            return Ok(Subtrie::Empty);
        };
        if present.next().is_some() {
            return Ok(Subtrie::Branch(self.seal_branch(children)));
        }
        let only = self.resolve(mem::take(child))?;
        Ok(prefixed(Nibbles::from_nibbles([nibble]), only))
    }

    /// Looks at an unchanged node, so that it can be prefixed.
    fn resolve(&self, subtrie: Subtrie) -> Result<Subtrie, StateError> {
        let Subtrie::Stored(reference) = subtrie else {
            return Ok(subtrie);
        };
        Ok(match load(self.source, &reference)? {
            TrieNode::EmptyRoot => Subtrie::Empty,
            TrieNode::Leaf(leaf) => Subtrie::Leaf(leaf),
            TrieNode::Extension(extension) => Subtrie::Extension(extension),
            TrieNode::Branch(_) => Subtrie::Branch(reference),
        })
    }

    fn seal_branch(&mut self, children: Children) -> RlpNode {
        let mut stack = Vec::with_capacity(children.len());
        let mut mask = TrieMask::default();
        for (nibble, child) in (0u8..).zip(children) {
            if let Some(reference) = self.seal(child) {
                stack.push(reference);
                mask.set_bit(nibble);
            }
        }
        self.keep(&BranchNodeRef::new(&stack, mask))
    }

    /// The reference that a parent holds to the subtrie.
    fn seal(&mut self, subtrie: Subtrie) -> Option<RlpNode> {
        match subtrie {
            Subtrie::Empty => None,
            Subtrie::Stored(reference) | Subtrie::Branch(reference) => Some(reference),
            Subtrie::Leaf(leaf) => Some(self.keep(&leaf)),
            Subtrie::Extension(extension) => Some(self.keep(&extension)),
        }
    }

    fn keep(&mut self, node: &dyn Encodable) -> RlpNode {
        self.buffer.clear();
        node.encode(&mut self.buffer);
        let reference = RlpNode::from_rlp(&self.buffer);
        if let Some(hash) = reference.as_hash() {
            self.nodes.push((hash, Bytes::copy_from_slice(&self.buffer)));
        }
        reference
    }
}

/// The subtrie as seen from `path` further up. A `Stored` one has to be resolved first.
fn prefixed(path: Nibbles, subtrie: Subtrie) -> Subtrie {
    if path.is_empty() {
        return subtrie;
    }
    match subtrie {
        Subtrie::Empty => Subtrie::Empty,
        Subtrie::Leaf(leaf) => Subtrie::Leaf(LeafNode::new(path.join(&leaf.key), leaf.value)),
        Subtrie::Extension(extension) => {
            Subtrie::Extension(ExtensionNode::new(path.join(&extension.key), extension.child))
        }
        Subtrie::Branch(reference) | Subtrie::Stored(reference) => {
            Subtrie::Extension(ExtensionNode::new(path, reference))
        }
    }
}

fn children_of(branch: BranchNode) -> Children {
    let mut children = Children::default();
    for (nibble, reference) in branch.state_mask.iter().zip(branch.stack) {
        if let Some(child) = children.get_mut(usize::from(nibble)) {
            *child = Subtrie::Stored(reference);
        }
    }
    children
}
