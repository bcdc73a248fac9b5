//! `chainnet validator`: votes about the validator set, made by the nodes of validators.
//!
//! Each configured node is asked on its own, because a node votes for its own validator alone. The embedded node has several
//! validators; those that are in the set and run all vote.

use std::collections::BTreeMap;

use alloy_primitives::Address;
use anyhow::{Context, bail};
use chain::{Cached, ChainClient, RawUpstream, remote::RemoteClient};
use ibft::votes::VoteKind;
use serde::Deserialize;
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

/// What nodes are to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Vote {
        subject: Address,
        add: bool,
    },
    Discard {
        subject: Address,
    },
    /// Only tell what they will vote.
    Tell,
}

/// One validator of the embedded node.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seat {
    name: String,
    address: Address,
    running: bool,
    in_validator_set: bool,
    votes: Vec<Intention>,
}

/// What a validator will vote in the next blocks it proposes.
#[derive(Debug, Deserialize)]
struct Intention {
    address: Address,
    add: bool,
}

/// What came of asking one voter.
struct Voice {
    voter: String,
    result: Result<Vec<Intention>, String>,
}

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &ValidatorCommand) -> anyhow::Result<()> {
    let (wish, json) = match command {
        ValidatorCommand::Vote { address, way: VoteWay { add, .. }, json } => {
            (Wish::Vote { subject: *address, add: *add }, *json)
        }
        ValidatorCommand::Discard { address, json } => (Wish::Discard { subject: *address }, *json),
        ValidatorCommand::Votes { json } => (Wish::Tell, *json),
    };
    runtime::run_small(async {
        let chain = nodes::connect(config).await?;
        if let Wish::Vote { subject, add } = wish {
            check_vote(&chain, subject, add)?;
        }
        let mut voices = Vec::new();
        for url in nodes::urls(config)? {
            voices.extend(ask_node(config, &url, wish).await);
        }
        // Votes are counted from the index and the headers after it.
        let board = read_tally(config, &chain).await;
        print(wish, &voices, board.as_ref(), json)?;
        if wish != Wish::Tell && voices.iter().all(|voice| voice.result.is_err()) {
            bail!(
                "no node did it; PLATFORM_RPC_URL must name the validators' own nodes, with the IBFT methods enabled"
            );
        }
        Ok(())
    })
}

/// A vote that cannot change anything is a mistake.
fn check_vote(chain: &Cached<RemoteClient>, subject: Address, add: bool) -> anyhow::Result<()> {
    let head = chain.heads().borrow().clone().context("the chain has no head")?;
    let extra = ibft::extra_data::ExtraData::decode(&head.header.extra_data);
    let set = extra.context("the chain is no IBFT 2.0 chain: nobody votes there")?.validators;
    match (set.contains(&subject), add) {
        (true, true) => bail!("{subject} is in the validator set already"),
        (false, false) => bail!("{subject} is not in the validator set"),
        (true, false) | (false, true) => Ok(()),
    }
}

async fn ask_node(config: &Config, url: &chain::remote::NodeUrl, wish: Wish) -> Vec<Voice> {
    let failed =
        |error: anyhow::Error| vec![Voice { voter: url.to_string(), result: Err(format!("{error:#}")) }];
    let client = match nodes::connect_to(config, std::slice::from_ref(url)).await {
        Ok(client) => client,
        Err(error) => return failed(error),
    };
    let node: &dyn RawUpstream = &**client.inner();
    match nodes::ask(node, "chainnet_validators", &json!([])).await {
        Ok(Ok(seats)) => match serde_json::from_value::<Vec<Seat>>(seats) {
            Ok(seats) => ask_seats(node, seats, wish).await,
            Err(error) => failed(error.into()),
        },
        // Any other node has one validator, and Besu's methods.
        Ok(Err(_)) => {
            let result = ask_besu(node, wish).await.map_err(|error| format!("{error:#}"));
            vec![Voice { voter: url.to_string(), result }]
        }
        Err(error) => failed(error),
    }
}

async fn ask_seats(node: &dyn RawUpstream, seats: Vec<Seat>, wish: Wish) -> Vec<Voice> {
    let mut voices = Vec::new();
    for seat in seats.into_iter().filter(|seat| seat.running && seat.in_validator_set) {
        let (name, voter) = (&seat.name, format!("{} {}", seat.name, seat.address));
        let result = match wish {
            Wish::Vote { subject, .. } if subject == seat.address => continue,
            Wish::Vote { subject, add } => {
                let asked = order(node, "chainnet_proposeVote", &json!([name, subject, add])).await;
                asked.map(|()| vec![Intention { address: subject, add }])
            }
            Wish::Discard { subject } => {
                order(node, "chainnet_discardVote", &json!([name, subject])).await.map(|()| Vec::new())
            }
            Wish::Tell => Ok(seat.votes),
        };
        voices.push(Voice { voter, result: result.map_err(|error| format!("{error:#}")) });
    }
    voices
}

async fn ask_besu(node: &dyn RawUpstream, wish: Wish) -> anyhow::Result<Vec<Intention>> {
    match wish {
        Wish::Vote { subject, add } => {
            order(node, "ibft_proposeValidatorVote", &json!([subject, add])).await?;
        }
        Wish::Discard { subject } => order(node, "ibft_discardValidatorVote", &json!([subject])).await?,
        Wish::Tell => {}
    }
    let pending = demand(node, "ibft_getPendingVotes", &json!([])).await?;
    let pending: BTreeMap<Address, bool> =
        serde_json::from_value(pending).context("the node's votes are not understood")?;
    Ok(pending.into_iter().map(|(address, add)| Intention { address, add }).collect())
}

async fn order(node: &dyn RawUpstream, method: &'static str, params: &Value) -> anyhow::Result<()> {
    demand(node, method, params).await.map(drop)
}

async fn demand(node: &dyn RawUpstream, method: &'static str, params: &Value) -> anyhow::Result<Value> {
    match nodes::ask(node, method, params).await? {
        Ok(result) => Ok(result),
        Err(refused) => bail!("the node refuses {method} with {}: {}", refused.code, refused.message),
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
    wish: Wish,
    voices: &[Voice],
    board: Result<&Board, &anyhow::Error>,
    json: bool,
) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&view(voices, board))?);
        return Ok(());
    }
    for Voice { voter, result } in voices {
        match result {
            Err(error) => say(format!("{voter}  failed: {error}")),
            Ok(intentions) if intentions.is_empty() && wish == Wish::Tell => {
                say(format!("{voter}  will not vote"))
            }
            Ok(intentions) if intentions.is_empty() => say(format!("{voter}  votes no longer")),
            Ok(intentions) => {
                for vote in intentions {
                    say(format!("{voter}  will vote to {} {}", way(vote.add), vote.address));
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

fn view(voices: &[Voice], board: Result<&Board, &anyhow::Error>) -> Value {
    let voices: Vec<Value> = voices
        .iter()
        .map(|voice| {
            let votes: Vec<Value> = voice
                .result
                .iter()
                .flatten()
                .map(|vote| json!({ "address": vote.address.to_string(), "kind": way(vote.add) }))
                .collect();
            json!({ "voter": voice.voter, "votes": votes, "error": voice.result.as_ref().err() })
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
    json!({ "nodes": voices, "tally": tally })
}

fn way(add: bool) -> &'static str {
    if add { "add" } else { "drop" }
}

fn kind(kind: VoteKind) -> &'static str {
    way(kind == VoteKind::Add)
}
