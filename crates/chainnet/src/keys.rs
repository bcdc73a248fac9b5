//! The keys an embedded network runs with: well-known ones on devnet, generated ones elsewhere.
//!
//! Generated keys live in `<data>/keys`, one file each, readable by the owner only. They are made once; deleting
//! one makes the directory's chain unusable, so nothing here ever overwrites a key.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use alloy_primitives::{Address, B256};
use anyhow::{Context, bail};
use domain::{
    Network,
    devnet::{self, DevRole},
};
use ibft::seal::{Secp256k1Key, ValidatorKey};

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
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
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

fn key_of(secret: B256) -> anyhow::Result<Secp256k1Key> {
    Secp256k1Key::new(secret).context("not a secp256k1 private key")
}

fn load_or_create(file: &Path) -> anyhow::Result<Secp256k1Key> {
    match load(file)? {
        Some(secret) => key_of(secret).with_context(|| format!("{} is not a key", file.display())),
        None => create(file),
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

fn create(file: &Path) -> anyhow::Result<Secp256k1Key> {
    let secret = B256::random();
    let key = key_of(secret)?;
    let mut out = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .with_context(|| format!("cannot create {}", file.display()))?;
    writeln!(out, "{secret}")
        .and_then(|()| out.sync_all())
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

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
