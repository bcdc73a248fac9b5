//! Who is out of the registry leaves the validator set, by votes.

use std::{sync::Arc, time::Duration};

use chain::{
    Agreement, ChainClient, Voter,
    remote::{RemoteClient, RemoteConfig},
};
use contracts::bindings::PlatformValidatorRegistry as Registry;
use devchain::rpc::{self, Node, RpcConfig};
use ibft::votes::{Vote, VoteKind};
use serde_json::{Value, json};
use store::{
    engine_tests,
    keeper::{SetChange, VoteState},
};
use testkit::{Besu, BesuSettings, RpcClient};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::rig::{Rig, Running, SLASHER, STRANGER, account, node, operator, run};

/// The node of the rig's validators, at its own port and at one like Besu's.
struct Port {
    besu: Besu,
    rpc: RpcClient,
    _serving: DropGuard,
}

impl Port {
    async fn open(rig: &Rig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Arc::new(Node { chain: rig.chain.clone(), control: rig.control.clone() });
        let stop = CancellationToken::new();
        tokio::spawn(rpc::serve(listener, serving, RpcConfig::default(), stop.clone()));
        let besu = Besu::start(address, BesuSettings::v24_12_2()).await.unwrap();
        Self { rpc: RpcClient::new(address), besu, _serving: stop.drop_guard() }
    }

    /// All validators, through the node's own methods.
    async fn voters(&self) -> Vec<Arc<dyn Voter>> {
        Self::connect(&self.rpc.url()).await
    }

    /// The first validator alone, through Besu's methods.
    async fn first_voter(&self) -> Vec<Arc<dyn Voter>> {
        Self::connect(&self.besu.url()).await
    }

    async fn connect(url: &str) -> Vec<Arc<dyn Voter>> {
        let urls = [url.parse().unwrap()];
        let client = RemoteClient::connect(&urls, RemoteConfig::default()).await.unwrap();
        client.nodes().iter().map(|node| Arc::clone(node) as _).collect()
    }

    /// How many votes validators will cast.
    async fn pending(&self) -> usize {
        let seats: Vec<Value> = self.rpc.call("chainnet_validators", json!([])).await.unwrap();
        seats.iter().map(|seat| seat["votes"].as_array().map_or(0, Vec::len)).sum()
    }
}

fn set(rig: &Rig) -> Vec<alloy_primitives::Address> {
    Agreement::of(&rig.chain.head().block.header).expect("an IBFT header").validators
}

async fn slash_out(rig: &Rig, number: u64) {
    for _ in 0..3 {
        rig.slash_by_hand(number).await;
    }
}

async fn voting(rig: &Rig, port: &Port) -> Running {
    voting_with(rig, port.voters().await)
}

fn voting_with(rig: &Rig, voters: Vec<Arc<dyn Voter>>) -> Running {
    let mut settings = rig.settings();
    settings.auto_vote = true;
    run(rig.make(Some(account(STRANGER)), settings).with_voters(voters))
}

/// Whether any of the last blocks has a vote.
async fn is_voted(rig: &Rig, blocks: u64) -> bool {
    let head = rig.height();
    for number in head.saturating_sub(blocks)..=head {
        let block = rig.client.block(number).await.unwrap().expect("a block");
        if Agreement::of(&block.header).expect("an IBFT header").vote.is_some() {
            return true;
        }
    }
    false
}

