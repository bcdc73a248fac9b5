//! Transfers, signed and serialised beforehand: funding of the senders, loads, and waiting until all are mined.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use alloy_primitives::{Address, U64, U256, hex, keccak256};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::{Draft, RpcClient, SignedTransaction, Wallet};
use tokio::time::sleep;

use crate::{http::request, load, peer::Running, progress};

/// Gas price cap: far above what a chain with a moving base fee asks for after a few full blocks.
const FEE_CAP: u128 = 100_000_000_000;
const TIP: u128 = 1_000_000_000;
/// Pause between two looks at the head.
const HEAD_POLL: Duration = Duration::from_millis(5);
/// A load that is not mined by then never will be.
const MINING_LIMIT: Duration = Duration::from_secs(180);

/// Everything that will be sent, as request bytes.
pub(crate) struct Plan {
    /// The contract that reads call; deployed with the funding.
    pub(crate) contract: Address,
    funding: Arc<Vec<Vec<u8>>>,
    /// The load of the throughput figure.
    pub(crate) main: Arc<Vec<Vec<u8>>>,
    /// Transfers for one large block.
    pub(crate) large_block: Arc<Vec<Vec<u8>>>,
    /// Transfers for the block that reads ask for.
    pub(crate) read_block: Arc<Vec<Vec<u8>>>,
    /// A load of many blocks.
    pub(crate) long: Arc<Vec<Vec<u8>>>,
}

/// How many of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) senders: usize,
    pub(crate) main: usize,
    pub(crate) large_block: usize,
    pub(crate) read_block: usize,
    pub(crate) long: usize,
}

impl Sizes {
    fn signed(self) -> usize {
        self.main + self.large_block + self.read_block + self.long
    }
}

/// Init code of the client tests' counter, whose `value()` the reads call.
const COUNTER: &str = include_str!("../../tests/clients/Counter.json");

impl Plan {
    pub(crate) fn sign(sizes: Sizes) -> Result<Self> {
        let mut senders: Vec<Wallet> = (0..sizes.senders)
            .map(|i| Wallet::from_key(keccak256(format!("bench sender {i}"))).context("a bad key"))
            .collect::<Result<_>>()?;
        let mut funders: Vec<Wallet> = (0..10).map(Wallet::dev).collect();

        let first = funders.first_mut().context("no funder")?;
        let contract = first.next_contract();
        let mut funding = vec![submit(&first.sign_dynamic_fee(priced(Draft::deploy(counter_init_code()?))))];
        let coin = U256::from(10).pow(U256::from(18));
        for (i, sender) in senders.iter().enumerate() {
            let funder = funders.get_mut(i % 10).context("no funder")?;
            funding.push(submit(&funder.sign_dynamic_fee(priced(Draft::transfer(sender.address(), coin)))));
        }

        let bar = progress::bar(sizes.signed(), "signing transfers".to_owned());
        let mut signed = |count: usize| -> Arc<Vec<Vec<u8>>> {
            let whole_turns = count.div_ceil(sizes.senders.max(1));
            let mut requests = Vec::with_capacity(count);
            for _ in 0..whole_turns {
                let before = requests.len();
                let left = count - before;
                requests.extend(senders.iter_mut().enumerate().take(left).map(|(index, sender)| {
                    submit(&sender.sign_dynamic_fee(priced(Draft::transfer(recipient(index), U256::ONE))))
                }));
                bar.inc((requests.len() - before) as u64);
            }
            Arc::new(requests)
        };
        let (main, large_block) = (signed(sizes.main), signed(sizes.large_block));
        let (read_block, long) = (signed(sizes.read_block), signed(sizes.long));
        bar.finish_and_clear();
        Ok(Self { contract, funding: Arc::new(funding), main, large_block, read_block, long })
    }

    /// All transactions of a round.
    pub(crate) fn transactions(&self) -> usize {
        [&self.funding, &self.main, &self.large_block, &self.read_block, &self.long]
            .map(|load| load.len())
            .iter()
            .sum()
    }

    /// Gives every sender its coin and deploys the contract.
    pub(crate) async fn set_up(&self, node: &Running, name: &str) -> Result<()> {
        send_until_mined(node, &self.funding, format!("{name}: funding the senders")).await?;
        Ok(())
    }
}

