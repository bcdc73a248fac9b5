//! Reading a trie: nodes by reference, values by key, and the nodes on the way as a proof.

use alloy_primitives::{B256, Bytes, keccak256};
use alloy_rlp::Decodable;
use alloy_trie::{
    EMPTY_ROOT_HASH, Nibbles,
    nodes::{BranchNode, RlpNode, TrieNode},
};

use super::{NodeSource, StateError};

/// The trie path of a hashed key.
pub(super) fn path_of(key: &B256) -> Nibbles {
    Nibbles::unpack_array(&key.0)
}

/// The node behind a reference, which is either a hash or, for a node of less than 32 bytes, the node itself.
pub(super) fn load(source: &dyn NodeSource, reference: &RlpNode) -> Result<TrieNode, StateError> {
    match reference.as_hash() {
        Some(hash) => decode(hash, &source.node(hash)?),
        None => TrieNode::decode(&mut reference.as_ref())
            .map_err(|_| StateError::CorruptNode(keccak256(reference))),
    }
}

/// The value at `path`, if there is one. `visit` sees every stored node on the way, root first: a Merkle proof of
/// the value or of its absence.
pub(super) fn find(
    source: &dyn NodeSource,
    root: B256,
    path: &Nibbles,
    mut visit: impl FnMut(&Bytes),
) -> Result<Option<Vec<u8>>, StateError> {
    if root == EMPTY_ROOT_HASH {
        return Ok(None);
    }
    let mut reference = RlpNode::word_rlp(&root);
    let mut depth = 0;
    loop {
        let node = match reference.as_hash() {
            Some(hash) => {
                let rlp = source.node(hash)?;
                visit(&rlp);
                decode(hash, &rlp)?
            }
            None => load(source, &reference)?,
        };
        let rest = path.slice(depth..);
        reference = match node {
            TrieNode::EmptyRoot => return Ok(None),
            TrieNode::Leaf(leaf) => return Ok((leaf.key == rest).then_some(leaf.value)),
            TrieNode::Extension(extension) if rest.starts_with(&extension.key) => {
                depth += extension.key.len();
                extension.child
            }
            TrieNode::Extension(_) => return Ok(None),
            TrieNode::Branch(branch) => match child(branch, rest.first()) {
                Some(next) => {
                    depth += 1;
                    next
                }
                None => return Ok(None),
            },
        };
    }
}

fn decode(hash: B256, rlp: &[u8]) -> Result<TrieNode, StateError> {
    TrieNode::decode(&mut &rlp[..]).map_err(|_| StateError::CorruptNode(hash))
}

fn child(branch: BranchNode, nibble: Option<u8>) -> Option<RlpNode> {
    let nibble = nibble.filter(|nibble| branch.state_mask.is_bit_set(*nibble))?;
    let before = branch.state_mask.get() & ((1 << nibble) - 1);
    branch.stack.into_iter().nth(before.count_ones() as usize)
}
