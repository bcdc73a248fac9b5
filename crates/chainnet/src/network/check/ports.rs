//! Ports: no two the same, and nobody else has them.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
};

use super::Checked;
use crate::{finding::Finding, network::plan::NodePlan};

pub(super) fn examine(checked: &Checked<'_>, running: bool) -> Finding {
    let mut complaints = shared(&checked.plan.nodes);
    if running {
        return finding(&complaints, "all different; not tried, because the nodes run");
    }
    let (mut tried, mut elsewhere) = (0, 0);
    for node in &checked.plan.nodes {
        for (key, port) in node.ports() {
            match state(node.address(port), key == "p2p-port") {
                State::Free => tried += 1,
                State::Taken => complaints.push(format!("port {port} ({key} of {}) is taken", node.name)),
                State::Elsewhere => elsewhere += 1,
            }
        }
    }
    let good = match elsewhere {
        0 => format!("{tried} ports, all different and free"),
        elsewhere => format!("{tried} ports free; {elsewhere} of other machines were not tried"),
    };
    finding(&complaints, &good)
}

fn finding(complaints: &[String], good: &str) -> Finding {
    let advice = "stop what has the port; if it is this network itself, check with --running";
    Finding::of("ports", complaints, good, advice)
}

/// Ports that two nodes of one machine would both want.
fn shared(nodes: &[NodePlan]) -> Vec<String> {
    let mut wanted: BTreeMap<(IpAddr, u16), Vec<String>> = BTreeMap::new();
    for node in nodes {
        for (key, port) in node.ports() {
            wanted.entry((node.host, port)).or_default().push(format!("{key} of {}", node.name));
        }
    }
    wanted
        .into_iter()
        .filter(|(_, users)| users.len() > 1)
        .map(|((_, port), users)| format!("port {port} is {}", users.join(" and ")))
        .collect()
}

enum State {
    Free,
    Taken,
    /// The address is another machine's, or cannot be tried.
    Elsewhere,
}

/// Besu wants a port that is free on every address of the machine, whichever one it listens on.
fn state(address: SocketAddr, with_udp: bool) -> State {
    let everywhere = match address.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let everywhere = SocketAddr::new(everywhere, address.port());
    let bind = |address: SocketAddr| {
        TcpListener::bind(address)?;
        if with_udp {
            UdpSocket::bind(address)?;
        }
        Ok(())
    };
    match bind(address).and_then(|()| bind(everywhere)) {
        Ok(()) => State::Free,
        Err(error) if error.kind() == ErrorKind::AddrInUse => State::Taken,
        Err::<(), std::io::Error>(_) => State::Elsewhere,
    }
}
