//! An answer while it is written and sent: bytes of its own, and big shared pieces between them that are never copied.

use std::collections::VecDeque;

use bytes::Bytes;

/// Shared pieces that are shorter are cheaper copied.
const MIN_SHARED_BYTES: usize = 8 * 1024;

/// Bytes in one or more pieces.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    own: Vec<u8>,
    /// Shared pieces with the position in `own` before which they belong, in order.
    shared: Vec<(usize, Bytes)>,
    shared_bytes: usize,
}

/// A place to return to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    own: usize,
    shared: usize,
}

impl Pieces {
    /// Nothing yet, with room for so many bytes of its own.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { own: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Bytes in all.
    pub fn len(&self) -> usize {
        self.own.len() + self.shared_bytes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where bytes are written.
    pub fn own(&mut self) -> &mut Vec<u8> {
        &mut self.own
    }

    /// Goes on with shared bytes.
    pub fn share(&mut self, bytes: Bytes) {
        if bytes.len() < MIN_SHARED_BYTES {
            self.own.extend_from_slice(&bytes);
        } else {
            self.shared_bytes += bytes.len();
            self.shared.push((self.own.len(), bytes));
        }
    }

    /// Goes on with other pieces.
    pub fn append(&mut self, other: Self) {
        let base = self.own.len();
        self.own.extend_from_slice(&other.own);
        self.shared.extend(other.shared.into_iter().map(|(at, piece)| (base + at, piece)));
        self.shared_bytes += other.shared_bytes;
    }

    /// The place reached so far.
    pub fn mark(&self) -> Mark {
        Mark { own: self.own.len(), shared: self.shared.len() }
    }

    /// Forgets what came after a place.
    pub fn return_to(&mut self, mark: Mark) {
        self.own.truncate(mark.own);
        let dropped = self.shared.drain(mark.shared..);
        self.shared_bytes -= dropped.map(|(_, piece)| piece.len()).sum::<usize>();
    }

    /// All bytes in order.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.shared.iter().map(|(at, _)| *at));
        let ends = self.shared.iter().map(|(at, _)| *at).chain(std::iter::once(self.own.len()));
        let own = starts.zip(ends).map(|(start, end)| self.own.get(start..end).unwrap_or_default());
        let shared = self.shared.iter().map(|(_, piece)| piece.as_ref()).chain(std::iter::once(&[][..]));
        own.zip(shared).flat_map(|(own, shared)| [own, shared]).filter(|slice| !slice.is_empty())
    }

    /// All bytes in order, without copying any.
    pub fn into_parts(self) -> VecDeque<Bytes> {
        let mut own = Bytes::from(self.own);
        let mut parts = VecDeque::with_capacity(2 * self.shared.len() + 1);
        let mut reached = 0;
        for (at, piece) in self.shared {
            parts.push_back(own.split_to((at - reached).min(own.len())));
            parts.push_back(piece);
            reached = at;
        }
        parts.push_back(own);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// All bytes in one piece.
    pub fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() {
            return self.own.into();
        }
        self.slices().collect::<Vec<_>>().concat().into()
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(own: Vec<u8>) -> Self {
        Self { own, ..Self::default() }
    }
}

impl From<&'static str> for Pieces {
    fn from(text: &'static str) -> Self {
        text.as_bytes().to_vec().into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_what_was_written(parts in proptest::collection::vec((any::<bool>(), 0usize..20_000), 0..8)) {
            let (mut pieces, mut expected) = (Pieces::default(), Vec::new());
            let mut before = (pieces.mark(), 0);
            for (number, (is_shared, length)) in (0u8..).zip(parts) {
                before = (pieces.mark(), expected.len());
                let bytes = vec![number; length];
                expected.extend_from_slice(&bytes);
                if is_shared { pieces.share(bytes.into()) } else { pieces.own().extend_from_slice(&bytes) }
            }
            prop_assert_eq!(pieces.len(), expected.len());
            prop_assert_eq!(pieces.slices().collect::<Vec<_>>().concat(), &expected[..]);
            let mut twice = Pieces::from(b"[".to_vec());
            pieces.return_to(before.0);
            prop_assert_eq!(pieces.len(), before.1);
            twice.append(pieces.clone());
            prop_assert_eq!(&twice.into_bytes()[1..], &expected[..before.1]);
            let parts: Vec<_> = pieces.into_parts().into();
            prop_assert_eq!(parts.concat(), &expected[..before.1]);
        }
    }
}
