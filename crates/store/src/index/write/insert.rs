//! The rows of blocks.

use alloy_primitives::Address;

use super::{NewBlock, account::Named};
use crate::{
    StoreError,
    bulk::Bulk,
    convert::{to_signed, wei_text},
    db::Tx,
    index::{TurnOutcome, place::place},
};

static BLOCKS: Bulk = Bulk::new(
    "blocks",
    &[
        "number",
        "hash",
        "timestamp",
        "proposer",
        "round",
        "transaction_count",
        "gas_used",
        "gas_limit",
        "size",
        "seals",
    ],
    "",
);
static TRANSACTIONS: Bulk = Bulk::new(
    "transactions",
    &[
        "place",
        "hash",
        "sender",
        "recipient",
        "created",
        "value",
        "success",
        "gas_used",
        "fee",
        "selector",
        "nonce",
    ],
    "",
);
static ACCOUNT_TRANSACTIONS: Bulk = Bulk::new("account_transactions", &["account", "place"], "");
static VALIDATOR_SETS: Bulk = Bulk::new("validator_sets", &["first_block", "members"], "");
static TURNS: Bulk = Bulk::new("turns", &["validator", "block", "round", "outcome"], "");
static VOTES: Bulk = Bulk::new("votes", &["block", "voter", "recipient", "adds"], "");
static EVENTS: Bulk =
    Bulk::new("contract_events", &["place", "transaction_place", "kind", "subject", "event"], "");

/// Inserts everything of the blocks that is a row of its own. `set` is the validator set before them.
pub(super) async fn insert(
    tx: &mut Tx,
    blocks: &[NewBlock],
    named: &Named,
    set: &[Address],
) -> Result<(), StoreError> {
    insert_blocks(tx, blocks, named).await?;
    insert_transactions(tx, blocks, named).await?;
    insert_validator_sets(tx, blocks, set).await?;
    insert_turns(tx, blocks, named).await?;
    insert_votes(tx, blocks, named).await?;
    insert_events(tx, blocks, named).await
}

async fn insert_blocks(tx: &mut Tx, blocks: &[NewBlock], named: &Named) -> Result<(), StoreError> {
    // Checked once; nothing of a block can be stored if these cannot.
    for block in blocks {
        place(block.number, 0)?;
        to_signed("timestamp", block.timestamp)?;
    }
    on_connection!(tx, c => BLOCKS.insert(c, blocks, |query, block| {
        query
            .bind(block.number.cast_signed())
            .bind(block.hash.to_vec())
            .bind(block.timestamp.cast_signed())
            .bind(named.number(block.proposer))
            .bind(i64::from(block.round))
            .bind(i64::try_from(block.transactions.len()).unwrap_or(i64::MAX))
            .bind(block.gas_used.cast_signed())
            .bind(block.gas_limit.cast_signed())
            .bind(block.size.cast_signed())
            .bind(seal_bits(block))
    }).await)
}

/// Bit i of byte i/8 is the validator i of the set.
fn seal_bits(block: &NewBlock) -> Vec<u8> {
    let mut bits = vec![0u8; block.validators.len().div_ceil(8)];
    for (index, _) in block.validators.iter().enumerate().filter(|(_, member)| block.sealers.contains(member))
    {
        if let Some(byte) = bits.get_mut(index / 8) {
            *byte |= 1 << (index % 8);
        }
    }
    bits
}

