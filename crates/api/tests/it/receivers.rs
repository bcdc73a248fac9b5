//! The example receivers of `examples/`, started as they are documented and sent to by the real sender.

use std::{path::Path, process::Stdio, sync::Arc};

use bytes::Bytes;
use domain::portal::{DeliveryId, EventId, EventType};
use hyper::HeaderMap;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    net::TcpListener,
    process::{Child, ChildStdout, Command},
};
use webhooks::{Message, Secrets, WebhookSecret, headers};

use crate::rig::webhook_sender;

#[path = "../../examples/webhook_receiver.rs"]
mod webhook_receiver;

/// A genuine delivery, at this moment.
fn genuine(secret: &WebhookSecret) -> (HeaderMap, Bytes, EventId) {
    let event_id = EventId::new(1, rand::random());
    let kind = EventType::InvoicePaid;
    // Spaces and an order of members that nobody would write by themselves: the raw bytes count.
    let body =
        format!("{{ \"type\":\"{kind}\",  \"id\" : \"{event_id}\", \"data\":{{\"note\":\"Kopi ☕\"}} }}");
    let body = Bytes::from(body);
    let delivery_id = DeliveryId::new(1, rand::random());
    let message = Message { event_id, kind, delivery_id, attempt: 1, body: body.clone() };
    (headers(&message, &Secrets::new(secret.clone(), None), Timestamp::now()), body, event_id)
}

/// Sends what a receiver must tell apart; answers the statuses and what it must have printed.
async fn exercise(port: u16, secret: &WebhookSecret) -> Vec<String> {
    let (_, sender) = webhook_sender();
    let url = format!("http://127.0.0.1:{port}/hook");
    let send = async |headers: &HeaderMap, body: &Bytes| {
        let answer = sender.send(&url, headers.clone(), body.clone(), Timestamp::now()).await.unwrap();
        answer.status.as_u16()
    };
    let (headers, body, id) = genuine(secret);
    assert_eq!(send(&headers, &body).await, 204);
    let forged =
        Bytes::from(body.iter().map(|byte| if *byte == b'K' { b'k' } else { *byte }).collect::<Vec<_>>());
    assert_eq!(send(&headers, &forged).await, 401);
    assert_eq!(send(&headers, &body.slice(..body.len() - 1)).await, 401);
    let (others, other_body, _) = genuine(&WebhookSecret::generate());
    assert_eq!(send(&others, &other_body).await, 401);
    assert_eq!(send(&HeaderMap::new(), &body).await, 401);
    assert_eq!(send(&headers, &body).await, 204, "a repeated delivery is fine");
    let bad = || "bad signature".to_owned();
    vec![format!("ok invoice.paid {id}"), bad(), bad(), bad(), bad(), format!("again invoice.paid {id}")]
}

/// Starts a receiver and reads where it listens.
async fn start(
    program: &str,
    file: &str,
    secret: &WebhookSecret,
    standard: &str,
) -> Option<(Child, Lines<BufReader<ChildStdout>>, u16)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let child = Command::new(program)
        .arg(folder.join(file))
        .env("WEBHOOK_SECRET", secret.as_str())
        .env("WEBHOOK_STANDARD", standard)
        .env("PORT", "0")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("not run: there is no {program}");
        return None;
    };
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next_line().await.unwrap().expect("it listens");
    let port = first.strip_prefix("listening on ").and_then(|port| port.parse().ok());
    Some((child, lines, port.expect("a port")))
}

async fn run(program: &str, file: &str) {
    for standard in ["0", "1"] {
        let secret = WebhookSecret::generate();
        let Some((mut child, mut lines, port)) = start(program, file, &secret, standard).await else {
            return;
        };
        for expected in exercise(port, &secret).await {
            assert_eq!(lines.next_line().await.unwrap().as_deref(), Some(expected.as_str()));
        }
        child.kill().await.unwrap();
    }
}

#[tokio::test]
async fn the_receiver_in_node_tells_genuine_from_forged() {
    run("node", "webhook-receiver-node/receiver.mjs").await;
}

#[tokio::test]
async fn the_receiver_in_python_tells_genuine_from_forged() {
    run("python3", "webhook-receiver-python/receiver.py").await;
}

#[tokio::test]
async fn the_receiver_in_rust_tells_genuine_from_forged() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let secret = WebhookSecret::generate();
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = lines.clone();
    let tell = move |line: &str| heard.lock().push(line.to_owned());
    let serving = webhook_receiver::serve(listener, secret.as_str().to_owned(), tell);
    let serving = tokio::spawn(serving);
    let expected = exercise(port, &secret).await;
    assert_eq!(*lines.lock(), expected);
    serving.abort();
}
