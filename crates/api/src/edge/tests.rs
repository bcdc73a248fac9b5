//! What cannot be provoked from outside: handlers that panic or take too long, and failures of our own.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use alloy_primitives::{Address, B256, Bytes as ChainBytes, U256};
use async_trait::async_trait;
use axum::{Router, body::Body, routing::get};
use chain::{Account, At, Block, ChainClient, ChainError, FoundTransaction, Head, Receipt, SendError, Sent};
use http_body_util::BodyExt;
use hyper::Request;
use serde_json::Value;
use tokio::sync::watch;

use super::{AnswerCache, Edge, EdgeConfig, HttpMetrics, RequestLimiter};
use crate::{clock::SystemClock, problem::Problem};

/// A chain of which nothing is known.
struct NoChain;

#[async_trait]
impl ChainClient for NoChain {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        Err(ChainError::TimedOut)
    }
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        watch::channel(None).1
    }
    fn is_reachable(&self) -> bool {
        false
    }
    async fn block(&self, _: u64) -> Result<Option<Arc<Block>>, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn block_by_hash(&self, _: B256) -> Result<Option<Arc<Block>>, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn receipts(&self, _: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn transaction(&self, _: B256) -> Result<Option<FoundTransaction>, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn account(&self, _: Address, _: At) -> Result<Account, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn call(&self, _: Address, _: ChainBytes, _: At) -> Result<ChainBytes, ChainError> {
        Err(ChainError::Refused { code: -32000, message: "a secret of the node".to_owned() })
    }
    async fn call_creation(&self, _: ChainBytes, _: At) -> Result<ChainBytes, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn gas_price(&self) -> Result<U256, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn pending_nonce(&self, _: Address) -> Result<u64, ChainError> {
        Err(ChainError::TimedOut)
    }
    async fn send_transaction(&self, _: ChainBytes) -> Result<Sent, SendError> {
        Err(SendError::Unknown(ChainError::TimedOut))
    }
}

async fn panic() -> Problem {
    panic!("on purpose")
}

async fn sleep() -> Problem {
    std::future::pending().await
}

async fn fail() -> Problem {
    NoChain.call(Address::ZERO, ChainBytes::new(), At::Head).await.unwrap_err().into()
}

async fn answer(path: &str) -> (u16, Value) {
    let router =
        Router::new().route("/panic", get(panic)).route("/sleep", get(sleep)).route("/fail", get(fail));
    let config = EdgeConfig { time_limit: Duration::from_millis(20), ..EdgeConfig::default() };
    let cache = Arc::new(AnswerCache::new(Arc::new(NoChain), 1024));
    let limiter = Arc::new(RequestLimiter::new("rest", &config));
    let metrics = HttpMetrics::new("/", &["other"]);
    let edge = Edge::new(router, cache, limiter, Arc::new(SystemClock), config, metrics);
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = edge.answer(Ipv4Addr::LOCALHOST.into(), request).await;
    let status = response.status().as_u16();
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_handler_that_panics_is_an_internal_error() {
    let (status, problem) = answer("/panic").await;
    assert_eq!((status, &problem["code"]), (500, &"internal_error".into()));
    assert!(!problem.to_string().contains("on purpose"));
}

#[tokio::test]
async fn a_handler_that_takes_too_long_is_given_up() {
    let (status, problem) = answer("/sleep").await;
    assert_eq!((status, &problem["code"]), (504, &"timed_out".into()));
}

#[tokio::test]
async fn a_cause_is_for_the_log_not_for_the_caller() {
    let (status, problem) = answer("/fail").await;
    assert_eq!((status, &problem["code"]), (500, &"internal_error".into()));
    assert!(!problem.to_string().contains("secret"));
}