engine_tests! {
    async fn a_third_slash_is_reported_and_nobody_votes_unasked(test: TestDb) {
        let rig = Rig::start(test.db());
        let running = rig.keep(Some(account(SLASHER)), rig.settings());
        rig.mine(10).await;
        rig.looked(&running).await;
        assert_eq!(running.metric("keeper_validators_expelled "), 0.0);
        slash_out(&rig, 3).await;
        rig.mine(20).await;
        rig.looked(&running).await;
        assert_eq!(running.metric("keeper_validators_expelled "), 1.0);
        assert!(set(&rig).contains(&node(3)), "it goes on proposing");
        assert_eq!(rig.db.open_vote().await.unwrap(), None);
        running.stop().await;
    }

    async fn a_third_slash_takes_the_validator_out_of_the_set(test: TestDb) {
        let rig = Rig::start(test.db());
        let port = Port::open(&rig).await;
        rig.mine(12).await;
        let running = voting(&rig, &port).await;
        slash_out(&rig, 3).await;
        rig.mine_until(async || !set(&rig).contains(&node(3))).await;
        rig.mine_until(async || rig.db.open_vote().await.unwrap().is_none()).await;
        assert_eq!(set(&rig).len(), 4);
        let vote = rig.db.last_vote(node(3), SetChange::Drop).await.unwrap().expect("a vote");
        assert_eq!((vote.state, vote.vote.operator), (VoteState::Done, operator(3)));
        assert_eq!(port.pending().await, 0, "the votes are forgotten");
        rig.mine(30).await;
        rig.looked(&running).await;
        assert!(!is_voted(&rig, 25).await, "and nobody votes for ever");
        assert_eq!(running.metric("keeper_validators_expelled "), 0.0);
        assert_eq!(running.metric("keeper_votes_total{kind=\"drop\",result=\"done\"} "), 1.0);
        running.stop().await;
    }

    async fn the_last_four_are_never_voted_out(test: TestDb) {
        let rig = Rig::start(test.db());
        let port = Port::open(&rig).await;
        rig.mine(12).await;
        let running = voting(&rig, &port).await;
        for number in [3, 4] {
            slash_out(&rig, number).await;
        }
        rig.mine_until(async || set(&rig).len() == 4).await;
        rig.mine(40).await;
        rig.looked(&running).await;
        assert_eq!(set(&rig).len(), 4);
        assert_eq!(running.metric("keeper_validators_expelled "), 1.0, "the other one stays reported");
        assert_eq!(rig.db.open_vote().await.unwrap(), None);
        running.stop().await;
    }

    async fn who_takes_over_goes_on_with_the_same_vote_and_ends_it(test: TestDb) {
        let rig = Rig::start(test.db());
        let port = Port::open(&rig).await;
        rig.mine(12).await;
        let first = voting(&rig, &port).await;
        slash_out(&rig, 2).await;
        while rig.db.open_vote().await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        first.kill().await;
        rig.outlast_lease();
        let second = voting(&rig, &port).await;
        rig.mine_until(async || !set(&rig).contains(&node(2))).await;
        rig.mine_until(async || rig.db.open_vote().await.unwrap().is_none()).await;
        let vote = rig.db.last_vote(node(2), SetChange::Drop).await.unwrap().expect("a vote");
        assert_eq!((vote.id, vote.state), (1, VoteState::Done), "one vote, by two keepers");
        assert_eq!(port.pending().await, 0);
        second.stop().await;
    }

    async fn on_besu_each_validator_is_told_at_its_own_node_and_the_others_decide(test: TestDb) {
        let rig = Rig::start(test.db());
        let port = Port::open(&rig).await;
        rig.mine(12).await;
        let running = voting_with(&rig, port.first_voter().await);
        slash_out(&rig, 3).await;
        rig.mine(35).await;
        rig.looked(&running).await;
        assert!(set(&rig).contains(&node(3)), "one vote of three");
        let asked = port.besu.asked("ibft_proposeValidatorVote");
        assert!((1..=6).contains(&asked), "asked again now and then, not with every block: {asked}");
        let drop = Vote { recipient: node(3), kind: VoteKind::Drop };
        for other in ["V2", "V4"] {
            rig.control.propose_vote(other, drop).await.unwrap();
        }
        rig.mine_until(async || !set(&rig).contains(&node(3))).await;
        rig.mine_until(async || rig.db.open_vote().await.unwrap().is_none()).await;
        assert!(port.besu.asked("ibft_discardValidatorVote") > 0, "its own is forgotten");
        running.stop().await;
    }

    async fn who_leaves_is_voted_out_and_a_jailed_one_stays(test: TestDb) {
        let rig = Rig::start(test.db());
        let port = Port::open(&rig).await;
        rig.mine(12).await;
        let running = voting(&rig, &port).await;
        rig.slash_by_hand(1).await;
        rig.slash_by_hand(4).await;
        let removal = Registry::removeValidatorCall { operator: operator(4), reason: "test".to_owned() };
        rig.registry(&account(0), &removal).await;
        rig.mine_until(async || !set(&rig).contains(&node(4))).await;
        rig.mine(10).await;
        rig.looked(&running).await;
        assert!(set(&rig).contains(&node(1)), "in jail, and a member");
        running.stop().await;
    }
}
