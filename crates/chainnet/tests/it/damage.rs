//! A data directory damaged in any one file: the node refuses to start and says what to do, or tells the truth.

use std::{
    fs,
    path::{Path, PathBuf},
};

use alloy_primitives::{Address, B256, U256};
use serde_json::{Value, json};
use testkit::{CallError, Draft, NodeProcess, RpcClient, StartError, Wallet};

use crate::rig::{BINARY, assert_calm, block, on_demand};

/// What a directory held before it was damaged.
struct Original {
    /// Hash and balance of the receiver, by height.
    blocks: Vec<(Value, U256)>,
    transactions: Vec<(B256, Value)>,
}

const RECEIVER: Address = Address::repeat_byte(0xcc);

async fn balance_at(client: &RpcClient, number: usize) -> Result<U256, CallError> {
    client.call("eth_getBalance", json!([RECEIVER, format!("{number:#x}")])).await
}

/// A node with a few blocks, ended as asked.
async fn filled(clean: bool) -> (NodeProcess, Original) {
    let mut node = on_demand().await;
    let mut wallet = Wallet::dev(0);
    let mut transactions = Vec::new();
    for amount in 0..12u64 {
        let draft = Draft::transfer(RECEIVER, U256::from(amount));
        let hash = node.client().send_raw(&wallet.sign_legacy(draft).raw).await.unwrap();
        node.client().mine().await.unwrap();
        transactions.push((hash, node.client().call("eth_getTransactionReceipt", [hash]).await.unwrap()));
    }
    let mut blocks = Vec::new();
    for number in 0..=12 {
        let hash = block(node.client(), &format!("{number:#x}")).await["hash"].clone();
        blocks.push((hash, balance_at(node.client(), number).await.unwrap()));
    }
    if clean {
        assert!(node.stop().await.unwrap().success());
    } else {
        node.kill9().await.unwrap();
    }
    (node, Original { blocks, transactions })
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What is left of a file; `None` if nothing is.
type Damage = (&'static str, fn(Vec<u8>) -> Option<Vec<u8>>);

const DAMAGES: [Damage; 6] = [
    ("gone", |_| None),
    ("emptied", |_| Some(Vec::new())),
    ("cut in half", |bytes| Some(bytes[..bytes.len() / 2].to_vec())),
    ("a byte short", |bytes| Some(bytes[..bytes.len().saturating_sub(1)].to_vec())),
    ("a bit flipped in the middle", |mut bytes| {
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 0x10;
        }
        Some(bytes)
    }),
    ("overwritten in places", |mut bytes| {
        bytes.iter_mut().step_by(97).for_each(|byte| *byte = !*byte);
        Some(bytes)
    }),
];

/// Whatever the node still says must be what it said before; a failure to answer is no lie, an empty chain is one.
async fn tells_the_truth(node: &NodeProcess, original: &Original, case: &str) {
    let client = node.client();
    let head = usize::try_from(client.block_number().await.unwrap()).unwrap();
    assert!((1..original.blocks.len()).contains(&head), "{case}: the head is {head}");
    for (number, (hash, balance)) in original.blocks.iter().enumerate().take(head + 1) {
        let number_text = format!("{number:#x}");
        if let Ok(found) = client.call::<Value>("eth_getBlockByNumber", json!([number_text, false])).await {
            assert_eq!(&found["hash"], hash, "{case}: block {number}");
        }
        if let Ok(found) = balance_at(client, number).await {
            assert_eq!(found, *balance, "{case}: balance at {number}");
        }
    }
    for (hash, receipt) in original.transactions.iter().take(head) {
        if let Ok(found) = client.call::<Value>("eth_getTransactionReceipt", [hash]).await {
            assert_eq!(&found, receipt, "{case}: receipt");
        }
    }
    assert_calm(node);
}

async fn survives_damage(clean: bool) {
    let (node, original) = filled(clean).await;
    let mut refusals = 0;
    for file in files_below(&node.data().join("chain")) {
        for (name, damage) in DAMAGES {
            let before = fs::read(&file).unwrap();
            let after = damage(before.clone());
            if after.as_ref() == Some(&before) {
                continue;
            }
            let place = tempfile::tempdir().unwrap();
            copy(node.data(), place.path());
            let relative = file.strip_prefix(node.data()).unwrap();
            let damaged = place.path().join(relative);
            match after {
                Some(bytes) => fs::write(damaged, bytes).unwrap(),
                None => fs::remove_file(damaged).unwrap(),
            }
            let case = format!("{} {name}", relative.display());
            match NodeProcess::start_in(BINARY, ["--on-demand"], place).await {
                Ok(damaged) => tells_the_truth(&damaged, &original, &case).await,
                Err(StartError::Exited { status, output }) => {
                    refusals += 1;
                    assert_eq!(status.code(), Some(1), "{case}: {output}");
                    assert!(!output.contains("panicked"), "{case}: {output}");
                    let advised = ["restore", "remove", "another directory", "--data"];
                    assert!(advised.iter().any(|advice| output.contains(advice)), "{case}: {output}");
                }
                Err(error) => panic!("{case}: {error}"),
            }
        }
    }
    assert!(refusals > 0, "no damage was noticed at the start");
}

#[tokio::test]
async fn a_damaged_directory_of_a_stopped_node_is_refused_or_read_right() {
    survives_damage(true).await;
}

#[tokio::test]
async fn a_damaged_directory_of_a_killed_node_is_refused_or_read_right() {
    survives_damage(false).await;
}
