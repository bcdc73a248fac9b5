//! The `extraData` of an IBFT 2.0 header: an RLP list `[vanity, validators, vote, round, seals]`, and the two
//! shorter lists that are hashed. Decoding is strict: whatever decodes encodes to the same bytes again.

use alloy_primitives::{Address, B256, Bytes};
use alloy_rlp::{EMPTY_STRING_CODE, Encodable, Header as RlpHeader};

use crate::seal::{SEAL_LENGTH, Seal, SealError};
use crate::votes::{Vote, VoteKind};

const ADD_BYTE: u8 = 0xff;
const DROP_BYTE: u8 = 0x00;
/// First code of an RLP list.
const LIST_CODE: u8 = 0xc0;

/// The decoded `extraData`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraData {
    /// Free bytes of the block's builder. Besu pads to 32, other lengths are refused here.
    pub vanity: B256,
    /// The validator set in force for the block, ascending from block 1 on.
    pub validators: Vec<Address>,
    /// The vote of the block's builder.
    pub vote: Option<Vote>,
    /// The round in which the block was proposed.
    pub round: u32,
    /// Committed seals over [`crate::hash::seal_hash`]; none in genesis and in proposals.
    pub seals: Vec<Seal>,
}

/// An item of the list, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// The outer list.
    List,
    /// The first item.
    Vanity,
    /// The second item.
    Validators,
    /// One address of the second item.
    Validator,
    /// The third item.
    Vote,
    /// The address in the third item.
    VoteRecipient,
    /// The byte in the third item.
    VoteKind,
    /// The fourth item.
    Round,
    /// The fifth item.
    Seals,
    /// One seal of the fifth item.
    Seal,
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::List => "extra data list",
            Self::Vanity => "vanity",
            Self::Validators => "validators",
            Self::Validator => "validator",
            Self::Vote => "vote",
            Self::VoteRecipient => "vote recipient",
            Self::VoteKind => "vote kind",
            Self::Round => "round",
            Self::Seals => "seals",
            Self::Seal => "seal",
        })
    }
}

/// Why bytes are not IBFT 2.0 extra data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtraDataError {
    /// The list ends before this item.
    #[error("{item} is missing")]
    Missing {
        /// The item that should have come.
        item: Item,
    },
    /// The item is not canonical RLP of the expected kind (string or list).
    #[error("{item} is malformed")]
    Malformed {
        /// The item.
        item: Item,
        /// What the RLP reader says.
        #[source]
        source: alloy_rlp::Error,
    },
    /// The item is a string of the wrong length.
    #[error("{item} has {found} bytes instead of {expected}")]
    Length {
        /// The item.
        item: Item,
        /// Bytes it must have.
        expected: usize,
        /// Bytes it has.
        found: usize,
    },
    /// Bytes follow where the item should have ended.
    #[error("{bytes} bytes too many in {item}")]
    Surplus {
        /// The list that is too long.
        item: Item,
        /// How many bytes follow.
        bytes: usize,
    },
    /// A vote is neither ADD (0xff) nor DROP (0x00).
    #[error("vote byte {found:#04x} is neither add nor drop")]
    VoteByte {
        /// The byte found.
        found: u8,
    },
    /// A seal is not a signature.
    #[error("seal {index} is not a signature")]
    Seal {
        /// Position in the list.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: SealError,
    },
}

/// The last of the five items that an encoding carries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LastItem {
    Vote,
    Round,
    Seals,
}

impl ExtraData {
    /// The stored and transmitted form: all five items.
    pub fn encode(&self) -> Bytes {
        self.encode_items(LastItem::Seals)
    }

    /// The form under the commit seals: everything but the seals.
    pub fn encode_for_seal(&self) -> Bytes {
        self.encode_items(LastItem::Round)
    }

    /// The form under the block hash: neither round nor seals.
    pub fn encode_for_block_hash(&self) -> Bytes {
        self.encode_items(LastItem::Vote)
    }

    /// Reads the five-item form.
    pub fn decode(bytes: &[u8]) -> Result<Self, ExtraDataError> {
        let mut rest = bytes;
        let mut items = take_list(&mut rest, Item::List)?;
        finished(rest, Item::List)?;
        let extra = Self {
            vanity: B256::new(take_fixed(&mut items, Item::Vanity)?),
            validators: take_validators(&mut items)?,
            vote: take_vote(&mut items)?,
            round: u32::from_be_bytes(take_fixed(&mut items, Item::Round)?),
            seals: take_seals(&mut items)?,
        };
        finished(items, Item::List)?;
        Ok(extra)
    }

