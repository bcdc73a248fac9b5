//! A request body of bounded size.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::refusal::Refusal;

/// Reads a body. The usual body comes in one frame and is not copied.
pub(super) async fn read(mut body: Incoming, most: usize) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > most as u64 {
        return Err(Refusal::LongBody { most });
    }
    let first = match next_data(&mut body).await? {
        Some(data) if data.len() > most => return Err(Refusal::LongBody { most }),
        Some(data) if body.is_end_stream() => return Ok(data),
        Some(data) => data,
        None => return Ok(Bytes::new()),
    };
    let mut whole = BytesMut::from(first.as_ref());
    while let Some(data) = next_data(&mut body).await? {
        if whole.len() + data.len() > most {
            return Err(Refusal::LongBody { most });
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, Refusal> {
    while let Some(frame) = body.frame().await {
        // Trailers carry nothing that we use.
        if let Ok(data) = frame.map_err(|_| Refusal::BrokenBody)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
