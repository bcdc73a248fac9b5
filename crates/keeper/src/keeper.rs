//! The keeper's rounds: with every head, and when the index has moved.

use std::{collections::HashSet, sync::Arc, time::Duration};

use access::Clock;
use alloy_primitives::{Address, B256};
use alloy_signer_local::PrivateKeySigner;
use chain::{ChainClient, ChainError, NonceProgress, Voter, Witness, contract::ContractError};
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use store::{Db, Lease, StoreError, keeper::KEEPER_LEASE};
use tokio_util::sync::CancellationToken;

use crate::{
    ballot::Voting,
    double_sign::Sightings,
    metrics::Metrics,
    registry::{self, Member},
    settings::KeeperSettings,
    signer::Signer,
};

/// Longest pause between two rounds: how soon a moved index is seen, and a lease that has lapsed.
const PAUSE: Duration = Duration::from_millis(200);
/// Pause after a round that was broken off.
const RECOVERY: Duration = Duration::from_secs(1);

/// Lets validators out of jail, watches them, and reports or slashes them. One of many at a time acts.
pub struct Keeper {
    pub(crate) chain: Arc<dyn ChainClient>,
    pub(crate) db: Db,
    pub(crate) signer: Option<Signer>,
    pub(crate) settings: KeeperSettings,
    pub(crate) metrics: Metrics,
    /// Transactions that nodes refuse, so that it is said once.
    pub(crate) refused: Mutex<HashSet<B256>>,
    /// Whether its own transactions are mined.
    pub(crate) progress: Mutex<NonceProgress>,
    pub(crate) witnesses: Vec<Arc<dyn Witness>>,
    /// Nodes whose validators it can have vote.
    pub(crate) voters: Vec<Arc<dyn Voter>>,
    /// Tells this keeper from others that want the lease.
    holder: String,
    clock: Clock,
}

