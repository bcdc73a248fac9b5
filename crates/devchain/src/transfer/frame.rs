//! Splits Besu's block file format, which is block RLPs one after the other and nothing between them.

use std::io::{self, BufRead, Read};

/// No real block comes near this; a longer one is a damaged length field.
const MAX_BLOCK_BYTES: u64 = 1 << 30;

/// Why the next block could not be cut out of the file.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The file could not be read.
    #[error("cannot read the block file")]
    Io(#[from] io::Error),
    /// The bytes at this offset do not start an RLP list.
    #[error("no block starts at byte {offset}")]
    NotABlock {
        /// Offset in the file.
        offset: u64,
    },
    /// The file ends inside a block.
    #[error("the file ends inside the block that starts at byte {offset}")]
    CutOff {
        /// Offset in the file.
        offset: u64,
    },
}

/// Reads blocks off a file, one at a time.
pub(crate) struct Frames<R> {
    reader: R,
    offset: u64,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, offset: 0 }
    }

    /// Bytes read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// RLP of the next block, `None` at the end of the file.
    pub(crate) fn next_block(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(&lead) = self.reader.fill_buf()?.first() else { return Ok(None) };
        let offset = self.offset;
        let length_bytes = match lead {
            0xc0..=0xf7 => 0,
            0xf8..=0xff => usize::from(lead - 0xf7),
            0..=0xbf => return Err(FrameError::NotABlock { offset }),
        };
        let mut block = Vec::new();
        self.read_exactly(1 + length_bytes as u64, &mut block, offset)?;
        let payload = match block.get(1..) {
            Some(bytes) if length_bytes > 0 => {
                bytes.iter().fold(0u64, |sum, &b| sum.wrapping_shl(8) | u64::from(b))
            }
            _ => u64::from(lead - 0xc0),
        };
        if payload > MAX_BLOCK_BYTES {
            return Err(FrameError::NotABlock { offset });
        }
        self.read_exactly(payload, &mut block, offset)?;
        self.offset += block.len() as u64;
        Ok(Some(block))
    }

    fn read_exactly(&mut self, bytes: u64, into: &mut Vec<u8>, offset: u64) -> Result<(), FrameError> {
        let read = self.reader.by_ref().take(bytes).read_to_end(into)?;
        if read as u64 == bytes { Ok(()) } else { Err(FrameError::CutOff { offset }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<Vec<u8>>, FrameError> {
        let mut frames = Frames::new(bytes);
        let mut found = Vec::new();
        while let Some(block) = frames.next_block()? {
            found.push(block);
        }
        Ok(found)
    }

    #[test]
    fn short_and_long_lists_are_cut_apart() {
        let long = [&[0xf8, 60][..], &[1; 60]].concat();
        let file = [&[0xc2, 1, 2][..], &long, &[0xc0]].concat();
        assert_eq!(all(&file).unwrap(), vec![vec![0xc2, 1, 2], long, vec![0xc0]]);
    }

    #[test]
    fn damage_is_named_with_its_place() {
        assert!(matches!(all(&[0xc0, 0x80]), Err(FrameError::NotABlock { offset: 1 })));
        assert!(matches!(all(&[0xc0, 0xc3, 1, 2]), Err(FrameError::CutOff { offset: 1 })));
        assert!(matches!(all(&[0xf9, 1]), Err(FrameError::CutOff { offset: 0 })));
        assert!(matches!(all(&[0xff; 12]), Err(FrameError::NotABlock { offset: 0 })));
    }
}
