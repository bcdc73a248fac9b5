//! Chains that real Besu 24.12.2 made: they import, and our answers about them are Besu's but for the differences listed here.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::Rig;
use crate::{genesis::Genesis, pool::PoolLimits, rpc::RpcConfig, transfer};

/// Methods whose answers differ, each with the number of requests that are answered otherwise and why.
type Differences<'a> = &'a [(&'a str, usize, &'a str)];

#[derive(Deserialize)]
struct Recording {
    height: u64,
    pairs: Vec<Pair>,
}

/// A request and Besu's answer.
#[derive(Deserialize)]
struct Pair {
    method: String,
    params: Value,
    result: Option<Value>,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/besu-24.12.2").join(name)
}

/// A node with the blocks of these files.
async fn imported(genesis: &str, blocks: &[&str]) -> Rig {
    let genesis = Genesis::from_json(&fs::read_to_string(file(genesis)).unwrap()).unwrap();
    let rig = Rig::serve(&genesis, RpcConfig::default(), PoolLimits::default()).await;
    for blocks in blocks {
        let blocks = fs::read(file(blocks)).unwrap();
        transfer::import(&rig.chain, blocks.as_slice(), |_| ()).unwrap();
    }
    rig
}

/// Asks everything that Besu was asked.
async fn compare(rig: &Rig, recording: &str, expected: Differences<'_>) {
    let recording: Recording = serde_json::from_str(&fs::read_to_string(file(recording)).unwrap()).unwrap();
    assert_eq!(rig.chain.head().block.number(), recording.height);
    let mut different: BTreeMap<&str, usize> = BTreeMap::new();
    let mut report = String::new();
    for Pair { method, params, result } in &recording.pairs {
        let answer = rig.call(method, params.clone()).await.ok();
        if answer != *result {
            *different.entry(method).or_default() += 1;
            report += &format!("{method} {params}\n  ours {answer:?}\n  Besu's {result:?}\n");
        }
    }
    let expected: BTreeMap<&str, usize> =
        expected.iter().map(|(method, count, _)| (*method, *count)).collect();
    assert_eq!(different, expected, "{report}");
}

const WRAPPED: &str = "Besu wraps what has a type in an RLP string";
const PROOF_KEYS: &str = "Besu writes storage keys as short as they can be";
const SIGNERS: &str = "Besu lists signers in the order of its own table";
const ACCESS_LIST: &str = "Besu counts gas without the list, and lists slots in the order of its own table";
const BLOB_V: &str = "Besu leaves out the `v` of blob transactions";

#[tokio::test(flavor = "multi_thread")]
async fn a_cancun_chain_is_read_as_besu_reads_it() {
    let rig = imported("cancun/genesis.json", &["cancun/blocks.rlp"]).await;
    let differences: Differences<'_> = &[
        ("debug_getRawReceipts", 21, WRAPPED),
        ("eth_createAccessList", 1, ACCESS_LIST),
        ("eth_getProof", 9, PROOF_KEYS),
        ("ibft_getSignerMetrics", 1, SIGNERS),
    ];
    compare(&rig, "cancun/rpc.json", differences).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn blob_transactions_in_blocks_are_read_as_besu_reads_them() {
    let rig = imported("cancun/genesis.json", &["cancun/blocks.rlp", "cancun/blocks-blobs.rlp"]).await;
    let differences: Differences<'_> = &[
        ("debug_getRawReceipts", 3, WRAPPED),
        ("debug_getRawTransaction", 3, WRAPPED),
        ("eth_getBlockByNumber", 3, BLOB_V),
        ("eth_getTransactionByHash", 3, BLOB_V),
    ];
    compare(&rig, "cancun/rpc-blobs.json", differences).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_that_became_cancun_is_read_as_besu_reads_it() {
    let rig = imported("shanghai-to-cancun/genesis.json", &["shanghai-to-cancun/blocks.rlp"]).await;
    let differences: Differences<'_> = &[
        ("debug_getRawReceipts", 26, WRAPPED),
        ("eth_createAccessList", 1, ACCESS_LIST),
        ("eth_getProof", 3, PROOF_KEYS),
        ("ibft_getSignerMetrics", 1, SIGNERS),
    ];
    compare(&rig, "shanghai-to-cancun/rpc.json", differences).await;
}
