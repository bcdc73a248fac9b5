//! Signing in with a wallet, over HTTP.

use std::{net::IpAddr, time::Duration};

use alloy_primitives::{Signature, TxKind, U256, hex, uint};
use chainnet_api::EdgeConfig;
use contracts::address::TREASURY;
use domain::portal::AuditAction;
use serde_json::json;
use store::testing::TestDb;

use crate::{
    contract::Walk,
    portal_people::{CHALLENGE, SESSION, bearer, personal_sign, signer},
    portal_safe::{FutureSafe, safe_signature},
    rig::{PORTAL_ORIGIN, Reply, Rig, on_both_engines},
};

on_both_engines! {
    a_wallet_signs_in_is_known_and_signs_out,
    a_challenge_is_answered_once,
    other_signatures_do_not_sign_in,
    a_safe_signs_in_through_its_owners,
    a_safe_that_is_not_there_yet_signs_in,
    contracts_that_misbehave_do_not_sign_in,
    a_chain_that_cannot_be_asked_uses_nothing_up,
    sessions_end_by_themselves,
    cookies_act_from_our_own_pages_only,
    challenges_are_limited_for_each_client,
    every_operation_of_sessions_answers_as_it_is_described,
}

const ORDER: U256 = uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);

async fn who(rig: &Rig, token: &str) -> Reply {
    rig.get_with(SESSION, &[("authorization", &bearer(token))]).await
}

async fn a_wallet_signs_in_is_known_and_signs_out(test: &TestDb) {
    let rig = Rig::new(test).await;
    let address = signer(0).address();
    let lower = format!("{address:?}").to_lowercase();
    let reply = rig.post(CHALLENGE, json!({ "address": lower }).to_string()).await;
    assert_eq!(reply.status, 201);
    let challenge = reply.json();
    let (id, message) = (challenge["challengeId"].as_str().unwrap(), challenge["message"].as_str().unwrap());
    let head = format!("127.0.0.1:3000 wants you to sign in with your Ethereum account:\n{address}\n\n");
    assert!(message.starts_with(&head), "{message}");
    assert!(message.ends_with(&format!("\nRequest ID: {id}")), "{message}");

    let reply = rig.answer_challenge(id, &personal_sign(0, message)).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let session = reply.json();
    assert_eq!((&session["address"], &session["accountType"]), (&json!(address.to_string()), &json!("eoa")));
    let token = session["token"].as_str().unwrap();
    assert!(token.starts_with("pds_") && token.len() == 47);
    let cookie = reply.header("set-cookie").unwrap();
    let expected = format!("chainnet_session={token}; Path=/; Max-Age=43");
    assert!(cookie.starts_with(&expected) && cookie.ends_with("; HttpOnly; SameSite=Lax"), "{cookie}");

    for headers in [("authorization", bearer(token)), ("cookie", format!("a=b; chainnet_session={token}"))] {
        let known = rig.get_with(SESSION, &[(headers.0, &headers.1)]).await;
        assert_eq!((known.status.as_u16(), &known.json()["address"]), (200, &json!(address.to_string())));
        assert_eq!(known.json()["expiresAt"], session["expiresAt"]);
        assert_eq!(known.header("cache-control"), Some("no-store"));
    }
    let out = rig.ask("DELETE", SESSION, &[("authorization", &bearer(token))], "").await;
    assert_eq!((out.status.as_u16(), out.body.len()), (204, 0));
    assert!(out.header("set-cookie").unwrap().starts_with("chainnet_session=; Path=/; Max-Age=0;"));
    assert_eq!(who(&rig, token).await.refusal(), (401, "session_invalid".into()));

    let log = rig.db.list_audit(address, 9).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry.action, entry.origin.as_deref().unwrap())).collect();
    assert_eq!(told, [(AuditAction::SignedOut, "127.0.0.0/24"), (AuditAction::SignedIn, "127.0.0.0/24")]);
}

