//! Taking a claim: the checks, the reservation, and the wait for its transaction.

use std::time::Duration;

use access::Client;
use alloy_primitives::{Address, B256};
use chain::{At, ChainError};
use domain::{ClaimState, Wei};
use store::{ClaimRow, ClaimTerms, NewClaim, Reservation};
use tokio::time::{Instant, timeout_at};

use crate::{ClaimRefusal, Faucet};

/// How often a claimant looks for its transaction when the sender is in another process.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// What is left to wait when a claim is still open after its window, in milliseconds: a block.
const A_MOMENT: u64 = 2_000;

/// A claim that has its transaction. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who is paid.
    pub wallet: Address,
    /// How much.
    pub amount: Wei,
    /// How far it is.
    pub status: ClaimStatus,
    /// The transaction that pays it.
    pub hash: B256,
    /// The block that the transaction is in.
    pub block_number: Option<u64>,
    /// When it was made.
    pub created_at: u64,
    /// When the wallet may claim again; none if it has not lost its slot.
    pub next_claim_at: Option<u64>,
}

/// How far a claim is, as the claimant sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimStatus {
    /// It will be paid.
    Pending,
    /// It was paid.
    Confirmed,
    /// It was not paid, and will not be.
    Failed,
}

impl ClaimStatus {
    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
        }
    }
}

impl From<ClaimState> for ClaimStatus {
    fn from(state: ClaimState) -> Self {
        match state {
            ClaimState::Reserved | ClaimState::Signed | ClaimState::Sent => Self::Pending,
            ClaimState::Confirmed => Self::Confirmed,
            ClaimState::Failed | ClaimState::Released => Self::Failed,
        }
    }
}

/// What a wallet may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletStatus {
    /// When it may claim, in Unix milliseconds; none for now.
    pub next_claim_at: Option<u64>,
    /// Its newest claim that has a transaction and was not given up.
    pub last_claim: Option<Claim>,
}

impl Faucet {
    /// Takes a claim and waits until its transaction is known. Once this has answered, the claim is paid whatever happens
    /// to this process.
    ///
    /// May be broken off: the claim is then paid or not, but never twice.
    pub async fn claim(&self, wallet: Address, visitor: Client, now: u64) -> Result<Claim, ClaimRefusal> {
        let taken = self.take(wallet, visitor, now).await;
        self.shared.metrics.claimed(&taken);
        taken
    }

    async fn take(&self, wallet: Address, visitor: Client, now: u64) -> Result<Claim, ClaimRefusal> {
        if self.is_reserved(wallet) {
            return Err(ClaimRefusal::ReservedAddress);
        }
        let (spendable, spendable_at) = self.spendable(wallet).await?;
        let settings = self.settings();
        let terms = ClaimTerms {
            since: now.saturating_sub(settings.window_millis()),
            visitor_claims: settings.visitor_claims,
            outflow: settings.daily_cap,
            spendable,
            spendable_at,
            open_claims: settings.open_claims.into(),
        };
        let visitor = self.shared.visitors.hash(visitor);
        let claim = NewClaim { wallet, visitor, amount: settings.amount, at: now };
        let id = self.admit(self.shared.db.reserve_claim(&claim, &terms).await?, now)?;
        self.wait_for_transaction(id, now).await
    }

    /// The claim that a transaction pays.
    pub async fn find(&self, hash: B256, now: u64) -> Result<Option<Claim>, ClaimRefusal> {
        let row = self.shared.db.find_claim_by_hash(hash).await?;
        Ok(row.and_then(|row| self.present(&row, now)))
    }

    /// Whether a wallet may claim. Charges nothing.
    pub async fn status(&self, wallet: Address, now: u64) -> Result<WalletStatus, ClaimRefusal> {
        let row = self.shared.db.find_last_claim(wallet).await?;
        let next_claim_at = row.as_ref().and_then(|row| self.next_claim_at(row, now));
        Ok(WalletStatus {
            next_claim_at: next_claim_at.filter(|at| *at > now),
            last_claim: row.and_then(|row| self.present(&row, now)),
        })
    }

