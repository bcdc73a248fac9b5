//! Why a claim is not taken.

use std::borrow::Cow;

use chain::ChainError;
use domain::{Failure, FailureKind};
use store::StoreError;

/// Why a claim is not taken. Times are Unix milliseconds.
#[derive(Debug, thiserror::Error)]
pub enum ClaimRefusal {
    /// Nobody can use what is paid to this address: the zero address, the faucet's own, or one of those that the protocol
    /// keeps for itself.
    #[error("the address is reserved")]
    ReservedAddress,
    /// The address has code; a plain transfer may not get through, and contracts do not need a faucet.
    #[error("the address is a contract")]
    Contract,
    /// The wallet has claimed already.
    #[error("the wallet has claimed already")]
    WalletCooldown {
        /// When it may claim again.
        until: u64,
    },
    /// The network address has had its share.
    #[error("the network address has had its share")]
    VisitorLimit {
        /// When it may claim again.
        until: u64,
    },
    /// The faucet has paid out what it may within a day.
    #[error("the daily cap is reached")]
    DailyCap {
        /// When that may have changed.
        until: Option<u64>,
    },
    /// The faucet has not enough coin.
    #[error("the faucet has not enough coin")]
    Empty,
    /// Too many claims wait to be paid.
    #[error("too many claims wait to be paid")]
    Crowded,
    /// Nobody signed the claim in time. It was given up: the wallet has not lost its slot.
    #[error("the claim was not signed in time")]
    NotSigned,
    /// The chain cannot be read.
    #[error("the chain cannot be read")]
    Chain(#[from] ChainError),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

impl ClaimRefusal {
    /// When the same claim may succeed, in Unix milliseconds, where that is known.
    pub fn until(&self) -> Option<u64> {
        match self {
            Self::WalletCooldown { until } | Self::VisitorLimit { until } => Some(*until),
            Self::DailyCap { until } => *until,
            Self::ReservedAddress
            | Self::Contract
            | Self::Empty
            | Self::Crowded
            | Self::NotSigned
            | Self::Chain(_)
            | Self::Store(_) => None,
        }
    }
}

impl Failure for ClaimRefusal {
    fn kind(&self) -> FailureKind {
        match self {
            Self::ReservedAddress | Self::Contract => FailureKind::Invalid,
            Self::WalletCooldown { .. } | Self::VisitorLimit { .. } => FailureKind::Limited,
            Self::DailyCap { .. } | Self::Empty | Self::Crowded | Self::NotSigned => FailureKind::Unavailable,
            Self::Chain(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::ReservedAddress => "address_reserved",
            Self::Contract => "address_is_contract",
            Self::WalletCooldown { .. } => "wallet_cooldown",
            Self::VisitorLimit { .. } => "ip_limit",
            Self::DailyCap { .. } | Self::Empty => "faucet_empty",
            Self::Crowded | Self::NotSigned => "chain_unavailable",
            Self::Chain(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::ReservedAddress => "Nobody can use coin that is paid to this address.".into(),
            Self::Contract => "The address is a contract; the faucet pays wallets.".into(),
            Self::WalletCooldown { .. } => "This wallet has claimed within the last 24 hours.".into(),
            Self::VisitorLimit { .. } => {
                "There were as many claims from this network address as 24 hours allow.".into()
            }
            Self::DailyCap { .. } => "The faucet has paid out all that it may within 24 hours.".into(),
            Self::Empty => "The faucet has not enough coin at the moment.".into(),
            Self::Crowded => "Many claims wait to be paid; try again in a few seconds.".into(),
            Self::NotSigned => "The chain does not answer; nothing was paid, try again in a moment.".into(),
            Self::Chain(error) => error.detail(),
            Self::Store(error) => error.detail(),
        }
    }
}
