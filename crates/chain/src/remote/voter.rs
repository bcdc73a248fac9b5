//! A node of a validator, over its JSON-RPC: Besu's `ibft_*` methods, or `chainnet_*` where several validators are one node.

use std::collections::BTreeMap;

use alloy_primitives::Address;
use async_trait::async_trait;
use ibft::votes::{Vote, VoteKind};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};

use super::{decode::DecodeError, node::Node};
use crate::{Ballot, ChainError, VoteRequest, Voter, VoterError};

/// One validator of the embedded node.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seat {
    name: String,
    address: Address,
    running: bool,
    in_validator_set: bool,
    votes: Vec<SeatVote>,
}

#[derive(Deserialize)]
struct SeatVote {
    address: Address,
    add: bool,
}

#[async_trait]
impl Voter for Node {
    async fn request(&self, request: VoteRequest) -> Vec<Ballot> {
        match self.json::<Vec<Seat>>("chainnet_validators", json!([])).await {
            Ok(seats) => self.ask_seats(seats, request).await,
            // Any other node has one validator, and Besu's methods.
            Err(ChainError::Refused { .. }) => {
                vec![Ballot { validator: self.url().to_string(), votes: self.ask_besu(request).await }]
            }
            Err(error) => vec![Ballot { validator: self.url().to_string(), votes: Err(error.into()) }],
        }
    }
}

impl Node {
    async fn ask_seats(&self, seats: Vec<Seat>, request: VoteRequest) -> Vec<Ballot> {
        let mut ballots = Vec::new();
        for seat in seats {
            let validator = format!("{} {}", seat.name, seat.address);
            let may_vote = seat.running && seat.in_validator_set;
            let asked = match request {
                VoteRequest::Propose(vote) if vote.recipient == seat.address || !may_vote => continue,
                VoteRequest::List if !may_vote => continue,
                VoteRequest::Propose(Vote { recipient, kind }) => {
                    let params = json!([seat.name, recipient, kind == VoteKind::Add]);
                    self.json::<Value>("chainnet_proposeVote", params).await
                }
                VoteRequest::Discard(subject) => {
                    self.json::<Value>("chainnet_discardVote", json!([seat.name, subject])).await
                }
                VoteRequest::List => Ok(Value::Null),
            };
            // What a stopped validator has forgotten is nobody's news.
            if !may_vote && asked.is_ok() {
                continue;
            }
            let former = seat.votes.into_iter().map(|vote| self::vote(vote.address, vote.add));
            let votes = asked.map(|_| request.applied_to(former.collect())).map_err(VoterError::from);
            ballots.push(Ballot { validator, votes });
        }
        ballots
    }

    async fn ask_besu(&self, request: VoteRequest) -> Result<Vec<Vote>, VoterError> {
        match request {
            VoteRequest::Propose(Vote { recipient, kind }) => {
                let params = json!([recipient, kind == VoteKind::Add]);
                self.json::<Value>("ibft_proposeValidatorVote", params).await?;
            }
            VoteRequest::Discard(subject) => {
                self.json::<Value>("ibft_discardValidatorVote", json!([subject])).await?;
            }
            VoteRequest::List => {}
        }
        let pending: BTreeMap<Address, bool> = self.json("ibft_getPendingVotes", json!([])).await?;
        Ok(pending.into_iter().map(|(address, add)| vote(address, add)).collect())
    }

    async fn json<T: DeserializeOwned + Send + 'static>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, ChainError> {
        let read = |json: &RawValue| serde_json::from_str(json.get()).map_err(DecodeError::from);
        self.ask(method, params, read).await
    }
}

fn vote(recipient: Address, add: bool) -> Vote {
    Vote { recipient, kind: if add { VoteKind::Add } else { VoteKind::Drop } }
}
