//! The accounts a network starts with, as keys or as addresses.

use alloy_primitives::Address;
use domain::Network;
use serde::{Deserialize, Serialize};

/// Owners of the treasury Safe; three of them sign.
pub(crate) const TREASURY_OWNERS: usize = 5;

/// The accounts of a network; `K` is a key or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Accounts<K = Address> {
    /// Own the stakes, one per validator. The nodes themselves only seal.
    pub(crate) operators: Vec<K>,
    /// Pays faucet claims; mainnet has none.
    pub(crate) faucet: Option<K>,
    /// Unjails and slashes validators.
    pub(crate) keeper: K,
    /// Administers the registry.
    pub(crate) admin: K,
    /// Own the treasury.
    pub(crate) treasury_owners: Vec<K>,
}

impl<K> Accounts<K> {
    /// Makes every account of a network.
    pub(crate) fn try_new<E>(
        network: Network,
        validators: usize,
        mut make: impl FnMut() -> Result<K, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            operators: (0..validators).map(|_| make()).collect::<Result<_, E>>()?,
            faucet: match network {
                Network::Devnet | Network::Testnet => Some(make()?),
                Network::Mainnet => None,
            },
            keeper: make()?,
            admin: make()?,
            treasury_owners: (0..TREASURY_OWNERS).map(|_| make()).collect::<Result<_, E>>()?,
        })
    }

    /// The same accounts as something else.
    pub(crate) fn map<T>(&self, of: impl Fn(&K) -> T) -> Accounts<T> {
        Accounts {
            operators: self.operators.iter().map(&of).collect(),
            faucet: self.faucet.as_ref().map(&of),
            keeper: of(&self.keeper),
            admin: of(&self.admin),
            treasury_owners: self.treasury_owners.iter().map(&of).collect(),
        }
    }

    /// Every account with the name of its key file.
    pub(crate) fn named(&self) -> Vec<(String, &K)> {
        let numbered = |name: &'static str, keys: &'_ [K]| {
            (1..=keys.len()).map(move |number| format!("{name}-{number}")).collect::<Vec<_>>()
        };
        let operators = numbered("operator", &self.operators).into_iter().zip(&self.operators);
        let owners = numbered("treasury-owner", &self.treasury_owners).into_iter().zip(&self.treasury_owners);
        let single = self.faucet.iter().map(|key| ("faucet", key));
        let single = single.chain([("keeper", &self.keeper), ("admin", &self.admin)]);
        operators.chain(single.map(|(name, key)| (name.to_owned(), key))).chain(owners).collect()
    }
}
