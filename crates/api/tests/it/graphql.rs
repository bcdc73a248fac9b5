//! GraphQL over HTTP.

use serde_json::{Value, json};
use store::testing::TestDb;

use crate::rig::{Rig, first_validator, on_both_engines};

on_both_engines! {
    every_query_of_the_specification_answers_alone_and_together,
    answers_agree_with_rest,
    variables_and_operation_names_are_taken,
    a_kept_answer_is_dropped_with_its_head,
    bad_values_are_refused_with_the_words_of_rest,
    too_much_is_refused_before_it_is_executed,
    nesting_behind_strings_and_comments_does_not_overflow_the_stack,
    fragments_that_multiply_are_refused_before_they_are_walked,
    introspection_is_measured_and_the_usual_query_passes,
    introspection_tells_what_the_type_definitions_tell,
    the_page_asks_nobody_else_for_anything,
}

const ALICE: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

async fn data(rig: &Rig, query: &str) -> Value {
    let reply = rig.graphql(query).await;
    let json = reply.json();
    assert_eq!((reply.status.as_u16(), &json["errors"]), (200, &Value::Null), "{json}");
    json["data"].clone()
}

/// Status and code of a refused query.
async fn refused(rig: &Rig, query: &str) -> (u16, Value) {
    let reply = rig.graphql(query).await;
    (reply.status.as_u16(), reply.json()["errors"][0]["extensions"]["code"].clone())
}

async fn every_query_of_the_specification_answers_alone_and_together(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.transfer(0, 0, 1);
    rig.mine().await;
    let queries = [
        ("chain", "chain { blockNumber chainId }".to_owned()),
        ("chainStats", "chainStats { blockNumber chainId validatorCount totalStaked }".to_owned()),
        ("latestBlock", "latestBlock { number hash transactionCount }".to_owned()),
        ("validators", "validators { address moniker stake commission }".to_owned()),
        ("balance", format!("balance(address: \"{ALICE}\")")),
    ];
    let aliased: String = queries
        .iter()
        .map(|(name, query)| format!("first_{name}: {query} second_{name}: {query} "))
        .collect();
    let together = data(&rig, &format!("{{ {aliased} }}")).await;
    for (name, query) in &queries {
        let alone = data(&rig, &format!("{{ {query} }}")).await;
        assert_eq!(alone[name], together[format!("first_{name}")], "{name}");
        assert_eq!(alone[name], together[format!("second_{name}")], "{name}");
    }
    assert_eq!(together["first_chain"], json!({ "blockNumber": 1, "chainId": 8845 }));
    let stats = json!({ "blockNumber": 1, "chainId": 8845, "validatorCount": 5, "totalStaked": "500000" });
    assert_eq!(together["first_chainStats"], stats);
    assert_eq!(together["first_latestBlock"]["hash"], rig.head_hash().to_string());
    assert_eq!(together["first_validators"].as_array().unwrap().len(), 5);
}

async fn answers_agree_with_rest(test: &TestDb) {
    let rig = Rig::new(test).await;
    let hash = rig.transfer(0, 0, 2);
    rig.mine().await;
    let both = data(
        &rig,
        &format!(
            "{{ block(number: 1) {{ number size extraData committers transactions }} \
               transaction(hash: \"{hash}\") {{ status fee receipt {{ logsBloom status }} type }} \
               account(address: \"{}\") {{ balanceWei validator {{ moniker }} }} \
               wei: balance(address: \"{ALICE}\", unit: WEI) }}",
            first_validator()
        ),
    )
    .await;
    let block = rig.get("/api/v1/blocks/1").await.json();
    for name in ["number", "size", "extraData", "committers", "transactions"] {
        assert_eq!(both["block"][name], block[name], "{name}");
    }
    let tx = rig.get(&format!("/api/v1/transactions/{hash}")).await.json();
    assert_eq!(both["transaction"]["status"], "SUCCESS");
    assert_eq!((&both["transaction"]["fee"], &both["transaction"]["type"]), (&tx["fee"], &tx["type"]));
    assert_eq!(both["account"]["validator"]["moniker"], "Validator 1");
    assert_eq!(both["wei"], rig.get(&format!("/api/v1/accounts/{ALICE}")).await.json()["balanceWei"]);
    let absent = data(&rig, "{ block(number: 99) { number } }").await;
    assert_eq!(absent["block"], Value::Null);
}

async fn variables_and_operation_names_are_taken(test: &TestDb) {
    let rig = Rig::new(test).await;
    let body = json!({
        "query": "query A($address: String!) { balance(address: $address) } query B { chain { chainId } }",
        "operationName": "A",
        "variables": { "address": ALICE },
    });
    let reply = rig.post("/graphql", body.to_string()).await.json();
    assert_eq!(reply["data"]["balance"], "1000000");
}

async fn a_kept_answer_is_dropped_with_its_head(test: &TestDb) {
    let rig = Rig::new(test).await;
    let query = "{ latestBlock { number } }";
    assert_eq!(data(&rig, query).await["latestBlock"]["number"], 0);
    assert_eq!(data(&rig, query).await["latestBlock"]["number"], 0);
    rig.mine().await;
    assert_eq!(data(&rig, query).await["latestBlock"]["number"], 1);
}

