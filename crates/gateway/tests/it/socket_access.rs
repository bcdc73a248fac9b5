//! Who may open a WebSocket, and who has to leave.

use std::time::Duration;

use bytes::Bytes;
use domain::{KeyId, Permission, Permissions};
use hyper::StatusCode;
use serde_json::json;

use crate::{
    dev::Dev,
    front::{Front, keyed, open},
    peer::{Peer, Turned},
    world::in_time,
};

fn turned(status: u16, code: i64, reason: &str) -> Turned {
    Turned { status: StatusCode::from_u16(status).expect("a status"), code, reason: reason.to_owned() }
}

#[tokio::test]
async fn a_key_opens_the_socket_wherever_it_is_sent() {
    let dev = Dev::start();
    let front = Front::new(keyed(), dev.in_process()).await;
    let key = front.issue(|_| {}).await;
    let bearer = format!("Bearer {key}");
    for (path, headers) in [
        ("/".to_owned(), vec![("x-api-key", key.as_str())]),
        ("/".to_owned(), vec![("authorization", bearer.as_str())]),
        (format!("/rpc/{key}"), vec![]),
    ] {
        let mut peer = Peer::open_at(front.address, &path, &headers).await.expect("a WebSocket");
        assert_eq!(peer.result("eth_chainId", json!([])).await, "0x228d");
    }
}

#[tokio::test]
async fn without_a_good_key_the_handshake_fails() {
    let dev = Dev::start();
    let front = Front::new(keyed(), dev.in_process()).await;
    let explorer = front.issue(|terms| terms.permissions = Permissions::of([Permission::Explorer])).await;
    let open = async |path: &str, headers: &[(&'static str, &str)]| {
        Peer::open_at(front.address, path, headers).await.err().expect("no WebSocket")
    };
    assert_eq!(open("/", &[]).await, turned(401, -40100, "api_key_missing"));
    let unknown = open("/rpc/cnk_0123456789abcdef_0123456789abcdef", &[]).await;
    assert_eq!((unknown.status.as_u16(), unknown.code), (401, -40100));
    let forbidden = open("/", &[("x-api-key", &explorer)]).await;
    assert_eq!(forbidden, turned(403, -32604, "permission_missing"));
}

#[tokio::test]
async fn a_caller_has_so_many_sockets_and_no_more() {
    let dev = Dev::start();
    let mut config = open();
    config.limits.max_sockets_per_caller = 2;
    let front = Front::new(config, dev.in_process()).await;
    let one = Peer::open(front.address).await;
    let mut two = Peer::open(front.address).await;
    let third = Peer::open_at(front.address, "/", &[]).await.err().expect("no WebSocket");
    assert_eq!((third.status.as_u16(), third.code), (429, -32005));
    two.result("eth_chainId", json!([])).await;
    drop(one);
    let again = async {
        while Peer::open_at(front.address, "/", &[]).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    in_time(again).await;
}

#[tokio::test]
async fn a_key_that_is_taken_back_closes_its_sockets_and_no_others() {
    let dev = Dev::start();
    let front = Front::new(keyed(), dev.in_process()).await;
    let (good, bad) = (front.issue(|_| {}).await, front.issue(|_| {}).await);
    let mut stays = Peer::open_at(front.address, "/", &[("x-api-key", &good)]).await.expect("a WebSocket");
    let mut goes = Peer::open_at(front.address, "/", &[("x-api-key", &bad)]).await.expect("a WebSocket");
    stays.subscribe(json!(["newHeads"])).await;
    goes.subscribe(json!(["newHeads"])).await;
    let id: KeyId = bad.split('_').nth(1).unwrap().parse().unwrap();
    front.keys().revoke(&id, front.clock.now()).await.unwrap();
    front.keyring.refresh().await.unwrap();
    assert_eq!(goes.goodbye().await, (1008, "the API key is no longer valid".to_owned()));
    dev.mine().await;
    assert_eq!(stays.heads(1).await, [1]);
    let again = Peer::open_at(front.address, "/", &[("x-api-key", &bad)]).await.err();
    assert_eq!(again, Some(turned(401, -40100, "api_key_revoked")));
}

#[tokio::test]
async fn a_key_that_runs_out_closes_its_sockets() {
    let dev = Dev::start();
    let front = Front::new(keyed(), dev.in_process()).await;
    let expiry = front.clock.now() + Duration::from_secs(60);
    let key = front.issue(|terms| terms.expires_at = Some(expiry)).await;
    let mut peer = Peer::open_at(front.address, "/", &[("x-api-key", &key)]).await.expect("a WebSocket");
    peer.result("eth_chainId", json!([])).await;
    front.clock.advance(Duration::from_secs(61));
    assert_eq!(peer.goodbye().await.0, 1008);
}

#[tokio::test]
async fn a_bad_handshake_is_refused() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    for (version, key) in [("8", "x"), ("13", "")] {
        let mut headers =
            vec![("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", version)];
        if !key.is_empty() {
            headers.push(("sec-websocket-key", key));
        }
        let reply = front.connect().await.send("GET", "/", &headers, Bytes::new()).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    }
}
