//! The chain: its record, its blocks against this machine's clock, and the code of the contracts.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use alloy_primitives::{Address, Bytes};
use chain::{At, ChainClient, Head};
use domain::Network;

use crate::{cli::ForkChoice, config::Config, finding::Finding, keys::NetworkKeys, network_genesis};

/// Blocks come every two seconds. When the newest is older than this, the next one is waited for.
const FRESH_SECS: i64 = 6;
/// How far a clock may be off before blocks are refused for it.
const SKEW_SECS: i64 = 5;
/// How long a chain is watched that looks as if it stood still: longer than a validator that misses its turn holds it up.
pub(super) const WATCH: Duration = Duration::from_secs(10);

/// The network's deployment record. One with another chain id or other addresses is refused with the configuration.
pub(super) fn deployment(config: &Config) -> Finding {
    let record = config.deployment();
    let (name, chain_id) = (config.network.name(), record.chain_id);
    let contracts = record.contracts.named().len();
    if chain_id != config.network.chain_id() {
        let found = format!("the record of {name} is of chain {chain_id}");
        return Finding::fail("deployment", found, "take the record that `chainnet network init` wrote");
    }
    Finding::ok("deployment", format!("{name} is chain {chain_id} with {contracts} contracts"))
}

/// Whether blocks come, and whether this machine's clock agrees with them.
pub(super) async fn blocks_and_clock(
    client: &dyn ChainClient,
    head: &Head,
    now: impl Fn() -> i64,
) -> [Finding; 2] {
    let age = |head: &Head| now().saturating_sub_unsigned(head.header.timestamp);
    let seen = age(head);
    if seen <= FRESH_SECS {
        return judge(seen, true);
    }
    match next_head(client, head.number()).await {
        Some(next) => judge(age(&next), true),
        None => judge(seen, false),
    }
}

/// Waits for a block after this one.
pub(super) async fn next_head(client: &dyn ChainClient, number: u64) -> Option<Arc<Head>> {
    let mut heads = client.heads();
    let higher = heads.wait_for(|head| head.as_ref().is_some_and(|head| head.number() > number));
    tokio::time::timeout(WATCH, higher).await.ok()?.ok()?.clone()
}

/// `age` of the newest block by this machine's clock, and whether blocks still come.
fn judge(age: i64, comes: bool) -> [Finding; 2] {
    const SET: &str = "set this machine's clock, for example with an NTP service";
    let seen = Finding::ok("blocks", format!("the newest is {} s old", age.max(0)));
    if age < -SKEW_SECS {
        let found = format!("this machine is {} s behind the newest block", -age);
        return [Finding::ok("blocks", "the chain goes on"), Finding::fail("clock", found, SET)];
    }
    if comes && age <= FRESH_SECS {
        return [seen, Finding::ok("clock", "this machine agrees with the newest block")];
    }
    if comes {
        let found = format!("blocks come, but this machine is {age} s ahead of the newest");
        return [Finding::ok("blocks", "the chain goes on"), Finding::fail("clock", found, SET)];
    }
    let advice = "too few validators run, see `chainnet node ctl status` or the nodes' logs";
    [
        Finding::fail("blocks", format!("the chain stands still: the newest is {age} s old"), advice),
        Finding::warn("clock", "cannot be judged by a chain that stands still", "get the chain going first"),
    ]
}

/// The code at every address of the deployment record must be what our genesis puts there.
pub(super) async fn contracts(config: &Config, client: &dyn ChainClient) -> Finding {
    let expected = match expected_code() {
        Ok(expected) => expected,
        Err(error) => {
            return Finding::fail("contracts", format!("{error:#}"), "this is a fault of this program");
        }
    };
    let (mut missing, mut other) = (Vec::new(), Vec::new());
    for (name, address) in config.deployment().contracts.named() {
        match client.account(address, At::Head).await {
            Ok(account) if account.code.is_empty() => missing.push(name),
            Ok(account) if expected.get(&address) != Some(&account.code) => other.push(name),
            Ok(_) => {}
            Err(error) => {
                let found = format!("{name} cannot be read: {:#}", anyhow::Error::from(error));
                return Finding::fail("contracts", found, "look into the node's log");
            }
        }
    }
    let told = [("no code at the address of", missing), ("other code than this version's at", other)];
    let told = told.iter().filter(|(_, names)| !names.is_empty());
    let told: Vec<_> = told.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
    if told.is_empty() {
        return Finding::ok("contracts", "every address has this version's code");
    }
    let advice = "start the network from the genesis that `chainnet genesis` prints";
    Finding::fail("contracts", told.join("; "), advice)
}

/// The code that our genesis puts at each address. It depends on nobody's keys: the only value in it that a constructor
/// has put there is the treasury's address.
fn expected_code() -> anyhow::Result<BTreeMap<Address, Bytes>> {
    let keys = NetworkKeys::load(Network::Devnet, Path::new(""))?;
    let genesis = network_genesis::build(Network::Devnet, &keys, ForkChoice::default())?;
    let codes = genesis.alloc.into_iter().filter_map(|(address, account)| Some((address, account.code?)));
    Ok(codes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn a_clock_that_is_off_is_told_from_a_chain_that_stands_still() {
        let verdicts = |age, comes| judge(age, comes).map(|finding| finding.verdict);
        assert_eq!(verdicts(1, true), [Verdict::Ok, Verdict::Ok]);
        assert_eq!(verdicts(-3, true), [Verdict::Ok, Verdict::Ok]);
        assert_eq!(verdicts(-10, true), [Verdict::Ok, Verdict::Fail]);
        assert_eq!(verdicts(3600, true), [Verdict::Ok, Verdict::Fail]);
        assert_eq!(verdicts(3600, false), [Verdict::Fail, Verdict::Warn]);
        assert_eq!(verdicts(9, false), [Verdict::Fail, Verdict::Warn], "no minute passes before it is said");
    }

    #[test]
    fn every_contract_has_code_to_be_compared_with() {
        let expected = expected_code().unwrap();
        for (name, address) in contracts::address::PREDEPLOYED {
            assert!(expected.get(&address).is_some_and(|code| !code.is_empty()), "{name}");
        }
    }
}