async fn bad_values_are_refused_with_the_words_of_rest(test: &TestDb) {
    let rig = Rig::new(test).await;
    for (query, code) in [
        ("{ balance(address: \"0x12\") }", "invalid_address"),
        ("{ block { number } }", "invalid_block_number"),
        ("{ block(hash: \"x\") { number } }", "invalid_hash"),
        ("{ transaction(hash: \"x\") { hash } }", "invalid_hash"),
    ] {
        assert_eq!(refused(&rig, query).await, (200, json!(code)), "{query}");
    }
    let partly = rig.graphql("{ chain { chainId } block { number } }").await.json();
    assert_eq!(partly["data"]["chain"]["chainId"], 8845, "what can be answered is");
    assert_eq!(
        partly["data"].get("block"),
        Some(&Value::Null),
        "a field that may be null is, beside its error"
    );
    assert_eq!(partly["errors"][0]["path"], json!(["block"]));
    let voided = rig.graphql("{ chain { chainId } mine: balance(address: \"0x12\") }").await.json();
    assert_eq!(voided["data"], Value::Null, "a field that may not be null takes the data with it");
    assert_eq!(voided["errors"][0]["path"], json!(["mine"]));
    for query in [
        "{",
        "query ($a: Nope = 1) { chain { chainId } }",
        "{ nothing }",
        "{ chain }",
        "{ balance }",
        "mutation { x }",
        "",
    ] {
        assert_eq!(refused(&rig, query).await, (400, json!("invalid_query")), "{query}");
    }
    rig.node.cut(true);
    assert_eq!(refused(&rig, "{ chain { chainId } }").await, (503, json!("chain_unavailable")));
}

async fn too_much_is_refused_before_it_is_executed(test: &TestDb) {
    let rig = Rig::new(test).await;
    let deep = "{ a ".repeat(9) + &"} ".repeat(9);
    let bomb = "{".repeat(30_000);
    let aliases: String = (0..31).map(|n| format!("a{n}: chain {{ chainId }} ")).collect();
    for query in [deep, bomb, format!("{{ {aliases} }}")] {
        assert_eq!(refused(&rig, &query).await, (400, json!("query_too_large")));
    }
    let batch = rig.post("/graphql", r#"[{"query":"{ chain { chainId } }"}]"#).await;
    assert_eq!(batch.json()["errors"][0]["extensions"]["code"], "batch_refused");
    let large = rig.post("/graphql", format!("{{\"query\":\"{}\"}}", " ".repeat(33_000))).await;
    assert_eq!(
        (large.status.as_u16(), &large.json()["errors"][0]["extensions"]["code"]),
        (413, &json!("body_too_large"))
    );
    let text = rig.ask("POST", "/graphql", &[("content-type", "text/plain")], "{ chain { chainId } }").await;
    assert_eq!(text.status, 415);
    for body in ["", "{}", "{\"query\": 7}", "7"] {
        let reply = rig.post("/graphql", body).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.json()["errors"][0]["extensions"]["code"]),
            (400, &json!("invalid_json")),
            "{body}"
        );
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    }
}

async fn introspection_tells_what_the_type_definitions_tell(test: &TestDb) {
    let rig = Rig::new(test).await;
    let sdl = rig.get("/api/v1/graphql-schema").await;
    assert_eq!(sdl.header("content-type"), Some("text/plain; charset=utf-8"));
    let sdl = String::from_utf8(sdl.body.to_vec()).unwrap();
    assert_eq!(sdl, chainnet_api::graphql_schema());
    let query = "{ __schema { types { name kind fields { name type { name kind ofType { name kind ofType { name kind \
                 ofType { name } } } } } } } }";
    let schema = data(&rig, query).await;
    for kind in schema["__schema"]["types"].as_array().unwrap() {
        let name = kind["name"].as_str().unwrap();
        if name.starts_with("__") || ["Boolean", "Float", "ID", "Int", "String"].contains(&name) {
            continue;
        }
        assert!(sdl.contains(&format!(" {name} ")) || sdl.contains(&format!(" {name}\n")), "{name}");
        for field in kind["fields"].as_array().into_iter().flatten() {
            assert!(sdl.contains(&format!("\t{}", field["name"].as_str().unwrap())), "{name}.{field}");
        }
    }
}