async fn a_challenge_is_answered_once(test: &TestDb) {
    let rig = Rig::new(test).await;
    let used_up = (401, "challenge_expired".to_owned());
    let given = rig.challenge(signer(0).address()).await;
    let signature = personal_sign(0, &given.message);
    assert_eq!(rig.answer_challenge(&given.id, &signature).await.status, 201);
    assert_eq!(rig.answer_challenge(&given.id, &signature).await.refusal(), used_up);
    // A wrong answer is one, too.
    let given = rig.challenge(signer(0).address()).await;
    let wrong = personal_sign(1, &given.message);
    assert_eq!(rig.answer_challenge(&given.id, &wrong).await.refusal(), (401, "signature_invalid".into()));
    let right = personal_sign(0, &given.message);
    assert_eq!(rig.answer_challenge(&given.id, &right).await.refusal(), used_up);
    // So is one that comes late, and one to nothing.
    let given = rig.challenge(signer(0).address()).await;
    let right = personal_sign(0, &given.message);
    rig.clock.advance(Duration::from_secs(5 * 60));
    assert_eq!(rig.answer_challenge(&given.id, &right).await.refusal(), used_up);
    for id in ["", "chl_", "chl_00000000000000000000000000", "inv_00000000000000000000000000"] {
        assert_eq!(rig.answer_challenge(id, &right).await.refusal(), used_up, "{id}");
    }
}

async fn other_signatures_do_not_sign_in(test: &TestDb) {
    let rig = Rig::new(test).await;
    let address = signer(0).address();
    let wrongs: [fn(&str) -> String; 10] = [
        |_| String::new(),
        |_| "0x".to_owned(),
        |_| "not hexadecimal".to_owned(),
        |message| personal_sign(0, message)[..130].to_owned(),
        |message| personal_sign(0, message) + "00",
        |message| personal_sign(0, &format!("{message} ")),
        |message| personal_sign(1, message),
        |message| {
            change(message, |signature| Signature::new(signature.r(), ORDER - signature.s(), !signature.v()))
        },
        |message| change(message, |signature| Signature::new(signature.s(), signature.r(), signature.v())),
        |message| change(message, |signature| Signature::new(signature.r(), signature.s(), !signature.v())),
    ];
    for (index, wrong) in wrongs.iter().enumerate() {
        let given = rig.challenge(address).await;
        let reply = rig.answer_challenge(&given.id, &wrong(&given.message)).await;
        assert_eq!(reply.refusal(), (401, "signature_invalid".into()), "{index}");
    }
    // The right signature of another challenge is wrong.
    let (one, other) = (rig.challenge(address).await, rig.challenge(address).await);
    let reply = rig.answer_challenge(&one.id, &personal_sign(0, &other.message)).await;
    assert_eq!(reply.refusal(), (401, "signature_invalid".into()));
    // All spellings of the recovery bit are right.
    for v in ["00", "01", "1b", "1c"] {
        let given = rig.challenge(address).await;
        let signature = personal_sign(0, &given.message);
        let is_odd = signature.ends_with("1c");
        if is_odd == matches!(v, "01" | "1c") {
            let spelt = format!("{}{v}", &signature[..130]);
            assert_eq!(rig.answer_challenge(&given.id, &spelt).await.status, 201, "{v}");
        }
    }
}

fn change(message: &str, change: fn(Signature) -> Signature) -> String {
    let signature: Signature = personal_sign(0, message).parse().unwrap();
    hex::encode_prefixed(change(signature).as_bytes())
}

async fn a_safe_signs_in_through_its_owners(test: &TestDb) {
    let rig = Rig::new(test).await;
    let sign_in = async |owners: &[usize]| {
        let given = rig.challenge(TREASURY).await;
        let signature = hex::encode_prefixed(safe_signature(TREASURY, &given.message, owners));
        rig.answer_challenge(&given.id, &signature).await
    };
    let reply = sign_in(&[0, 2, 4]).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let session = reply.json();
    assert_eq!((&session["address"], &session["accountType"]), (&json!(TREASURY), &json!("contract")));
    assert_eq!(sign_in(&[0, 2]).await.refusal(), (401, "signature_invalid".into()), "two of three");
    assert_eq!(sign_in(&[0, 2, 9]).await.refusal(), (401, "signature_invalid".into()), "a stranger");
    // An owner is not the Safe.
    let given = rig.challenge(TREASURY).await;
    let reply = rig.answer_challenge(&given.id, &personal_sign(0, &given.message)).await;
    assert_eq!(reply.refusal(), (401, "signature_invalid".into()));
    // A contract's word does not last long.
    let token = session["token"].as_str().unwrap();
    for minutes in [25, 25] {
        rig.clock.advance(Duration::from_secs(minutes * 60));
        assert_eq!(who(&rig, token).await.status, 200);
    }
    rig.clock.advance(Duration::from_secs(10 * 60));
    assert_eq!(who(&rig, token).await.refusal(), (401, "session_expired".into()));
}

