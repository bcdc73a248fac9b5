//! The keys an embedded network runs with: well-known ones on devnet, generated ones elsewhere.
//!
//! Generated keys live in `<data>/keys`, one file each, readable by the owner only. They are made once; deleting
//! one makes the directory's chain unusable, so nothing here ever overwrites a key.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process,
};

use alloy_primitives::{Address, B256};
use anyhow::{Context, bail};
use domain::{
    Network,
    devnet::{self, DevRole},
};
use ibft::seal::{Secp256k1Key, ValidatorKey};

use crate::data_dir;

/// Validators in the genesis of an embedded network.
pub(crate) const GENESIS_VALIDATORS: usize = 5;
/// Further validator keys of this node; they take part once they are voted in.
pub(crate) const STANDBY_VALIDATORS: usize = 2;

/// The keys of an embedded network.
pub(crate) struct NetworkKeys {
    /// Seal blocks; the first [`GENESIS_VALIDATORS`] are in the genesis.
    pub(crate) validators: Vec<Secp256k1Key>,
    /// Pays faucet claims.
    pub(crate) faucet: Address,
    /// Unjails and slashes validators.
    pub(crate) keeper: Address,
    /// Administers the registry.
    pub(crate) admin: Address,
    /// Own the treasury Safe, three of five sign.
    pub(crate) treasury_owners: [Address; 5],
}

impl NetworkKeys {
    /// The keys of `network`, generated under `data` where they are not well known.
    pub(crate) fn load(network: Network, data: &Path) -> anyhow::Result<Self> {
        match network {
            Network::Devnet => Self::well_known(),
            Network::Testnet => Self::generated(&data.join("keys")),
            Network::Mainnet => bail!(
                "mainnet does not run on the embedded chain: it needs Besu validators, and their address in PLATFORM_RPC_URL"
            ),
        }
    }

    fn well_known() -> anyhow::Result<Self> {
        let validators = (0..GENESIS_VALIDATORS + STANDBY_VALIDATORS)
            .map(|index| key_of(devnet::role_key(DevRole::Validator(index))))
            .collect::<anyhow::Result<_>>()?;
        let [admin, _, _, _, _, owner1, owner2, owner3, owner4, owner5] = devnet::ACCOUNTS.map(|a| a.address);
        Ok(Self {
            validators,
            faucet: key_of(devnet::role_key(DevRole::Faucet))?.address(),
            keeper: key_of(devnet::role_key(DevRole::Keeper))?.address(),
            admin,
            treasury_owners: [owner1, owner2, owner3, owner4, owner5],
        })
    }

    fn generated(dir: &Path) -> anyhow::Result<Self> {
        data_dir::create(dir)?;
        let key = |name: &str| load_or_create(&dir.join(name));
        let address = |name: &str| key(name).map(|key| key.address());
        Ok(Self {
            validators: (1..=GENESIS_VALIDATORS + STANDBY_VALIDATORS)
                .map(|number| key(&format!("validator-{number}")))
                .collect::<anyhow::Result<_>>()?,
            faucet: address("faucet")?,
            keeper: address("keeper")?,
            admin: address("admin")?,
            treasury_owners: [
                address("treasury-owner-1")?,
                address("treasury-owner-2")?,
                address("treasury-owner-3")?,
                address("treasury-owner-4")?,
                address("treasury-owner-5")?,
            ],
        })
    }
}

/// The key that the network's faucet pays with, unless the operator names another; nothing where there is none.
pub(crate) fn faucet_key(network: Network, data: &Path) -> anyhow::Result<Option<B256>> {
    match network {
        Network::Devnet => Ok(Some(devnet::role_key(DevRole::Faucet))),
        Network::Testnet => load(&data.join("keys").join("faucet")),
        Network::Mainnet => Ok(None),
    }
}

/// The key that the network's keeper signs with, unless the operator names another; nothing where there is none.
pub(crate) fn keeper_key(network: Network, data: &Path) -> anyhow::Result<Option<B256>> {
    match network {
        Network::Devnet => Ok(Some(devnet::role_key(DevRole::Keeper))),
        Network::Testnet => load(&data.join("keys").join("keeper")),
        Network::Mainnet => Ok(None),
    }
}

