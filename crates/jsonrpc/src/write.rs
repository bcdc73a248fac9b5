//! What we write: requests to nodes, answers to callers.

use crate::ErrorObject;

/// Writes a request to a node. The method is a name of ours, never a caller's; the parameters are a JSON list.
pub fn write_request(out: &mut Vec<u8>, method: &'static str, params: &str) {
    write_numbered(out, 1, method, params);
}

/// Writes several requests as one. The id of each is its place, from one.
pub fn write_batch<'a>(out: &mut Vec<u8>, requests: impl IntoIterator<Item = (&'static str, &'a str)>) {
    for (place, (method, params)) in (1..).zip(requests) {
        out.push(if place == 1 { b'[' } else { b',' });
        write_numbered(out, place, method, params);
    }
    out.push(b']');
}

fn write_numbered(out: &mut Vec<u8>, id: u32, method: &'static str, params: &str) {
    out.reserve(method.len() + params.len() + 64);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
    out.extend_from_slice(br#","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(br#"","params":"#);
    out.extend_from_slice(params.as_bytes());
    out.push(b'}');
}

/// Writes an answer up to its result, which is to follow, and then [`write_result_end`].
pub fn write_result(out: &mut Vec<u8>, id: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
}

/// Ends an answer after its result.
pub fn write_result_end(out: &mut Vec<u8>) {
    out.push(b'}');
}

/// Writes an answer whose error object is already JSON; an id that is not known is null.
pub fn write_error_json(out: &mut Vec<u8>, id: Option<&str>, error: &[u8]) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.unwrap_or("null").as_bytes());
    out.extend_from_slice(br#","error":"#);
    out.extend_from_slice(error);
    out.push(b'}');
}

/// Writes an answer with an error of ours.
pub fn write_error(out: &mut Vec<u8>, id: Option<&str>, error: &ErrorObject) {
    write_error_json(out, id, &error.to_json());
}
