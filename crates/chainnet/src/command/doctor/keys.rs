//! Keys: files that nobody else may read, and accounts that can pay for what they do.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use alloy_primitives::{Address, B256, U256};
use alloy_signer_local::PrivateKeySigner;
use anyhow::Context;
use chain::{At, ChainClient};
use domain::{
    Network, Wei,
    devnet::{self, DevRole},
};
use faucet::FaucetSettings;

use super::nonces;
use crate::{
    config::{Config, SecretKey},
    finding::{Finding, Verdict},
    keys, wiring,
};

/// What others than the owner may do with a file.
const OTHERS: u32 = 0o077;

/// The files in the data directory: secret, and keys.
pub(super) fn files(config: &Config) -> Finding {
    let folder = config.data.join("keys");
    match examine_files(&folder) {
        Ok((files, problems)) if problems.is_empty() => match files {
            0 => Finding::ok("keys", format!("there are none in {}", folder.display())),
            _ => Finding::ok("keys", format!("{files} files, which only their owner can read")),
        },
        Ok((_, problems)) => {
            let advice = "chmod 600 what others can read; restore from a backup what is damaged";
            Finding::fail("keys", problems.join("; "), advice)
        }
        Err(error) => {
            Finding::fail("keys", format!("{error:#}"), "run doctor as the user that runs chainnet")
        }
    }
}

fn examine_files(folder: &Path) -> anyhow::Result<(usize, Vec<String>)> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((0, Vec::new())),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", folder.display())),
    };
    let (mut files, mut problems) = (0, Vec::new());
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read {}", folder.display()))?.path();
        let about = fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if !about.is_file() {
            continue;
        }
        files += 1;
        let mode = about.permissions().mode() & 0o777;
        if mode & OTHERS != 0 {
            problems.push(format!("{} has mode {mode:o}: others can read it", path.display()));
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if text.trim().parse::<B256>().is_err() {
            problems.push(format!("{} is not a key", path.display()));
        }
    }
    Ok((files, problems))
}

/// What the faucet pays with; nothing where there is none.
pub(super) async fn faucet(config: &Config, client: &dyn ChainClient) -> Option<Finding> {
    match config.network {
        Network::Devnet | Network::Testnet => {}
        Network::Mainnet => return None,
    }
    let key = match wiring::faucet_key(config) {
        Ok(Some(key)) => key,
        Ok(None) => {
            let advice = "name a key with FAUCET_KEY if this network is to have a faucet";
            return Some(Finding::warn("faucet", "there is no key to pay with", advice));
        }
        Err(error) => {
            return Some(Finding::fail("faucet", format!("{error:#}"), "restore the key from a backup"));
        }
    };
    let settings = FaucetSettings::default();
    let found = purse(config, client, key, |balance, address| {
        let each = settings.amount.0;
        let claims = balance.saturating_sub(settings.gas_reserve.0).checked_div(each).unwrap_or_default();
        let found = format!("{address} has {} coin, enough for {claims} claims", whole(balance));
        if claims.is_zero() {
            Finding::fail("faucet", found, "send coin to this address")
        } else if claims < U256::from(settings.low_claims) {
            Finding::warn("faucet", found, "send coin to this address soon")
        } else {
            Finding::ok("faucet", found)
        }
    });
    Some(found.await.unwrap_or_else(|error| unread("faucet", &error)))
}

/// What the keeper pays for its transactions with.
pub(super) async fn keeper(config: &Config, client: &dyn ChainClient) -> Finding {
    let key = match keeper_secret(config) {
        Ok(Some(key)) => key,
        Ok(None) => {
            let advice = "name a key with KEEPER_KEY if this process is to unjail and slash";
            return Finding::warn("keeper", "there is no key to sign with", advice);
        }
        Err(error) => return Finding::fail("keeper", format!("{error:#}"), "restore the key from a backup"),
    };
    let found = purse(config, client, key, |balance, address| {
        let found = format!("{address} has {} coin", whole(balance));
        if balance.is_zero() {
            Finding::fail("keeper", found, "send coin to this address: it pays for unjailing and slashing")
        } else {
            Finding::ok("keeper", found)
        }
    });
    found.await.unwrap_or_else(|error| unread("keeper", &error))
}

fn keeper_secret(config: &Config) -> anyhow::Result<Option<B256>> {
    match &config.keeper.key {
        Some(key) => Ok(Some(SecretKey::expose(key))),
        None => keys::keeper_key(config.network, &config.data),
    }
}

/// Looks at the account of a key, which outside of the devnet must not be one that everybody knows.
async fn purse(
    config: &Config,
    client: &dyn ChainClient,
    key: B256,
    judge: impl FnOnce(U256, Address) -> Finding,
) -> anyhow::Result<Finding> {
    let address = PrivateKeySigner::from_bytes(&key).context("the key is not one")?.address();
    let balance = client.account(address, At::Head).await?.balance;
    let finding = judge(balance, address);
    if let (Verdict::Ok, Some(stuck)) = (finding.verdict, nonces::stuck(client, address).await?) {
        let advice = "see docs/operations.md, \"Transactions that do not move\"";
        return Ok(Finding::fail(finding.check, format!("{}, but {stuck}", finding.found), advice));
    }
    if config.network != Network::Devnet && is_well_known(key) {
        let found = format!("{address} is an account of the devnet, whose key everybody knows");
        return Ok(Finding::fail(finding.check, found, "use a key of your own"));
    }
    Ok(finding)
}

fn is_well_known(key: B256) -> bool {
    let roles = [DevRole::Faucet, DevRole::Keeper].map(devnet::role_key);
    devnet::ACCOUNTS.iter().any(|account| account.key == key) || roles.contains(&key)
}

fn unread(check: &'static str, error: &anyhow::Error) -> Finding {
    Finding::fail(check, format!("its account cannot be read: {error:#}"), "look into the node's log")
}

/// Whole coins.
fn whole(balance: U256) -> U256 {
    balance.checked_div(Wei::from_coin(1).0).unwrap_or_default()
}
