//! What a node sends back over HTTP, in pieces of any length: an answer, the beginning of one, or none; never more than asked for.

#![no_main]

use bytes::BytesMut;
use http1::{BadResponse, Chunks, Framing, Head, take_head};
use libfuzzer_sys::fuzz_target;

const MAX_BYTES: usize = 4096;

/// Reads as a connection does: a head, then chunks if it says so.
fn read(bytes: &[u8], piece: usize) -> Result<Option<(Head, Vec<u8>)>, BadResponse> {
    let (mut arrived, mut body) = (BytesMut::new(), BytesMut::new());
    let (mut head, mut chunks) = (None, Chunks::default());
    for piece in bytes.chunks(piece) {
        arrived.extend_from_slice(piece);
        if head.is_none() {
            head = take_head(&mut arrived)?;
        }
        let Some(head) = head else { continue };
        assert!(!head.is_kept || head.framing != Framing::UntilClosed);
        if head.framing != Framing::Chunked {
            return Ok(Some((head, Vec::new())));
        }
        let is_whole = chunks.take(&mut arrived, &mut body, MAX_BYTES)?;
        assert!(body.len() <= MAX_BYTES);
        if is_whole {
            return Ok(Some((head, body.to_vec())));
        }
    }
    Ok(None)
}

fuzz_target!(|data: &[u8]| {
    let Some((first, data)) = data.split_first() else { return };
    let whole = read(data, data.len().max(1));
    let pieces = read(data, usize::from(*first) + 1);
    // What is refused sooner in one way may be incomplete in the other; what is understood in both is the same.
    if let (Ok(Some(whole)), Ok(Some(pieces))) = (whole, pieces) {
        assert_eq!(whole, pieces);
    }
});
