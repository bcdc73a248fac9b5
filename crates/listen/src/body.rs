//! A request body of bounded size.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

/// What is still read of a body that is too long, and for how long: closing a connection with bytes unread is a reset, which takes the
/// refusal with it.
const MAX_DISCARDED: usize = 8 * 1024 * 1024;
const DISCARD_LIMIT: Duration = Duration::from_secs(1);

/// Why a request body could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than allowed. The connection is of no more use.
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
    /// The caller broke off.
    #[error("the connection failed while the body was read")]
    Broken(#[from] hyper::Error),
}

/// Reads a body. The usual body comes in one frame and is not copied.
pub async fn read_body(mut body: Incoming, most: usize) -> Result<Bytes, BodyError> {
    match read(&mut body, most).await {
        Err(BodyError::TooLong(most)) => {
            // Whoever does not come to an end in time has seen enough.
            let _ = tokio::time::timeout(DISCARD_LIMIT, discard(&mut body)).await;
            Err(BodyError::TooLong(most))
        }
        read => read,
    }
}

async fn read(body: &mut Incoming, most: usize) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > most as u64 {
        return Err(BodyError::TooLong(most));
    }
    let first = match next_data(body).await? {
        Some(data) if data.len() > most => return Err(BodyError::TooLong(most)),
        Some(data) if body.is_end_stream() => return Ok(data),
        Some(data) => data,
        None => return Ok(Bytes::new()),
    };
    let mut whole = BytesMut::from(first.as_ref());
    while let Some(data) = next_data(body).await? {
        if whole.len() + data.len() > most {
            return Err(BodyError::TooLong(most));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn discard(body: &mut Incoming) -> Result<(), hyper::Error> {
    let mut left = MAX_DISCARDED;
    while let Some(data) = next_data(body).await? {
        left = left.saturating_sub(data.len());
        if left == 0 {
            break;
        }
    }
    Ok(())
}

async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    while let Some(frame) = body.frame().await {
        // Trailers carry nothing that we use.
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