    /// Addresses that nobody has a key of, and our own. The first 2^16 are kept for the protocol (EIP-1352).
    fn is_reserved(&self, wallet: Address) -> bool {
        let is_low = wallet.iter().take(18).all(|byte| *byte == 0);
        is_low || wallet == self.address()
    }

    /// What may be paid out as of the head, and the head's number; refuses a wallet that is a contract there.
    async fn spendable(&self, wallet: Address) -> Result<(Wei, u64), ClaimRefusal> {
        let chain = &self.shared.chain;
        let head = chain.heads().borrow().clone().filter(|_| chain.is_reachable());
        let number = head.ok_or(ChainError::Unavailable(None))?.number();
        if !chain.account(wallet, At::Number(number)).await?.code.is_empty() {
            return Err(ClaimRefusal::Contract);
        }
        let balance = chain.account(self.address(), At::Number(number)).await?.balance;
        Ok((Wei(balance.saturating_sub(self.settings().gas_reserve.0)), number))
    }

    /// The id of a reservation that was made, or why it was not.
    fn admit(&self, reservation: Reservation, now: u64) -> Result<u64, ClaimRefusal> {
        let after = |at| self.end_of_window(at, now);
        Err(match reservation {
            Reservation::Made(id) => return Ok(id),
            Reservation::WalletClaimed(at) => ClaimRefusal::WalletCooldown { until: after(at) },
            Reservation::VisitorExhausted(at) => ClaimRefusal::VisitorLimit { until: after(at) },
            Reservation::OutflowReached(at) => ClaimRefusal::DailyCap { until: at.map(after) },
            Reservation::Unfunded => ClaimRefusal::Empty,
            Reservation::Crowded => ClaimRefusal::Crowded,
        })
    }

    async fn wait_for_transaction(&self, id: u64, now: u64) -> Result<Claim, ClaimRefusal> {
        let deadline = Instant::now() + self.settings().signing_limit;
        let mut ticket = self.shared.counter.ticket(id);
        self.shared.counter.ring();
        loop {
            let look = deadline.min(Instant::now() + LOOK_EVERY);
            // Called or not, the database says how it stands.
            let _ = timeout_at(look, ticket.called()).await;
            if let Some(claim) = self.look(id, now).await? {
                return Ok(claim);
            }
            if Instant::now() >= deadline {
                return self.give_up(id, now).await;
            }
        }
    }

    async fn look(&self, id: u64, now: u64) -> Result<Option<Claim>, ClaimRefusal> {
        let row = self.shared.db.find_claim(id).await?;
        Ok(row.and_then(|row| self.present(&row, now)))
    }

    /// Takes the reservation back, unless it was signed at the last moment.
    async fn give_up(&self, id: u64, now: u64) -> Result<Claim, ClaimRefusal> {
        if self.shared.db.release_claim(id, "not signed in time", now).await? {
            return Err(ClaimRefusal::NotSigned);
        }
        self.look(id, now).await?.ok_or(ClaimRefusal::NotSigned)
    }

    /// A claim as it is shown; none without a transaction.
    fn present(&self, row: &ClaimRow, now: u64) -> Option<Claim> {
        let payment = row.payment.as_ref()?;
        Some(Claim {
            wallet: row.wallet,
            amount: row.amount,
            status: row.state.into(),
            hash: payment.hash,
            block_number: row.block_number,
            created_at: row.created_at,
            next_claim_at: self.next_claim_at(row, now),
        })
    }

    /// When the wallet of a claim may claim again.
    fn next_claim_at(&self, row: &ClaimRow, now: u64) -> Option<u64> {
        let end = row.created_at.saturating_add(self.settings().window_millis());
        let end = if row.state.is_open() { self.end_of_window(row.created_at, now) } else { end };
        row.state.is_charged().then_some(end)
    }

    /// When a claim stops counting that counts now. One that is still open after its window counts until it is closed.
    fn end_of_window(&self, at: u64, now: u64) -> u64 {
        let end = at.saturating_add(self.settings().window_millis());
        if end > now { end } else { now.saturating_add(A_MOMENT) }
    }
}
