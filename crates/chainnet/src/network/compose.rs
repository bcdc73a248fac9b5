//! `compose.yaml`: the nodes of a network in containers.

use std::fmt::Write;

use super::{BESU_VERSION, plan::Plan};

/// The file's name.
pub(super) const FILE: &str = "compose.yaml";

/// The file. The containers share the machine's network, so that the nodes' configuration, whose addresses are the
/// machine's, holds inside as well. Each sees the genesis and its own folder, not the others' keys. `owner` is who may
/// read the key files, as `UID:GID`.
pub(super) fn text(plan: &Plan, owner: &str) -> String {
    let network = plan.network;
    // Two networks of one machine are two projects.
    let project = match plan.port_offset() {
        0 => format!("chainnet-{network}"),
        offset => format!("chainnet-{network}-{offset}"),
    };
    let mut text = format!(
        r#"# {}: its nodes in containers. On one machine: docker compose up -d. On several: docker compose up -d v1
# BESU_USER must own the folders of the nodes; their keys can be read by their owner alone.
name: {project}

x-node: &node
  image: hyperledger/besu:{BESU_VERSION}
  user: "${{BESU_USER:-{owner}}}"
  network_mode: host
  working_dir: /network
  restart: unless-stopped
  stop_grace_period: 1m

services:
"#,
        network.title()
    );
    for node in &plan.nodes {
        let (name, folder) = (&node.name, node.folder());
        let probe = format!("exec 3<>/dev/tcp/{}/{}", node.host, node.rpc_port);
        // Writing into a String cannot fail.
        let _ = write!(
            text,
            r#"  {name}:
    <<: *node
    command: ["--config-file={folder}/config.toml"]
    volumes:
      - ./genesis.json:/network/genesis.json:ro
      - ./{folder}:/network/{folder}
    healthcheck:
      test: ["CMD", "bash", "-c", "{probe}"]
      interval: 10s
      start_period: 1m
"#
        );
    }
    text
}
