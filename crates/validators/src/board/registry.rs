//! Reading the registry: all of it at one block, with as few calls as its size permits.

use std::error::Error;

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
use chain::{At, ChainClient, ChainError};
use contracts::bindings::{
    Multicall3, PlatformValidatorRegistry as Registry, multicall3::IMulticall3::Call3,
    registry::IPlatformValidatorRegistry::Validator,
};
use domain::Wei;

use super::{Expansion, Standing};

/// Records per call. A record may hold 416 bytes of text, so that a page stays below 64 kB.
const PAGE: usize = 64;
/// Most records that are read; each has cost its operator a stake.
const MOST_RECORDS: usize = 2_048;

/// The registry at one block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegistryState {
    /// Every operator that ever registered, in order of first registration.
    pub enrolments: Vec<Enrolment>,
    /// Where the expansion stands.
    pub expansion: Expansion,
    /// Stake of all members.
    pub total_staked: Wei,
}

/// What the registry holds of one operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrolment {
    /// The account that registered.
    pub operator: Address,
    /// The address the node seals with; `None` when it was released.
    pub consensus: Option<Address>,
    /// Display name.
    pub moniker: String,
    /// Web address; may be empty.
    pub website: String,
    /// Stake held.
    pub stake: Wei,
    /// Rewards not yet claimed.
    pub rewards: Wei,
    /// Commission in basis points.
    pub commission_bps: u16,
    /// Standing.
    pub standing: Standing,
    /// Time of the latest registration, in Unix seconds.
    pub registered_at: u64,
    /// Earliest end of the jail, in Unix seconds; `None` when not jailed.
    pub jailed_until: Option<u64>,
    /// Earliest withdrawal of the stake, in Unix seconds; `None` for members.
    pub withdrawable_at: Option<u64>,
    /// Slashes ever received.
    pub slash_count: u8,
}

/// Where the contracts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contracts {
    pub(super) registry: Address,
    pub(super) multicall: Address,
}

/// Reads the whole registry as it is after a block.
pub(super) async fn read_registry(
    client: &dyn ChainClient,
    contracts: Contracts,
    block: u64,
) -> Result<RegistryState, ChainError> {
    let mut state = read_first(client, contracts, block).await?;
    while state.enrolments.len().is_multiple_of(PAGE) && !state.enrolments.is_empty() {
        if state.enrolments.len() >= MOST_RECORDS {
            tracing::warn!(records = MOST_RECORDS, "the registry has more records than are read");
            break;
        }
        let call = page_from(state.enrolments.len());
        let answer = client.call(contracts.registry, call.abi_encode().into(), At::Number(block)).await?;
        let page = decoded::<Registry::getValidatorsCall>(&answer)?;
        if page.is_empty() {
            break;
        }
        append(&mut state.enrolments, page)?;
    }
    Ok(state)
}

/// The first page with everything else, in one call.
async fn read_first(
    client: &dyn ChainClient,
    contracts: Contracts,
    block: u64,
) -> Result<RegistryState, ChainError> {
    let call =
        |input: Vec<u8>| Call3 { target: contracts.registry, allowFailure: false, callData: input.into() };
    let calls = vec![
        call(Registry::getExpansionStatusCall {}.abi_encode()),
        call(Registry::getOpenSlotsCall {}.abi_encode()),
        call(Registry::getAccountingCall {}.abi_encode()),
        call(page_from(0).abi_encode()),
    ];
    let input = Multicall3::aggregate3Call { calls }.abi_encode();
    let answer = client.call(contracts.multicall, input.into(), At::Number(block)).await?;
    let results = decoded::<Multicall3::aggregate3Call>(&answer)?;
    let [status, slots, accounting, page] = results.as_slice() else {
        return Err(not_understood("four calls have four results"));
    };
    let status = decoded::<Registry::getExpansionStatusCall>(&status.returnData)?;
    let slots = decoded::<Registry::getOpenSlotsCall>(&slots.returnData)?;
    let accounting = decoded::<Registry::getAccountingCall>(&accounting.returnData)?;
    let mut enrolments = Vec::new();
    append(&mut enrolments, decoded::<Registry::getValidatorsCall>(&page.returnData)?)?;
    Ok(RegistryState {
        enrolments,
        expansion: Expansion {
            phase: status.phase,
            current: small(status.current),
            max: small(status.max),
            target: small(status.target),
            community_open: status.communityOpen,
            open_slots: small(slots),
        },
        total_staked: Wei(accounting.staked),
    })
}

fn page_from(offset: usize) -> Registry::getValidatorsCall {
    Registry::getValidatorsCall { offset: U256::from(offset), limit: U256::from(PAGE) }
}

fn append(enrolments: &mut Vec<Enrolment>, page: Vec<Validator>) -> Result<(), ChainError> {
    for record in page {
        enrolments.push(enrolment(record)?);
    }
    Ok(())
}

fn enrolment(record: Validator) -> Result<Enrolment, ChainError> {
    let standing = Standing::from_number(record.status)
        .ok_or_else(|| not_understood("the registry has a status that is not known"))?;
    let time = |secs: u64| (secs != 0).then_some(secs);
    Ok(Enrolment {
        operator: record.operator,
        consensus: (!record.consensus.is_zero()).then_some(record.consensus),
        moniker: record.moniker,
        website: record.website,
        stake: Wei(record.stake),
        rewards: Wei(record.rewards),
        commission_bps: record.commissionBps,
        standing,
        registered_at: record.registeredAt,
        jailed_until: time(record.jailedUntil),
        withdrawable_at: time(record.withdrawableAt),
        slash_count: record.slashCount,
    })
}

/// Counts of slots and members, which the contract bounds by 21.
fn small(number: U256) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn decoded<C: SolCall>(answer: &Bytes) -> Result<C::Return, ChainError> {
    C::abi_decode_returns(answer).map_err(not_understood)
}

fn not_understood(source: impl Into<Box<dyn Error + Send + Sync>>) -> ChainError {
    ChainError::NotUnderstood { method: "eth_call", source: source.into() }
}