/// Why a round was broken off. The next one goes on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("the chain failed")]
    Chain(#[from] ChainError),
    #[error("the registry does not answer")]
    Contract(#[from] ContractError),
    #[error("the database failed")]
    Store(#[from] StoreError),
    #[error("a transaction could not be signed")]
    Sign(#[from] alloy_signer::Error),
}

/// What a keeper remembers between rounds. Without it rounds say more than they need to, and do nothing wrong.
#[derive(Default)]
pub(crate) struct Memory {
    lease: Option<Lease>,
    /// When the lease is to be renewed.
    renew_at: u64,
    /// The head whose round is done.
    head: Option<B256>,
    /// The index's block as of which downtime was judged.
    pub(crate) judged: Option<u64>,
    pub(crate) members: Vec<Member>,
    low: HashSet<&'static str>,
    pub(crate) sightings: Sightings,
    pub(crate) voting: Voting,
    /// What was said once and need not be said again.
    pub(crate) said: HashSet<String>,
}

impl Keeper {
    /// A keeper of this chain. Without a key it only reports.
    pub fn new(
        chain: Arc<dyn ChainClient>,
        db: Db,
        key: Option<PrivateKeySigner>,
        settings: KeeperSettings,
        clock: Clock,
    ) -> Self {
        let signer = key.map(|key| Signer::new(key, settings.chain_id));
        let holder = format!("{:032x}", rand::random::<u128>());
        Self {
            chain,
            db,
            signer,
            settings,
            metrics: Metrics::new(),
            refused: Mutex::default(),
            progress: Mutex::default(),
            witnesses: Vec::new(),
            voters: Vec::new(),
            holder,
            clock,
        }
    }

    /// Compares these nodes with the chain, to find out who signs twice.
    #[must_use]
    pub fn with_witnesses(mut self, witnesses: Vec<Arc<dyn Witness>>) -> Self {
        self.witnesses = witnesses;
        self
    }

    /// Has the validators of these nodes vote.
    #[must_use]
    pub fn with_voters(mut self, voters: Vec<Arc<dyn Voter>>) -> Self {
        self.voters = voters;
        self
    }

    /// The account that acts.
    pub fn address(&self) -> Option<Address> {
        self.signer.as_ref().map(Signer::address)
    }

    /// The keeper's metrics.
    pub fn registry(&self) -> &Mutex<Registry> {
        self.metrics.registry()
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from((self.clock)().as_millisecond()).unwrap_or(0)
    }

    /// Keeps until stopped. Failures of the chain or the database are waited out. May be broken off at any moment.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut memory = Memory::default();
        stop.run_until_cancelled(self.keep(&mut memory)).await;
        if let Some(lease) = memory.lease
            && let Err(error) = self.db.return_lease(lease).await
        {
            tracing::warn!(%error, "the keeper's lease was not returned; it lapses by itself");
        }
    }

    async fn keep(&self, memory: &mut Memory) {
        let mut heads = self.chain.heads();
        let mut is_well = true;
        loop {
            let result = self.round(memory).await;
            if let Err(trouble) = &result
                && is_well
            {
                let error = trouble as &(dyn std::error::Error + 'static);
                tracing::warn!(error, "the keeper cannot do its work at the moment");
            } else if result.is_ok() && !is_well {
                tracing::info!("the keeper works again");
            }
            is_well = result.is_ok();
            if !is_well {
                tokio::time::sleep(RECOVERY).await;
                continue;
            }
            tokio::select! {
                Ok(()) = heads.changed() => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    async fn round(&self, memory: &mut Memory) -> Result<(), Trouble> {
        // Who cannot reach the chain lets the lease lapse, for somebody who can.
        let Some(head) = self.chain.heads().borrow().clone().filter(|_| self.chain.is_reachable()) else {
            return Ok(());
        };
        let Some(lease) = self.hold_lease(memory).await? else { return Ok(()) };
        if memory.head != Some(head.hash) {
            memory.members =
                registry::read_members(&*self.chain, self.settings.registry, head.number()).await?;
            self.open_jails(memory, lease, &head).await?;
            self.carry_out(lease, &head, &memory.members).await?;
            self.watch_balances(&mut memory.low, &head).await?;
            self.watch_set(memory, lease, &head).await?;
            if self.compare_nodes(memory, lease, &head).await? {
                self.carry_out(lease, &head, &memory.members).await?;
            }
            memory.head = Some(head.hash);
            self.metrics.head.set(i64::try_from(head.number()).unwrap_or(i64::MAX));
        }
        if self.watch_downtime(memory, lease, &head).await? {
            self.carry_out(lease, &head, &memory.members).await?;
        }
        Ok(())
    }

    /// Takes or renews the lease; none while another keeper has it.
    async fn hold_lease(&self, memory: &mut Memory) -> Result<Option<Lease>, Trouble> {
        let now = self.now();
        if memory.lease.is_some() && now < memory.renew_at {
            return Ok(memory.lease);
        }
        let span = u64::try_from(self.settings.lease.as_millis()).unwrap_or(u64::MAX);
        let lease = self.db.take_lease(KEEPER_LEASE, &self.holder, now, now.saturating_add(span)).await?;
        if lease != memory.lease {
            // What another keeper did meanwhile is not known here.
            *memory = Memory { lease, ..Memory::default() };
            if lease.is_some() {
                self.introduce().await;
            }
        }
        self.metrics.lease_held.set(i64::from(lease.is_some()));
        memory.renew_at = now.saturating_add(span / 4);
        Ok(lease)
    }

    /// Says what this keeper can do and what it cannot.
    async fn introduce(&self) {
        let auto_slash = self.settings.auto_slash;
        if self.settings.auto_vote && self.voters.is_empty() {
            tracing::error!(
                "KEEPER_AUTO_VOTE is on, but no node of a validator is named with KEEPER_VOTER_URLS: nobody votes"
            );
        }
        match self.address() {
            None => tracing::warn!(
                auto_slash,
                "this process is the keeper, but it has no key: it reports, and neither unjails nor slashes"
            ),
            Some(keeper) if !auto_slash => {
                tracing::info!(%keeper, "this process is the keeper: it unjails and reports");
            }
            Some(keeper) => match self.may_slash().await {
                Ok(true) => tracing::info!(%keeper, "this process is the keeper: it unjails and slashes"),
                Ok(false) => tracing::error!(
                    %keeper,
                    "KEEPER_AUTO_SLASH is on, but the keeper's account lacks SLASHER_ROLE: it unjails, and reports only"
                ),
                Err(error) => {
                    tracing::warn!(%keeper, %error, "whether the keeper may slash is not known yet")
                }
            },
        }
    }
}