async fn a_safe_that_is_not_there_yet_signs_in(test: &TestDb) {
    let rig = Rig::new(test).await;
    let safe = FutureSafe::of(0);
    let sign_in = async |owner: usize, is_wrapped: bool| {
        let given = rig.challenge(safe.address).await;
        let signature = safe_signature(safe.address, &given.message, &[owner]);
        let spelt = if is_wrapped { safe.wrap(signature) } else { hex::encode_prefixed(signature) };
        rig.answer_challenge(&given.id, &spelt).await
    };
    let invalid = (401, "signature_invalid".to_owned());
    let reply = sign_in(0, true).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.json()["accountType"], "contract");
    assert_eq!(sign_in(1, true).await.refusal(), invalid, "not its owner");
    assert_eq!(sign_in(0, false).await.refusal(), invalid, "nobody says how to deploy it");
    assert_eq!(rig.db.find_wallet(FutureSafe::of(1).address).await.unwrap(), None);
    // How another Safe is deployed does not help.
    let given = rig.challenge(FutureSafe::of(1).address).await;
    let foreign = safe.wrap(safe_signature(FutureSafe::of(1).address, &given.message, &[0]));
    assert_eq!(rig.answer_challenge(&given.id, &foreign).await.refusal(), invalid);
    // Once it is there, both forms are good.
    let to = contracts::address::SAFE_PROXY_FACTORY;
    rig.send(0, 0, to.into(), U256::ZERO, safe.deployment.clone());
    rig.mine().await;
    assert_eq!(sign_in(0, true).await.status, 201);
    assert_eq!(sign_in(0, false).await.status, 201);
    assert_eq!(sign_in(1, true).await.refusal(), invalid);
    // An account with a key needs no deployment, and gets none.
    let given = rig.challenge(signer(0).address()).await;
    let wrapped = safe.wrap(hex::decode(personal_sign(0, &given.message)).unwrap());
    assert_eq!(rig.answer_challenge(&given.id, &wrapped).await.refusal(), invalid);
    // What only ends like such a signature is none.
    let given = rig.challenge(safe.address).await;
    let cut = format!("0x{}{}", "00".repeat(7), "6492".repeat(16));
    assert_eq!(rig.answer_challenge(&given.id, &cut).await.refusal(), invalid);
}

async fn contracts_that_misbehave_do_not_sign_in(test: &TestDb) {
    let rig = Rig::new(test).await;
    let magic = hex::encode(hex!("1626ba7e"));
    let cases = [
        // Returns what is asked for, for any signature.
        (format!("7f{magic}{}60005260206000f3", "00".repeat(28)), 201),
        // Returns only the four bytes, returns nothing, reverts, runs for ever.
        (format!("63{magic}60005260046000f3"), 401),
        ("00".to_owned(), 401),
        ("60006000fd".to_owned(), 401),
        ("5b600056".to_owned(), 401),
        // Returns the right bytes in the wrong place.
        (format!("63{magic}60005260206000f3"), 401),
    ];
    for (nonce, (code, status)) in cases.iter().enumerate() {
        let code = hex::decode(code).unwrap();
        // Copies what follows it, and returns that.
        let init =
            [&[0x60, u8::try_from(code.len()).unwrap()][..], &hex!("80600a5f395ff3"), &[0], &code].concat();
        let nonce = u64::try_from(nonce).unwrap();
        rig.send(0, nonce, TxKind::Create, U256::ZERO, init.into());
        rig.mine().await;
        let wallet = signer(0).address().create(nonce);
        let given = rig.challenge(wallet).await;
        let reply = rig.answer_challenge(&given.id, "0x00").await;
        assert_eq!(reply.status.as_u16(), *status, "{nonce}: {reply:?}");
    }
}

