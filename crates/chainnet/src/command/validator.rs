//! `chainnet validator`: votes about the validator set, made by the nodes of validators.
//!
//! Each configured node is asked on its own, because a node votes for its own validator alone. The embedded node has several
//! validators; those that are in the set and run all vote.

use anyhow::{Context, bail};
use chain::{
    Ballot, Cached, ChainClient, ChainError, VoteRequest, Voter as _, VoterError,
    remote::{NodeUrl, RemoteClient},
};
use ibft::votes::{Vote, VoteKind};
use serde_json::{Value, json};
use validators::{
    BoardSettings,
    board::{Board, read_board},
};

use super::nodes;
use crate::{
    cli::{ValidatorCommand, VoteWay},
    config::Config,
    output::say,
    process, runtime,
};

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &ValidatorCommand) -> anyhow::Result<()> {
    let (request, json) = match command {
        ValidatorCommand::Vote { address, way: VoteWay { add, .. }, json } => {
            let kind = if *add { VoteKind::Add } else { VoteKind::Drop };
            (VoteRequest::Propose(Vote { recipient: *address, kind }), *json)
        }
        ValidatorCommand::Discard { address, json } => (VoteRequest::Discard(*address), *json),
        ValidatorCommand::Votes { json } => (VoteRequest::List, *json),
    };
    runtime::run_small(async {
        let chain = nodes::connect(config).await?;
        if let VoteRequest::Propose(vote) = request {
            check_vote(&chain, vote)?;
        }
        let mut ballots = Vec::new();
        for url in nodes::urls(config)? {
            ballots.extend(ask_node(config, &url, request).await);
        }
        // Votes are counted from the index and the headers after it.
        let board = read_tally(config, &chain).await;
        print(request, &ballots, board.as_ref(), json)?;
        if request != VoteRequest::List && ballots.iter().all(|ballot| ballot.votes.is_err()) {
            bail!(
                "no node did it; PLATFORM_RPC_URL must name the validators' own nodes, with the IBFT methods enabled"
            );
        }
        Ok(())
    })
}

/// A vote that cannot change anything is a mistake.
fn check_vote(chain: &Cached<RemoteClient>, vote: Vote) -> anyhow::Result<()> {
    let subject = vote.recipient;
    let head = chain.heads().borrow().clone().context("the chain has no head")?;
    let extra = ibft::extra_data::ExtraData::decode(&head.header.extra_data);
    let set = extra.context("the chain is no IBFT 2.0 chain: nobody votes there")?.validators;
    match (set.contains(&subject), vote.kind) {
        (true, VoteKind::Add) => bail!("{subject} is in the validator set already"),
        (false, VoteKind::Drop) => bail!("{subject} is not in the validator set"),
        (true, VoteKind::Drop) | (false, VoteKind::Add) => Ok(()),
    }
}

/// Asks a node on its own: it votes for its own validators alone.
async fn ask_node(config: &Config, url: &NodeUrl, request: VoteRequest) -> Vec<Ballot> {
    match nodes::connect_to(config, std::slice::from_ref(url)).await {
        Ok(client) => match client.inner().nodes().first() {
            Some(node) => node.request(request).await,
            None => Vec::new(),
        },
        Err(error) => {
            let votes = Err(VoterError::Node(ChainError::Unavailable(Some(error.into()))));
            vec![Ballot { validator: url.to_string(), votes }]
        }
    }
}

async fn read_tally(config: &Config, chain: &Cached<RemoteClient>) -> anyhow::Result<Board> {
    let contracts = &config.deployment().contracts;
    let settings = BoardSettings {
        registry: contracts.platform_validator_registry,
        multicall: contracts.multicall3,
        ..BoardSettings::default()
    };
    let head = chain.heads().borrow().clone().context("the chain has no head")?;
    let db = process::open_database(config).await?;
    let board = read_board(chain, &db, &settings, &head).await;
    db.close().await;
    Ok(board?)
}

fn print(
    request: VoteRequest,
    ballots: &[Ballot],
    board: Result<&Board, &anyhow::Error>,
    json: bool,
) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&view(ballots, board))?);
        return Ok(());
    }
    for Ballot { validator, votes } in ballots {
        match votes {
            Err(error) => say(format!("{validator}  failed: {}", in_words(error))),
            Ok(votes) if votes.is_empty() && request == VoteRequest::List => {
                say(format!("{validator}  will not vote"))
            }
            Ok(votes) if votes.is_empty() => say(format!("{validator}  votes no longer")),
            Ok(votes) => {
                for vote in votes {
                    say(format!("{validator}  will vote to {} {}", kind(vote.kind), vote.recipient));
                }
            }
        }
    }
    match board {
        Err(error) => say(format!("the votes in blocks are not known here: {error:#}")),
        Ok(board) => print_tally(board),
    }
    Ok(())
}

fn print_tally(board: &Board) {
    let votes = &board.votes;
    say(format!(
        "{} validators as of block {}; {} votes change the set; votes are forgotten in {} blocks",
        votes.validator_set.len(),
        votes.as_of_block,
        votes.needed,
        votes.blocks_left
    ));
    for validator in &votes.validator_set {
        let name = board.find_node(*validator).map(|record| record.moniker.as_str()).unwrap_or_default();
        say(format!("  {validator}  {name}"));
    }
    if votes.ballots.is_empty() {
        say("no votes in blocks that have not changed the set");
    }
    for ballot in &votes.ballots {
        let (count, needed) = (ballot.voters.len(), votes.needed);
        say(format!("{count} of {needed} votes in blocks to {} {}", kind(ballot.kind), ballot.candidate));
    }
}

fn view(ballots: &[Ballot], board: Result<&Board, &anyhow::Error>) -> Value {
    let voters: Vec<Value> = ballots
        .iter()
        .map(|ballot| {
            let votes = ballot.votes.iter().flatten();
            let votes: Vec<Value> = votes
                .map(|vote| json!({ "address": vote.recipient.to_string(), "kind": kind(vote.kind) }))
                .collect();
            let error = ballot.votes.as_ref().err().map(in_words);
            json!({ "voter": ballot.validator, "votes": votes, "error": error })
        })
        .collect();
    let tally = board.ok().map(|board| {
        let votes = &board.votes;
        let ballots: Vec<Value> = votes
            .ballots
            .iter()
            .map(|ballot| {
                let voters: Vec<String> = ballot.voters.iter().map(ToString::to_string).collect();
                json!({ "candidate": ballot.candidate.to_string(), "kind": kind(ballot.kind), "voters": voters })
            })
            .collect();
        let set: Vec<String> = votes.validator_set.iter().map(ToString::to_string).collect();
        json!({
            "validatorSet": set,
            "asOfBlock": votes.as_of_block,
            "votesNeeded": votes.needed,
            "blocksLeft": votes.blocks_left,
            "votes": ballots,
        })
    });
    json!({ "nodes": voters, "tally": tally })
}

fn kind(kind: VoteKind) -> &'static str {
    match kind {
        VoteKind::Add => "add",
        VoteKind::Drop => "drop",
    }
}

/// An error with its causes.
fn in_words(error: &VoterError) -> String {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
