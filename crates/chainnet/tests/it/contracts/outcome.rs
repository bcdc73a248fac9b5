//! What became of a transaction, as its receipt and its trace tell.

use alloy_primitives::{Address, Bytes, Log, LogData};
use alloy_sol_types::{SolError, SolEvent};

/// A mined transaction.
#[derive(Debug)]
#[must_use = "a test that does not look at the outcome proves nothing"]
pub(super) struct Outcome {
    pub(super) succeeded: bool,
    pub(super) logs: Vec<Log>,
    /// What a refused transaction reverted with.
    pub(super) revert_data: Bytes,
    /// Where a deployment went.
    pub(super) contract: Option<Address>,
}

impl Outcome {
    /// Asserts that it was not refused.
    #[track_caller]
    pub(super) fn succeeds(self) -> Self {
        assert!(self.succeeded, "reverted with {}", self.revert_data);
        self
    }

    /// Asserts that it deployed a contract, and says where.
    #[track_caller]
    pub(super) fn deployed(self) -> Address {
        self.succeeds().contract.expect("a deployment")
    }

    /// Asserts that it was refused with exactly this error and left no log.
    #[track_caller]
    pub(super) fn reverts_with<E: SolError>(self, error: E) {
        assert!(!self.succeeded, "was not refused with {}", E::SIGNATURE);
        assert_eq!(self.revert_data, Bytes::from(error.abi_encode()), "expected {}", E::SIGNATURE);
        assert!(self.logs.is_empty(), "a refused transaction logged {:?}", self.logs);
    }

    /// Asserts that it was refused without a reason, as unknown selectors are.
    #[track_caller]
    pub(super) fn reverts_silently(self) {
        assert!(!self.succeeded, "was not refused");
        assert_eq!(self.revert_data, Bytes::new());
        assert!(self.logs.is_empty());
    }

    /// Asserts that it succeeded and that `contract` logged exactly these events in this order.
    #[track_caller]
    pub(super) fn emits<const N: usize>(self, contract: Address, events: [LogData; N]) -> Self {
        let outcome = self.succeeds();
        let logged: Vec<_> =
            outcome.logs.iter().filter(|log| log.address == contract).map(|log| &log.data).collect();
        assert_eq!(logged, events.iter().collect::<Vec<_>>());
        outcome
    }
}

/// The log that an event makes.
pub(super) fn log(event: &impl SolEvent) -> LogData {
    event.encode_log_data()
}
