//! An upstream that writes down what it is asked, and waits or fails when it is told to.

use std::sync::Arc;

use async_trait::async_trait;
use chain::{Head, NodeState, PendingHashes, RawCall, RawError, RawUpstream};
use jsonrpc::Answer;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

pub(crate) struct Recorder {
    inner: Arc<dyn RawUpstream>,
    asked: Mutex<Vec<(&'static str, String)>>,
    failure: Mutex<Option<RawError>>,
    /// Failures that are left before it answers again.
    failures_left: Mutex<usize>,
    /// While it has no permits, answers wait.
    gate: Semaphore,
}

impl Recorder {
    pub(crate) fn over(inner: Arc<dyn RawUpstream>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            asked: Mutex::default(),
            failure: Mutex::default(),
            failures_left: Mutex::default(),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        })
    }

    /// How often a method was asked.
    pub(crate) fn asked(&self, method: &str) -> usize {
        self.asked.lock().iter().filter(|(name, _)| *name == method).count()
    }

    /// The parameters that a method was asked with, in order.
    pub(crate) fn params(&self, method: &str) -> Vec<String> {
        let asked = self.asked.lock();
        asked.iter().filter(|(name, _)| *name == method).map(|(_, params)| params.clone()).collect()
    }

    pub(crate) fn fail(&self, failure: Option<RawError>) {
        *self.failure.lock() = failure;
        *self.failures_left.lock() = usize::MAX;
    }

    pub(crate) fn fail_times(&self, failure: RawError, times: usize) {
        *self.failure.lock() = Some(failure);
        *self.failures_left.lock() = times;
    }

    pub(crate) fn hold(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn release(&self) {
        self.gate.add_permits(1 << 20);
    }

    fn failure(&self) -> Option<RawError> {
        let mut left = self.failures_left.lock();
        let failure = (*self.failure.lock()).filter(|_| *left > 0);
        *left = left.saturating_sub(usize::from(failure.is_some()));
        failure
    }
}

#[async_trait]
impl RawUpstream for Recorder {
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.inner.heads()
    }

    async fn pending(&self) -> PendingHashes {
        self.inner.pending().await
    }

    fn chain_id(&self) -> Option<u64> {
        self.inner.chain_id()
    }

    async fn call(&self, call: RawCall) -> Result<Answer, RawError> {
        self.asked.lock().push((call.method, call.params.to_string()));
        self.gate.acquire().await.unwrap().forget();
        match self.failure() {
            Some(failure) => Err(failure),
            None => self.inner.call(call).await,
        }
    }

    fn nodes(&self) -> Vec<NodeState> {
        self.inner.nodes()
    }
}
