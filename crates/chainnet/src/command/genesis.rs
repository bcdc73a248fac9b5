//! `chainnet genesis`: the network's genesis file, for Besu or for reading.

use crate::{
    cli::{GenesisOptions, Place},
    keys::NetworkKeys,
    network_genesis,
    output::say,
};

/// Prints the genesis file.
pub(crate) fn run(place: &Place, options: &GenesisOptions) -> anyhow::Result<()> {
    let keys = NetworkKeys::load(place.network, &place.data_dir())?;
    let genesis = network_genesis::build(place.network, &keys, options.fork)?;
    say(genesis.to_json()?.trim_end());
    Ok(())
}
