//! Paying claims. One task, the only one that has the key.
//!
//! It works in rounds: when a claimant rings, when there is a new head, and every half second. A round holds the lease,
//! looks through the blocks that are new, signs what is reserved and gives nodes what they do not have. It keeps nothing
//! in memory that it could not do without: a round that is broken off, or a process that is killed, leaves everything
//! in the database for the next.
//!
//! That a claim is paid once rests on three things. A claim has one transaction at a time, stored before any node sees
//! it. Two transactions of one nonce cannot both be mined. And every block after a transaction was signed is looked at,
//! so that when the payer's nonce has passed a transaction that was in none of them, it never will be.

mod broadcast;
mod follow;
mod nonce;
mod sign;

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
    time::Duration,
};

use access::Clock;
use alloy_primitives::{Address, B256};
use chain::{At, ChainError, Head, NonceProgress, NonceState};
use store::{ClaimRow, SenderLease, StoreError};
use tokio_util::sync::CancellationToken;

use crate::{
    Shared,
    payer::Payer,
    settings::{STUCK_PAYMENT_BLOCKS, millis},
};

/// Longest pause between two rounds.
const PAUSE: Duration = Duration::from_millis(500);

/// Pays the claims of a faucet.
pub struct Sender {
    shared: Arc<Shared>,
    payer: Payer,
    /// Tells this sender from others that want the lease.
    holder: String,
    clock: Clock,
}

