//! Clients of a node that is about to be killed: some send transfers, one makes blocks, one watches the head.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use alloy_primitives::{Address, B256, U64, U256};
use rand::{Rng, RngCore, SeedableRng, rngs::StdRng};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use super::witness::Witness;
use crate::{CallError, Draft, Mining, RpcClient, Wallet};

/// Development accounts that send, each over its own connection.
pub(super) const SENDERS: usize = 4;
/// Accounts that receive.
pub(super) const SINKS: u8 = 16;
/// Transfers a sender has under way at most.
const BURST: u32 = 16;
/// Block period of the devnet, in seconds.
const PERIOD: u64 = 2;
/// Pause between two looks for a receipt.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// An account that receives.
pub(super) fn sink(index: u8) -> Address {
    Address::repeat_byte(0xa0 + index)
}

/// A block as a client reads it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: DeserializeOwned")]
pub(super) struct SeenBlock<T> {
    pub(super) number: U64,
    pub(super) hash: B256,
    pub(super) parent_hash: B256,
    pub(super) timestamp: U64,
    pub(super) transactions: Vec<T>,
}

/// Asks for a block by tag or number.
pub(super) async fn block<T: DeserializeOwned>(
    client: &RpcClient,
    which: &str,
    whole: bool,
) -> Result<SeenBlock<T>, CallError> {
    client.call("eth_getBlockByNumber", json!([which, whole])).await
}

/// Makes a block a period after `parent`. Explicit times keep the chain in the past, where it can be imported.
pub(super) async fn mine_after(client: &RpcClient, parent: u64) -> Result<u64, CallError> {
    client.call::<Value>("evm_mine", json!([parent + PERIOD])).await?;
    Ok(parent + PERIOD)
}

/// The running clients.
pub(super) struct Load {
    clients: JoinSet<Result<Infallible, CallError>>,
}

impl Load {
    /// Connects the clients and lets them go.
    pub(super) async fn start(
        node: SocketAddr,
        mining: Mining,
        witness: &Witness,
        dice: &mut StdRng,
    ) -> Result<Self, CallError> {
        let mut clients = JoinSet::new();
        for index in 0..SENDERS {
            let client = RpcClient::new(node);
            let mut wallet = Wallet::dev(index);
            let nonce: U64 =
                client.call("eth_getTransactionCount", json!([wallet.address(), "latest"])).await?;
            wallet.set_nonce(nonce.to());
            clients.spawn(send(client, wallet, witness.clone(), StdRng::seed_from_u64(dice.next_u64())));
        }
        clients.spawn(watch(RpcClient::new(node), witness.clone()));
        if mining == Mining::OnDemand {
            clients.spawn(mine(RpcClient::new(node)));
        }
        Ok(Self { clients })
    }

    /// Waits until all clients have noticed that the node is gone; any other trouble they had is an error.
    pub(super) async fn end(mut self) -> Result<(), CallError> {
        while let Some(joined) = self.clients.join_next().await {
            match joined {
                Ok(Err(CallError::Connect { .. } | CallError::Transport(_))) => {}
                Ok(Err(
                    error @ (CallError::Rpc(_) | CallError::Malformed { .. } | CallError::NotMined(_)),
                )) => {
                    return Err(error);
                }
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mined {
    block_number: U64,
}

async fn send(
    client: RpcClient,
    mut wallet: Wallet,
    witness: Witness,
    mut dice: StdRng,
) -> Result<Infallible, CallError> {
    loop {
        let mut last = B256::ZERO;
        for _ in 0..dice.random_range(1..=BURST) {
            let value = U256::from(dice.random_range(1..=1000u32));
            let draft = Draft::transfer(sink(dice.random_range(0..SINKS)), value);
            last = client.send_raw(&wallet.sign_dynamic_fee(draft).raw).await?;
        }
        loop {
            let receipt: Option<Mined> = client.call("eth_getTransactionReceipt", [last]).await?;
            if let Some(receipt) = receipt {
                witness.mined(last, receipt.block_number.to());
                break;
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

async fn watch(client: RpcClient, witness: Witness) -> Result<Infallible, CallError> {
    loop {
        let head: SeenBlock<B256> = block(&client, "latest", false).await?;
        witness.block(head.number.to(), head.hash, head.transactions);
    }
}

async fn mine(client: RpcClient) -> Result<Infallible, CallError> {
    let head: SeenBlock<B256> = block(&client, "latest", false).await?;
    let mut time = head.timestamp.to();
    loop {
        time = mine_after(&client, time).await?;
    }
}
