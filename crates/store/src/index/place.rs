//! A place in the chain as one number.

use crate::{StoreError, convert::to_signed};

const INDEX_BITS: u32 = 20;
const MOST_ITEMS: u32 = 1 << INDEX_BITS;
/// More than any place that can be.
pub(crate) const END: i64 = i64::MAX;

/// The place of a transaction or a log: the block's number, then the index in the block.
pub(crate) fn place(block: u64, index: u32) -> Result<i64, StoreError> {
    if block >> (63 - INDEX_BITS) != 0 {
        return Err(StoreError::TooLarge { what: "block number" });
    }
    if index >= MOST_ITEMS {
        return Err(StoreError::TooLarge { what: "index in a block" });
    }
    to_signed("place", (block << INDEX_BITS) | u64::from(index))
}

/// The block and the index of a place.
pub(crate) fn parts(place: i64) -> (u64, u32) {
    let place = place.cast_unsigned();
    #[expect(clippy::cast_possible_truncation, reason = "the mask leaves 20 bits")]
    let index = (place & u64::from(MOST_ITEMS - 1)) as u32;
    (place >> INDEX_BITS, index)
}

/// The exclusive upper end of a list: before this place, or everything.
pub(crate) fn upper_end(before: Option<(u64, u32)>) -> i64 {
    // A cursor beyond what can be stored is beyond everything.
    before.map_or(END, |(block, index)| place(block, index.min(MOST_ITEMS - 1)).unwrap_or(END))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_come_apart_again_and_keep_the_order(a in 0u64..1 << 43, i in 0u32..MOST_ITEMS, b in 0u64..1 << 43, j in 0u32..MOST_ITEMS) {
            let (first, second) = (place(a, i).unwrap(), place(b, j).unwrap());
            prop_assert_eq!(parts(first), (a, i));
            prop_assert_eq!(first.cmp(&second), (a, i).cmp(&(b, j)));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(place(1 << 43, 0).is_err());
        assert!(place(0, MOST_ITEMS).is_err());
        assert_eq!(upper_end(Some((u64::MAX, u32::MAX))), END);
    }
}
