//! Any text as a GraphQL document, through everything that looks at one before the chain is asked: admission, the library's
//! parser and rules, introspection. None may take long, overflow the stack of a serving thread or answer at length.

#![no_main]

use std::{sync::LazyLock, thread};

use async_graphql::{EmptyMutation, Object, Request, Schema, SimpleObject, Subscription};
use futures_util::{FutureExt, Stream, stream};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/api/src/graphql/admit.rs"]
mod admit;
#[path = "../../crates/api/src/graphql/limits.rs"]
mod limits;

/// The codes of refusals, which are the API's.
mod code {
    pub(crate) enum Code {
        InvalidQuery,
        QueryTooLarge,
    }

    impl Code {
        pub(crate) fn word(&self) -> &'static str {
            match self {
                Self::InvalidQuery => "invalid_query",
                Self::QueryTooLarge => "query_too_large",
            }
        }
    }
}

/// What tokio gives a thread.
const STACK_BYTES: usize = 2 * 1024 * 1024;
/// An answer of 20,000 fields, with the longest descriptions.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Types that lead back to themselves, and the names of ours that are lists.
#[derive(SimpleObject, Clone, Default)]
struct Account {
    address: String,
    validators: Vec<String>,
}

#[derive(Clone, Default)]
struct Block;

/// A block.
#[Object]
impl Block {
    /// Its number.
    async fn number(&self) -> u64 {
        7
    }

    async fn transactions(&self) -> Vec<Transaction> {
        vec![Transaction; 25]
    }

    async fn committers(&self) -> Vec<Account> {
        vec![Account::default(); 5]
    }
}

#[derive(Clone, Default)]
struct Transaction;

#[Object]
impl Transaction {
    async fn hash(&self) -> String {
        "0x".to_owned()
    }

    async fn block(&self) -> Block {
        Block
    }
}

struct Query;

#[Object]
impl Query {
    async fn latest_block(&self) -> Block {
        Block
    }

    async fn block(&self, number: Option<u64>, hash: Option<String>) -> Option<Block> {
        number.zip(hash).map(|_| Block)
    }

    async fn balance(&self, address: String) -> String {
        address
    }
}

struct Feed;

#[Subscription]
impl Feed {
    async fn new_blocks(&self) -> impl Stream<Item = Block> {
        stream::iter([Block, Block])
    }
}

static SCHEMA: LazyLock<Schema<Query, EmptyMutation, Feed>> =
    LazyLock::new(|| Schema::build(Query, EmptyMutation, Feed).extension(limits::Limits).finish());

static ADMISSION: LazyLock<admit::Admission> = LazyLock::new(|| admit::Admission::new(&SCHEMA.sdl()));

fn answer(query: &str) -> usize {
    let Ok(request) = ADMISSION.admit(Request::new(query)) else { return 0 };
    // Nothing of it waits for anything.
    let response = SCHEMA.execute(request).now_or_never().expect("an answer at once");
    serde_json::to_vec(&response).expect("an answer is JSON").len()
}

fuzz_target!(|data: &[u8]| {
    let Ok(query) = std::str::from_utf8(data) else { return };
    let bytes = thread::scope(|scope| {
        let answering = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || answer(query));
        answering.expect("a thread").join().expect("no panic")
    });
    assert!(bytes <= MAX_ANSWER_BYTES, "{bytes} bytes");
});
