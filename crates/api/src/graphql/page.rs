//! A page to try GraphQL on, with nothing from elsewhere: an editor, examples, the schema, the answer.

use std::sync::{Arc, LazyLock};

use super::sdl;
use crate::{
    describe::markup::{PAGE_POLICY, escape, page as html_page},
    edge::answer::{Answer, Holds, Rendered},
};

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

static PAGE: LazyLock<Arc<Rendered>> = LazyLock::new(|| {
    let rendered =
        Rendered::new(render().into(), hyper::header::HeaderValue::from_static(HTML), Holds::Process);
    Arc::new(rendered.with_policy(PAGE_POLICY))
});

/// Queries to begin with.
const EXAMPLES: [(&str, &str); 6] = [
    ("Chain", "{\n  chainStats { blockNumber chainId validatorCount totalStaked }\n}"),
    ("Latest block", "{\n  latestBlock { number hash timestamp proposer transactionCount }\n}"),
    ("Validators", "{\n  validators { address moniker stake commission status }\n}"),
    (
        "Balance",
        "{\n  balance(address: \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\")\n  wei: balance(address: \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\", unit: WEI)\n}",
    ),
    ("Burns", "{\n  burns { totals { collected burned held payments } sources { source burned } }\n}"),
    ("New blocks (live)", "subscription {\n  newBlocks { number hash transactionCount }\n}"),
];

/// The page.
pub(super) fn page() -> Answer {
    Answer::rendered(PAGE.clone(), Holds::Process)
}

/// `GET /graphql/page.js`.
pub(super) async fn script() -> Answer {
    Answer::text(include_str!("../assets/graphql.js"), JAVASCRIPT, Holds::Process)
}

fn render() -> String {
    let examples: String = EXAMPLES
        .iter()
        .map(|(name, query)| {
            format!("<button type=\"button\" data-query=\"{}\">{name}</button>", escape(query))
        })
        .collect();
    let [(_, first), ..] = EXAMPLES;
    let body = format!(
        "<header><h1>GraphQL</h1><p>Ask for exactly what you need. \
         <a href=\"/\">Explorer</a> · <a href=\"/api/v1/docs\">REST and errors</a> · <a href=\"/api/v1/graphql-schema\">Type definitions</a></p></header>\
         <main class=\"graphiql\"><section><h2>Query</h2><p class=\"examples\">{examples}</p>\
         <label for=\"query\">Document</label><textarea id=\"query\" rows=\"14\" spellcheck=\"false\">{}</textarea>\
         <label for=\"variables\">Variables (JSON)</label><textarea id=\"variables\" rows=\"3\" spellcheck=\"false\"></textarea>\
         <p><button type=\"button\" id=\"run\" class=\"primary\">Run</button> <kbd>Ctrl</kbd>+<kbd>Enter</kbd> \
         <button type=\"button\" id=\"stop\" hidden>Stop</button> <span id=\"status\" role=\"status\"></span></p>\
         <noscript><p>Running queries here needs JavaScript; any HTTP client can send them instead.</p></noscript></section>\
         <section><h2>Answer</h2><pre id=\"answer\" tabindex=\"0\"></pre></section>\
         <section class=\"schema\"><h2>Schema</h2><pre tabindex=\"0\">{}</pre></section></main>\
         <script src=\"/graphql/page.js\" defer></script>",
        escape(first),
        escape(&sdl())
    );
    html_page("GraphQL", &body)
}
