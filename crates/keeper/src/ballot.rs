//! Voting: the keeper reports who is in the set and not in the registry, and has validators vote, if it is told to.
//!
//! One change of the set at a time. What is open is in the database, so that whoever takes over asks for the same, and has it
//! forgotten when it is decided: a vote that a node keeps would be cast again the next time that it makes sense.

use std::{collections::HashSet, time::Duration};

use alloy_primitives::Address;
use chain::{Agreement, Ballot, Head, VoteRequest};
use domain::ApplicationState;
use futures_util::future::join_all;
use ibft::{
    quorum::vote_threshold,
    votes::{Vote, VoteKind},
};
use store::{
    Lease,
    keeper::{NewVote, SetChange, VoteRow, VoteState},
};
use tokio::time::timeout;

use crate::{
    keeper::{Keeper, Memory, Trouble},
    membership::{DueChange, absent, check_safety, due_drops},
    survey::live,
};

/// Blocks between two requests for the same vote: a node forgets its votes when it is restarted.
const REPEAT_BLOCKS: u64 = 10;
/// Blocks after which a vote that was not decided is given up: over half an hour.
const PATIENCE_BLOCKS: u64 = 1_000;
/// Blocks before a vote that was given up is tried again: a day.
const REST_BLOCKS: u64 = 43_200;
/// Blocks that nodes are reminded to forget a vote that is decided.
const FORGET_BLOCKS: u64 = 30;
/// How long voters may take to answer, all of them together.
const VOTER_TIMEOUT: Duration = Duration::from_secs(2);
/// Accepted applications that are looked at, newest first.
const MOST_APPLICATIONS: u32 = 1_000;

/// What a keeper remembers of voting.
#[derive(Default)]
pub(crate) struct Voting {
    /// The vote that validators were last asked for, and at which head.
    asked: Option<(u64, u64)>,
}

/// The set at a head, and what the registry wants of it.
struct Situation<'a> {
    lease: Lease,
    head: &'a Head,
    set: Vec<Address>,
    due: Vec<DueChange>,
}

impl Keeper {
    /// Compares the validator set with the registry, reports what does not agree, and has validators vote on it.
    pub(crate) async fn watch_set(
        &self,
        memory: &mut Memory,
        lease: Lease,
        head: &Head,
    ) -> Result<(), Trouble> {
        let Some(agreement) = Agreement::of(&head.header) else { return Ok(()) };
        let set = agreement.validators;
        let drops = due_drops(&set, &memory.members);
        let adds = self.accepted(absent(&set, &memory.members)).await?;
        self.metrics.set_differs(drops.len(), adds.len());
        for due in drops.iter().chain(&adds) {
            self.report_change(&mut memory.said, due);
        }
        if !self.settings.auto_vote {
            return Ok(());
        }
        let due = drops.into_iter().chain(adds).collect();
        let situation = Situation { lease, head, set, due };
        match self.db.open_vote().await? {
            Some(open) => self.pursue_vote(memory, &situation, &open).await,
            None => self.choose_vote(memory, &situation).await,
        }
    }

    /// Those of accepted applicants who have not been in the set yet: who was, and was voted out by hand, stays out.
    async fn accepted(&self, absent: Vec<DueChange>) -> Result<Vec<DueChange>, Trouble> {
        if absent.is_empty() {
            return Ok(absent);
        }
        let applications = self.db.list_accepted_applications(MOST_APPLICATIONS).await?;
        let waiting: HashSet<Address> = applications
            .into_iter()
            .filter(|one| matches!(one.state, ApplicationState::Staked | ApplicationState::Voting))
            .map(|one| one.operator)
            .collect();
        Ok(absent.into_iter().filter(|due| waiting.contains(&due.operator)).collect())
    }

    fn report_change(&self, said: &mut HashSet<String>, due: &DueChange) {
        let (operator, node, standing) = (due.operator, due.node, due.standing.name());
        if !said.insert(format!("{}:{node:#x}:{standing}", due.change.name())) {
            return;
        }
        let auto_vote = self.settings.auto_vote;
        match due.change {
            SetChange::Drop => tracing::warn!(
                %operator, %node, standing, auto_vote,
                "a validator is out of the registry, but in the validator set: it proposes blocks until it is voted out"
            ),
            SetChange::Add => tracing::info!(
                %operator, %node, auto_vote,
                "an accepted operator has staked, and its node is not in the validator set yet"
            ),
        }
    }

    /// Begins the first vote that is safe.
    async fn choose_vote(&self, memory: &mut Memory, situation: &Situation<'_>) -> Result<(), Trouble> {
        if situation.due.is_empty() {
            return Ok(());
        }
        let running = live(&*self.chain, situation.head, situation.set.len()).await?;
        let number = situation.head.number();
        for due in &situation.due {
            if let Err(reason) = check_safety(due, &situation.set, &running) {
                self.say_unsafe(&mut memory.said, due, &reason.to_string());
                continue;
            }
            let last = self.db.last_vote(due.node, due.change).await?;
            let rests = |last: &VoteRow| {
                last.state == VoteState::Failed && last.vote.begun_block.saturating_add(REST_BLOCKS) > number
            };
            if last.as_ref().is_some_and(rests) {
                continue;
            }
            let DueChange { change, operator, node, .. } = *due;
            let vote = NewVote { change, operator, node, begun_block: number };
            if self.db.begin_vote(situation.lease, &vote, self.now()).await? {
                tracing::info!(change = change.name(), %operator, %node, "the keeper has validators vote");
                self.metrics.vote(change, "begun");
                if let Some(open) = self.db.open_vote().await? {
                    self.ask_voters(memory, situation, &open).await;
                }
            }
            return Ok(());
        }
        Ok(())
    }