async fn the_page_asks_nobody_else_for_anything(test: &TestDb) {
    let rig = Rig::new(test).await;
    for path in ["/graphql", "/api/v1/docs"] {
        let page = rig.get(path).await;
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let html = String::from_utf8(page.body.to_vec()).unwrap();
        for part in html.split(['"', '\'']).filter(|part| part.starts_with("http")) {
            assert!(
                !html.contains(&format!("src=\"{part}")) && !html.contains(&format!("href=\"{part}")),
                "{part}"
            );
        }
        assert!(!html.contains("<style") && !html.contains(" style="), "{path}");
    }
    // Every part of the documentation has its page, and none is heavy.
    let first = String::from_utf8(rig.get("/api/v1/docs").await.body.to_vec()).unwrap();
    let parts = first.split("<h2><a href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut count = 0;
    for path in parts.chain(["/api/v1/docs"]) {
        let page = rig.get(path).await;
        assert!(page.status == 200 && page.body.len() < 60_000, "{path}: {}", page.body.len());
        count += 1;
    }
    assert!(count > 5, "{count} pages");
    assert_eq!(rig.get("/api/v1/docs/nothing").await.refusal(), (404, "not_found".into()));
    for asset in ["/graphql/page.js", "/api/v1/docs/style.css"] {
        assert_eq!(rig.get(asset).await.status, 200, "{asset}");
    }
}

/// What GraphiQL, Apollo and code generators send.
const STANDARD_INTROSPECTION: &str = include_str!("../../../../fuzz/seeds/graphql/introspection");

/// Fragments that each spread the next one ten times.
fn fragment_bomb(levels: usize) -> String {
    let mut query = "{ ...f0 }".to_owned();
    for level in 0..levels {
        let next = format!("...f{} ", level + 1).repeat(10);
        query.push_str(&format!(" fragment f{level} on Query {{ {next} }}"));
    }
    query + &format!(" fragment f{levels} on Query {{ chain {{ chainId }} }}")
}

async fn nesting_behind_strings_and_comments_does_not_overflow_the_stack(test: &TestDb) {
    let rig = Rig::new(test).await;
    let lists = "[".repeat(4_000) + &"]".repeat(4_000);
    let objects = "{a:".repeat(4_000) + "1" + &"}".repeat(4_000);
    for hidden in ["\"\"\" \" \"\"\"", "\"\"\" \\\"\"\" \" \"\"\"", "1 # \r", "1 # \" \r\n"] {
        for nested in [&lists, &objects] {
            let query = format!("{{ balance(a: {hidden} b: {nested}) }}");
            assert_eq!(refused(&rig, &query).await, (400, json!("query_too_large")), "{hidden}");
        }
    }
    // As deep as brackets are admitted at all.
    for (open, close) in [("[", "]"), ("{a:", "}"), ("{a ", "}"), ("...{", "}"), ("... on Query {", "}")] {
        let levels = 395;
        let inner = if open.ends_with(':') || open == "[" { "1" } else { "a" };
        let nested = open.repeat(levels) + inner + &close.repeat(levels);
        let query = if inner == "1" {
            format!("{{ balance(address: {nested}) }}")
        } else {
            format!("{{ {nested} }}")
        };
        let (status, code) = refused(&rig, &query).await;
        assert_eq!(status, 400, "{open}: {code}");
    }
}

async fn fragments_that_multiply_are_refused_before_they_are_walked(test: &TestDb) {
    let rig = Rig::new(test).await;
    for levels in [7, 20] {
        assert_eq!(refused(&rig, &fragment_bomb(levels)).await, (400, json!("query_too_large")), "{levels}");
    }
    let unused = fragment_bomb(20).replace("{ ...f0 }", "{ chain { chainId } }");
    assert_eq!(refused(&rig, &unused).await, (400, json!("query_too_large")), "nobody spreads them");
    let inline =
        "{ ".to_owned() + &"... { ".repeat(60) + &"chain { chainId } ".repeat(30) + &"} ".repeat(60) + "}";
    assert_eq!(refused(&rig, &inline).await.0, 400);
}

async fn introspection_is_measured_and_the_usual_query_passes(test: &TestDb) {
    let rig = Rig::new(test).await;
    let usual = data(&rig, STANDARD_INTROSPECTION).await;
    assert_eq!(usual["__schema"]["queryType"]["name"], "Query");
    let fields = "fields { type { ofType { ".repeat(6) + "name" + &" } } }".repeat(6);
    let deep = format!("{{ __schema {{ types {{ {fields} }} }} }}");
    let wide = format!("{{ __schema {{ types {{ fields {{ {} }} }} }} }}", "name description ".repeat(200));
    let aliases: String = (0..30)
        .map(|n| format!("a{n}: __schema {{ types {{ fields {{ type {{ fields {{ name }} }} }} }} }} "))
        .collect();
    let spread = format!(
        "{{ {} }} fragment s on Query {{ __schema {{ types {{ ...t }} }} }} fragment t on __Type {{ {} }} fragment u on __Type {{ {} }}",
        "...s ".repeat(10),
        "fields { type { ...u } } ".repeat(10),
        "fields { type { name kind description } } ".repeat(10),
    );
    let typenames = format!("{{ __schema {{ types {{ fields {{ {} }} }} }} }}", "__typename ".repeat(1_000));
    for query in [deep, wide, format!("{{ {aliases} }}"), spread, typenames] {
        assert_eq!(refused(&rig, &query).await, (400, json!("query_too_large")), "{}", &query[..60]);
    }
    // The means of the types let this pass; what it really makes does not.
    let heavy = "fields { args { type { name } } type { ofType { fields { type { ofType { fields { name description } } } } } } }";
    let answer = rig.graphql(&format!("{{ __type(name: \"Query\") {{ {heavy} }} }}")).await;
    assert!(answer.body.len() < 2_000_000, "{}", answer.body.len());
}
