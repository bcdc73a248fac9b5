//! What the keeper needs to know of the registry: who is a member, in what standing.

use alloy_primitives::{Address, Bytes, U256, keccak256};
use alloy_sol_types::SolCall;
use chain::{
    At, ChainClient,
    contract::{self, ContractError},
};
use contracts::bindings::{
    PlatformValidatorRegistry as Registry, registry::IPlatformValidatorRegistry::Validator,
};

/// Records per call.
const PAGE: usize = 64;
/// Most records that are read; each has cost its operator a stake.
const MOST_RECORDS: usize = 2_048;

/// Slash reason: the node was down.
const DOWNTIME: u8 = 1;
/// Slash reason: the node signed two blocks of one height and round.
const DOUBLE_SIGN: u8 = 2;

/// Standing of an operator, as the registry numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    None,
    Active,
    Jailed,
    Inactive,
    Slashed,
    Removed,
}

impl Standing {
    /// The registry's own name of it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Active => "ACTIVE",
            Self::Jailed => "JAILED",
            Self::Inactive => "INACTIVE",
            Self::Slashed => "SLASHED",
            Self::Removed => "REMOVED",
        }
    }

    /// Whether the operator is in the registry.
    pub(crate) const fn is_member(self) -> bool {
        match self {
            Self::Active | Self::Jailed => true,
            Self::None | Self::Inactive | Self::Slashed | Self::Removed => false,
        }
    }

    /// Whether it was, and left or was put out.
    pub(crate) const fn is_former(self) -> bool {
        match self {
            Self::Inactive | Self::Slashed | Self::Removed => true,
            Self::None | Self::Active | Self::Jailed => false,
        }
    }
}

/// What the registry has of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) operator: Address,
    /// The address the node seals with; zero when it was released.
    pub(crate) node: Address,
    pub(crate) standing: Standing,
    /// Earliest end of the jail, in Unix seconds; zero when not jailed.
    pub(crate) jailed_until: u64,
    pub(crate) slash_count: u8,
    pub(crate) has_stake: bool,
}

impl Member {
    /// Whether the registry would take a slash.
    pub(crate) fn can_be_slashed(&self) -> bool {
        match self.standing {
            Standing::Active | Standing::Jailed => true,
            Standing::Inactive => self.has_stake,
            Standing::None | Standing::Slashed | Standing::Removed => false,
        }
    }
}

impl TryFrom<Validator> for Member {
    type Error = u8;

    fn try_from(record: Validator) -> Result<Self, u8> {
        let standing = match record.status {
            0 => Standing::None,
            1 => Standing::Active,
            2 => Standing::Jailed,
            3 => Standing::Inactive,
            4 => Standing::Slashed,
            5 => Standing::Removed,
            unknown => return Err(unknown),
        };
        Ok(Self {
            operator: record.operator,
            node: record.consensus,
            standing,
            jailed_until: record.jailedUntil,
            slash_count: record.slashCount,
            has_stake: !record.stake.is_zero(),
        })
    }
}

/// Everybody who ever registered, as of a block.
pub(crate) async fn read_members(
    client: &dyn ChainClient,
    registry: Address,
    block: u64,
) -> Result<Vec<Member>, ContractError> {
    let mut members = Vec::new();
    let mut seen = 0;
    while seen < MOST_RECORDS {
        let page = Registry::getValidatorsCall { offset: U256::from(seen), limit: U256::from(PAGE) };
        let records = contract::call(client, registry, &page, At::Number(block)).await?;
        seen += records.len();
        let is_last = records.len() < PAGE;
        for record in records {
            let operator = record.operator;
            match Member::try_from(record) {
                Ok(member) => members.push(member),
                Err(status) => {
                    tracing::warn!(%operator, status, "the registry has a status that is not known")
                }
            }
        }
        if is_last {
            break;
        }
    }
    Ok(members)
}

/// Whether an account may slash.
pub(crate) async fn may_slash(
    client: &dyn ChainClient,
    registry: Address,
    account: Address,
) -> Result<bool, ContractError> {
    let call = Registry::hasRoleCall { role: keccak256("SLASHER_ROLE"), account };
    contract::call(client, registry, &call, At::Head).await
}

pub(crate) fn unjail(operator: Address) -> Bytes {
    Registry::unjailValidatorCall { operator }.abi_encode().into()
}

pub(crate) fn slash_for_downtime(operator: Address) -> Bytes {
    Registry::slashValidatorCall { operator, reason: DOWNTIME }.abi_encode().into()
}

pub(crate) fn slash_for_double_sign(operator: Address) -> Bytes {
    Registry::slashValidatorCall { operator, reason: DOUBLE_SIGN }.abi_encode().into()
}
