//! What is remembered, for how long, and that nothing is asked twice at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Poll,
};

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use chainnet_chain::{
    Account, At, Block, CacheLimits, Cached, ChainClient, ChainError, FoundTransaction, Head, Receipt,
    SendError, Sent,
};
use futures_util::{future::join_all, poll};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use crate::{
    fake::in_time,
    ledger::{CONTRACT, Ledger},
};

/// A chain that counts its readers, lets them wait and fails on demand.
struct Upstream {
    ledger: Mutex<Ledger>,
    heads: watch::Sender<Option<Arc<Head>>>,
    asked: AtomicUsize,
    gate: Semaphore,
    is_gone: AtomicBool,
}

impl Upstream {
    fn at(head: u64) -> Self {
        let ledger = Ledger::up_to(20);
        Self {
            heads: watch::Sender::new(Some(ledger.head(head))),
            ledger: Mutex::new(ledger),
            asked: AtomicUsize::new(0),
            gate: Semaphore::new(1000),
            is_gone: AtomicBool::new(false),
        }
    }

    async fn enter(&self) -> Result<(), ChainError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.expect("an open gate").forget();
        if self.is_gone.load(Ordering::SeqCst) { Err(ChainError::TimedOut) } else { Ok(()) }
    }

    fn head_number(&self) -> u64 {
        self.heads.borrow().as_ref().map_or(0, |head| head.number())
    }

    fn mine_to(&self, number: u64) {
        let head = self.ledger.lock().head(number);
        self.heads.send_replace(Some(head));
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ChainClient for Upstream {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        Ok(8845)
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.heads.subscribe()
    }

    fn is_reachable(&self) -> bool {
        !self.is_gone.load(Ordering::SeqCst)
    }

    async fn block(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError> {
        let block = self.ledger.lock().block(number);
        self.enter().await?;
        Ok(Some(block))
    }

    async fn block_by_hash(&self, hash: B256) -> Result<Option<Arc<Block>>, ChainError> {
        self.enter().await?;
        let ledger = self.ledger.lock().clone();
        Ok(ledger.0.into_iter().map(|(block, _)| block).find(|block| block.hash == hash))
    }

    async fn receipts(&self, block: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        self.enter().await?;
        Ok(self.ledger.lock().receipts(block.number()))
    }

    async fn transaction(&self, hash: B256) -> Result<Option<FoundTransaction>, ChainError> {
        self.enter().await?;
        let ledger = self.ledger.lock().clone();
        Ok(ledger.0.into_iter().find_map(|(block, _)| {
            let index = block.transactions.iter().position(|transaction| *transaction.tx_hash() == hash)?;
            Some(FoundTransaction::Mined { block, index })
        }))
    }

    async fn account(&self, _: Address, at: At) -> Result<Account, ChainError> {
        self.enter().await?;
        let At::Number(number) = at else { panic!("not pinned to a block") };
        Ok(Account { balance: U256::from(number), nonce: 0, code: Bytes::new() })
    }

    async fn call(&self, _: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.enter().await?;
        let At::Number(_) = at else { panic!("not pinned to a block") };
        if input.is_empty() { Err(ChainError::Reverted { output: input }) } else { Ok(input) }
    }

    async fn call_creation(&self, init: Bytes, _: At) -> Result<Bytes, ChainError> {
        self.enter().await?;
        Ok(init)
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        self.enter().await?;
        Ok(U256::from(self.head_number()))
    }

    async fn pending_nonce(&self, _: Address) -> Result<u64, ChainError> {
        self.enter().await?;
        Ok(self.head_number())
    }

    async fn send_transaction(&self, raw: Bytes) -> Result<Sent, SendError> {
        self.enter().await.map_err(SendError::Unknown)?;
        if raw.is_empty() { Ok(Sent::Known) } else { Ok(Sent::Accepted) }
    }
}

fn cached(upstream: Upstream) -> Arc<Cached<Upstream>> {
    Arc::new(Cached::new(upstream, &CacheLimits::default()))
}

/// Closes the gate; opens it for as many as are let in.
fn hold(client: &Cached<Upstream>) {
    client.inner().gate.forget_permits(1000);
}

#[tokio::test]
async fn equal_questions_at_the_same_moment_are_asked_once() {
    let client = cached(Upstream::at(5));
    hold(&client);
    let block = client.inner().ledger.lock().block(4);
    let hash = *block.transactions[0].tx_hash();
    let readers = (0..50).map(|_| async {
        tokio::join!(
            client.block(3),
            client.block_by_hash(block.hash),
            client.receipts(&block),
            client.transaction(hash),
            client.account(CONTRACT, At::Head),
            client.call(CONTRACT, Bytes::from_static(&[1]), At::Number(5)),
            client.gas_price(),
        )
    });
    let mut readers = Box::pin(join_all(readers));
    assert!(poll!(&mut readers).is_pending());
    assert_eq!(client.inner().asked(), 7);
    client.inner().gate.add_permits(7);
    for (by_number, by_hash, receipts, transaction, account, output, price) in in_time(readers).await {
        assert_eq!(by_number.expect("an answer").map(|block| block.number()), Some(3));
        assert_eq!(by_hash.expect("an answer"), Some(block.clone()));
        assert_eq!(receipts.expect("receipts").len(), 1);
        assert!(transaction.expect("an answer").is_some());
        assert_eq!(account.expect("an account").balance, U256::from(5));
        assert_eq!(output.expect("output")[..], [1]);
        assert_eq!(price.expect("a price"), U256::from(5));
    }
    assert_eq!(client.inner().asked(), 7);
}

#[tokio::test]
async fn a_reader_who_gives_up_leaves_the_question_to_the_others() {
    let client = cached(Upstream::at(5));
    hold(&client);
    let mut first = Box::pin(client.block(3));
    let mut second = Box::pin(client.block(3));
    assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
    drop(first);
    client.inner().gate.add_permits(1);
    assert!(in_time(second).await.expect("an answer").is_some());
    assert_eq!(client.inner().asked(), 1);
    // A question that everybody gave up is asked anew.
    let mut only = Box::pin(client.block(4));
    assert!(poll!(&mut only).is_pending());
    drop(only);
    client.inner().gate.add_permits(1);
    assert!(in_time(client.block(4)).await.expect("an answer").is_some());
    assert_eq!(client.inner().asked(), 3);
}

#[tokio::test]
async fn a_failure_is_told_to_all_who_waited_and_then_forgotten() {
    let client = cached(Upstream::at(5));
    hold(&client);
    client.inner().is_gone.store(true, Ordering::SeqCst);
    let mut readers = Box::pin(join_all((0..10).map(|_| client.block(3))));
    assert!(matches!(poll!(&mut readers), Poll::Pending));
    client.inner().gate.add_permits(1);
    for answer in in_time(readers).await {
        assert!(matches!(answer, Err(ChainError::TimedOut)), "{answer:?}");
    }
    assert_eq!(client.inner().asked(), 1);
    client.inner().is_gone.store(false, Ordering::SeqCst);
    client.inner().gate.add_permits(1);
    assert!(client.block(3).await.expect("an answer").is_some());
}

#[tokio::test]
async fn final_data_is_served_while_the_node_is_gone() {
    let client = cached(Upstream::at(5));
    let block = client.block(5).await.expect("an answer").expect("a block");
    let hash = *block.transactions[0].tx_hash();
    client.receipts(&block).await.expect("receipts");
    client.transaction(hash).await.expect("an answer");
    client.inner().is_gone.store(true, Ordering::SeqCst);
    assert!(!client.is_reachable());
    assert_eq!(client.block(5).await.expect("an answer"), Some(block.clone()));
    assert_eq!(client.block_by_hash(block.hash).await.expect("an answer"), Some(block.clone()));
    assert_eq!(client.receipts(&block).await.expect("receipts").len(), 2);
    assert!(client.transaction(hash).await.expect("an answer").is_some());
    assert!(client.block(4).await.is_err());
    // The chain goes on; what is final stays.
    client.inner().mine_to(6);
    assert_eq!(client.block(5).await.expect("an answer"), Some(block));
}

#[tokio::test]
async fn what_was_read_at_the_head_is_forgotten_with_it() {
    let client = cached(Upstream::at(5));
    let read = || async {
        let account = client.account(CONTRACT, At::Head).await.expect("an account");
        client.call(CONTRACT, Bytes::from_static(&[1]), At::Head).await.expect("output");
        assert_eq!(client.gas_price().await.expect("a price"), account.balance);
        account.balance
    };
    assert_eq!(read().await, U256::from(5));
    assert_eq!(read().await, U256::from(5));
    assert_eq!(client.inner().asked(), 3);
    client.inner().mine_to(6);
    assert_eq!(read().await, U256::from(6));
    assert_eq!(client.inner().asked(), 6);
    // An earlier block is not the head's.
    assert_eq!(client.account(CONTRACT, At::Number(5)).await.expect("an account").balance, U256::from(5));
    assert_eq!(client.inner().asked(), 7);
}

#[tokio::test]
async fn an_answer_that_comes_after_the_next_head_is_not_taken_for_its() {
    let client = cached(Upstream::at(5));
    hold(&client);
    let mut late = Box::pin(client.account(CONTRACT, At::Head));
    assert!(poll!(&mut late).is_pending());
    client.inner().mine_to(6);
    client.inner().gate.add_permits(2);
    assert_eq!(late.await.expect("an account").balance, U256::from(5));
    assert_eq!(client.account(CONTRACT, At::Head).await.expect("an account").balance, U256::from(6));
}

#[tokio::test]
async fn a_revert_is_an_answer_but_not_one_to_remember() {
    let client = cached(Upstream::at(5));
    for asked in 1..=2 {
        let reverted = client.call(CONTRACT, Bytes::new(), At::Head).await;
        assert!(matches!(reverted, Err(ChainError::Reverted { .. })));
        assert_eq!(client.inner().asked(), asked);
    }
}

#[tokio::test]
async fn blocks_taken_back_are_forgotten_by_number_and_place() {
    let client = cached(Upstream::at(5));
    let old = client.block(5).await.expect("an answer").expect("a block");
    let hash = *old.transactions[0].tx_hash();
    client.transaction(hash).await.expect("an answer");
    // Back to genesis, and on along another line, past the old head: only the last head is seen.
    *client.inner().ledger.lock() = Ledger::forked(20, 1);
    client.inner().mine_to(0);
    client.inner().mine_to(7);
    let new = client.block(5).await.expect("an answer").expect("a block");
    assert_ne!(new.hash, old.hash);
    let found = client.transaction(hash).await.expect("an answer");
    assert!(matches!(found, Some(FoundTransaction::Mined { block, .. }) if block.hash == new.hash));
}

#[tokio::test]
async fn a_block_that_was_read_before_a_revert_does_not_come_back_after_it() {
    let client = cached(Upstream::at(5));
    hold(&client);
    let mut late = Box::pin(client.block(4));
    assert!(poll!(&mut late).is_pending());
    *client.inner().ledger.lock() = Ledger::forked(20, 1);
    client.inner().mine_to(4);
    assert!(client.block(5).await.expect("an answer").is_none());
    client.inner().gate.add_permits(2);
    let old = late.await.expect("an answer").expect("a block");
    let new = client.block(4).await.expect("an answer").expect("a block");
    assert_ne!(new.hash, old.hash);
}

#[tokio::test]
async fn memory_is_bounded_by_bytes() {
    let limits = CacheLimits { block_bytes: 8_000, receipt_bytes: 8_000, head_bytes: 8_000 };
    let client = Cached::new(Upstream::at(20), &limits);
    for number in 0..=20 {
        client.block(number).await.expect("an answer");
    }
    let asked = client.inner().asked();
    for number in 0..=20 {
        client.block(number).await.expect("an answer");
    }
    assert!(client.inner().asked() > asked);
}
