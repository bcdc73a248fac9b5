//! A node of the test's own, the wallets of everybody, and the clock.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, Log, TxKind, U64, U256, uint};
use alloy_sol_types::SolCall;
use serde_json::{Value, json};
use testkit::{CallError, Draft, Mining, NodeProcess, RpcClient, Wallet};

use super::{outcome::Outcome, person::Person};

pub(super) const COIN: U256 = uint!(1_000_000_000_000_000_000_U256);
/// What a validator of the genesis has staked, and the least stake of any other.
pub(super) const STAKE: U256 = uint!(100_000_000_000_000_000_000_000_U256);
pub(super) const DAY: u64 = 86_400;

/// Enough for every transaction of these tests, a registry's deployment included.
const GAS_LIMIT: u64 = 10_000_000;

pub(super) struct TestChain {
    node: NodeProcess,
    wallets: BTreeMap<Person, Wallet>,
}

impl TestChain {
    pub(super) async fn start() -> Self {
        let node = NodeProcess::start(env!("CARGO_BIN_EXE_chainnet"), ["--on-demand"]).await.expect("a node");
        Self { node, wallets: BTreeMap::new() }
    }

    pub(super) fn client(&self) -> &RpcClient {
        self.node.client()
    }

    /// Sends a call and mines it.
    pub(super) async fn send<C: SolCall>(&mut self, from: Person, to: Address, call: &C) -> Outcome {
        self.pay(from, to, U256::ZERO, call).await
    }

    /// Sends a call with coin and mines it.
    pub(super) async fn pay<C: SolCall>(
        &mut self,
        from: Person,
        to: Address,
        value: U256,
        call: &C,
    ) -> Outcome {
        self.mine_one(from, Draft { value, ..Draft::call(to, call.abi_encode()) }).await
    }

    /// Sends coin without a call and mines it.
    pub(super) async fn transfer(&mut self, from: Person, to: Address, value: U256) -> Outcome {
        self.mine_one(from, Draft { value, ..Draft::call(to, Bytes::new()) }).await
    }

    /// Deploys code and mines it.
    pub(super) async fn deploy(&mut self, from: Person, init_code: impl Into<Bytes>) -> Outcome {
        self.mine_one(from, Draft::deploy(init_code)).await
    }

    /// Mines a block that holds this transaction alone.
    pub(super) async fn mine_one(&mut self, from: Person, draft: Draft) -> Outcome {
        let hash = self.submit(from, draft).await;
        self.mine().await;
        self.outcome(hash).await
    }

    /// Puts a transaction into the pool.
    pub(super) async fn submit(&mut self, from: Person, draft: Draft) -> B256 {
        let wallet = self.wallets.entry(from).or_insert_with(|| from.wallet());
        let signed = wallet.sign_dynamic_fee(Draft { gas_limit: GAS_LIMIT, ..draft });
        let hash = self.node.client().send_raw(&signed.raw).await.expect("a transaction for the pool");
        assert_eq!(hash, signed.hash);
        hash
    }

    /// The nonce of somebody's next transaction.
    pub(super) fn nonce(&self, person: Person) -> u64 {
        self.wallets.get(&person).map_or(0, Wallet::nonce)
    }

    pub(super) async fn mine(&self) {
        self.client().mine().await.expect("a block");
    }

    /// What became of a mined transaction.
    pub(super) async fn outcome(&self, hash: B256) -> Outcome {
        let receipt = self.client().wait_receipt(hash, Mining::Interval).await.expect("a receipt");
        let succeeded = receipt.status();
        Outcome {
            succeeded,
            logs: receipt.logs().iter().map(|log| log.inner.clone()).collect(),
            revert_data: if succeeded { Bytes::new() } else { self.revert_data(hash).await },
            contract: receipt.contract_address,
        }
    }

    async fn revert_data(&self, hash: B256) -> Bytes {
        let params = json!([hash, { "tracer": "callTracer" }]);
        let trace: Value = self.client().call("debug_traceTransaction", params).await.expect("a trace");
        assert_eq!(trace["error"], "execution reverted", "{trace}");
        serde_json::from_value(trace["output"].clone()).unwrap_or_default()
    }

    /// Reads from the newest block; this must not fail.
    pub(super) async fn view<C: SolCall>(&self, to: Address, call: &C) -> C::Return {
        self.try_view(Address::ZERO, to, call).await.expect("an answer")
    }

    /// Simulates a call on the newest block; the error is what it reverts with.
    pub(super) async fn try_view<C: SolCall>(
        &self,
        from: Address,
        to: Address,
        call: &C,
    ) -> Result<C::Return, Bytes> {
        let data = Bytes::from(call.abi_encode());
        let params = json!([{ "from": from, "to": to, "data": data }, "latest"]);
        match self.client().call::<Bytes>("eth_call", params).await {
            Ok(output) => Ok(C::abi_decode_returns(&output).expect("an answer of the function's type")),
            Err(CallError::Rpc(error)) => Err(error.revert_data().expect("revert data")),
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) async fn balance(&self, account: Address) -> U256 {
        self.client().call("eth_getBalance", json!([account, "latest"])).await.expect("a balance")
    }

    pub(super) async fn code(&self, account: Address) -> Bytes {
        self.client().call("eth_getCode", json!([account, "latest"])).await.expect("code")
    }

    /// All logs of these contracts since the genesis.
    pub(super) async fn logs(&self, contracts: &[Address]) -> Vec<Log> {
        let filter = json!([{ "fromBlock": "0x0", "toBlock": "latest", "address": contracts }]);
        let logs: Vec<Value> = self.client().call("eth_getLogs", filter).await.expect("logs");
        logs.into_iter()
            .map(|log| {
                let part = |name: &str| log[name].clone();
                Log::new_unchecked(
                    serde_json::from_value(part("address")).expect("an address"),
                    serde_json::from_value(part("topics")).expect("topics"),
                    serde_json::from_value(part("data")).expect("data"),
                )
            })
            .collect()
    }

    /// Time of the newest block.
    pub(super) async fn now(&self) -> u64 {
        let block: Value =
            self.client().call("eth_getBlockByNumber", json!(["latest", false])).await.expect("a block");
        serde_json::from_value::<U64>(block["timestamp"].clone()).expect("a timestamp").to()
    }

    /// Sets the time of the next block to the second.
    pub(super) async fn next_block_at(&self, timestamp: u64) {
        self.client().call::<Value>("evm_setNextBlockTimestamp", [timestamp]).await.expect("a later time");
    }

    /// Goes back to before somebody's latest transactions, together with `evm_revert`.
    pub(super) async fn forget(&mut self, person: Person) {
        let params = json!([person.address(), "latest"]);
        let nonce: U64 = self.client().call("eth_getTransactionCount", params).await.expect("a nonce");
        if let Some(wallet) = self.wallets.get_mut(&person) {
            wallet.set_nonce(nonce.to());
        }
    }

    /// Moves the clock forward by at least so much. A block's time is rounded and may be half a second ahead of the
    /// clock, so that a second is added.
    pub(super) async fn wait(&self, secs: u64) {
        self.client().call::<Value>("evm_increaseTime", [secs + 1]).await.expect("the clock to move");
    }

    /// Gives somebody coin from the faucet's account.
    pub(super) async fn fund(&mut self, person: Person, amount: U256) {
        let _ = self.transfer(Person::Faucet, person.address(), amount).await.succeeds();
    }
}

/// A call for the pool.
pub(super) fn draft<C: SolCall>(to: Address, value: U256, call: &C) -> Draft {
    Draft { to: TxKind::Call(to), value, ..Draft::call(to, call.abi_encode()) }
}
