//! The header `Idempotency-Key`: a caller's name for a request that it may have to make twice.

use hyper::HeaderMap;
use merchant::IdempotencyKey;
use store::portal::OnceRequest;

use crate::{code::Code, problem::Problem};

const HEADER: &str = "idempotency-key";

/// The request's name, if it has one; `route` says what it asks for.
pub(super) fn once(
    headers: &HeaderMap,
    route: &'static str,
    body: &[u8],
    now: u64,
) -> Result<Option<OnceRequest>, Problem> {
    let refuse = || Problem::new(Code::InvalidIdempotencyKey, Code::InvalidIdempotencyKey.meaning());
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(refuse());
    }
    let key: IdempotencyKey = value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(refuse)?;
    Ok(Some(key.request(route, body, now)))
}
