//! The keys of the chain keyspace: a letter for the kind of record, then a number or a hash.

use alloy_primitives::B256;

/// Number and hash of the head.
pub(super) const HEAD: [u8; 1] = *b"m";

/// On-chain hash and header of the block at a height.
pub(super) fn header(number: u64) -> [u8; 9] {
    at(b'h', number)
}

/// Transactions, with their senders, of the block at a height.
pub(super) fn body(number: u64) -> [u8; 9] {
    at(b'b', number)
}

/// Receipts of the block at a height.
pub(super) fn receipts(number: u64) -> [u8; 9] {
    at(b'r', number)
}

/// Height of the block with a hash.
pub(super) fn number(hash: &B256) -> [u8; 33] {
    of(b'n', hash)
}

/// Place of the transaction with a hash.
pub(super) fn location(hash: &B256) -> [u8; 33] {
    of(b't', hash)
}

fn at(kind: u8, number: u64) -> [u8; 9] {
    let mut key = [kind; 9];
    let (_, rest) = key.split_at_mut(1);
    rest.copy_from_slice(&number.to_be_bytes());
    key
}

fn of(kind: u8, hash: &B256) -> [u8; 33] {
    let mut key = [kind; 33];
    let (_, rest) = key.split_at_mut(1);
    rest.copy_from_slice(hash.as_slice());
    key
}
