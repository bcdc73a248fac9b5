//! The events of our contracts, decoded.
//!
//! Stored as JSON with the kind and the subject beside it for searching. The fields are those of the Solidity
//! interfaces; which log is which event is decided where logs are read.

use alloy_primitives::{Address, B256, Bytes, U256};
use domain::Wei;
use serde::{Deserialize, Serialize};

/// Something that one of our contracts logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the events in contracts/src/interfaces")]
pub enum ContractEvent {
    /// A validator registered.
    ValidatorRegistered {
        operator: Address,
        moniker: String,
        website: String,
        #[serde(with = "wei")]
        stake: Wei,
        commission_bps: u16,
    },
    /// A validator's node has another address; zero is none.
    ConsensusAddressChanged { operator: Address, previous: Address, current: Address },
    /// An operator may register while registration is closed, or no longer.
    OperatorApprovalChanged { operator: Address, approved: bool },
    /// A validator lost part of its stake. Reason 1 is downtime, 2 is double-signing.
    ValidatorSlashed {
        operator: Address,
        reason: u8,
        #[serde(with = "wei")]
        penalty: Wei,
        #[serde(with = "wei")]
        stake: Wei,
        slash_count: u8,
    },
    /// A validator is jailed until a time, in seconds.
    ValidatorJailed { operator: Address, until: u64 },
    /// A validator is active again.
    ValidatorUnjailed { operator: Address },
    /// A validator left for good; the status is that of the registry.
    ValidatorRemoved { operator: Address, status: u8, reason: String },
    /// A validator asked to leave.
    ExitRequested {
        operator: Address,
        #[serde(with = "wei")]
        stake: Wei,
        withdrawable_at: u64,
    },
    /// A validator took its stake back.
    StakeWithdrawn {
        operator: Address,
        #[serde(with = "wei")]
        amount: Wei,
    },
    /// Rewards were set aside for a validator.
    RewardsDistributed {
        operator: Address,
        #[serde(with = "wei")]
        amount: Wei,
    },
    /// A validator took its rewards.
    RewardsClaimed {
        operator: Address,
        #[serde(with = "wei")]
        amount: Wei,
    },
    /// Penalties went to the treasury.
    PenaltiesWithdrawn {
        treasury: Address,
        #[serde(with = "wei")]
        amount: Wei,
    },
    /// The program entered a phase.
    PhaseChanged { phase: u8, max_validators: U256 },
    /// The number of slots changed.
    MaxValidatorsChanged { max_validators: U256 },
    /// Registration without approval was opened or closed.
    CommunityRegistrationChanged { open: bool },
    /// An account has a role, or no longer.
    RoleChanged { role: B256, account: Address, sender: Address, granted: bool },
    /// A fee was paid.
    FeePaid {
        source: B256,
        reference: B256,
        payer: Address,
        #[serde(with = "wei")]
        amount: Wei,
        #[serde(with = "wei")]
        burned: Wei,
        #[serde(with = "wei")]
        held: Wei,
    },
    /// Held fees went to the treasury.
    HeldFeesWithdrawn {
        treasury: Address,
        #[serde(with = "wei")]
        amount: Wei,
    },
    /// An invoice was paid.
    QuotePaid {
        quote_id: B256,
        merchant: Address,
        payer: Address,
        #[serde(with = "wei")]
        amount: Wei,
        deadline: U256,
        salt: B256,
    },
    /// A log of one of our contracts that this version does not know.
    Unknown { contract: Address, topics: Vec<B256>, data: Bytes },
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal,)*) => {
        /// Which event it is. The numbers are stored and never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(i16)]
        pub enum EventKind {
            $(
                #[doc = concat!("[`ContractEvent::", stringify!($kind), "`]")]
                $kind = $number,
            )*
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];
        }

        impl ContractEvent {
            /// Which event it is.
            pub const fn kind(&self) -> EventKind {
                match self {
                    $(Self::$kind { .. } => EventKind::$kind,)*
                }
            }
        }
    };
}

kinds! {
    ValidatorRegistered = 1,
    ConsensusAddressChanged = 2,
    OperatorApprovalChanged = 3,
    ValidatorSlashed = 4,
    ValidatorJailed = 5,
    ValidatorUnjailed = 6,
    ValidatorRemoved = 7,
    ExitRequested = 8,
    StakeWithdrawn = 9,
    RewardsDistributed = 10,
    RewardsClaimed = 11,
    PenaltiesWithdrawn = 12,
    PhaseChanged = 13,
    MaxValidatorsChanged = 14,
    CommunityRegistrationChanged = 15,
    RoleChanged = 16,
    FeePaid = 17,
    HeldFeesWithdrawn = 18,
    QuotePaid = 19,
    Unknown = 20,
}

impl EventKind {
    pub(crate) const fn number(self) -> i16 {
        self as i16
    }
}

impl ContractEvent {
    /// Whom it is about: the operator, the account of a role, the payer of a fee or the merchant of an invoice.
    pub const fn subject(&self) -> Option<Address> {
        match self {
            Self::ValidatorRegistered { operator, .. }
            | Self::ConsensusAddressChanged { operator, .. }
            | Self::OperatorApprovalChanged { operator, .. }
            | Self::ValidatorSlashed { operator, .. }
            | Self::ValidatorJailed { operator, .. }
            | Self::ValidatorUnjailed { operator }
            | Self::ValidatorRemoved { operator, .. }
            | Self::ExitRequested { operator, .. }
            | Self::StakeWithdrawn { operator, .. }
            | Self::RewardsDistributed { operator, .. }
            | Self::RewardsClaimed { operator, .. } => Some(*operator),
            Self::PenaltiesWithdrawn { treasury, .. } | Self::HeldFeesWithdrawn { treasury, .. } => {
                Some(*treasury)
            }
            Self::RoleChanged { account, .. } => Some(*account),
            Self::FeePaid { payer, .. } => Some(*payer),
            Self::QuotePaid { merchant, .. } => Some(*merchant),
            Self::PhaseChanged { .. }
            | Self::MaxValidatorsChanged { .. }
            | Self::CommunityRegistrationChanged { .. }
            | Self::Unknown { .. } => None,
        }
    }
}

/// Wei as decimal text.
mod wei {
    use alloy_primitives::U256;
    use domain::Wei;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::convert::wei_text;

    pub(super) fn serialize<S: Serializer>(wei: &Wei, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&wei_text(*wei))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wei, D::Error> {
        let text = String::deserialize(deserializer)?;
        U256::from_str_radix(&text, 10).map(Wei).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_being_stored() {
        let event = ContractEvent::FeePaid {
            source: B256::repeat_byte(1),
            reference: B256::repeat_byte(2),
            payer: Address::repeat_byte(3),
            amount: Wei(U256::MAX),
            burned: Wei(U256::ZERO),
            held: Wei(U256::from(7)),
        };
        let text = serde_json::to_string(&event).unwrap();
        assert!(text.starts_with(r#"{"event":"feePaid","#), "{text}");
        assert!(text.contains(r#""held":"7""#), "{text}");
        assert_eq!(serde_json::from_str::<ContractEvent>(&text).unwrap(), event);
    }

    #[test]
    fn kinds_have_numbers_of_their_own() {
        let numbers: std::collections::BTreeSet<_> =
            EventKind::ALL.iter().map(|kind| kind.number()).collect();
        assert_eq!(numbers.len(), EventKind::ALL.len());
    }
}
