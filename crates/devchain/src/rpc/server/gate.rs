//! Who may talk to the server: the address that connects, the host name it was addressed by and the page that asks.

use std::net::IpAddr;

use ipnet::IpNet;
use listen::{HeaderValue, Headers, Request, Value};

use crate::rpc::config::{Cors, Hosts};

/// Whether this address may connect.
pub(super) fn peer_allowed(peers: &[IpNet], address: IpAddr) -> bool {
    let address = address.to_canonical();
    peers.iter().any(|net| net.contains(&address))
}

/// Whether the `Host` header names us. Without this check a page on a domain that is re-pointed at 127.0.0.1
/// could talk to the node as if it were its own server.
pub(super) fn host_allowed(hosts: &Hosts, request: &Request<'_, '_>) -> bool {
    let allowed = match hosts {
        Hosts::Any => return true,
        Hosts::Only(names) => names,
    };
    let Some(host) = request.line("host").and_then(|value| str::from_utf8(value).ok()) else {
        return false;
    };
    let name = without_port(host);
    allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    }
}

/// The value of `Access-Control-Allow-Origin` for this request, if its page may read the answer.
pub(super) fn allowed_origin(cors: &Cors, request: &Request<'_, '_>) -> Option<Value> {
    match cors {
        Cors::Any => Some("*".into()),
        Cors::Origins(origins) => {
            let origin = request.line("origin")?;
            let allowed = origins.iter().find(|allowed| allowed.as_bytes() == origin)?;
            HeaderValue::from_str(allowed).ok().map(Value::from)
        }
    }
}

/// Whether a web page asks, through the browser of somebody who need not know. Browsers say so with an `Origin` in whatever
/// is not a plain look at a page, those of today in `Sec-Fetch-Site` as well; programs send neither.
pub(super) fn is_page(request: &Request<'_, '_>) -> bool {
    request.line("origin").is_some() || request.line("sec-fetch-site").is_some()
}

/// Whether a page may open a WebSocket, which browsers allow across origins without asking. Programs that are
/// no browser send no `Origin`.
pub(super) fn page_may_connect(cors: &Cors, request: &Request<'_, '_>) -> bool {
    request.line("origin").is_none() || allowed_origin(cors, request).is_some()
}