async fn a_chain_that_cannot_be_asked_uses_nothing_up(test: &TestDb) {
    let rig = Rig::new(test).await;
    let given = rig.challenge(TREASURY).await;
    let signature = hex::encode_prefixed(safe_signature(TREASURY, &given.message, &[0, 1, 2]));
    rig.node.cut(true);
    for _ in 0..2 {
        let reply = rig.answer_challenge(&given.id, &signature).await;
        assert_eq!(reply.refusal(), (503, "chain_unavailable".into()));
        assert!(reply.header("retry-after").is_some());
    }
    // Who has a key needs no chain.
    rig.sign_in(0).await;
    rig.node.cut(false);
    assert_eq!(rig.answer_challenge(&given.id, &signature).await.status, 201);
    assert_eq!(
        rig.answer_challenge(&given.id, &signature).await.refusal(),
        (401, "challenge_expired".into())
    );
}

async fn sessions_end_by_themselves(test: &TestDb) {
    let rig = Rig::new(test).await;
    let minute = Duration::from_secs(60);
    let (idle, busy) = (rig.sign_in(0).await, rig.sign_in(0).await);
    for _ in 0..2 {
        rig.clock.advance(15 * minute);
        assert_eq!(who(&rig, &busy).await.status, 200);
    }
    assert_eq!(who(&rig, &idle).await.refusal(), (401, "session_expired".into()));
    // Twelve hours are the end, however busy.
    for _ in 0..27 {
        rig.clock.advance(25 * minute);
        assert_eq!(who(&rig, &busy).await.status, 200);
    }
    rig.clock.advance(15 * minute);
    assert_eq!(who(&rig, &busy).await.refusal(), (401, "session_expired".into()));
    for (token, code) in [
        ("pds_0123456789012345678901234567890123456789012", "session_invalid"),
        ("pdk_0123456789012345678901234567890123456789012", "session_invalid"),
        ("", "session_invalid"),
    ] {
        assert_eq!(who(&rig, token).await.refusal(), (401, code.into()), "{token}");
    }
    assert_eq!(rig.get(SESSION).await.refusal(), (401, "session_missing".into()));
    let two = [("authorization", "Bearer pds_a"), ("authorization", "Bearer pds_b")];
    assert_eq!(rig.get_with(SESSION, &two).await.refusal(), (401, "session_invalid".into()));
}

async fn cookies_act_from_our_own_pages_only(test: &TestDb) {
    let rig = Rig::new(test).await;
    let cookie = format!("chainnet_session={}", rig.sign_in(0).await);
    let cookie = ("cookie", cookie.as_str());
    let sign_out = async |headers: &[(&str, &str)]| rig.ask("DELETE", SESSION, headers, "").await;
    let refused = (403, "origin_mismatch".to_owned());
    assert_eq!(sign_out(&[cookie]).await.refusal(), refused);
    for origin in
        ["https://evil.example", "null", "http://127.0.0.1:3001", "http://127.0.0.1:3000.evil.example"]
    {
        assert_eq!(sign_out(&[cookie, ("origin", origin)]).await.refusal(), refused, "{origin}");
    }
    let other_page = [cookie, ("origin", "https://evil.example")];
    assert_eq!(rig.get_with(SESSION, &other_page).await.status, 200, "reading is for CORS to keep");
    assert_eq!(sign_out(&[cookie, ("origin", PORTAL_ORIGIN)]).await.status, 204);
    // A bearer is not sent by browsers of their own accord.
    let token = bearer(&rig.sign_in(0).await);
    let elsewhere = [("authorization", token.as_str()), ("origin", "https://evil.example")];
    assert_eq!(sign_out(&elsewhere).await.status, 204);
}

async fn challenges_are_limited_for_each_client(test: &TestDb) {
    let rig = Rig::new(test).await;
    let body = json!({ "address": signer(0).address() }).to_string();
    let ask = async |peer: &str| {
        let peer: IpAddr = peer.parse().unwrap();
        rig.ask_from(peer, "POST", CHALLENGE, &[("content-type", "application/json")], body.clone()).await
    };
    for _ in 0..30 {
        assert_eq!(ask("203.0.113.7").await.status, 201);
    }
    let refused = ask("203.0.113.7").await;
    assert_eq!(refused.refusal(), (429, "rate_limited".into()));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(ask("203.0.113.8").await.status, 201, "others are not concerned");
    rig.clock.advance(Duration::from_secs(60));
    assert_eq!(ask("203.0.113.7").await.status, 201);
}

