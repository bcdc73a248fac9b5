//! What a client sends over HTTP, in pieces of any length: a request, the beginning of one, or none; the same one however it arrives.

#![no_main]

use bytes::{Buf, BytesMut};
use http1::{BadFraming, BadRequest, Body, Chunks, Headers, Request, Room};
use libfuzzer_sys::fuzz_target;

const MAX_BYTES: usize = 4096;

#[derive(Debug, PartialEq)]
struct Read {
    method: String,
    path: String,
    key: Option<Vec<u8>>,
    is_kept: bool,
    body: Vec<u8>,
    /// What belongs to the next request.
    rest: usize,
}

/// Reads one request as a connection does.
fn read(bytes: &[u8], piece: usize) -> Result<Option<Read>, BadRequest> {
    let (mut arrived, mut body) = (BytesMut::new(), BytesMut::new());
    let (mut head, mut chunks) = (None, Chunks::default());
    let mut pieces = bytes.chunks(piece);
    loop {
        let is_over = match pieces.next() {
            Some(piece) => {
                arrived.extend_from_slice(piece);
                false
            }
            None => true,
        };
        if head.is_none() {
            let mut room = Room::default();
            let read = Request::read(&arrived, &mut room)?.map(|(request, bytes)| {
                assert!(bytes <= arrived.len());
                let key = request.line("x-api-key").map(<[u8]>::to_vec);
                let (method, path) = (request.method.to_owned(), request.path().to_owned());
                (bytes, request.body, Read { method, path, key, is_kept: request.is_kept, body: Vec::new(), rest: 0 })
            });
            if let Some((bytes, ..)) = &read {
                arrived.advance(*bytes);
            }
            head = read;
        }
        let is_whole = match &head {
            Some((_, Body::Length(length), _)) if *length > MAX_BYTES => return Err(BadFraming::TooLong(MAX_BYTES).into()),
            Some((_, Body::Length(length), _)) if *length <= arrived.len() => {
                body = arrived.split_to(*length);
                true
            }
            Some((_, Body::Chunked, _)) => chunks.take(&mut arrived, &mut body, MAX_BYTES)?,
            Some((_, Body::Length(_), _)) | None => false,
        };
        assert!(body.len() <= MAX_BYTES);
        if let Some((_, _, read)) = head.take_if(|_| is_whole) {
            let rest = arrived.len() + pieces.map(<[u8]>::len).sum::<usize>();
            return Ok(Some(Read { body: body.to_vec(), rest, ..read }));
        }
        if is_over {
            return Ok(None);
        }
    }
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