async fn insert_transactions(tx: &mut Tx, blocks: &[NewBlock], named: &Named) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(blocks.iter().map(|block| block.transactions.len()).sum());
    let mut history = Vec::with_capacity(2 * rows.capacity());
    for block in blocks {
        for (index, transaction) in (0u32..).zip(&block.transactions) {
            let place = place(block.number, index)?;
            let parties = [Some(transaction.from), transaction.to, transaction.contract_address];
            let [sender, recipient, created] =
                parties.map(|party| party.map(|address| named.number(address)));
            rows.push((place, transaction, sender, recipient, created));
            history.extend(sender.map(|account| (account, place)));
            history.extend(recipient.filter(|_| recipient != sender).map(|account| (account, place)));
            let is_new = created != sender && created != recipient;
            history.extend(created.filter(|_| is_new).map(|account| (account, place)));
        }
    }
    // Neighbours in the table together.
    history.sort_unstable();
    on_connection!(tx, c => {
        TRANSACTIONS.insert(&mut *c, &rows, |query, (place, transaction, sender, recipient, created)| {
            query
                .bind(*place)
                .bind(transaction.hash.to_vec())
                .bind(*sender)
                .bind(*recipient)
                .bind(*created)
                .bind(wei_text(transaction.value))
                .bind(transaction.success)
                .bind(transaction.gas_used.cast_signed())
                .bind(wei_text(transaction.fee))
                .bind(transaction.selector.map(|selector| selector.to_vec()))
                .bind(transaction.nonce.cast_signed())
        }).await?;
        ACCOUNT_TRANSACTIONS.insert(&mut *c, &history, |query, &(account, place)| query.bind(account).bind(place)).await
    })
}

async fn insert_validator_sets(tx: &mut Tx, blocks: &[NewBlock], set: &[Address]) -> Result<(), StoreError> {
    let before = std::iter::once(set).chain(blocks.iter().map(|block| block.validators.as_slice()));
    let changed: Vec<_> = before
        .zip(blocks)
        .filter(|(before, block)| *before != block.validators)
        .map(|(_, block)| block)
        .collect();
    on_connection!(tx, c => VALIDATOR_SETS.insert(c, &changed, |query, block| {
        query.bind(block.number.cast_signed()).bind(block.validators.concat())
    }).await)
}

async fn insert_turns(tx: &mut Tx, blocks: &[NewBlock], named: &Named) -> Result<(), StoreError> {
    let mut rows: Vec<_> = blocks
        .iter()
        .flat_map(|block| block.turns.iter().map(|turn| (named.number(turn.validator), block.number, turn)))
        .collect();
    rows.sort_unstable_by_key(|&(validator, block, turn)| (validator, block, turn.round));
    on_connection!(tx, c => TURNS.insert(c, &rows, |query, (validator, block, turn)| {
        query
            .bind(*validator)
            .bind(block.cast_signed())
            .bind(i64::from(turn.round))
            .bind(turn.outcome.number())
    }).await)
}

async fn insert_votes(tx: &mut Tx, blocks: &[NewBlock], named: &Named) -> Result<(), StoreError> {
    let rows: Vec<_> = blocks.iter().filter_map(|block| block.vote.map(|vote| (block, vote))).collect();
    on_connection!(tx, c => VOTES.insert(c, &rows, |query, (block, vote)| {
        query
            .bind(block.number.cast_signed())
            .bind(named.number(block.proposer))
            .bind(named.number(vote.recipient))
            .bind(vote.adds)
    }).await)
}

async fn insert_events(tx: &mut Tx, blocks: &[NewBlock], named: &Named) -> Result<(), StoreError> {
    let mut rows = Vec::new();
    for block in blocks {
        for event in &block.events {
            let subject = event.event.subject().map(|subject| named.number(subject));
            let json =
                serde_json::to_string(&event.event).map_err(|error| StoreError::corrupt("event", error))?;
            let (at, of) =
                (place(block.number, event.log_index)?, place(block.number, event.transaction_index)?);
            rows.push((at, of, event.event.kind().number(), subject, json));
        }
    }
    on_connection!(tx, c => EVENTS.insert(c, &rows, |query, (at, of, kind, subject, json)| {
        query.bind(*at).bind(*of).bind(*kind).bind(*subject).bind(json.clone())
    }).await)
}

impl TurnOutcome {
    /// As it is stored.
    pub(in crate::index) const fn number(self) -> i16 {
        match self {
            Self::Missed => 0,
            Self::Kept => 1,
            Self::Unclear => 2,
        }
    }
}
