//! The parts of a process that run on their own: watched while they run, stopped in order at the end.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, anyhow};
use futures_util::future::{join_all, select_all};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// How long one part may take to end; then it is cut off.
const PATIENCE: Duration = Duration::from_secs(15);

/// Running parts, in the order they were started.
#[derive(Default)]
pub(crate) struct Parts {
    running: Vec<Part>,
    /// What is told when the end is near.
    drains: Vec<Box<dyn Fn() + Send + Sync>>,
    is_draining: Arc<AtomicBool>,
}

struct Part {
    name: &'static str,
    is_server: bool,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Parts {
    /// Starts a part. It ends when its token is cancelled; if it ends before, that is a failure.
    pub(crate) fn start<F>(&mut self, name: &'static str, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        self.running.push(Part {
            name,
            is_server: false,
            stop: stop.clone(),
            task: tokio::spawn(work(stop)),
        });
    }

    /// Starts a part that serves clients; others may have its token too.
    pub(crate) fn start_server<F>(&mut self, name: &'static str, stop: CancellationToken, work: F)
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.running.push(Part { name, is_server: true, stop, task: tokio::spawn(work) });
    }

    /// Has something told when the end is near: a server that asks to be spared new traffic.
    pub(crate) fn when_draining(&mut self, tell: impl Fn() + Send + Sync + 'static) {
        self.drains.push(Box::new(tell));
    }

    /// Whether the end is near.
    pub(crate) fn draining(&self) -> Arc<AtomicBool> {
        self.is_draining.clone()
    }

    /// Tells everybody that the end is near, and answers whether anybody was there to be told.
    pub(crate) fn drain(&self) -> bool {
        self.is_draining.store(true, Ordering::Relaxed);
        self.drains.iter().for_each(|tell| tell());
        !self.drains.is_empty()
    }

    /// Waits for a part to end by itself, and tells why it did. Waits for ever if there is none.
    pub(crate) async fn failed(&mut self) -> anyhow::Error {
        if self.running.is_empty() {
            return std::future::pending().await;
        }
        let tasks = self.running.iter_mut().map(|part| &mut part.task);
        let (ended, index, _) = select_all(tasks).await;
        let name = self.running.remove(index).name;
        match ended {
            Ok(Ok(())) => anyhow!("{name} has ended by itself"),
            Ok(Err(error)) => error.context(format!("{name} has failed")),
            Err(error) => anyhow!(error).context(format!("{name} has failed")),
        }
    }

    /// Stops the servers, all at once, so that clients who take their time do so once; then the other parts, the newest first, each
    /// before the next.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        let (servers, others): (Vec<_>, Vec<_>) = self.running.into_iter().partition(|part| part.is_server);
        let mut result =
            join_all(servers.into_iter().map(Part::end)).await.into_iter().fold(Ok(()), Result::and);
        for part in others.into_iter().rev() {
            result = result.and(part.end().await);
        }
        result
    }
}

impl Part {
    async fn end(self) -> anyhow::Result<()> {
        let Self { name, stop, mut task, .. } = self;
        stop.cancel();
        match tokio::time::timeout(PATIENCE, &mut task).await {
            Ok(Ok(ended)) => ended.with_context(|| format!("{name} did not end well")),
            Ok(Err(error)) => Err(error).with_context(|| format!("{name} did not end well")),
            Err(_) => {
                warn!("{name} did not end in time and was cut off");
                task.abort();
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    #[tokio::test]
    async fn parts_stop_one_after_the_other_the_newest_first() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut parts = Parts::default();
        for name in ["database", "index", "api"] {
            let order = order.clone();
            parts.start(name, |stop| async move {
                stop.cancelled().await;
                order.lock().unwrap().push(name);
                Ok(())
            });
        }
        parts.stop().await.unwrap();
        assert_eq!(*order.lock().unwrap(), ["api", "index", "database"]);
    }

    #[tokio::test]
    async fn servers_stop_together_and_before_the_rest() {
        let (order, all_told) = (Arc::new(Mutex::new(Vec::new())), Arc::new(tokio::sync::Barrier::new(2)));
        let mut parts = Parts::default();
        for name in ["api", "gateway"] {
            let (order, all_told, stop) = (order.clone(), all_told.clone(), CancellationToken::new());
            parts.start_server(name, stop.clone(), async move {
                stop.cancelled().await;
                // Neither ends before the other was told to.
                all_told.wait().await;
                order.lock().unwrap().push("server");
                Ok(())
            });
        }
        let last = order.clone();
        parts.start("index", |stop| async move {
            stop.cancelled().await;
            last.lock().unwrap().push("index");
            Ok(())
        });
        parts.stop().await.unwrap();
        assert_eq!(*order.lock().unwrap(), ["server", "server", "index"]);
    }

    #[tokio::test]
    async fn a_part_that_ends_is_named_with_its_cause_and_the_others_can_still_be_stopped() {
        let mut parts = Parts::default();
        parts.start("index", |stop| async move {
            stop.cancelled().await;
            Ok(())
        });
        parts.start("mail", |_| async { Err(anyhow!("the disk is full")) });
        let error = format!("{:#}", parts.failed().await);
        assert_eq!(error, "mail has failed: the disk is full");
        parts.start("board", |_| async { Ok(()) });
        assert_eq!(parts.failed().await.to_string(), "board has ended by itself");
        parts.stop().await.unwrap();
    }

    #[test]
    fn everybody_who_asked_is_told_that_the_end_is_near() {
        let mut parts = Parts::default();
        assert!(!parts.drain(), "nobody to tell");
        let told = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let told = told.clone();
            parts.when_draining(move || {
                told.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert!(parts.drain());
        assert_eq!(told.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_panic_is_a_failure() {
        let mut parts = Parts::default();
        parts.start("index", |_| async { panic!("a bug") });
        assert!(format!("{:#}", parts.failed().await).starts_with("index has failed: "));
    }
}
