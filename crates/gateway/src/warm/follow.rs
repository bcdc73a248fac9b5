//! Following the upstream's heads: each block is loaded in order, then its head is served.

use std::{sync::Arc, time::Duration};

use alloy_primitives::B256;
use chain::Head;
use tokio::{sync::watch, time::Instant};

use super::{
    ChainNews, WarmBlock,
    load::{self, LoadError, Loaded},
};
use crate::{
    cache::{Key, Tier},
    gateway::Gateway,
    head::Served,
    method,
};

/// How long a head waits for its block to be warm before it is served anyway.
const SERVE_WITHIN: Duration = Duration::from_millis(250);
/// Pause before a block that could not be loaded is tried again.
const RETRY: Duration = Duration::from_millis(200);
/// Blocks that are caught up with one by one; beyond that a gap is told.
const MAX_BEHIND: u64 = 1024;

/// Follows the heads of one gateway.
pub(crate) struct Follower<'a> {
    gateway: &'a Gateway,
    heads: watch::Receiver<Option<Arc<Head>>>,
    /// The last head that was seen.
    last: Option<Arc<Head>>,
    /// The next block to be loaded.
    next: u64,
    /// The block that was loaded last.
    loaded: Option<(u64, B256)>,
    line: u32,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(gateway: &'a Gateway) -> Self {
        Self { gateway, heads: gateway.upstream.heads(), last: None, next: 0, loaded: None, line: 0 }
    }

    /// Follows for ever, or until the upstream ends.
    pub(crate) async fn run(mut self) {
        loop {
            let head = self.heads.borrow_and_update().clone();
            if let Some(head) = head {
                self.note(&head);
                self.catch_up(&head).await;
            }
            if self.heads.changed().await.is_err() {
                return;
            }
        }
    }

    /// Takes note of a head: where loading goes on, and whether what is known still holds.
    fn note(&mut self, head: &Arc<Head>) {
        let number = head.number();
        match &self.last {
            None => self.next = number,
            Some(last) if last.hash == head.hash => {}
            Some(last) if number > last.number() && !is_fork(last, head) => {
                if number - self.next >= MAX_BEHIND {
                    tracing::warn!(
                        from = self.next,
                        to = number,
                        "the head has run away; blocks are left out"
                    );
                    self.next = number;
                    self.tell(ChainNews::Gap);
                }
            }
            Some(_) => {
                self.next = number;
                self.set_back();
            }
        }
        self.last = Some(Arc::clone(head));
    }

    /// Blocks were taken back: what is known of them does not hold any more.
    fn set_back(&mut self) {
        tracing::warn!(next = self.next, "the chain was set back; everything kept is dropped");
        self.line += 1;
        self.gateway.forget();
        self.tell(ChainNews::SetBack);
    }

    /// Whether a block builds on the one that was loaded before it, as far as that can be told. After several new blocks
    /// at once the heads alone do not show that some were taken back.
    fn follows(&self, block: &Loaded) -> bool {
        self.loaded.is_none_or(|(number, hash)| number + 1 != block.block.number || hash == block.parent)
    }

    /// Loads the blocks up to the head and serves it; leaves it for the next head if a newer one has come.
    async fn catch_up(&mut self, head: &Head) {
        let serve_by = Instant::now() + SERVE_WITHIN;
        while self.next <= head.number() {
            match self.load_next(head, serve_by).await {
                Ok(loaded) => {
                    if !self.follows(&loaded) {
                        self.set_back();
                    }
                    let block = self.keep(loaded);
                    self.loaded = Some((block.number, block.hash));
                    self.next += 1;
                    // First, so that who hears of a block and asks for the head is told no older one.
                    self.serve(block.number);
                    self.tell(ChainNews::Block(block));
                }
                Err(error) => {
                    tracing::debug!(number = self.next, %error, "a new block could not be loaded");
                    self.serve(head.number());
                    tokio::time::sleep(RETRY).await;
                }
            }
            if self.heads.has_changed().unwrap_or(true) && self.next <= head.number() {
                break;
            }
        }
        self.serve(head.number());
    }

    /// Loads the next block, serving the head meanwhile if that takes too long.
    async fn load_next(&self, head: &Head, serve_by: Instant) -> Result<Loaded, LoadError> {
        let mut loading = std::pin::pin!(load::load(&*self.gateway.upstream, self.next));
        if let Ok(loaded) = tokio::time::timeout_at(serve_by, loading.as_mut()).await {
            return loaded;
        }
        self.serve(head.number());
        loading.await
    }

    /// Serves a block as the head, unless a newer one is served already.
    fn serve(&self, number: u64) {
        let served = self.gateway.head.get();
        if served.is_none_or(|served| served.line != self.line || served.number < number) {
            self.gateway.serve_head(Served::new(number, self.line));
        }
    }

    fn tell(&self, news: ChainNews) {
        // Nobody listening is no failure.
        let _ = self.gateway.news.send(news);
    }

    /// Puts what was loaded where reads find it.
    fn keep(&self, loaded: Loaded) -> Arc<WarmBlock> {
        let Loaded { block, parent: _, short, transactions, receipts } = loaded;
        let (number, hash) = (format!("\"{:#x}\"", block.number), format!("\"{:#x}\"", block.hash));
        let keep = |name: &str, params: String, json: &bytes::Bytes| {
            if let Some(known) = method::find(name) {
                let key = Key::new(self.line, Tier::Final, known.index, &params);
                self.gateway.caches.keep_final(key, json.clone());
            }
        };
        keep("eth_getBlockByNumber", format!("[{number},true]"), &block.json);
        keep("eth_getBlockByNumber", format!("[{number},false]"), &short);
        keep("eth_getBlockByHash", format!("[{hash},true]"), &block.json);
        keep("eth_getBlockByHash", format!("[{hash},false]"), &short);
        for (hash, json) in block.transactions.iter().zip(&transactions) {
            keep("eth_getTransactionByHash", in_list(hash), json);
        }
        if let Some(receipts) = receipts {
            keep("eth_getBlockReceipts", format!("[{number}]"), &receipts.json);
            keep("eth_getBlockReceipts", format!("[{hash}]"), &receipts.json);
            for (hash, json) in block.transactions.iter().zip(&receipts.each) {
                keep("eth_getTransactionReceipt", in_list(hash), json);
            }
        }
        let block = Arc::new(block);
        self.gateway.window.push(Arc::clone(&block));
        block
    }
}

fn in_list(json: &[u8]) -> String {
    format!("[{}]", String::from_utf8_lossy(json))
}

/// Whether the next block does not build on the last one.
fn is_fork(last: &Head, next: &Head) -> bool {
    next.number() == last.number() + 1 && next.header.parent_hash != last.hash
}
