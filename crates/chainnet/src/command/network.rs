//! `chainnet network`: a network of Besu nodes, written and checked.

use std::{fmt::Write, path::Path};

use domain::Network;
use validators::program::{PHASES, Phase};

use crate::{
    cli::{NetworkCheck, NetworkCommand, NetworkInit},
    config::Config,
    finding::report,
    network::{check, folder, manifest::Manifest, plan::Plan},
    output::say,
};

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &NetworkCommand) -> anyhow::Result<()> {
    match command {
        NetworkCommand::Init(init) => create(config, init),
        NetworkCommand::Check(options) => examine(options),
    }
}

fn create(config: &Config, init: &NetworkInit) -> anyhow::Result<()> {
    let NetworkInit { validators, out, fork, hosts, port_offset, supply } = init;
    let plan = Plan::new(config.network, *fork, *supply, config.gas.min_price, *validators, hosts)?
        .with_port_offset(*port_offset)?;
    let manifest = folder::write(&plan, out)?;
    say(summary(&plan, &manifest, out).trim_end());
    Ok(())
}

fn examine(options: &NetworkCheck) -> anyhow::Result<()> {
    let findings = check::examine(&options.folder, options.running);
    report(&findings, options.json)
}

/// What was made, and what to do with it.
fn summary(plan: &Plan, manifest: &Manifest, out: &Path) -> String {
    let (network, out) = (plan.network, out.display());
    let mut text = format!(
        "{} (chain {}) in {out}\n\nGenesis  {}\n\n",
        network.title(),
        network.chain_id(),
        manifest.genesis_hash
    );
    // Writing into a String cannot fail.
    for (node, address) in plan.nodes.iter().zip(manifest.sealers()) {
        let (name, host, rpc, p2p) = (&node.name, node.host, node.rpc_port, node.p2p_port);
        let _ = writeln!(text, "{name:<4} {address}  {host}  JSON-RPC {rpc}  P2P {p2p}");
    }
    let has_room = |phase: &&Phase| plan.nodes.len() <= usize::from(phase.max_validators);
    let phase = PHASES.iter().find(has_room).map_or(PHASES.len(), |phase| usize::from(phase.phase));
    let _ = write!(
        text,
        "
The registry starts in phase {phase}. Each validator's stake belongs to keys/operator-N, not to its node.

Next steps
  1  chainnet network check {out}
  2  back up {out}/keys, {out}/env and the files {out}/nodes/*/key; take keys/operator-*,
     keys/treasury-owner-* and keys/admin off this machine, nothing that runs needs them
  3  {out}/start.sh                        needs Besu 24.x; or
     docker compose -f {out}/compose.yaml up -d
  4  the service, pointed at these nodes:
     set -a; . {out}/env/chainnet.env; . {out}/env/portal.env{faucet}; . {out}/env/worker.env; set +a
     chainnet up
",
        faucet = match network {
            Network::Devnet | Network::Testnet => format!("; . {out}/env/faucet.env"),
            Network::Mainnet => String::new(),
        }
    );
    text
}
