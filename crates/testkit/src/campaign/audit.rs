//! What must be true after a restart, checked through the node's JSON-RPC alone.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use alloy_primitives::{Address, B256, U64, U256};
use rand::{Rng, rngs::StdRng};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    error::{Breach, CheckError},
    load::{SENDERS, SINKS, SeenBlock, block, mine_after, sink},
    witness::{Seen, Witness},
};
use crate::{CallError, Mining, RpcClient, Wallet};

/// How long the next block may take, round changes included.
const NEXT_BLOCK_LIMIT: Duration = Duration::from_secs(30);
/// Earlier blocks looked at again after each restart.
const SAMPLE: usize = 32;
/// Calls in one request.
const BATCH: usize = 256;

/// The chain as its own blocks tell it, kept outside the node.
pub(super) struct Audit {
    /// Hashes of all blocks walked so far, by height.
    hashes: Vec<B256>,
    /// Where each transaction is.
    mined: HashMap<B256, u64>,
    /// Balance and nonce that the walked blocks give.
    accounts: BTreeMap<Address, (U256, u64)>,
}

#[derive(Deserialize)]
struct Transfer {
    hash: B256,
    from: Address,
    to: Address,
    value: U256,
    nonce: U64,
}

impl Audit {
    /// Starts with the accounts of a fresh chain.
    pub(super) async fn begin(client: &RpcClient) -> Result<Self, CallError> {
        let genesis: SeenBlock<B256> = block(client, "0x0", false).await?;
        let senders = (0..SENDERS).map(|index| Wallet::dev(index).address());
        let mut accounts = BTreeMap::new();
        for account in senders.chain((0..SINKS).map(sink)) {
            accounts.insert(account, (client.call("eth_getBalance", json!([account, "0x0"])).await?, 0));
        }
        Ok(Self { hashes: vec![genesis.hash], mined: HashMap::new(), accounts })
    }

    pub(super) fn height(&self) -> u64 {
        self.hashes.len() as u64 - 1
    }

    pub(super) fn transactions(&self) -> u64 {
        self.mined.len() as u64
    }

    /// Checks the node after a restart and answers the head that it came back with.
    pub(super) async fn check(
        &mut self,
        client: &RpcClient,
        witness: Witness,
        mining: Mining,
        dice: &mut StdRng,
    ) -> Result<u64, CheckError> {
        let head = client.block_number().await?;
        let seen = witness.highest_block().unwrap_or(0).max(self.height());
        if head < seen {
            return Err(Breach::HeadFell { seen, head }.into());
        }
        self.walk_to(client, head).await?;
        self.compare_with_clients(client, &witness.seen()).await?;
        self.compare_state(client).await?;
        let sample: Vec<u64> = (0..SAMPLE).map(|_| dice.random_range(0..=head)).collect();
        self.compare_blocks(client, &sample).await?;
        self.go_on(client, head, mining).await?;
        Ok(head)
    }

    /// Looks at every block once more.
    pub(super) async fn check_whole_history(&self, client: &RpcClient) -> Result<(), CheckError> {
        let heights: Vec<u64> = (0..=self.height()).collect();
        self.compare_blocks(client, &heights).await
    }

    /// Executes the transfers of new blocks in the own books.
    async fn walk_to(&mut self, client: &RpcClient, head: u64) -> Result<(), CheckError> {
        let heights: Vec<u64> = (self.height() + 1..=head).collect();
        for heights in heights.chunks(BATCH) {
            for block in blocks::<Transfer>(client, heights, true).await? {
                self.walk(block)?;
            }
        }
        Ok(())
    }

    fn walk(&mut self, block: SeenBlock<Transfer>) -> Result<(), Breach> {
        let number = block.number.to();
        if number != self.height() + 1 || Some(&block.parent_hash) != self.hashes.last() {
            return Err(Breach::BrokenLink { number });
        }
        for transfer in block.transactions {
            let (balance, nonce) = self.accounts.entry(transfer.from).or_default();
            if *nonce != transfer.nonce.to::<u64>() {
                let (account, expected, found) = (transfer.from, *nonce, transfer.nonce.to());
                return Err(Breach::Nonce { account, expected, found });
            }
            *nonce += 1;
            *balance -= transfer.value;
            self.accounts.entry(transfer.to).or_default().0 += transfer.value;
            self.mined.insert(transfer.hash, number);
        }
        self.hashes.push(block.hash);
        Ok(())
    }

