//! One list of signed transactions and reads that two nodes must answer alike.
//!
//! Everything is fixed beforehand: the sender (a development account that nothing else may use), its nonces, the
//! contracts' addresses. What a chain may choose for itself (time, block number, coinbase, gas limit of a block) is
//! not looked at.

mod creation;
mod environment;
mod failure;
mod precompile;
mod script;
mod storage;
mod value;

use alloy_primitives::{Address, B256, Bytes};
use alloy_rpc_types_eth::TransactionReceipt;
use serde_json::Value;

use self::script::Script;
use crate::{CallError, Mining, RpcClient, SignedTransaction, Wallet};

/// The development account that sends the scenario's transactions, from nonce 0.
pub const SENDER: usize = 8;

/// One thing to do on both nodes.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it shows, for the report of a difference.
    pub name: String,
    /// What is done.
    pub action: Action,
    /// What must come of it on any correct node.
    pub expected: Expected,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Sends a transaction and waits for its receipt.
    Send(SignedTransaction),
    /// Calls a method that changes nothing.
    Read {
        /// The method's name.
        method: &'static str,
        /// Its parameters.
        params: Value,
    },
}

/// What must come of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A receipt with status 1, or a result.
    Success,
    /// A receipt with status 0, or an error.
    Failure,
}

/// What a node made of a step: all that two nodes must agree on.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// A transaction was mined.
    Mined {
        /// Whether it succeeded.
        status: bool,
        /// Gas it paid for.
        gas_used: u64,
        /// The contract it created.
        contract: Option<Address>,
        /// Its logs: address, topics, data.
        logs: Vec<(Address, Vec<B256>, Bytes)>,
        /// Its EIP-2718 type.
        kind: u8,
    },
    /// A read gave a result.
    Result(Value),
    /// A read gave an error; the data is empty if there was none.
    Refused(Bytes),
}

impl Observation {
    /// Whether this is what the step must give on any node.
    pub fn meets(&self, expected: Expected) -> bool {
        let succeeded = match self {
            Self::Mined { status, .. } => *status,
            Self::Result(_) => true,
            Self::Refused(_) => false,
        };
        succeeded == (expected == Expected::Success)
    }
}

impl From<TransactionReceipt> for Observation {
    fn from(receipt: TransactionReceipt) -> Self {
        let logs = receipt.inner.logs().iter().map(|log| &log.inner);
        Self::Mined {
            status: receipt.status(),
            gas_used: receipt.gas_used,
            contract: receipt.contract_address,
            logs: logs.map(|log| (log.address, log.data.topics().to_vec(), log.data.data.clone())).collect(),
            kind: receipt.transaction_type().into(),
        }
    }
}

/// A step that two nodes answered differently.
#[derive(Debug)]
pub struct Difference<'a> {
    /// The step.
    pub step: &'a Step,
    /// What the first node made of it.
    pub first: Observation,
    /// What the second node made of it.
    pub second: Observation,
}

/// The whole scenario.
pub fn steps() -> Vec<Step> {
    let mut script = Script::new(Wallet::dev(SENDER));
    value::add_to(&mut script);
    storage::add_to(&mut script);
    failure::add_to(&mut script);
    creation::add_to(&mut script);
    precompile::add_to(&mut script);
    environment::add_to(&mut script);
    script.finish()
}

/// Does all steps on one node, which makes blocks on demand.
pub async fn observe(client: &RpcClient, steps: &[Step]) -> Result<Vec<Observation>, CallError> {
    let mut observations = Vec::with_capacity(steps.len());
    for step in steps {
        observations.push(observe_step(client, step).await?);
    }
    Ok(observations)
}

async fn observe_step(client: &RpcClient, step: &Step) -> Result<Observation, CallError> {
    match &step.action {
        Action::Send(transaction) => {
            let hash = client.send_raw(&transaction.raw).await?;
            Ok(client.wait_receipt(hash, Mining::OnDemand).await?.into())
        }
        Action::Read { method, params } => match client.call(method, params).await {
            Ok(result) => Ok(Observation::Result(result)),
            Err(CallError::Rpc(error)) => Ok(Observation::Refused(error.revert_data().unwrap_or_default())),
            Err(error) => Err(error),
        },
    }
}

/// The steps on which two nodes disagree.
pub fn differences(steps: &[Step], first: Vec<Observation>, second: Vec<Observation>) -> Vec<Difference<'_>> {
    steps
        .iter()
        .zip(first.into_iter().zip(second))
        .filter(|(_, (first, second))| first != second)
        .map(|(step, (first, second))| Difference { step, first, second })
        .collect()
}
