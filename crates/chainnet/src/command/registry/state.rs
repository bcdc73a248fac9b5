//! What the registry holds, as far as commands show and change it.

use alloy_primitives::{Address, B256, U256, keccak256};
use chain::{At, ChainClient, contract};
use contracts::bindings::{
    PlatformValidatorRegistry as Registry, registry::IPlatformValidatorRegistry::Validator,
};
use domain::Wei;
use jiff::Timestamp;

/// Statuses by their numbers.
pub(super) const NONE: u8 = 0;
pub(super) const ACTIVE: u8 = 1;
pub(super) const JAILED: u8 = 2;
pub(super) const INACTIVE: u8 = 3;
pub(super) const SLASHED: u8 = 4;
pub(super) const REMOVED: u8 = 5;

/// The registry's own name of a status.
pub(super) fn standing(status: u8) -> &'static str {
    match status {
        NONE => "NONE",
        ACTIVE => "ACTIVE",
        JAILED => "JAILED",
        INACTIVE => "INACTIVE",
        SLASHED => "SLASHED",
        REMOVED => "REMOVED",
        _ => "unknown",
    }
}

pub(super) fn admin_role() -> B256 {
    keccak256("ADMIN_ROLE")
}

pub(super) fn slasher_role() -> B256 {
    keccak256("SLASHER_ROLE")
}

pub(super) fn role_name(role: B256) -> String {
    if role == admin_role() {
        "ADMIN_ROLE".to_owned()
    } else if role == slasher_role() {
        "SLASHER_ROLE".to_owned()
    } else if role.is_zero() {
        "DEFAULT_ADMIN_ROLE".to_owned()
    } else {
        role.to_string()
    }
}

/// Unix seconds for people; zero is no time.
pub(super) fn time(secs: u64) -> String {
    let time = i64::try_from(secs).ok().and_then(|secs| Timestamp::from_second(secs).ok());
    time.filter(|_| secs != 0).map(|time| time.to_string()).unwrap_or_else(|| "none".to_owned())
}

/// What the registry holds of the program and of one operator.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) phase: u8,
    pub(super) members: U256,
    pub(super) slots: U256,
    pub(super) target: U256,
    pub(super) is_open: bool,
    pub(super) staked: U256,
    pub(super) penalties: U256,
    pub(super) is_approved: bool,
    pub(super) record: Validator,
}

impl State {
    /// Reads it at the head. Of nobody in particular, the record is empty.
    pub(super) async fn read(
        client: &dyn ChainClient,
        registry: Address,
        operator: Address,
    ) -> anyhow::Result<Self> {
        let head = client.heads().borrow().as_ref().map(|head| head.number());
        let at = head.map_or(At::Head, At::Number);
        let status = contract::call(client, registry, &Registry::getExpansionStatusCall {}, at).await?;
        let accounting = contract::call(client, registry, &Registry::getAccountingCall {}, at).await?;
        let record = contract::call(client, registry, &Registry::getValidatorCall { operator }, at).await?;
        let approved =
            contract::call(client, registry, &Registry::isOperatorApprovedCall { operator }, at).await?;
        Ok(Self {
            phase: status.phase,
            members: status.current,
            slots: status.max,
            target: status.target,
            is_open: status.communityOpen,
            staked: accounting.staked,
            penalties: accounting.penalties,
            is_approved: approved,
            record,
        })
    }

    pub(super) fn is_member(&self) -> bool {
        matches!(self.record.status, ACTIVE | JAILED)
    }

    pub(super) fn open_slots(&self) -> U256 {
        self.slots.saturating_sub(self.members)
    }

    /// Every field with its name, as text.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let record = &self.record;
        vec![
            ("phase", self.phase.to_string()),
            ("slots", self.slots.to_string()),
            ("members", self.members.to_string()),
            ("openSlots", self.open_slots().to_string()),
            ("registrationOpen", self.is_open.to_string()),
            ("totalStaked", Wei(self.staked).to_string()),
            ("penalties", Wei(self.penalties).to_string()),
            ("approved", self.is_approved.to_string()),
            ("status", standing(record.status).to_owned()),
            ("moniker", record.moniker.clone()),
            ("website", record.website.clone()),
            ("consensusAddress", record.consensus.to_string()),
            ("stake", Wei(record.stake).to_string()),
            ("rewards", Wei(record.rewards).to_string()),
            ("commissionBps", record.commissionBps.to_string()),
            ("slashCount", record.slashCount.to_string()),
            ("registeredAt", time(record.registeredAt)),
            ("jailedUntil", time(record.jailedUntil)),
            ("withdrawableAt", time(record.withdrawableAt)),
        ]
    }

    /// Fields that differ: name, value here, value there.
    pub(super) fn changes(&self, after: &Self) -> Vec<(&'static str, String, String)> {
        let pairs = self.fields().into_iter().zip(after.fields());
        pairs
            .filter(|((_, before), (_, after))| before != after)
            .map(|((name, before), (_, after))| (name, before, after))
            .collect()
    }
}
