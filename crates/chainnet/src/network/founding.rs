//! The genesis of a planned network. Nobody who is not named in its folder owns anything in it: the well-known accounts
//! of the embedded devnet are not there.

use alloy_primitives::{Address, B256};
use contracts::address::TREASURY;
use devchain::genesis::Genesis;
use domain::Wei;

use super::{accounts::Accounts, plan::Plan};
use crate::network_genesis::{self, ADMIN_COIN, Founders, KEEPER_COIN};

/// The genesis: the same plan and addresses always give the same one.
pub(super) fn genesis(plan: &Plan, sealers: &[Address], accounts: &Accounts) -> anyhow::Result<Genesis> {
    let validators = accounts.operators.iter().zip(sealers).zip(1..);
    network_genesis::found(
        plan.network,
        plan.fork,
        Founders {
            validators: validators
                .map(|((operator, sealer), number)| network_genesis::validator(number, *operator, *sealer))
                .collect(),
            treasury_owners: accounts.treasury_owners.clone(),
            admin: accounts.admin,
            keeper: accounts.keeper,
            funded: vec![
                // Without a faucet the treasury decides who gets what.
                (accounts.faucet.unwrap_or(TREASURY), plan.supply.0),
                (accounts.keeper, Wei::from_coin(KEEPER_COIN).0),
                (accounts.admin, Wei::from_coin(ADMIN_COIN).0),
            ],
        },
    )
}

/// Hash of block 0.
pub(super) fn hash(genesis: &Genesis) -> B256 {
    genesis.header(genesis.state_root()).hash_slow()
}
