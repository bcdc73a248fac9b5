//! The faucet as a part of a process.

use std::sync::Arc;

use access::Keyring;
use alloy_primitives::B256;
use alloy_signer_local::PrivateKeySigner;
use anyhow::Context;
use api::{Edge, FaucetAccess, FaucetState, clock::SystemClock};
use domain::Network;
use faucet::{Faucet, FaucetSettings};
use jiff::Timestamp;
use prometheus_client::encoding::text::encode_registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Wiring;
use crate::{
    config::{Config, SecretKey},
    keys,
    parts::Parts,
};

/// The key that the faucet pays with, if there is one.
pub(crate) fn faucet_key(config: &Config) -> anyhow::Result<Option<B256>> {
    match &config.faucet.key {
        Some(key) => Ok(Some(SecretKey::expose(key))),
        None => keys::faucet_key(config.network, &config.data),
    }
}

impl Wiring<'_> {
    /// Takes claims, and with a port of its own pays them; without one, as behind pages, another process does. None without
    /// a key to pay with.
    pub(crate) fn start_faucet(
        &self,
        listener: Option<TcpListener>,
        keyring: Arc<Keyring>,
        parts: &mut Parts,
    ) -> anyhow::Result<Option<Edge>> {
        let config = self.config;
        let key = match config.network {
            Network::Devnet | Network::Testnet => faucet_key(config)?,
            Network::Mainnet => None,
        };
        let Some(key) = key else { return Ok(None) };
        let key = PrivateKeySigner::from_bytes(&key).context("the faucet's key is not one")?;
        let settings = FaucetSettings { daily_cap: config.faucet.daily_cap, ..FaucetSettings::default() };
        let (faucet, sender) = Faucet::new(
            config.network,
            self.chain.client.clone(),
            self.db.clone(),
            key,
            settings,
            Arc::new(Timestamp::now),
        )?;
        let counted = faucet.clone();
        self.metrics.add(move |out| encode_registry(out, &counted.registry().lock()));
        if listener.is_some() {
            self.start_faucet_figures(faucet.clone(), parts);
        }
        let state = FaucetState {
            faucet,
            chain: self.chain.client.clone(),
            network: config.network,
            access: match config.network {
                Network::Devnet => FaucetAccess::Invited { keyring, db: self.db.clone() },
                Network::Testnet | Network::Mainnet => FaucetAccess::Open,
            },
            clock: Arc::new(SystemClock),
            started_at: Timestamp::now(),
            version: env!("CARGO_PKG_VERSION"),
        };
        let edge = api::faucet(state, self.edge());
        let draining = edge.clone();
        parts.when_draining(move || draining.drain());
        self.metrics.add_collector("faucet_http", edge.metrics());
        if let Some(listener) = listener {
            parts.start("paying claims", |stop| async move {
                sender.run(stop).await;
                Ok(())
            });
            let (served, stop) = (edge.clone(), CancellationToken::new());
            parts.start_server("the faucet", stop.clone(), async move {
                api::serve(listener, served, stop).await;
                Ok(())
            });
        }
        Ok(Some(edge))
    }
}