fn counter_init_code() -> Result<Vec<u8>> {
    let artifact: Value = serde_json::from_str(COUNTER)?;
    let mut code = hex::decode(artifact.get("bytecode").and_then(Value::as_str).context("no bytecode")?)?;
    code.extend(U256::from(7).to_be_bytes::<32>());
    Ok(code)
}

fn priced(draft: Draft) -> Draft {
    Draft { gas_price: FEE_CAP, tip: TIP, ..draft }
}

/// Receivers are as many as senders, so that state grows as it does in life.
fn recipient(index: usize) -> Address {
    Address::from_word(keccak256(format!("bench recipient {index}")))
}

fn submit(transaction: &SignedTransaction) -> Vec<u8> {
    request("eth_sendRawTransaction", &format!(r#"["{}"]"#, transaction.raw))
}

/// What became of a load.
pub(crate) struct Mined {
    /// From the first submission until the last transfer was seen in a block.
    pub(crate) elapsed: Duration,
    /// CPU time of the server per transfer, submission and mining, in microseconds.
    pub(crate) cpu_micros: f64,
    /// The blocks that hold it.
    pub(crate) blocks: Vec<SeenBlock>,
}

/// A block when it was seen first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenBlock {
    pub(crate) number: u64,
    pub(crate) transactions: u64,
    /// Seconds between its timestamp and its parent's.
    pub(crate) gap_secs: u64,
    /// How long after its timestamp it was seen, in milliseconds.
    pub(crate) seen_after_millis: i128,
}

/// Submits a load right after a new head and waits until all of it is mined.
pub(crate) async fn send_until_mined(
    node: &Running,
    requests: &Arc<Vec<Vec<u8>>>,
    what: String,
) -> Result<Mined> {
    let bar = progress::bar(requests.len(), what);
    let start_block = next_head(&node.client).await?;
    let cpu_before = crate::usage::cpu_time(node.pid())?;
    let started = Instant::now();
    let expected = requests.len() as u64;
    let watch = watch_blocks(&node.client, start_block, expected, started);
    let submit = load::send(node.server(), requests, load::Until::Count(requests.len()), &bar);
    let (blocks, _) = tokio::try_join!(watch, submit)?;
    let elapsed = started.elapsed();
    let cpu = crate::usage::cpu_time(node.pid())?.saturating_sub(cpu_before);
    bar.finish_and_clear();
    Ok(Mined { elapsed, cpu_micros: cpu.as_secs_f64() * 1e6 / expected as f64, blocks })
}

/// Waits for the next block and returns its number.
async fn next_head(client: &RpcClient) -> Result<u64> {
    let before = client.block_number().await?;
    loop {
        let now = client.block_number().await?;
        if now > before {
            return Ok(now);
        }
        sleep(HEAD_POLL).await;
    }
}

async fn watch_blocks(
    client: &RpcClient,
    after: u64,
    expected: u64,
    started: Instant,
) -> Result<Vec<SeenBlock>> {
    let (mut number, mut mined, mut blocks) = (after, 0, Vec::new());
    let mut parent_time = timestamp(client, after).await?;
    while mined < expected {
        ensure!(started.elapsed() < MINING_LIMIT, "only {mined} of {expected} transfers were mined in time");
        if client.block_number().await? == number {
            sleep(HEAD_POLL).await;
            continue;
        }
        number += 1;
        let seen_at = unix_millis()?;
        let tag = format!("{number:#x}");
        let transactions: U64 = client.call("eth_getBlockTransactionCountByNumber", [&tag]).await?;
        let time = timestamp(client, number).await?;
        mined += transactions.to::<u64>();
        blocks.push(SeenBlock {
            number,
            transactions: transactions.to(),
            gap_secs: time.saturating_sub(parent_time),
            seen_after_millis: seen_at - i128::from(time) * 1_000,
        });
        parent_time = time;
    }
    Ok(blocks)
}

async fn timestamp(client: &RpcClient, number: u64) -> Result<u64> {
    let block: Value = client.call("eth_getBlockByNumber", json!([format!("{number:#x}"), false])).await?;
    let time: U64 =
        serde_json::from_value(block.get("timestamp").cloned().context("a block without a timestamp")?)?;
    Ok(time.to())
}

#[expect(
    clippy::disallowed_methods,
    reason = "block timestamps are compared with the real clock, which is the measurement"
)]
fn unix_millis() -> Result<i128> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(i128::try_from(since.as_millis())?)
}
