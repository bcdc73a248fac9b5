//! What a command calls, who may, and what the registry holds afterwards.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
use contracts::PlatformValidatorRegistry as Registry;
use validators::program::PHASES;

use super::state::{ACTIVE, INACTIVE, JAILED, REMOVED, SLASHED, State};
use crate::cli::{RegistryCommand, SendOptions, SlashChoice};

/// Both a jail and the wait for a stake take 7 days.
const WEEK: u64 = 7 * 24 * 3600;
const BPS: u64 = 10_000;
/// The slash that removes.
const MOST_SLASHES: u8 = 3;

/// Who may make a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Admin,
    Slasher,
    /// The operator itself.
    Operator,
    Anybody,
}

/// A call of the registry.
#[derive(Debug)]
pub(super) struct Plan {
    /// The function with its arguments, for people.
    pub(super) call: String,
    pub(super) input: Bytes,
    pub(super) value: U256,
    pub(super) right: Right,
    /// Whom it is about; the sender when nobody is named.
    pub(super) operator: Option<Address>,
    /// Whether that one must have registered.
    pub(super) is_known: bool,
    pub(super) how: SendOptions,
}

impl Plan {
    fn new(call: String, function: &impl SolCall, right: Right, how: &SendOptions) -> Self {
        let input = function.abi_encode().into();
        Self { call, input, value: U256::ZERO, right, operator: None, is_known: false, how: *how }
    }

    fn about(self, operator: Address) -> Self {
        Self { operator: Some(operator), is_known: true, ..self }
    }

    /// The plan of a command; none for those that only read.
    pub(super) fn of(command: &RegistryCommand) -> Option<Self> {
        use RegistryCommand as C;
        Some(match command {
            C::Status { .. } | C::Show { .. } | C::Rewards(_) => return None,
            C::Approve { operator, revoke, how } => {
                let call = Registry::setOperatorApprovalCall { operator: *operator, approved: !revoke };
                let words = format!("setOperatorApproval({operator}, {})", !revoke);
                Self { is_known: false, ..Self::new(words, &call, Right::Admin, how).about(*operator) }
            }
            C::Distribute { operator, amount, how } => {
                let call = Registry::distributeRewardsCall { operator: *operator, amount: amount.0 };
                let words = format!("distributeRewards({operator}, {})", amount.0);
                Self { value: amount.0, ..Self::new(words, &call, Right::Admin, how).about(*operator) }
            }
            C::Slash { operator, reason, how, .. } => {
                let reason = reason_number(*reason);
                let call = Registry::slashValidatorCall { operator: *operator, reason };
                let words = format!("slashValidator({operator}, {reason})");
                Self::new(words, &call, Right::Slasher, how).about(*operator)
            }
            C::Unjail { operator, how } => {
                let call = Registry::unjailValidatorCall { operator: *operator };
                Self::new(format!("unjailValidator({operator})"), &call, Right::Anybody, how).about(*operator)
            }
            C::SetMax { slots, how } => {
                let call = Registry::setMaxValidatorsCall { maxValidators: U256::from(*slots) };
                Self::new(format!("setMaxValidators({slots})"), &call, Right::Admin, how)
            }
            C::Expand { phase, how } => {
                let call = Registry::expandToPhaseCall { phase: *phase };
                Self::new(format!("expandToPhase({phase})"), &call, Right::Admin, how)
            }
            C::OpenRegistration { open, how } => {
                let call = Registry::setCommunityRegistrationOpenCall { open: *open };
                Self::new(format!("setCommunityRegistrationOpen({open})"), &call, Right::Admin, how)
            }
            C::Remove { operator, reason, how } => {
                let call = Registry::removeValidatorCall { operator: *operator, reason: reason.clone() };
                let words = format!("removeValidator({operator}, {reason:?})");
                Self::new(words, &call, Right::Admin, how).about(*operator)
            }
            C::WithdrawPenalties { how } => Self::new(
                "withdrawPenalties()".to_owned(),
                &Registry::withdrawPenaltiesCall {},
                Right::Anybody,
                how,
            ),
            C::Register(register) => {
                let call = Registry::registerValidatorCall {
                    moniker: register.moniker.clone(),
                    website: register.website.clone(),
                    stake: register.stake.0,
                    commissionBps: register.commission,
                };
                let words = format!(
                    "registerValidator({:?}, {:?}, {}, {})",
                    register.moniker, register.website, register.stake.0, register.commission
                );
                Self { value: register.stake.0, ..Self::new(words, &call, Right::Operator, &register.how) }
            }
            C::SetConsensusAddress { node, how } => {
                let call = Registry::setConsensusAddressCall { consensus: *node };
                let words = format!("setConsensusAddress({node})");
                Self { is_known: true, ..Self::new(words, &call, Right::Operator, how) }
            }
            C::Claim { how } => own("claimRewards()", &Registry::claimRewardsCall {}, how),
            C::Exit { how } => own("requestExit()", &Registry::requestExitCall {}, how),
            C::Withdraw { how } => own("withdrawStake()", &Registry::withdrawStakeCall {}, how),
        })
    }
}