    fn encode_items(&self, last: LastItem) -> Bytes {
        let mut payload = Vec::with_capacity(64 + 21 * self.validators.len() + 67 * self.seals.len());
        self.vanity.encode(&mut payload);
        put_list(&mut payload, |out| self.validators.iter().for_each(|address| address.encode(out)));
        match &self.vote {
            None => payload.push(EMPTY_STRING_CODE),
            Some(vote) => put_list(&mut payload, |out| {
                vote.recipient.encode(out);
                [vote_byte(vote.kind)].as_slice().encode(out);
            }),
        }
        if last >= LastItem::Round {
            self.round.to_be_bytes().as_slice().encode(&mut payload);
        }
        if last >= LastItem::Seals {
            put_list(&mut payload, |out| {
                self.seals.iter().for_each(|seal| seal.to_bytes().as_slice().encode(out));
            });
        }
        let mut out = Vec::with_capacity(payload.len() + 4);
        RlpHeader { list: true, payload_length: payload.len() }.encode(&mut out);
        out.extend_from_slice(&payload);
        out.into()
    }
}

const fn vote_byte(kind: VoteKind) -> u8 {
    match kind {
        VoteKind::Add => ADD_BYTE,
        VoteKind::Drop => DROP_BYTE,
    }
}

fn put_list(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut payload = Vec::new();
    write(&mut payload);
    RlpHeader { list: true, payload_length: payload.len() }.encode(out);
    out.extend_from_slice(&payload);
}

fn take<'a>(items: &mut &'a [u8], item: Item, is_list: bool) -> Result<&'a [u8], ExtraDataError> {
    if items.is_empty() {
        return Err(ExtraDataError::Missing { item });
    }
    RlpHeader::decode_bytes(items, is_list).map_err(|source| ExtraDataError::Malformed { item, source })
}

fn take_list<'a>(items: &mut &'a [u8], item: Item) -> Result<&'a [u8], ExtraDataError> {
    take(items, item, true)
}

fn take_fixed<const N: usize>(items: &mut &[u8], item: Item) -> Result<[u8; N], ExtraDataError> {
    let bytes = take(items, item, false)?;
    bytes.try_into().map_err(|_| ExtraDataError::Length { item, expected: N, found: bytes.len() })
}

fn finished(rest: &[u8], item: Item) -> Result<(), ExtraDataError> {
    if rest.is_empty() { Ok(()) } else { Err(ExtraDataError::Surplus { item, bytes: rest.len() }) }
}

fn take_validators(items: &mut &[u8]) -> Result<Vec<Address>, ExtraDataError> {
    let mut list = take_list(items, Item::Validators)?;
    let mut validators = Vec::new();
    while !list.is_empty() {
        validators.push(Address::new(take_fixed(&mut list, Item::Validator)?));
    }
    Ok(validators)
}

fn take_vote(items: &mut &[u8]) -> Result<Option<Vote>, ExtraDataError> {
    if items.first().is_none_or(|&code| code < LIST_CODE) {
        let [] = take_fixed(items, Item::Vote)?;
        return Ok(None);
    }
    let mut list = take_list(items, Item::Vote)?;
    let recipient = Address::new(take_fixed(&mut list, Item::VoteRecipient)?);
    let kind = match take_fixed(&mut list, Item::VoteKind)? {
        [ADD_BYTE] => VoteKind::Add,
        [DROP_BYTE] => VoteKind::Drop,
        [found] => return Err(ExtraDataError::VoteByte { found }),
    };
    finished(list, Item::Vote)?;
    Ok(Some(Vote { recipient, kind }))
}

fn take_seals(items: &mut &[u8]) -> Result<Vec<Seal>, ExtraDataError> {
    let mut list = take_list(items, Item::Seals)?;
    let mut seals = Vec::new();
    while !list.is_empty() {
        let bytes: [u8; SEAL_LENGTH] = take_fixed(&mut list, Item::Seal)?;
        let index = seals.len();
        seals.push(Seal::from_bytes(&bytes).map_err(|source| ExtraDataError::Seal { index, source })?);
    }
    Ok(seals)
}