/// The key that administers the network's registry, unless the operator names another; nothing where there is none.
pub(crate) fn admin_key(network: Network, data: &Path) -> anyhow::Result<Option<B256>> {
    match network {
        Network::Devnet => Ok(devnet::ACCOUNTS.first().map(|account| account.key)),
        Network::Testnet => load(&data.join("keys").join("admin")),
        Network::Mainnet => Ok(None),
    }
}

/// A secret of the data directory, made when it is first needed.
pub(crate) fn own_secret(data: &Path, name: &str) -> anyhow::Result<B256> {
    let dir = data.join("keys");
    data_dir::create(&dir)?;
    let file = dir.join(name);
    if let Some(secret) = load(&file)? {
        return Ok(secret);
    }
    match create(&file) {
        Ok(secret) => Ok(secret),
        // Another process was faster.
        Err(error) => load(&file)?.ok_or(error),
    }
}

fn key_of(secret: B256) -> anyhow::Result<Secp256k1Key> {
    Secp256k1Key::new(secret).context("not a secp256k1 private key")
}

fn load_or_create(file: &Path) -> anyhow::Result<Secp256k1Key> {
    match load(file)? {
        Some(secret) => key_of(secret).with_context(|| format!("{} is not a key", file.display())),
        None => create(file).and_then(key_of),
    }
}

/// The key in a file, if there is one.
fn load(file: &Path) -> anyhow::Result<Option<B256>> {
    match fs::read_to_string(file) {
        Ok(text) => text.trim().parse().map(Some).with_context(|| format!("{} is not a key", file.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// Makes a key where there is none. The file appears whole, so that another process that starts now can read it.
fn create(file: &Path) -> anyhow::Result<B256> {
    let secret = B256::random();
    let draft = file.with_extension(format!("{}.draft", process::id()));
    let mut out = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)
        .with_context(|| format!("cannot create {}", draft.display()))?;
    let written = writeln!(out, "{secret}").and_then(|()| out.sync_all());
    // A link is refused where there is a file, a renaming would replace it.
    let placed = written.and_then(|()| fs::hard_link(&draft, file));
    let removed = fs::remove_file(&draft);
    placed.and(removed).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn processes_that_start_together_have_one_secret() {
        let dir = tempfile::tempdir().unwrap();
        let secret = || own_secret(dir.path(), "pepper").unwrap();
        let first = secret();
        assert_eq!(secret(), first);
        assert!(create(&dir.path().join("keys/pepper")).is_err(), "a key was written over");
        assert_eq!(secret(), first);
        assert_eq!(fs::read_dir(dir.path().join("keys")).unwrap().count(), 1);
    }

    #[test]
    fn generated_keys_are_private_and_stay_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let first = NetworkKeys::load(Network::Testnet, dir.path()).unwrap();
        let again = NetworkKeys::load(Network::Testnet, dir.path()).unwrap();
        let addresses =
            |keys: &NetworkKeys| keys.validators.iter().map(ValidatorKey::address).collect::<Vec<_>>();
        assert_eq!(addresses(&first), addresses(&again));
        let mode = fs::metadata(dir.path().join("keys/validator-1")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_key_file_is_named_and_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("keys")).unwrap();
        fs::write(dir.path().join("keys/faucet"), "nonsense").unwrap();
        let error = NetworkKeys::load(Network::Testnet, dir.path()).err().unwrap();
        assert!(format!("{error:#}").contains("keys/faucet is not a key"), "{error:#}");
        assert_eq!(fs::read_to_string(dir.path().join("keys/faucet")).unwrap(), "nonsense");
    }

    #[test]
    fn mainnet_has_no_embedded_keys() {
        let error = NetworkKeys::load(Network::Mainnet, Path::new("nowhere")).err().unwrap();
        assert!(error.to_string().contains("PLATFORM_RPC_URL"));
    }
}