fn own(words: &str, call: &impl SolCall, how: &SendOptions) -> Plan {
    Plan { is_known: true, ..Plan::new(words.to_owned(), call, Right::Operator, how) }
}

fn reason_number(reason: SlashChoice) -> u8 {
    match reason {
        SlashChoice::Downtime => 1,
        SlashChoice::DoubleSign => 2,
    }
}

fn penalty_bps(reason: SlashChoice) -> u64 {
    match reason {
        SlashChoice::Downtime => 100,
        SlashChoice::DoubleSign => 500,
    }
}

/// What the registry will hold after a command that it takes. `now` is the chain's time, in seconds.
pub(super) fn foresee(command: &RegistryCommand, before: &State, sender: Address, now: u64) -> State {
    use RegistryCommand as C;
    let mut state = before.clone();
    match command {
        C::Status { .. } | C::Show { .. } | C::Rewards(_) => {}
        C::Approve { revoke, .. } => state.is_approved = !revoke,
        C::Distribute { amount, .. } => state.record.rewards += amount.0,
        C::Slash { reason, .. } => slash(&mut state, *reason, now),
        C::Unjail { .. } => (state.record.status, state.record.jailedUntil) = (ACTIVE, 0),
        C::SetMax { slots, .. } => state.slots = U256::from(*slots),
        C::Expand { phase, .. } => {
            let chosen = PHASES.iter().find(|known| known.phase == *phase);
            let slots = chosen.map_or(state.target, |known| U256::from(known.max_validators));
            (state.phase, state.slots, state.is_open) = (*phase, slots, true);
        }
        C::OpenRegistration { open, .. } => state.is_open = *open,
        C::Remove { .. } => leave(&mut state, REMOVED, now, false),
        C::WithdrawPenalties { .. } => state.penalties = U256::ZERO,
        C::Register(register) => {
            let record = &mut state.record;
            (record.operator, record.consensus, record.status) = (sender, sender, ACTIVE);
            (record.stake, record.commissionBps) = (register.stake.0, register.commission);
            (record.registeredAt, record.withdrawableAt) = (now, 0);
            (record.moniker, record.website) = (register.moniker.clone(), register.website.clone());
            state.members += U256::ONE;
            state.staked += register.stake.0;
            state.is_approved = false;
        }
        C::SetConsensusAddress { node, .. } => state.record.consensus = *node,
        C::Claim { .. } => state.record.rewards = U256::ZERO,
        C::Exit { .. } => leave(&mut state, INACTIVE, now, true),
        C::Withdraw { .. } => {
            (state.record.stake, state.record.consensus) = (U256::ZERO, Address::ZERO);
        }
    }
    state
}

fn slash(state: &mut State, reason: SlashChoice, now: u64) {
    let is_member = state.is_member();
    let penalty = state.record.stake * U256::from(penalty_bps(reason)) / U256::from(BPS);
    state.record.stake -= penalty;
    state.penalties += penalty;
    if is_member {
        state.staked -= penalty;
    }
    state.record.slashCount = state.record.slashCount.saturating_add(1).min(MOST_SLASHES);
    if state.record.slashCount == MOST_SLASHES {
        leave(state, SLASHED, now, true);
    } else if is_member {
        (state.record.status, state.record.jailedUntil) = (JAILED, now + WEEK);
    } else {
        leave(state, INACTIVE, now, true);
    }
}

/// Takes an operator out. Who is out already only waits anew if `restarts` says so.
fn leave(state: &mut State, status: u8, now: u64, restarts: bool) {
    let is_member = state.is_member();
    if is_member {
        state.members -= U256::ONE;
        state.staked -= state.record.stake;
    }
    if is_member || restarts {
        (state.record.jailedUntil, state.record.withdrawableAt) = (0, now + WEEK);
    }
    state.record.status = status;
}