    async fn compare_with_clients(&self, client: &RpcClient, seen: &Seen) -> Result<(), CheckError> {
        for (&number, &seen) in &seen.blocks {
            self.same_block(number, seen)?;
        }
        for (&hash, &block) in &seen.mined {
            if self.mined.get(&hash) != Some(&block) {
                return Err(Breach::TransactionLost { hash, block }.into());
            }
        }
        let mined: Vec<(B256, u64)> = seen.mined.iter().map(|(hash, block)| (*hash, *block)).collect();
        for mined in mined.chunks(BATCH) {
            let calls: Vec<_> =
                mined.iter().map(|(hash, _)| ("eth_getTransactionReceipt", json!([hash]))).collect();
            for (&(hash, block), receipt) in mined.iter().zip(client.batch(&calls).await?) {
                let receipt = receipt.map_err(CallError::from)?;
                let (at, status) = (receipt.get("blockNumber"), receipt.get("status"));
                if at != Some(&json!(U64::from(block))) || status != Some(&json!("0x1")) {
                    return Err(Breach::TransactionLost { hash, block }.into());
                }
            }
        }
        Ok(())
    }

    async fn compare_state(&self, client: &RpcClient) -> Result<(), CheckError> {
        for (&account, &(expected, nonce)) in &self.accounts {
            let found: U256 = client.call("eth_getBalance", json!([account, "latest"])).await?;
            if found != expected {
                return Err(Breach::Balance { account, expected, found }.into());
            }
            let found: U64 = client.call("eth_getTransactionCount", json!([account, "latest"])).await?;
            if found.to::<u64>() != nonce {
                return Err(Breach::Nonce { account, expected: nonce, found: found.to() }.into());
            }
        }
        Ok(())
    }

    async fn compare_blocks(&self, client: &RpcClient, heights: &[u64]) -> Result<(), CheckError> {
        for heights in heights.chunks(BATCH) {
            let found = blocks::<B256>(client, heights, false).await?;
            for (&number, found) in heights.iter().zip(found) {
                self.same_block(number, found.hash)?;
            }
        }
        Ok(())
    }

    fn same_block(&self, number: u64, other: B256) -> Result<(), Breach> {
        let found = usize::try_from(number).ok().and_then(|index| self.hashes.get(index)).copied();
        match found {
            Some(found) if found == other => Ok(()),
            Some(found) => Err(Breach::BlockChanged { number, seen: other, found }),
            None => Err(Breach::HeadFell { seen: number, head: self.height() }),
        }
    }

    /// The chain must go on with another block.
    async fn go_on(&mut self, client: &RpcClient, head: u64, mining: Mining) -> Result<(), CheckError> {
        if mining == Mining::OnDemand {
            let parent: SeenBlock<B256> = block(client, "latest", false).await?;
            mine_after(client, parent.timestamp.to()).await?;
        }
        let deadline = Instant::now() + NEXT_BLOCK_LIMIT;
        while client.block_number().await? == head {
            if Instant::now() > deadline {
                return Err(Breach::Stuck { head }.into());
            }
            sleep(Duration::from_millis(20)).await;
        }
        self.walk_to(client, head + 1).await
    }
}

async fn blocks<T: serde::de::DeserializeOwned>(
    client: &RpcClient,
    heights: &[u64],
    whole: bool,
) -> Result<Vec<SeenBlock<T>>, CheckError> {
    let call = |number: &u64| ("eth_getBlockByNumber", json!([U64::from(*number), whole]));
    let calls: Vec<(&str, Value)> = heights.iter().map(call).collect();
    let mut found = Vec::with_capacity(heights.len());
    for (&number, answer) in heights.iter().zip(client.batch(&calls).await?) {
        let answer = answer.map_err(CallError::from)?;
        // A missing block is null, which is no block either.
        let block = serde_json::from_value(answer).map_err(|_| Breach::BrokenLink { number })?;
        found.push(block);
    }
    Ok(found)
}