    /// Takes an open vote as far as it can be taken at this head.
    async fn pursue_vote(
        &self,
        memory: &mut Memory,
        situation: &Situation<'_>,
        open: &VoteRow,
    ) -> Result<(), Trouble> {
        let (vote, number) = (&open.vote, situation.head.number());
        let is_in = situation.set.contains(&vote.node);
        let is_decided = is_in == (vote.change == SetChange::Add);
        if is_decided || open.decided_block.is_some() {
            if open.decided_block.is_none() {
                self.db.decide_vote(situation.lease, open.id, number, self.now()).await?;
            }
            let since = open.decided_block.unwrap_or(number);
            let is_late = since.saturating_add(FORGET_BLOCKS) < number;
            if self.have_forgotten(vote.node).await || is_late {
                self.close_vote(situation, open, VoteState::Done, None).await?;
            }
            return Ok(());
        }
        let wanted = situation.due.iter().find(|due| due.node == vote.node && due.change == vote.change);
        let Some(due) = wanted else {
            self.have_forgotten(vote.node).await;
            let note = Some("the registry does not ask for it any more");
            return self.close_vote(situation, open, VoteState::Superseded, note).await;
        };
        if vote.begun_block.saturating_add(PATIENCE_BLOCKS) < number {
            self.have_forgotten(vote.node).await;
            let note = Some("too few validators voted in time");
            return self.close_vote(situation, open, VoteState::Failed, note).await;
        }
        let is_asked = memory.voting.asked.is_some_and(|(id, at)| {
            id == open.id && at <= number && at.saturating_add(REPEAT_BLOCKS) > number
        });
        if is_asked {
            return Ok(());
        }
        match check_safety(
            due,
            &situation.set,
            &live(&*self.chain, situation.head, situation.set.len()).await?,
        ) {
            Ok(()) => self.ask_voters(memory, situation, open).await,
            Err(reason) => {
                self.say_unsafe(&mut memory.said, due, &reason.to_string());
                self.have_forgotten(vote.node).await;
                memory.voting.asked = Some((open.id, number));
            }
        }
        Ok(())
    }

    fn say_unsafe(&self, said: &mut HashSet<String>, due: &DueChange, reason: &str) {
        let (operator, node, change) = (due.operator, due.node, due.change.name());
        if said.insert(format!("unsafe:{change}:{node:#x}:{reason}")) {
            tracing::warn!(
                %operator, %node, change, reason,
                "the keeper does not have validators vote on this; `chainnet validator vote` does it by hand"
            );
        }
    }

    async fn ask_voters(&self, memory: &mut Memory, situation: &Situation<'_>, open: &VoteRow) {
        let vote = Vote {
            recipient: open.vote.node,
            kind: match open.vote.change {
                SetChange::Add => VoteKind::Add,
                SetChange::Drop => VoteKind::Drop,
            },
        };
        let (ballots, _) = self.ask_all(VoteRequest::Propose(vote)).await;
        let votes = ballots.iter().filter(|ballot| ballot.votes.is_ok()).count();
        memory.voting.asked = Some((open.id, situation.head.number()));
        let needed = vote_threshold(situation.set.len());
        if votes < needed && memory.said.insert(format!("votes:{}:{votes}", open.id)) {
            let (node, change) = (open.vote.node, open.vote.change.name());
            tracing::warn!(
                %node, change, votes, needed,
                "too few validators can be told to vote: the operators of the others have to, with `chainnet validator vote`"
            );
        }
    }

    /// Has every voter forget its vote on a node. False while one does not answer.
    async fn have_forgotten(&self, node: Address) -> bool {
        let (ballots, all_answered) = self.ask_all(VoteRequest::Discard(node)).await;
        all_answered && ballots.iter().all(|ballot| ballot.votes.is_ok())
    }

    /// Asks every voter at the same time; whether all of them answered in time. A node that hangs must not cost the lease.
    async fn ask_all(&self, request: VoteRequest) -> (Vec<Ballot>, bool) {
        let asking = self.voters.iter().map(|voter| timeout(VOTER_TIMEOUT, voter.request(request)));
        let answers = join_all(asking).await;
        let all_answered = answers.iter().all(Result::is_ok);
        let ballots: Vec<Ballot> = answers.into_iter().filter_map(Result::ok).flatten().collect();
        for Ballot { validator, votes } in &ballots {
            if let Err(error) = votes {
                let error = error as &dyn std::error::Error;
                tracing::debug!(validator, error, "a validator did not do what it was asked to vote");
            }
        }
        (ballots, all_answered)
    }

    async fn close_vote(
        &self,
        situation: &Situation<'_>,
        open: &VoteRow,
        state: VoteState,
        note: Option<&str>,
    ) -> Result<(), Trouble> {
        if self.db.close_vote(situation.lease, open.id, (state, note), self.now()).await? {
            let NewVote { change, operator, node, .. } = open.vote;
            self.metrics.vote(change, state.name());
            if state == VoteState::Failed {
                tracing::error!(change = change.name(), %operator, %node, note, "the keeper gives a vote up");
            } else {
                let result = state.name();
                tracing::info!(change = change.name(), %operator, %node, result, note, "a vote is over");
            }
        }
        Ok(())
    }
}
