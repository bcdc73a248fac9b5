//! The ports of a process: opened before anything else is done, handed to the servers behind them.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use domain::Network;
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
}

/// Where they are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Addresses {
    pub(crate) api: Option<SocketAddr>,
    pub(crate) gateway: Option<SocketAddr>,
    pub(crate) faucet: Option<SocketAddr>,
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
            Roles::Api | Roles::Worker | Roles::Gateway => false,
        };
        let api = match roles {
            Roles::All | Roles::Api => Some(listen(config.api.listen, &listen::API).await?),
            Roles::Worker | Roles::Gateway | Roles::Faucet => None,
        };
        let gateway = match roles {
            Roles::All | Roles::Gateway => Some(listen(config.gateway.listen, &listen::GATEWAY).await?),
            Roles::Api | Roles::Worker | Roles::Faucet => None,
        };
        let faucet = match has_faucet {
            true => Some(listen(config.faucet.listen, &listen::FAUCET).await?),
            false => None,
        };
        Ok(Self { api, gateway, faucet })
    }

    /// Where they are, with the ports that the system picked.
    pub(crate) fn addresses(&self) -> anyhow::Result<Addresses> {
        let address =
            |listener: &Option<TcpListener>| listener.as_ref().map(TcpListener::local_addr).transpose();
        let read = || {
            Ok::<_, std::io::Error>((address(&self.api)?, address(&self.gateway)?, address(&self.faucet)?))
        };
        let (api, gateway, faucet) = read().context("cannot read the listening address")?;
        Ok(Addresses { api, gateway, faucet })
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
