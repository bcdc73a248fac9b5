//! `chainnet chain export` and `import`: the same chain elsewhere, and nothing but a valid one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use alloy_consensus::{Header, TxEnvelope};
use alloy_primitives::{B256, U256};
use alloy_rlp::{Decodable, Encodable};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Draft, NodeProcess, Wallet, scenario};

use crate::{
    rig::{BINARY, Ended, block, chainnet, ctl, on_demand, start_at_genesis_time},
    validators::{next_proposer, round, status},
};

type FileBlock = alloy_consensus::Block<TxEnvelope>;

/// A stopped node's chain as a file, and its head.
struct Exported {
    node: NodeProcess,
    dir: TempDir,
    file: PathBuf,
    head: Value,
}

impl Exported {
    fn height(&self) -> u64 {
        let number = self.head["number"].as_str().expect("a number");
        u64::from_str_radix(number.trim_start_matches("0x"), 16).expect("hex")
    }

    /// A path beside the file.
    fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Exports a part of the chain.
    async fn part(&self, name: &str, range: &[&str]) -> PathBuf {
        let to = self.beside(name);
        let arguments = ["--data", text(self.node.data()), "chain", "export", "--to", text(&to)];
        chainnet(arguments.iter().chain(range)).await.success();
        to
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

async fn import(data: &Path, file: &Path) -> Ended {
    chainnet(["--data", text(data), "chain", "import", text(file)]).await
}

async fn exported(mut node: NodeProcess) -> Exported {
    let head = block(node.client(), "latest").await;
    assert!(node.stop().await.expect("an end").success());
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("blocks.rlp");
    let said =
        chainnet(["--data", text(node.data()), "chain", "export", "--to", text(&file)]).await.success();
    assert!(said.contains("exported blocks 0 to"), "{said}");
    Exported { node, dir, file, head }
}

/// A few blocks with a transfer each.
async fn short_chain() -> Exported {
    let node = on_demand().await;
    start_at_genesis_time(node.client()).await;
    let mut wallet = Wallet::dev(0);
    for value in 1..=7u64 {
        let draft = Draft::transfer(alloy_primitives::Address::repeat_byte(0xb0), U256::from(value));
        node.client().send_raw(&wallet.sign_dynamic_fee(draft).raw).await.expect("a pooled transfer");
        node.client().mine().await.expect("a block");
    }
    exported(node).await
}

/// Everything that a chain can hold: transfers, contracts, a validator voted in, one voted out, a round change.
async fn eventful_chain() -> Exported {
    let node = on_demand().await;
    let client = node.client();
    start_at_genesis_time(client).await;
    let steps = scenario::steps();
    scenario::observe(client, &steps).await.expect("a scenario of contract calls");

    let validators = status(&node).await;
    let (first, sixth) = (&validators[0], &validators[5]);
    for line in validators.iter().filter(|line| line.in_set) {
        ctl(&node, ["vote", &line.name, &sixth.address, "add"]).await.success();
        ctl(&node, ["vote", &line.name, &first.address, "drop"]).await.success();
    }
    for _ in 0..16 {
        client.mine().await.expect("a block");
    }
    let after = status(&node).await;
    assert!(after[5].in_set && !after[0].in_set, "{after:?}");

    let absent = next_proposer(&node).await;
    ctl(&node, ["stop", &absent.name]).await.success();
    client.mine().await.expect("a block without its proposer");
    assert_eq!(round(&block(client, "latest").await), 1);
    ctl(&node, ["start", &absent.name]).await.success();
    client.mine().await.expect("a block");
    exported(node).await
}

#[tokio::test]
async fn an_eventful_chain_imports_elsewhere_to_the_same_head_and_state() {
    let chain = eventful_chain().await;
    let copy = tempfile::tempdir().unwrap();
    let ended = import(copy.path(), &chain.file).await;
    assert_eq!(ended.err, "", "nothing but a failure belongs on standard error of a pipe");
    let said = ended.success();
    let (hash, root) = (chain.head["hash"].as_str().unwrap(), chain.head["stateRoot"].as_str().unwrap());
    assert!(said.contains(&format!("imported {} blocks", chain.height())), "{said}");
    assert!(said.contains(hash) && said.contains(root), "{said}");

    let again = import(copy.path(), &chain.file).await.success();
    assert!(
        again.contains(&format!(
            "imported 0 blocks with 0 transactions ({} known before)",
            chain.height() + 1
        )),
        "{again}"
    );

    let back = chain.beside("back.rlp");
    chainnet(["--data", text(copy.path()), "chain", "export", "--to", text(&back)]).await.success();
    assert!(fs::read(&back).unwrap() == fs::read(&chain.file).unwrap(), "the copy exports the same bytes");

    let node = NodeProcess::start_in(BINARY, ["--on-demand"], copy).await.unwrap();
    assert_eq!(block(node.client(), "latest").await, chain.head);
    node.client().mine().await.unwrap();
    assert_eq!(node.client().block_number().await.unwrap(), chain.height() + 1);
}

#[tokio::test]
async fn a_chain_travels_in_parts() {
    let chain = short_chain().await;
    let lower = chain.part("lower.rlp", &["--end", "4"]).await;
    let upper = chain.part("upper.rlp", &["--from", "4"]).await;
    let both = [fs::read(&lower).unwrap(), fs::read(&upper).unwrap()].concat();
    assert!(both == fs::read(&chain.file).unwrap());

    let copy = chain.beside("copy");
    let error = import(&copy, &upper).await.failure();
    assert!(error.contains("block 4: rule `parent-link` broken"), "{error}");
    import(&copy, &lower).await.success();
    let said = import(&copy, &upper).await.success();
    assert!(said.contains("imported 5 blocks with 5 transactions (0 known before)"), "{said}");
    assert!(said.contains(chain.head["hash"].as_str().unwrap()), "{said}");
}

#[tokio::test]
async fn a_range_that_is_not_there_is_refused_and_writes_nothing() {
    let chain = short_chain().await;
    let to = chain.beside("part.rlp");
    for (range, reason) in [
        (["--from", "0", "--end", "100"], "head is 8"),
        (["--from", "5", "--end", "5"], "nothing to export"),
        (["--from", "7", "--end", "3"], "nothing to export"),
        (["--from", "50", "--end", "60"], "head is 8"),
    ] {
        let arguments = ["--data", text(chain.node.data()), "chain", "export", "--to", text(&to)];
        let error = chainnet(arguments.iter().chain(&range)).await.failure();
        assert!(error.contains(reason), "{range:?}: {error}");
        assert!(!to.exists(), "{range:?} left a file behind");
    }
}

/// The file with a change made to block `number`.
fn tampered(file: &[u8], number: usize, change: impl FnOnce(&mut FileBlock)) -> Vec<u8> {
    let mut rest = file;
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        blocks.push(FileBlock::decode(&mut rest).unwrap());
    }
    change(&mut blocks[number]);
    let mut out = Vec::new();
    for block in blocks {
        block.encode(&mut out);
    }
    out
}

#[tokio::test]
async fn a_tampered_block_is_refused_with_the_rule_and_the_height() {
    let chain = short_chain().await;
    let file = fs::read(&chain.file).unwrap();
    let header = |change: fn(&mut Header)| tampered(&file, 5, |block| change(&mut block.header));
    let cases = [
        (header(|h| h.state_root = B256::repeat_byte(1)), "commit-seals"),
        (header(|h| h.timestamp += 1), "commit-seals"),
        (header(|h| h.timestamp -= 1), "commit-seals"),
        (header(|h| h.timestamp += 1 << 40), "timestamp-drift"),
        (header(|h| h.parent_hash = B256::ZERO), "parent-link"),
        (header(|h| h.difficulty = U256::from(2)), "difficulty"),
        (header(|h| h.gas_limit *= 2), "gas-limit"),
        (header(|h| h.beneficiary = alloy_primitives::Address::ZERO), "coinbase"),
        (header(|h| h.extra_data = alloy_primitives::Bytes::new()), "extra-data"),
        (tampered(&file, 5, |b| b.body.transactions.clear()), "transactions-root"),
        (tampered(&file, 5, |b| b.body.ommers.push(Header::default())), "ommers"),
    ];
    for (case, (bytes, rule)) in cases.into_iter().enumerate() {
        let (path, copy) = (chain.beside("tampered.rlp"), chain.beside(&format!("copy-{case}")));
        fs::write(&path, bytes).unwrap();
        let error = import(&copy, &path).await.failure();
        assert!(error.contains(&format!("block 5: rule `{rule}` broken")), "expected {rule} in: {error}");
        assert!(error.contains("the chain is at block 4"), "{error}");
        let said = import(&copy, &chain.file).await.success();
        assert!(said.contains("imported 4 blocks"), "the good file goes on from there: {said}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_chain_or_another_one_is_refused() {
    let chain = short_chain().await;
    let file = fs::read(&chain.file).unwrap();
    let path = chain.beside("bad.rlp");
    for (bytes, reason) in [
        (b"this is no chain".to_vec(), "no block starts at byte 0"),
        (file[..file.len() - 1].to_vec(), "the file ends inside the block"),
        ([&file[..], b"and more"].concat(), "no block starts at byte"),
        (vec![0xc0], "does not decode"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = import(&chain.beside("copy"), &path).await.failure();
        assert!(error.contains(reason), "expected {reason} in: {error}");
    }
    let error = import(&chain.beside("copy"), &chain.beside("missing.rlp")).await.failure();
    assert!(error.contains("missing.rlp"), "{error}");

    let london = chain.beside("london.json");
    fs::write(&london, chainnet(["genesis", "--fork", "london"]).await.success()).unwrap();
    let other = chain.beside("other");
    let arguments =
        ["--data", text(&other), "chain", "import", text(&chain.file), "--genesis", text(&london)];
    let error = chainnet(arguments).await.failure();
    assert!(error.contains("the file starts with genesis 0x"), "{error}");
}

#[tokio::test]
async fn an_export_goes_to_standard_output_when_asked() {
    let chain = short_chain().await;
    let mut command = tokio::process::Command::new(BINARY);
    command.arg("--data").arg(chain.node.data()).args(["chain", "export", "--to", "-"]);
    let output = command.output().await.unwrap();
    assert!(output.status.success());
    assert!(output.stdout == fs::read(&chain.file).unwrap(), "nothing but the blocks");
}
