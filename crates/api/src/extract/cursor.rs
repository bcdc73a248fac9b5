//! Cursors of lists: the sort key of the last item, so that a page begins where the one before ended, whatever has been
//! added in between. Opaque to callers: base64url of the list's letter and the key.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::portal::{DeliveryId, InvoiceId, OrderId};

use crate::{code::Code, problem::Problem};

/// Longer texts are no cursors of ours.
const LONGEST: usize = 64;

/// Where a page of blocks ended: everything below this height comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockCursor {
    pub(crate) below: u64,
}

/// Where a page of transactions ended: everything before this place comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionCursor {
    pub(crate) block: u64,
    pub(crate) index: u32,
}

/// Where a page of invoices ended: everything older than this one comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InvoiceCursor {
    pub(crate) before: InvoiceId,
}

/// Where a page of orders ended: everything older than this one comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderCursor {
    pub(crate) before: OrderId,
}

/// Where a page of deliveries ended: everything older than this one comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveryCursor {
    pub(crate) before: DeliveryId,
}

/// Where a page of events ended: everything before this place comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventCursor {
    pub(crate) before: u64,
}

impl DeliveryCursor {
    pub(crate) fn print(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("d:{}", self.before))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let key = key(text, "d:").ok_or_else(refuse)?;
        Ok(Self { before: key.parse().map_err(|_| refuse())? })
    }
}

impl EventCursor {
    pub(crate) fn print(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("e:{}", self.before))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let key = key(text, "e:").ok_or_else(refuse)?;
        Ok(Self { before: number(&key).ok_or_else(refuse)? })
    }
}

impl BlockCursor {
    pub(crate) fn print(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("b:{}", self.below))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let key = key(text, "b:").ok_or_else(refuse)?;
        let below = number(&key).ok_or_else(refuse)?;
        Ok(Self { below })
    }
}

impl TransactionCursor {
    pub(crate) fn print(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("t:{}:{}", self.block, self.index))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let key = key(text, "t:").ok_or_else(refuse)?;
        let (block, index) = key.split_once(':').ok_or_else(refuse)?;
        let index = number(index).and_then(|index| u32::try_from(index).ok());
        Ok(Self { block: number(block).ok_or_else(refuse)?, index: index.ok_or_else(refuse)? })
    }
}

impl InvoiceCursor {
    pub(crate) fn print(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("i:{}", self.before))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let key = key(text, "i:").ok_or_else(refuse)?;
        Ok(Self { before: key.parse().map_err(|_| refuse())? })
    }
}

impl OrderCursor {
    pub(crate) fn print(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("o:{}", self.before))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let key = key(text, "o:").ok_or_else(refuse)?;
        Ok(Self { before: key.parse().map_err(|_| refuse())? })
    }
}

fn key(text: &str, list: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    decoded.strip_prefix(list).map(str::to_owned)
}

/// A number in the one spelling that we write.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    // Databases count in 63 bits.
    (number.to_string() == text && i64::try_from(number).is_ok()).then_some(number)
}

fn refuse() -> Problem {
    Problem::new(Code::InvalidCursor, Code::InvalidCursor.meaning())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let cursor = BlockCursor { below: 7 }.print();
        assert!(TransactionCursor::parse(&cursor).is_err());
        for key in ["b:", "b:-1", "b:007", "b:9223372036854775808", "b:1 "] {
            assert!(BlockCursor::parse(&URL_SAFE_NO_PAD.encode(key)).is_err(), "{key}");
        }
    }

    proptest! {
        #[test]
        fn cursors_parse_back(block in 0..=u64::MAX >> 1, index: u32) {
            let (blocks, transactions) = (BlockCursor { below: block }, TransactionCursor { block, index });
            prop_assert_eq!(BlockCursor::parse(&blocks.print()).unwrap(), blocks);
            prop_assert_eq!(TransactionCursor::parse(&transactions.print()).unwrap(), transactions);
        }

        #[test]
        fn cursors_of_invoices_parse_back(bytes: [u8; 16]) {
            let cursor = InvoiceCursor { before: InvoiceId::from_bytes(bytes) };
            prop_assert_eq!(InvoiceCursor::parse(&cursor.print()).unwrap(), cursor);
        }

        #[test]
        fn cursors_of_deliveries_and_events_parse_back(bytes: [u8; 16], before in 0..=u64::MAX >> 1) {
            let delivery = DeliveryCursor { before: DeliveryId::from_bytes(bytes) };
            prop_assert_eq!(DeliveryCursor::parse(&delivery.print()).unwrap(), delivery);
            let event = EventCursor { before };
            prop_assert_eq!(EventCursor::parse(&event.print()).unwrap(), event);
        }

        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "\\PC{0,80}") {
            let _ = (BlockCursor::parse(&text), TransactionCursor::parse(&text), InvoiceCursor::parse(&text));
        }
    }
}
