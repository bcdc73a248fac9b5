//! `start.sh`: all nodes of a network on one machine, without a supervisor.

use super::{
    BESU_VERSION,
    plan::{NodePlan, Plan},
};

/// The file's name.
pub(super) const FILE: &str = "start.sh";

/// The script. Ports are read from the nodes' configuration, so that there is one place to change them.
pub(super) fn text(plan: &Plan) -> String {
    let names: Vec<&str> = plan.nodes.iter().map(|node: &NodePlan| node.name.as_str()).collect();
    TEMPLATE
        .replace("@NETWORK@", plan.network.title())
        .replace("@BESU@", BESU_VERSION)
        .replace("@NODES@", &names.join(" "))
}

const TEMPLATE: &str = r#"#!/usr/bin/env bash
# @NETWORK@: starts its nodes on this machine, waits until they answer, and stops them with Ctrl-C or SIGTERM.
#
#   ./start.sh           all nodes
#   ./start.sh v1 v2     these
#
# Needs Besu 24.x (written for @BESU@). BESU names the program where it is not in the PATH.
set -euo pipefail
cd "$(dirname "$0")"

besu="${BESU:-besu}"
patience="${PATIENCE:-120}" # seconds until every node must answer
nodes=(@NODES@)
if (($# > 0)); then nodes=("$@"); fi
declare -A pids=()

fail() {
  echo "error: $*" >&2
  exit 1
}

setting() { # NODE KEY
  sed -n "s/^$2=\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" "nodes/$1/config.toml"
}

# shellcheck disable=SC2329 # the trap calls it
stop() {
  local node
  trap - EXIT INT TERM
  for node in "${!pids[@]}"; do kill "${pids[$node]}" 2>/dev/null || true; done
  for node in "${!pids[@]}"; do wait "${pids[$node]}" 2>/dev/null || true; done
  echo "stopped"
}

# Forgets nodes that have ended and says so.
forget_ended() {
  local node
  for node in "${!pids[@]}"; do
    if ! kill -0 "${pids[$node]}" 2>/dev/null; then
      echo "$node has ended, see nodes/$node/besu.log" >&2
      unset "pids[$node]"
    fi
  done
}

command -v "$besu" >/dev/null || fail "there is no $besu; install Besu 24.x, or name it with BESU=/path/to/besu"
for node in "${nodes[@]}"; do
  [ -f "nodes/$node/config.toml" ] || fail "there is no node $node"
done

trap stop EXIT
trap 'exit 0' INT TERM
for node in "${nodes[@]}"; do
  "$besu" --config-file="nodes/$node/config.toml" >>"nodes/$node/besu.log" 2>&1 &
  pids[$node]=$!
  echo "$node  pid ${pids[$node]}, log nodes/$node/besu.log"
done

for node in "${nodes[@]}"; do
  host="$(setting "$node" rpc-http-host)"
  port="$(setting "$node" rpc-http-port)"
  until (exec 3<>"/dev/tcp/$host/$port") 2>/dev/null; do
    forget_ended
    [ -n "${pids[$node]:-}" ] || fail "$node did not start"
    ((SECONDS < patience)) || fail "$node does not answer on $host port $port, see nodes/$node/besu.log"
    sleep 1
  done
  echo "$node  answers on $host port $port"
done
echo "all nodes answer; Ctrl-C stops them"

while ((${#pids[@]} > 0)); do
  wait -n "${pids[@]}" || true
  forget_ended
done
fail "no node runs any more"
"#;
