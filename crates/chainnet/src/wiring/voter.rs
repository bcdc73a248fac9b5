//! Validators that the keeper can have vote: those of the chain inside, or the nodes that an operator names.

use std::sync::Arc;

use async_trait::async_trait;
use chain::{Ballot, VoteRequest, Voter, VoterError};
use devchain::produce::{Control, ControlError, ValidatorStatus};
use ibft::votes::{Vote, VoteKind};

use super::Wiring;
use crate::chain_source;

impl Wiring<'_> {
    /// Everybody whom the keeper can have vote.
    pub(super) async fn voters(&self) -> anyhow::Result<Vec<Arc<dyn Voter>>> {
        let named = &self.config.keeper.voters;
        if !named.is_empty() {
            let client = chain_source::connect(self.config, named).await?;
            return Ok(client.inner().nodes().iter().map(|node| Arc::clone(node) as _).collect());
        }
        let embedded = self.chain.node.as_ref().map(|node| EmbeddedVoter(node.methods.control.clone()));
        Ok(embedded.into_iter().map(|voter| Arc::new(voter) as _).collect())
    }
}

/// The validators of the chain inside this process.
struct EmbeddedVoter(Control);

#[async_trait]
impl Voter for EmbeddedVoter {
    async fn request(&self, request: VoteRequest) -> Vec<Ballot> {
        let seats = match self.0.validators().await {
            Ok(seats) => seats,
            Err(error) => {
                return vec![Ballot { validator: "embedded".to_owned(), votes: Err(failed(error)) }];
            }
        };
        let mut ballots = Vec::new();
        for seat in seats {
            let ValidatorStatus { name, address, running, in_validator_set, votes } = seat;
            let may_vote = running && in_validator_set;
            let asked = match request {
                VoteRequest::Propose(vote) if vote.recipient == address || !may_vote => continue,
                VoteRequest::Propose(vote) => self.0.propose_vote(&name, vote).await,
                VoteRequest::Discard(subject) => self.0.discard_vote(&name, subject).await,
                VoteRequest::List => Ok(()),
            };
            let votes = votes.into_iter().map(|vote| Vote {
                recipient: vote.address,
                kind: if vote.add { VoteKind::Add } else { VoteKind::Drop },
            });
            let votes = asked.map(|()| request.applied_to(votes.collect())).map_err(failed);
            ballots.push(Ballot { validator: format!("{name} {address}"), votes });
        }
        ballots
    }
}

fn failed(error: ControlError) -> VoterError {
    VoterError::Embedded(error.into())
}
