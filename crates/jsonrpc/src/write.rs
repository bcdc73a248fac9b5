//! What we write: requests to nodes, answers to callers.

use crate::ErrorObject;

/// Writes several requests as one. The first has this id, each after it the next one.
pub fn write_batch<'a>(
    out: &mut Vec<u8>,
    first_id: u64,
    requests: impl IntoIterator<Item = (&'static str, &'a str)>,
) {
    for (place, (method, params)) in (0..).zip(requests) {
        out.push(if place == 0 { b'[' } else { b',' });
        write_request(out, first_id + place, method, params);
    }
    out.push(b']');
}

/// Writes a request to a node. The method is a name of ours, never a caller's; the parameters are a JSON list.
pub fn write_request(out: &mut Vec<u8>, id: u64, method: &'static str, params: &str) {
    out.reserve(method.len() + params.len() + 64);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
    out.extend_from_slice(br#","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(br#"","params":"#);
    out.extend_from_slice(params.as_bytes());
    out.push(b'}');
}

/// Writes an answer up to its result, which is to follow, and then [`write_end`].
pub fn write_result(out: &mut Vec<u8>, id: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
}

/// Ends an answer after its result or error.
pub fn write_end(out: &mut Vec<u8>) {
    out.push(b'}');
}

/// Writes an answer up to its error object, which is to follow, and then [`write_end`]. An id that is not known is null.
pub fn write_error_start(out: &mut Vec<u8>, id: Option<&str>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.unwrap_or("null").as_bytes());
    out.extend_from_slice(br#","error":"#);
}

/// Writes an answer with an error of ours.
pub fn write_error(out: &mut Vec<u8>, id: Option<&str>, error: &ErrorObject) {
    write_error_start(out, id);
    out.extend_from_slice(&error.to_json());
    write_end(out);
}
