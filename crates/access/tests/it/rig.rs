//! What the tests share.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use chainnet_access::{Clock, KeyTerms};
use jiff::Timestamp;

/// When tests begin.
pub(crate) const BEGIN: i64 = 1_800_000_000_000;

/// A clock that tests move.
#[derive(Clone)]
pub(crate) struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(BEGIN)))
    }

    pub(crate) fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap()
    }

    pub(crate) fn clock(&self) -> Clock {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }
}

pub(crate) fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A key for the gateway without any restriction.
pub(crate) fn terms(team: &str) -> KeyTerms {
    KeyTerms {
        team: team.parse().unwrap(),
        permissions: "rpc,explorer".parse().unwrap(),
        networks: Vec::new(),
        requests_per_minute: 600.try_into().unwrap(),
        expires_at: None,
    }
}
