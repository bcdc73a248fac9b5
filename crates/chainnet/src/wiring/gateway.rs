//! The JSON-RPC gateway as a part of a process.

use std::sync::Arc;

use access::Keyring;
use anyhow::Context;
use domain::Network;
use gateway::{AccessParts, Cors, Door, Gateway, Limits, RedisFilters};
use jiff::Timestamp;
use prometheus_client::encoding::text::encode_registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Wiring, limits::start_limits};
use crate::{config::Origins, parts::Parts};

impl Wiring<'_> {
    /// Serves JSON-RPC to the world.
    pub(crate) async fn start_gateway(
        &self,
        listener: TcpListener,
        keyring: Arc<Keyring>,
        parts: &mut Parts,
    ) -> anyhow::Result<()> {
        let config = self.config;
        let access = AccessParts {
            keyring,
            limiter: start_limits(config, config.network.name(), parts).await?,
            trusted_proxies: config.api.trusted_proxies.clone(),
            clock: Arc::new(Timestamp::now),
        };
        let settings = gateway::GatewayConfig {
            door: match config.network {
                Network::Devnet => Door::Keys,
                Network::Testnet | Network::Mainnet => {
                    Door::Open { requests_per_minute: config.gateway.rate_limit }
                }
            },
            chain_id: config.network.chain_id(),
            min_gas_price: config.gas.min_price,
            max_transaction_gas: config.gas.transaction_cap,
            cors: match &config.gateway.cors {
                Origins::Any => Cors::Any,
                Origins::Only(origins) => Cors::Origins(origins.clone()),
            },
            limits: Limits {
                max_buffer_bytes: config.gateway.buffer_mib.get() as usize * 1024 * 1024,
                ..Limits::default()
            },
            ..gateway::GatewayConfig::default()
        };
        let upstream = self.chain.upstream.clone();
        let gateway = match &config.access.redis {
            Some(url) => {
                let filters = RedisFilters::new(url.expose(), config.network.name());
                Gateway::replica(settings, upstream, access, filters.context("REDIS_URL cannot be used")?)
            }
            None => Gateway::new(settings, upstream, access),
        };
        let draining = gateway.clone();
        parts.when_draining(move || draining.drain());
        let counted = gateway.clone();
        self.metrics.add(move |out| encode_registry(out, &counted.registry().lock()));
        let stop = CancellationToken::new();
        parts.start_server("the gateway", stop.clone(), async move {
            gateway::serve(listener, gateway, stop).await.context("the gateway's threads cannot be started")
        });
        Ok(())
    }
}
