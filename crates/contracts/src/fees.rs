//! The sources of fees that `PlatformFees` knows.

use alloy_primitives::{B256, keccak256};

/// Part of a fee that is burned, in basis points.
pub const BURN_BPS: u64 = 3_000;

/// Where a fee comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FeeSource {
    /// API key plans and webhook registration.
    DeveloperPortal,
    /// Payments.
    Payments,
    /// Identity services.
    Identity,
    /// Bill payment.
    BillPayment,
    /// Minting.
    Minting,
    /// The bridge.
    Bridge,
    /// Tournaments.
    Tournament,
}

impl FeeSource {
    /// Every source, in the order of `PlatformFees.getSources`.
    pub const ALL: [Self; 7] = [
        Self::DeveloperPortal,
        Self::Payments,
        Self::Identity,
        Self::BillPayment,
        Self::Minting,
        Self::Bridge,
        Self::Tournament,
    ];

    /// The name whose hash is the id.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeveloperPortal => "developer-portal",
            Self::Payments => "payments",
            Self::Identity => "identity",
            Self::BillPayment => "bill-payment",
            Self::Minting => "minting",
            Self::Bridge => "bridge",
            Self::Tournament => "tournament",
        }
    }

    /// The id that the contract takes and logs.
    pub fn id(self) -> B256 {
        keccak256(self.name())
    }

    /// The source with this id.
    pub fn from_id(id: B256) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.id() == id)
    }
}
