//! `chainnet genesis`: the network's genesis file, for Besu or for reading.

use crate::{cli::GenesisOptions, config::Config, keys::NetworkKeys, network_genesis, output::say};

/// Prints the genesis file.
pub(crate) fn run(config: &Config, options: &GenesisOptions) -> anyhow::Result<()> {
    let keys = NetworkKeys::load(config.network, &config.data)?;
    let genesis = network_genesis::build(config.network, &keys, options.fork)?;
    say(genesis.to_json()?.trim_end());
    Ok(())
}
