//! The ports of a process: opened before anything else is done, handed to the servers behind them.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use domain::{Deployment, Network, WebUrl};
use tokio::net::TcpListener;
use tracing::warn;

use crate::{
    config::Config,
    listen::{self, listen},
    process::Roles,
    wiring,
};

/// Open ports, one for each server that the process has.
pub(crate) struct Doors {
    pub(crate) api: Option<TcpListener>,
    pub(crate) gateway: Option<TcpListener>,
    pub(crate) faucet: Option<TcpListener>,
    pub(crate) explorer: Option<TcpListener>,
    pub(crate) metrics: TcpListener,
}

/// Where they are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Addresses {
    pub(crate) api: Option<SocketAddr>,
    pub(crate) gateway: Option<SocketAddr>,
    pub(crate) faucet: Option<SocketAddr>,
    pub(crate) explorer: Option<SocketAddr>,
    pub(crate) metrics: Option<SocketAddr>,
}

impl Doors {
    /// Opens the ports of these roles.
    pub(crate) async fn open(config: &Config, roles: Roles) -> anyhow::Result<Self> {
        let has_faucet = match roles {
            Roles::All => can_pay(config)?,
            Roles::Faucet => {
                expect_faucet(config)?;
                true
            }
            Roles::Api | Roles::Worker | Roles::Gateway | Roles::Explorer => false,
        };
        let api = match roles {
            Roles::All | Roles::Api => Some(listen(config.api.listen, &listen::API).await?),
            Roles::Worker | Roles::Gateway | Roles::Faucet | Roles::Explorer => None,
        };
        let gateway = match roles {
            Roles::All | Roles::Gateway => Some(listen(config.gateway.listen, &listen::GATEWAY).await?),
            Roles::Api | Roles::Worker | Roles::Faucet | Roles::Explorer => None,
        };
        let faucet = match has_faucet {
            true => Some(listen(config.faucet.listen, &listen::FAUCET).await?),
            false => None,
        };
        let explorer = match roles {
            Roles::All | Roles::Explorer => Some(listen(config.explorer.listen, &listen::EXPLORER).await?),
            Roles::Api | Roles::Worker | Roles::Gateway | Roles::Faucet => None,
        };
        let metrics = listen(config.metrics, &listen::METRICS).await?;
        Ok(Self { api, gateway, faucet, explorer, metrics })
    }

    /// Where they are, with the ports that the system picked.
    pub(crate) fn addresses(&self) -> anyhow::Result<Addresses> {
        let address =
            |listener: &Option<TcpListener>| listener.as_ref().map(TcpListener::local_addr).transpose();
        let read = || {
            Ok::<_, std::io::Error>(Addresses {
                api: address(&self.api)?,
                gateway: address(&self.gateway)?,
                faucet: address(&self.faucet)?,
                explorer: address(&self.explorer)?,
                metrics: Some(self.metrics.local_addr()?),
            })
        };
        read().context("cannot read the listening address")
    }
}

impl Addresses {
    /// A deployment record whose public URLs, where they name this machine, have the ports that are really open: links and
    /// signatures made here must lead back here. A wallet can send no key in a header: on this machine it is shown to the node's own
    /// port, which needs none, where the gateway needs one.
    pub(crate) fn settle(&self, recorded: &Deployment, node: Option<SocketAddr>) -> Deployment {
        let mut settled = recorded.clone();
        let urls = &mut settled.urls;
        follow(&mut urls.api, self.api);
        follow(&mut urls.rpc, self.gateway);
        follow(&mut urls.explorer, self.explorer);
        if let Some(faucet) = &mut urls.faucet {
            follow(faucet, self.faucet);
        }
        let node = node.filter(|node| node.ip().is_loopback() || node.ip().is_unspecified());
        let wallets = match settled.network {
            Network::Devnet => node.or(self.gateway),
            Network::Testnet | Network::Mainnet => self.gateway,
        };
        settled.wallet.rpc_urls.iter_mut().for_each(|url| follow(url, wallets));
        settled.wallet.block_explorer_urls.iter_mut().for_each(|url| follow(url, self.explorer));
        settled
    }
}

fn follow(url: &mut WebUrl, open: Option<SocketAddr>) {
    let Some(open) = open.filter(|_| url.is_loopback()) else { return };
    if let Ok(moved) = format!("{}://{}:{}", url.scheme(), url.host(), open.port()).parse() {
        *url = moved;
    }
}

/// Whether a process that has everything has a faucet, too.
fn can_pay(config: &Config) -> anyhow::Result<bool> {
    if config.network == Network::Mainnet {
        return Ok(false);
    }
    let has_key = wiring::faucet_key(config)?.is_some();
    if !has_key {
        warn!("no faucet: there is no key to pay with; FAUCET_KEY names one");
    }
    Ok(has_key)
}

/// A process that is to be a faucet must be able to be one.
fn expect_faucet(config: &Config) -> anyhow::Result<()> {
    if config.network == Network::Mainnet {
        bail!("mainnet has no faucet: its coin has a price");
    }
    if wiring::faucet_key(config)?.is_none() {
        bail!("the faucet has no key to pay with; name one in FAUCET_KEY or --faucet-key");
    }
    Ok(())
}
