//! Logs of our contracts as events.

use alloy_primitives::Log;
use alloy_sol_types::SolEventInterface;
use chain::Receipt;
use contracts::{
    PlatformCheckout::PlatformCheckoutEvents as Checkout, PlatformFees::PlatformFeesEvents as Fees,
    PlatformValidatorRegistry::PlatformValidatorRegistryEvents as Registry,
};
use domain::Wei;
use store::index::{ContractEvent, NewEvent};

use crate::Contracts;

/// The events of our contracts in a block, in order. What others log, however alike, is not ours.
pub(super) fn events(receipts: &[Receipt], contracts: &Contracts) -> Vec<NewEvent> {
    let mut events = Vec::new();
    let mut log_index = 0;
    for (transaction_index, receipt) in (0u32..).zip(receipts) {
        for log in &receipt.logs {
            if let Some(event) = decode(log, contracts) {
                events.push(NewEvent { log_index, transaction_index, event });
            }
            log_index += 1;
        }
    }
    events
}

/// The event of a log, if it is one of our contracts'.
fn decode(log: &Log, contracts: &Contracts) -> Option<ContractEvent> {
    let (topics, data) = (log.data.topics(), &log.data.data);
    let decoded = match log.address {
        address if address == contracts.registry => {
            Registry::decode_raw_log(topics, data).ok().and_then(registry)
        }
        address if address == contracts.fees => Fees::decode_raw_log(topics, data).ok().map(fees),
        address if address == contracts.checkout => Checkout::decode_raw_log(topics, data).ok().map(checkout),
        _ => return None,
    };
    let unknown =
        || ContractEvent::Unknown { contract: log.address, topics: topics.to_vec(), data: data.clone() };
    Some(decoded.unwrap_or_else(unknown))
}

fn registry(event: Registry) -> Option<ContractEvent> {
    Some(match event {
        Registry::ValidatorRegistered(e) => ContractEvent::ValidatorRegistered {
            operator: e.operator,
            moniker: e.moniker,
            website: e.website,
            stake: Wei(e.stake),
            commission_bps: e.commissionBps,
        },
        Registry::ConsensusAddressChanged(e) => ContractEvent::ConsensusAddressChanged {
            operator: e.operator,
            previous: e.previous,
            current: e.current,
        },
        Registry::OperatorApprovalChanged(e) => {
            ContractEvent::OperatorApprovalChanged { operator: e.operator, approved: e.approved }
        }
        Registry::ValidatorSlashed(e) => ContractEvent::ValidatorSlashed {
            operator: e.operator,
            reason: e.reason,
            penalty: Wei(e.penalty),
            stake: Wei(e.stake),
            slash_count: e.slashCount,
        },
        Registry::ValidatorJailed(e) => {
            ContractEvent::ValidatorJailed { operator: e.operator, until: e.until }
        }
        Registry::ValidatorUnjailed(e) => ContractEvent::ValidatorUnjailed { operator: e.operator },
        Registry::ValidatorRemoved(e) => {
            ContractEvent::ValidatorRemoved { operator: e.operator, status: e.status, reason: e.reason }
        }
        Registry::ExitRequested(e) => ContractEvent::ExitRequested {
            operator: e.operator,
            stake: Wei(e.stake),
            withdrawable_at: e.withdrawableAt,
        },
        Registry::StakeWithdrawn(e) => {
            ContractEvent::StakeWithdrawn { operator: e.operator, amount: Wei(e.amount) }
        }
        Registry::RewardsDistributed(e) => {
            ContractEvent::RewardsDistributed { operator: e.operator, amount: Wei(e.amount) }
        }
        Registry::RewardsClaimed(e) => {
            ContractEvent::RewardsClaimed { operator: e.operator, amount: Wei(e.amount) }
        }
        Registry::PenaltiesWithdrawn(e) => {
            ContractEvent::PenaltiesWithdrawn { treasury: e.treasury, amount: Wei(e.amount) }
        }
        Registry::PhaseChanged(e) => {
            ContractEvent::PhaseChanged { phase: e.phase, max_validators: e.maxValidators }
        }
        Registry::MaxValidatorsChanged(e) => {
            ContractEvent::MaxValidatorsChanged { max_validators: e.maxValidators }
        }
        Registry::CommunityRegistrationChanged(e) => {
            ContractEvent::CommunityRegistrationChanged { open: e.open }
        }
        Registry::RoleGranted(e) => {
            ContractEvent::RoleChanged { role: e.role, account: e.account, sender: e.sender, granted: true }
        }
        Registry::RoleRevoked(e) => {
            ContractEvent::RoleChanged { role: e.role, account: e.account, sender: e.sender, granted: false }
        }
        // Declared by the library that keeps the roles; our registry never sets an admin role.
        Registry::RoleAdminChanged(_) => return None,
    })
}

fn fees(event: Fees) -> ContractEvent {
    match event {
        Fees::FeePaid(e) => ContractEvent::FeePaid {
            source: e.source,
            reference: e.r#ref,
            payer: e.payer,
            amount: Wei(e.amount),
            burned: Wei(e.burned),
            held: Wei(e.held),
        },
        Fees::HeldFeesWithdrawn(e) => {
            ContractEvent::HeldFeesWithdrawn { treasury: e.treasury, amount: Wei(e.amount) }
        }
    }
}

fn checkout(event: Checkout) -> ContractEvent {
    match event {
        Checkout::QuotePaid(e) => ContractEvent::QuotePaid {
            quote_id: e.quoteId,
            merchant: e.merchant,
            payer: e.payer,
            amount: Wei(e.amount),
            deadline: e.deadline,
            salt: e.salt,
        },
    }
}
