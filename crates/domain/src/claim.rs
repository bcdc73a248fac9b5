//! A claim of the faucet: its states, and what each means for the claimant's limits.
//!
//! A claim is reserved before anything is signed, and what was signed is stored before it is sent, so that whatever
//! happens in between is known afterwards.

use std::{fmt, str::FromStr};

/// Where a claim stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimState {
    /// The claimant has its slot; no transaction exists yet.
    Reserved,
    /// A signed transaction is stored. It may or may not have reached a node.
    Signed,
    /// A node has the transaction.
    Sent,
    /// The transaction is in a block and has paid.
    Confirmed,
    /// The transaction is in a block and has not paid.
    Failed,
    /// It will not be paid, and never was: no transaction of it can be mined.
    Released,
}

/// The text names no state of a claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown claim state `{0}`")]
pub struct UnknownClaimState(String);

impl ClaimState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Reserved, Self::Signed, Self::Sent, Self::Confirmed, Self::Failed, Self::Released];

    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Signed => "signed",
            Self::Sent => "sent",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Released => "released",
        }
    }

    /// Whether it is still to be paid.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Reserved | Self::Signed | Self::Sent => true,
            Self::Confirmed | Self::Failed | Self::Released => false,
        }
    }

    /// Whether it takes a slot of its wallet and of its network address. A claim that was not paid gives them back.
    pub const fn is_charged(self) -> bool {
        match self {
            Self::Reserved | Self::Signed | Self::Sent | Self::Confirmed => true,
            Self::Failed | Self::Released => false,
        }
    }
}

impl fmt::Display for ClaimState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ClaimState {
    type Err = UnknownClaimState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| UnknownClaimState(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for state in ClaimState::ALL {
            assert_eq!(state.name().parse(), Ok(state));
        }
        assert!("paid".parse::<ClaimState>().is_err());
    }

    #[test]
    fn what_is_open_is_charged() {
        for state in ClaimState::ALL {
            assert!(!state.is_open() || state.is_charged(), "{state}");
        }
    }
}
