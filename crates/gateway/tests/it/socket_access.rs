//! Who may open a WebSocket, and who has to leave.

use domain::Permission;
use hyper::StatusCode;
use serde_json::json;

use crate::{
    dev::Dev,
    front::{Front, keyed, open},
    peer::{Peer, Turned},
};

fn turned(status: u16, code: i64, reason: &str) -> Turned {
    Turned { status: StatusCode::from_u16(status).expect("a status"), code, reason: reason.to_owned() }
}

#[tokio::test]
async fn a_key_opens_the_socket_wherever_it_is_sent() {
    let dev = Dev::start();
    let front = Front::before(&dev, keyed()).await;
    let key = front.key(&[Permission::Rpc]).await;
    let bearer = format!("Bearer {}", key.text);
    for (path, headers) in [
        ("/".to_owned(), vec![("x-api-key", key.text.as_str())]),
        ("/".to_owned(), vec![("authorization", bearer.as_str())]),
        (format!("/rpc/{}", key.text), vec![]),
    ] {
        let mut peer = Peer::open_at(front.address, &path, &headers).await.expect("a WebSocket");
        assert_eq!(peer.result("eth_chainId", json!([])).await, "0x228d");
    }
}

#[tokio::test]
async fn without_a_good_key_the_handshake_fails() {
    let dev = Dev::start();
    let front = Front::before(&dev, keyed()).await;
    let explorer = front.key(&[Permission::Explorer]).await;
    let open = async |path: &str, headers: &[(&'static str, &str)]| {
        Peer::open_at(front.address, path, headers).await.err().expect("no WebSocket")
    };
    assert_eq!(open("/", &[]).await, turned(401, -40100, "api_key_missing"));
    let unknown = open("/rpc/cnk_0123456789abcdef_0123456789abcdef", &[]).await;
    assert_eq!((unknown.status.as_u16(), unknown.code), (401, -40100));
    let forbidden = open("/", &[("x-api-key", &explorer.text)]).await;
    assert_eq!(forbidden, turned(403, -32604, "permission_missing"));
}

#[tokio::test]
async fn a_caller_has_so_many_sockets_and_no_more() {
    let dev = Dev::start();
    let mut config = open();
    config.limits.max_sockets_per_caller = 2;
    let front = Front::before(&dev, config).await;
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
    crate::peer::in_time(again).await;
}

#[tokio::test]
async fn a_key_that_is_taken_back_closes_its_sockets_and_no_others() {
    let dev = Dev::start();
    let front = Front::before(&dev, keyed()).await;
    let (good, bad) = (front.key(&[Permission::Rpc]).await, front.key(&[Permission::Rpc]).await);
    let mut stays = Peer::open_at(front.address, "/", &[("x-api-key", &good.text)]).await.expect("a WebSocket");
    let mut goes = Peer::open_at(front.address, "/", &[("x-api-key", &bad.text)]).await.expect("a WebSocket");
    stays.subscribe(json!(["newHeads"])).await;
    goes.subscribe(json!(["newHeads"])).await;
    front.revoke(&bad).await;
    assert_eq!(goes.goodbye().await, (1008, "the API key is no longer valid".to_owned()));
    dev.mine().await;
    assert_eq!(stays.heads(1).await, [1]);
    let again = Peer::open_at(front.address, "/", &[("x-api-key", &bad.text)]).await.err();
    assert_eq!(again, Some(turned(401, -40100, "api_key_revoked")));
}

#[tokio::test]
async fn a_bad_handshake_is_refused() {
    let dev = Dev::start();
    let front = Front::before(&dev, open()).await;
    let request =
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: x\r\n\r\n";
    assert!(front.exchange(request).await.starts_with("HTTP/1.1 400"));
}
