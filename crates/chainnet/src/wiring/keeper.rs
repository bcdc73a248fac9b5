//! The keeper as a part of a process.

use std::sync::Arc;

use alloy_primitives::B256;
use alloy_signer_local::PrivateKeySigner;
use anyhow::Context;
use domain::{Network, Wei};
use faucet::FaucetSettings;
use jiff::Timestamp;
use keeper::{BalanceAlarm, Keeper, KeeperSettings};
use prometheus_client::encoding::text::encode_registry;

use super::{Wiring, faucet_key};
use crate::{
    config::{Config, SecretKey},
    keys,
    parts::Parts,
};

/// With less coin than this the keeper should be sent some.
const LEAST_KEEPER_COIN: u64 = 1;

/// The key that the keeper signs with, if there is one.
fn keeper_key(config: &Config) -> anyhow::Result<Option<PrivateKeySigner>> {
    let key = match &config.keeper.key {
        Some(key) => Some(SecretKey::expose(key)),
        None => keys::keeper_key(config.network, &config.data)?,
    };
    key.map(|key| signer(&key, "the keeper's key is not one")).transpose()
}

fn signer(key: &B256, refusal: &'static str) -> anyhow::Result<PrivateKeySigner> {
    PrivateKeySigner::from_bytes(key).context(refusal)
}

impl Wiring<'_> {
    /// Looks after the validators. Every worker has a keeper; the one with the lease acts.
    pub(crate) async fn start_keeper(&self, parts: &mut Parts) -> anyhow::Result<()> {
        let config = self.config;
        let key = keeper_key(config)?;
        let mut alarms = Vec::new();
        if let Some(key) = &key {
            let least = Wei::from_coin(LEAST_KEEPER_COIN);
            alarms.push(BalanceAlarm { name: "keeper", address: key.address(), least });
        }
        alarms.extend(faucet_alarm(config)?);
        let registry = config.deployment().contracts.platform_validator_registry;
        let settings = KeeperSettings {
            auto_slash: config.keeper.auto_slash,
            auto_vote: config.keeper.auto_vote,
            alarms,
            ..KeeperSettings::new(registry, self.chain_id())
        };
        let (client, db) = (self.chain.client.clone(), self.db.clone());
        let keeper = Keeper::new(client, db, key, settings, Arc::new(Timestamp::now));
        let keeper = keeper.with_witnesses(self.chain.witnesses.clone()).with_voters(self.voters().await?);
        let keeper = Arc::new(keeper);
        let running = Arc::clone(&keeper);
        parts.start("the keeper", |stop| async move {
            running.run(stop).await;
            Ok(())
        });
        self.metrics.add(move |out| encode_registry(out, &keeper.registry().lock()));
        Ok(())
    }
}

impl Wiring<'_> {
    /// The chain's id; a genesis file may have its own.
    fn chain_id(&self) -> u64 {
        let own = self.chain.node.as_ref().map(|node| node.chain.spec().chain_id);
        own.unwrap_or_else(|| self.config.network.chain_id())
    }
}

/// The faucet's account, which is low when the faucet itself says so.
fn faucet_alarm(config: &Config) -> anyhow::Result<Option<BalanceAlarm>> {
    let key = match config.network {
        Network::Devnet | Network::Testnet => faucet_key(config)?,
        Network::Mainnet => None,
    };
    let Some(key) = key else { return Ok(None) };
    let address = signer(&key, "the faucet's key is not one")?.address();
    let faucet = FaucetSettings::default();
    let claims = faucet.amount.0.saturating_mul(alloy_primitives::U256::from(faucet.low_claims));
    let least = Wei(claims.saturating_add(faucet.gas_reserve.0));
    Ok(Some(BalanceAlarm { name: "faucet", address, least }))
}