/// What is posted where, and how it is refused for what it says.
fn bad_bodies() -> Vec<(&'static str, &'static str, String)> {
    let large = format!("\"{}\"", "a".repeat(20_000));
    vec![
        ("createChallenge", CHALLENGE, "{".to_owned()),
        ("createChallenge", CHALLENGE, "{}".to_owned()),
        ("createChallenge", CHALLENGE, r#"{"address":"0x","x":1}"#.to_owned()),
        ("createChallenge", CHALLENGE, r#"{"address":"0x"}"#.to_owned()),
        ("createChallenge", CHALLENGE, large.clone()),
        ("createSession", SESSION, "[]".to_owned()),
        ("createSession", SESSION, r#"{"challengeId":7}"#.to_owned()),
        ("createSession", SESSION, r#"{"message":""}"#.to_owned()),
        ("createSession", SESSION, large),
        ("createSession", SESSION, r#"{"challengeId":"x","signature":"0x"}"#.to_owned()),
    ]
}

async fn every_operation_of_sessions_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal sessions");
    for (operation, path, body) in bad_bodies() {
        walk.note(operation, path, &rig.post(path, body).await);
    }
    for (operation, path) in [("createChallenge", CHALLENGE), ("createSession", SESSION)] {
        walk.note(operation, path, &rig.ask("POST", path, &[("content-type", "text/plain")], "{}").await);
    }
    let challenge = json!({ "address": signer(0).address() }).to_string();
    walk.note("createChallenge", CHALLENGE, &rig.post(CHALLENGE, challenge.clone()).await);
    let given = rig.challenge(TREASURY).await;
    let answer = json!({ "challengeId": given.id, "signature": "0x00" }).to_string();
    rig.node.cut(true);
    walk.note("createSession", SESSION, &rig.post(SESSION, answer.clone()).await);
    rig.node.cut(false);
    walk.note("createSession", SESSION, &rig.post(SESSION, answer.clone()).await);
    let given = rig.challenge(signer(0).address()).await;
    let signed_in = rig.answer_challenge(&given.id, &personal_sign(0, &given.message)).await;
    walk.note("createSession", SESSION, &signed_in);
    let tokens = [rig.sign_in(0).await, rig.sign_in(0).await];
    let cookie = format!("chainnet_session={}", tokens[0]);
    walk.note("deleteSession", SESSION, &rig.ask("DELETE", SESSION, &[("cookie", &cookie)], "").await);
    let live = bearer(&tokens[0]);
    let sessions = [("getSession", "GET"), ("deleteSession", "DELETE")];
    for authorization in [live.as_str(), live.as_str(), ""] {
        for (operation, method) in sessions {
            let headers: &[(&str, &str)] =
                if authorization.is_empty() { &[] } else { &[("authorization", authorization)] };
            walk.note(operation, SESSION, &rig.ask(method, SESSION, headers, "").await);
        }
    }
    let long = format!("{SESSION}?{}", "x".repeat(2048));
    let long_challenge = format!("{CHALLENGE}?{}", "x".repeat(2048));
    rig.clock.advance(Duration::from_secs(3_600));
    let idle = bearer(&tokens[1]);
    for (operation, method) in sessions {
        walk.note(operation, SESSION, &rig.ask(method, SESSION, &[("authorization", &idle)], "").await);
        walk.note(operation, SESSION, &rig.ask(method, &long, &[], "").await);
    }
    walk.note("createChallenge", CHALLENGE, &rig.post(&long_challenge, challenge.clone()).await);
    walk.note("createSession", SESSION, &rig.post(&long, answer.clone()).await);
    rig.db.close().await;
    walk_everything(&mut walk, &rig, &challenge, &given.id).await;
    let closed = Rig::with(
        test,
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() },
    )
    .await;
    walk_everything(&mut walk, &closed, &challenge, &given.id).await;
    let without = Rig::without_portal(test).await;
    walk_everything(&mut walk, &without, &challenge, &given.id).await;
    walk.finish();
}

async fn walk_everything(walk: &mut Walk, rig: &Rig, challenge: &str, id: &str) {
    let token = bearer("pds_0123456789012345678901234567890123456789012");
    let answer = json!({ "challengeId": id, "signature": "0x00" }).to_string();
    walk.note("createChallenge", CHALLENGE, &rig.post(CHALLENGE, challenge).await);
    walk.note("createSession", SESSION, &rig.post(SESSION, answer).await);
    for (operation, method) in [("getSession", "GET"), ("deleteSession", "DELETE")] {
        walk.note(operation, SESSION, &rig.ask(method, SESSION, &[("authorization", &token)], "").await);
    }
}
