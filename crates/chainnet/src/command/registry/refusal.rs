//! Why the registry refuses, in words.

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolInterface;
use contracts::bindings::registry::PlatformValidatorRegistry::PlatformValidatorRegistryErrors as Refusal;
use domain::Wei;

use super::state::{role_name, standing, time};

/// What a revert means: the contract's own error by name, and a sentence.
pub(super) fn in_words(data: Option<&Bytes>) -> String {
    let Some(data) = data.filter(|data| !data.is_empty()) else {
        return "it gives no reason".to_owned();
    };
    match Refusal::abi_decode(data) {
        Ok(refusal) => sentence(&refusal),
        Err(_) => format!("with data that is not known: {data}"),
    }
}

fn sentence(refusal: &Refusal) -> String {
    use Refusal as R;
    let (name, words) = match refusal {
        R::AccessControlUnauthorizedAccount(e) => (
            "AccessControlUnauthorizedAccount",
            format!("{} does not have {}", e.account, role_name(e.neededRole)),
        ),
        R::AccessControlBadConfirmation(_) => {
            ("AccessControlBadConfirmation", "a role is given up by its holder only".to_owned())
        }
        R::ReentrancyGuardReentrantCall(_) => {
            ("ReentrancyGuardReentrantCall", "the recipient calls back".to_owned())
        }
        R::ValidatorRegistryZeroAddress(_) => {
            ("ValidatorRegistryZeroAddress", "the address must not be zero".to_owned())
        }
        R::ValidatorRegistryWrongStatus(e) => (
            "ValidatorRegistryWrongStatus",
            format!("{} is {}, which does not permit this", e.operator, standing(e.status)),
        ),
        R::ValidatorRegistryNotApproved(e) => (
            "ValidatorRegistryNotApproved",
            format!("{} needs an approval: chainnet registry approve {}", e.operator, e.operator),
        ),
        R::ValidatorRegistryFull(e) => (
            "ValidatorRegistryFull",
            format!(
                "all {} slots are taken; the next phase has more: chainnet registry expand",
                e.maxValidators
            ),
        ),
        R::ValidatorRegistryMonikerLength(e) => (
            "ValidatorRegistryMonikerLength",
            format!("the moniker has {} bytes, 3 to 160 are allowed", e.length),
        ),
        R::ValidatorRegistryWebsiteLength(e) => (
            "ValidatorRegistryWebsiteLength",
            format!("the website has {} bytes, at most 256 are allowed", e.length),
        ),
        R::ValidatorRegistryCommissionTooHigh(e) => (
            "ValidatorRegistryCommissionTooHigh",
            format!("a commission of {} basis points is above {}", e.commissionBps, e.maximum),
        ),
        R::ValidatorRegistryAmountMismatch(e) => (
            "ValidatorRegistryAmountMismatch",
            format!("{} coin is stated and {} is sent", Wei(e.stated), Wei(e.sent)),
        ),
        R::ValidatorRegistryStakeTooLow(e) => (
            "ValidatorRegistryStakeTooLow",
            format!("a stake of {} coin is below {}", Wei(e.stake), Wei(e.minimum)),
        ),
        R::ValidatorRegistryConsensusAddressTaken(e) => (
            "ValidatorRegistryConsensusAddressTaken",
            format!("{} is the node of {}", e.consensus, e.operator),
        ),
        R::ValidatorRegistryConsensusAddressUnknown(e) => {
            ("ValidatorRegistryConsensusAddressUnknown", format!("nobody uses {}", e.consensus))
        }
        R::ValidatorRegistryUnknownSlashReason(e) => (
            "ValidatorRegistryUnknownSlashReason",
            format!("{} is neither downtime nor double-sign", e.reason),
        ),
        R::ValidatorRegistryStillJailed(e) => {
            ("ValidatorRegistryStillJailed", format!("{} is jailed until {}", e.operator, time(e.until)))
        }
        R::ValidatorRegistryNotRemovable(e) => {
            ("ValidatorRegistryNotRemovable", format!("{} is active and was never slashed", e.operator))
        }
        R::ValidatorRegistryStakeLocked(e) => (
            "ValidatorRegistryStakeLocked",
            format!("the stake of {} is locked until {}", e.operator, time(e.until)),
        ),
        R::ValidatorRegistryNothingToPay(_) => {
            ("ValidatorRegistryNothingToPay", "there is no coin to move".to_owned())
        }
        R::ValidatorRegistryTransferFailed(e) => (
            "ValidatorRegistryTransferFailed",
            format!("{} does not take {} coin", e.recipient, Wei(e.amount)),
        ),
        R::ValidatorRegistryUnknownPhase(e) => {
            ("ValidatorRegistryUnknownPhase", format!("{} is no phase: 1, 2 or 3", e.phase))
        }
        R::ValidatorRegistryMaxOutOfRange(e) => {
            ("ValidatorRegistryMaxOutOfRange", format!("{} slots: 1 to 21 are allowed", e.maxValidators))
        }
    };
    format!("{words} ({name})")
}

/// The refusal of somebody without a role, before the registry is asked.
pub(super) fn missing_role(account: Address, role: &str, safe: Address) -> String {
    format!(
        "{account} does not have {role}, and neither has the treasury's Safe {safe}; REGISTRY_KEY names the key that signs"
    )
}

#[cfg(test)]
mod tests {
    use alloy_sol_types::SolError;
    use contracts::PlatformValidatorRegistry as Registry;

    use super::*;

    #[test]
    fn a_custom_error_is_told_by_name_and_in_words() {
        let operator = Address::repeat_byte(1);
        let jailed = Registry::ValidatorRegistryStillJailed { operator, until: 1_767_225_600 }.abi_encode();
        let words = in_words(Some(&jailed.into()));
        assert!(words.contains("jailed until 2026-01-01T00:00:00Z"), "{words}");
        assert!(words.contains("ValidatorRegistryStillJailed"), "{words}");
        assert_eq!(in_words(None), "it gives no reason");
        assert!(in_words(Some(&Bytes::from_static(&[1, 2, 3, 4]))).contains("0x01020304"));
    }
}
