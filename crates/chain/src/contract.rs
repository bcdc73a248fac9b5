//! Asking contracts in their own words: typed calls, one by one or many at once.
//!
//! Many calls go through Multicall3, which stands on every network of ours; one request then sees one block. What the
//! answers mean is not decided here.

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolCall;
use contracts::{Multicall3, address::MULTICALL3, bindings::multicall3::IMulticall3::Call3};

use crate::{At, ChainClient, ChainError};

/// Most calls in one request, so that it stays below the gas that nodes give to a call.
const MAX_CALLS: usize = 200;

/// Why a contract did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    /// The chain did not answer, or the call reverted.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The answer is not of the function's type: there is another contract at the address, or none.
    #[error("the contract at {contract} does not answer to {function} as it should")]
    Answer {
        /// Where the contract was expected.
        contract: Address,
        /// Signature of the function.
        function: &'static str,
        /// What is wrong with the answer.
        #[source]
        source: alloy_sol_types::Error,
    },
    /// A call among many reverted.
    #[error("{function} of the contract at {contract} reverted")]
    Reverted {
        /// Where the contract is.
        contract: Address,
        /// Signature of the function.
        function: &'static str,
        /// What it returned, such as an encoded custom error.
        output: Bytes,
    },
}

/// Calls a function that changes nothing.
pub async fn call<F: SolCall>(
    client: &dyn ChainClient,
    contract: Address,
    function: &F,
    at: At,
) -> Result<F::Return, ContractError> {
    let output = client.call(contract, function.abi_encode().into(), at).await?;
    decode::<F>(contract, &output)
}

/// Calls one function many times, of one contract or of several, all at the same block, and gives the answers in the
/// order of the calls. The first call that reverts fails them all.
pub async fn call_many<F: SolCall>(
    client: &dyn ChainClient,
    calls: &[(Address, F)],
    at: At,
) -> Result<Vec<F::Return>, ContractError> {
    let at = pinned(client, at);
    let mut answers = Vec::with_capacity(calls.len());
    for calls in calls.chunks(MAX_CALLS) {
        let batch = Multicall3::aggregate3Call { calls: calls.iter().map(allowing_failure).collect() };
        let results = call(client, MULTICALL3, &batch, at).await?;
        for ((contract, _), result) in calls.iter().zip(results) {
            if !result.success {
                let (contract, function, output) = (*contract, F::SIGNATURE, result.returnData);
                return Err(ContractError::Reverted { contract, function, output });
            }
            answers.push(decode::<F>(*contract, &result.returnData)?);
        }
    }
    Ok(answers)
}

/// The same block for every part of a question, should it take several requests.
fn pinned(client: &dyn ChainClient, at: At) -> At {
    match (at, client.heads().borrow().as_ref()) {
        (At::Head, Some(head)) => At::Number(head.number()),
        (at, _) => at,
    }
}

/// A failure is reported with its output rather than reverting everything.
fn allowing_failure<F: SolCall>((contract, function): &(Address, F)) -> Call3 {
    Call3 { target: *contract, allowFailure: true, callData: function.abi_encode().into() }
}

fn decode<F: SolCall>(contract: Address, output: &[u8]) -> Result<F::Return, ContractError> {
    F::abi_decode_returns(output).map_err(|source| ContractError::Answer {
        contract,
        function: F::SIGNATURE,
        source,
    })
}