/// Why a round was broken off. The next one goes on.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the chain failed")]
    Chain(#[from] ChainError),
    #[error("the database failed")]
    Store(#[from] StoreError),
    #[error("a transaction could not be signed")]
    Sign(#[from] alloy_signer::Error),
}

/// What a sender remembers between rounds. Without it rounds are slower, not wrong.
#[derive(Default)]
struct Memory {
    lease: Option<SenderLease>,
    /// When the lease is to be renewed.
    renew_at: u64,
    /// Every block up to this one was looked at since the oldest open transaction was signed.
    scanned: Option<u64>,
    /// Transactions that we signed and no node was given yet: if one of these is refused, it is nowhere.
    fresh: HashSet<B256>,
    /// The head at which nodes were last given a transaction.
    given: HashMap<B256, u64>,
    /// Whether the payer's transactions are mined.
    progress: NonceProgress,
    /// The head at which gaps between nonces were last looked for.
    mended: Option<u64>,
    /// Payments do not move, and it was said.
    is_stuck: bool,
}

impl Memory {
    /// Forgets transactions of claims that are closed.
    fn tidy(&mut self, open: &[ClaimRow]) {
        let hashes: HashSet<B256> =
            open.iter().filter_map(|claim| Some(claim.payment.as_ref()?.hash)).collect();
        self.fresh.retain(|hash| hashes.contains(hash));
        self.given.retain(|hash, _| hashes.contains(hash));
    }
}

/// What a round works on.
struct Round {
    lease: SenderLease,
    head: Arc<Head>,
    open: Vec<ClaimRow>,
    /// The next nonce of each account that pays an open claim, after the last block that was looked at.
    mined: HashMap<Address, u64>,
    /// The payer's nonces, as far as nodes tell.
    nonces: NonceState,
}

impl Sender {
    pub(crate) fn new(shared: Arc<Shared>, payer: Payer, clock: Clock) -> Self {
        Self { shared, payer, holder: format!("{:032x}", rand::random::<u128>()), clock }
    }

    /// Milliseconds since 1970.
    fn now(&self) -> u64 {
        u64::try_from((self.clock)().as_millisecond()).unwrap_or(0)
    }

    /// Pays claims until stopped. Failures of the chain or the database are waited out. May be broken off at any moment.
    pub async fn run(self, stop: CancellationToken) {
        let mut memory = Memory::default();
        stop.run_until_cancelled(self.keep_paying(&mut memory)).await;
        if let Some(lease) = memory.lease
            && let Err(error) = self.shared.db.return_sender_lease(lease).await
        {
            tracing::warn!(%error, "the faucet's lease was not returned; it lapses by itself");
        }
    }

    async fn keep_paying(&self, memory: &mut Memory) {
        let mut heads = self.shared.chain.heads();
        let mut is_well = true;
        loop {
            let result = self.round(memory).await;
            if let Err(trouble) = &result
                && is_well
            {
                tracing::warn!(error = chain_of(trouble), "the faucet cannot pay at the moment");
            } else if result.is_ok() && !is_well {
                tracing::info!("the faucet pays again");
            }
            is_well = result.is_ok();
            if !is_well {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            tokio::select! {
                () = self.shared.counter.rung() => {}
                Ok(()) = heads.changed() => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    async fn round(&self, memory: &mut Memory) -> Result<(), Trouble> {
        let Some(lease) = self.hold_lease(memory).await? else { return Ok(()) };
        let chain = &self.shared.chain;
        let Some(head) = chain.heads().borrow().clone().filter(|_| chain.is_reachable()) else {
            return Ok(());
        };
        let open = self.shared.db.list_open_claims(self.shared.settings.open_claims).await?;
        memory.tidy(&open);
        let nonces = NonceState { mined: 0, pending: 0, is_standing: false };
        let mut round = Round { lease, head, open, mined: HashMap::new(), nonces };
        let scanned = self.follow(memory, &mut round).await?;
        self.watch_payments(memory, &round);
        if round.open.is_empty() {
            memory.progress = NonceProgress::default();
            return Ok(());
        }
        round.mined = self.mined_nonces(&round.open, scanned).await?;
        let payer = self.payer.address();
        let pending = chain.pending_nonce(payer).await?;
        round.nonces = memory.progress.observe(scanned, round.mined_nonce(payer), pending);
        self.sign(memory, &mut round, scanned).await?;
        if scanned < round.head.number() {
            // There is more to look through before anything else.
            self.shared.counter.ring();
            return Ok(());
        }
        // First, because afterwards nobody can tell what waits above a gap from what waits below it.
        self.mend_gaps(memory, &round).await?;
        self.broadcast(memory, &round).await
    }

    /// Says once when payments wait for so long that something must be wrong, and once when they move again.
    fn watch_payments(&self, memory: &mut Memory, round: &Round) {
        let payments = round.open.iter().filter_map(|claim| claim.payment.as_ref());
        let oldest = payments.min_by_key(|payment| (payment.signed_block, payment.nonce));
        let waited = oldest.map_or(0, |payment| round.head.number().saturating_sub(payment.signed_block));
        self.shared.metrics.waited(waited);
        let is_stuck = waited >= STUCK_PAYMENT_BLOCKS;
        if let Some(payment) = oldest.filter(|_| is_stuck && !memory.is_stuck) {
            let (payer, nonce, hash) = (payment.payer, payment.nonce, payment.hash);
            tracing::error!(%payer, nonce, %hash, blocks = waited, "the faucet's payments do not move");
        } else if memory.is_stuck && !is_stuck {
            tracing::info!("the faucet's payments move again");
        }
        memory.is_stuck = is_stuck;
    }

    /// Takes or renews the lease; none while another sender has it.
    async fn hold_lease(&self, memory: &mut Memory) -> Result<Option<SenderLease>, Trouble> {
        let now = self.now();
        if memory.lease.is_some() && now < memory.renew_at {
            return Ok(memory.lease);
        }
        let span = millis(self.shared.settings.lease);
        let until = now.saturating_add(span);
        let lease = self.shared.db.take_sender_lease(&self.holder, now, until).await?;
        if lease != memory.lease {
            // What another sender did meanwhile is not known here.
            *memory = Memory { lease, ..Memory::default() };
            if lease.is_some() {
                tracing::info!(payer = %self.payer.address(), "this process pays the faucet's claims");
            }
        }
        self.shared.metrics.pays.set(i64::from(lease.is_some()));
        memory.renew_at = now.saturating_add(span / 4);
        Ok(lease)
    }

    async fn mined_nonces(&self, open: &[ClaimRow], block: u64) -> Result<HashMap<Address, u64>, ChainError> {
        let mut nonces = HashMap::new();
        let payers = open.iter().filter_map(|claim| Some(claim.payment.as_ref()?.payer));
        for payer in payers.chain([self.payer.address()]) {
            if let Entry::Vacant(unknown) = nonces.entry(payer) {
                unknown.insert(self.shared.chain.account(payer, At::Number(block)).await?.nonce);
            }
        }
        Ok(nonces)
    }
}

impl Round {
    /// The next nonce of an account after the last block that was looked at.
    fn mined_nonce(&self, payer: Address) -> u64 {
        self.mined.get(&payer).copied().unwrap_or(0)
    }
}

/// An error with its causes, for the log.
fn chain_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
