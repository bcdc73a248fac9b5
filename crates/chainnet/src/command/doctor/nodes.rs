//! The configured nodes, one by one: the service goes on with those that answer, and says nothing of the others.

use chain::{Cached, Witness, remote::RemoteClient};

use crate::finding::Finding;

/// A node so many blocks behind the newest is not following.
const FAR_BLOCKS: u64 = 5;

/// Whether every node answers and follows; nothing where there is one alone, which is the chain's own check.
pub(super) fn answers(client: &Cached<RemoteClient>) -> Option<Finding> {
    let nodes: Vec<_> = client.inner().nodes().iter().map(|node| (node.name(), node.newest())).collect();
    (nodes.len() > 1).then(|| judge(&nodes))
}

fn judge(nodes: &[(String, Option<u64>)]) -> Finding {
    let newest = nodes.iter().filter_map(|(_, head)| *head).max().unwrap_or(0);
    let troubles: Vec<String> = nodes
        .iter()
        .filter_map(|(name, head)| match head {
            None => Some(format!("{name} does not answer")),
            Some(head) if head.saturating_add(FAR_BLOCKS) < newest => {
                Some(format!("{name} is at block {head}, {} behind", newest.saturating_sub(*head)))
            }
            Some(_) => None,
        })
        .collect();
    if troubles.is_empty() {
        return Finding::ok("nodes", format!("all {} answer and follow the chain", nodes.len()));
    }
    let advice = "start them, look into their logs, or take them out of PLATFORM_RPC_URL";
    Finding::warn("nodes", troubles.join("; "), advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn nodes_that_are_dead_or_far_behind_are_named() {
        let node = |name: &str, head| (name.to_owned(), head);
        let good = judge(&[node("a", Some(100)), node("b", Some(97))]);
        assert_eq!(good.verdict, Verdict::Ok);
        let bad = judge(&[node("a", Some(100)), node("b", None), node("c", Some(90))]);
        assert_eq!(bad.verdict, Verdict::Warn);
        assert_eq!(bad.found, "b does not answer; c is at block 90, 10 behind");
    }
}
