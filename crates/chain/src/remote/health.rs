//! Whether a node should be asked: pure bookkeeping of answers, failures and heads.
//!
//! Only what nobody but the node is to blame for counts as a failure: that it cannot be connected to, or does not answer our own questions.
//! A call of somebody else that comes to nothing has the node asked how it is, and no more: such calls can be made on purpose.
//!
//! A node that fails several times in a row is left alone for a while, then tried again; one failure more and it is left
//! alone again. A node whose head is too far behind the served one is not asked either, because it would answer that
//! blocks do not exist. Whoever counts here brings the time along.

use tokio::time::Instant;

use super::RemoteConfig;

/// The record of one node.
#[derive(Debug, Default)]
pub(super) struct Health {
    failures: u32,
    paused_until: Option<Instant>,
    head: Option<u64>,
    has_answered: bool,
    is_verified: bool,
    is_stranger: bool,
}

/// A change that is worth a line in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The node has failed too often and is left alone.
    Paused,
    /// The node answers again.
    Recovered,
}

impl Health {
    pub(super) fn note_answer(&mut self) -> Option<Turn> {
        let turn = self.paused_until.is_some().then_some(Turn::Recovered);
        self.failures = 0;
        self.paused_until = None;
        self.has_answered = true;
        turn
    }

    pub(super) fn note_failure(&mut self, now: Instant, config: &RemoteConfig) -> Option<Turn> {
        self.failures = self.failures.saturating_add(1);
        if self.failures < config.failures_before_pause.max(1) {
            return None;
        }
        // Who comes back after a while may be somebody else.
        self.is_verified = false;
        self.paused_until.replace(now + config.pause).is_none().then_some(Turn::Paused)
    }

    pub(super) fn note_head(&mut self, number: u64) {
        self.head = Some(number);
    }

    /// The node has shown that it is on the right chain.
    pub(super) fn note_verified(&mut self) {
        self.is_verified = true;
        self.is_stranger = false;
    }

    /// The node is on another chain; whether that is news.
    pub(super) fn note_stranger(&mut self) -> bool {
        !std::mem::replace(&mut self.is_stranger, true)
    }

    pub(super) fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// The node's newest block, as far as it has told.
    pub(super) fn head(&self) -> Option<u64> {
        self.head
    }

    /// Whether the node answered lately.
    pub(super) fn is_reachable(&self) -> bool {
        self.has_answered && self.paused_until.is_none()
    }

    /// Whether the node may be asked while this head is served.
    pub(super) fn is_usable(&self, now: Instant, served: Option<u64>, config: &RemoteConfig) -> bool {
        let is_paused = self.paused_until.is_some_and(|until| now < until);
        self.is_verified && !is_paused && !self.is_lagging(served, config)
    }

    /// Whether the node is too far behind the served head.
    pub(super) fn is_lagging(&self, served: Option<u64>, config: &RemoteConfig) -> bool {
        match (served, self.head) {
            (Some(served), Some(head)) => served.saturating_sub(head) > config.max_lag_blocks,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn config() -> RemoteConfig {
        RemoteConfig { failures_before_pause: 2, max_lag_blocks: 3, ..RemoteConfig::default() }
    }

    fn healthy() -> Health {
        let mut health = Health::default();
        health.note_answer();
        health.note_verified();
        health.note_head(10);
        health
    }

    #[test]
    fn a_node_is_left_alone_after_failures_in_a_row_and_tried_again_later() {
        let (config, now, mut health) = (config(), Instant::now(), healthy());
        assert_eq!(health.note_failure(now, &config), None);
        assert!(health.is_usable(now, Some(10), &config));
        assert_eq!(health.note_failure(now, &config), Some(Turn::Paused));
        health.note_verified();
        assert!(!health.is_usable(now, Some(10), &config) && !health.is_reachable());
        let later = now + config.pause;
        assert!(health.is_usable(later, Some(10), &config));
        assert_eq!(health.note_failure(later, &config), None);
        health.note_verified();
        assert!(!health.is_usable(later, Some(10), &config));
        assert_eq!(health.note_answer(), Some(Turn::Recovered));
        assert!(health.is_usable(later, Some(10), &config) && health.is_reachable());
    }

    #[test]
    fn an_answer_between_failures_starts_the_count_anew() {
        let (config, now, mut health) = (config(), Instant::now(), healthy());
        for _ in 0..5 {
            assert_eq!(health.note_failure(now, &config), None);
            assert_eq!(health.note_answer(), None);
        }
        assert!(health.is_usable(now, Some(10), &config));
    }

    #[test]
    fn a_node_that_failed_must_show_its_chain_again() {
        let (config, now, mut health) = (config(), Instant::now(), healthy());
        health.note_failure(now, &config);
        health.note_failure(now, &config);
        health.note_answer();
        assert!(!health.is_usable(now + Duration::from_secs(60), Some(10), &config));
    }

    #[test]
    fn a_node_may_be_a_few_blocks_behind() {
        let (config, now, health) = (config(), Instant::now(), healthy());
        assert!(health.is_usable(now, Some(13), &config));
        assert!(!health.is_usable(now, Some(14), &config));
        assert!(health.is_usable(now, Some(4), &config));
    }
}
