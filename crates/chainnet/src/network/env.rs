//! `env/`: the settings of the service's roles for this network, as systemd and shells read them. Each role gets the
//! secrets it needs and no others.

use std::path::Path;

use alloy_primitives::B256;
use alloy_signer_local::PrivateKeySigner;

use super::{accounts::Accounts, file::NetworkFile, plan::Plan, units};

/// Settings of every role.
pub(super) const SHARED: &str = "env/chainnet.env";
/// Secrets of the portal.
pub(super) const PORTAL: &str = "env/portal.env";
/// The faucet's key.
pub(super) const FAUCET: &str = "env/faucet.env";
/// The keeper's key.
pub(super) const WORKER: &str = "env/worker.env";

/// The files. All are private: the first will hold the database's password.
pub(super) fn files(
    plan: &Plan,
    folder: &Path,
    accounts: &Accounts<PrivateKeySigner>,
) -> anyhow::Result<Vec<NetworkFile>> {
    let (folder, Plan { network, min_gas_price, .. }) = (units::plain(folder)?, plan);
    let shared = format!(
        "# For every role of the service.
PLATFORM_NETWORK={network}
PLATFORM_DEPLOYMENTS={folder}/deployments
# In wei; the nodes' min-gas-price is the same.
MIN_GAS_PRICE={min_gas_price}
# PostgreSQL where roles run on several machines, or several times; without it SQLite in the data directory.
# DATABASE_URL=postgres://chainnet:PASSWORD@127.0.0.1/chainnet
# Redis where several gateways share their limits.
# REDIS_URL=redis://127.0.0.1:6379
"
    );
    let portal = format!(
        "# For api, explorer and worker: the same everywhere. Losing the pepper ends all developer keys.
PORTAL_PEPPER={}
WEBHOOK_KEY={}
",
        B256::random(),
        B256::random()
    );
    let mut files = vec![NetworkFile::private(SHARED, shared), NetworkFile::private(PORTAL, portal)];
    if let Some(key) = &accounts.faucet {
        files.push(NetworkFile::private(FAUCET, format!("FAUCET_KEY={}\n", key.to_bytes())));
    }
    let worker = format!("KEEPER_KEY={}\n", accounts.keeper.to_bytes());
    files.push(NetworkFile::private(WORKER, worker));
    Ok(files)
}

/// The value of a variable in a file of settings.
pub(super) fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::trim))
}
