//! Sessions of wallets: a text to sign, a signature, a token.
//!
//! A challenge is taken before its signature is looked at, in one statement that only one can win: a wrong signature uses
//! it up, so that nobody can try many, and the same one never begins two sessions. It is given back in one case: when a contract
//! has to judge and the chain cannot be asked. Then nothing was judged, so nothing was learned and nothing begun; the wallet
//! sends the same signature again while the challenge lasts. Whoever does so at the same moment is told that it is used.

mod error;
mod housekeeping;
mod message;
mod recover;
mod signature;
#[cfg(test)]
mod tests;
mod token;

use std::{sync::Arc, time::Duration};

use access::Clock;
use alloy_primitives::{Address, Bytes, eip191_hash_message};
use chain::ChainClient;
use domain::{
    WebUrl,
    portal::{Actor, AuditAction, AuditId, ChallengeId, SessionId},
};
use jiff::Timestamp;
use store::{
    Db,
    portal::{AuditRow, ChallengeRow, SessionRow},
};

use self::message::SignInMessage;
use crate::{millis, random::letters, timestamp};

pub use error::{SessionDenied, SignInError};
pub use token::SessionToken;

/// How long a challenge can be answered.
const CHALLENGE_LIFE: Duration = Duration::from_secs(5 * 60);
/// How long a session lasts at most.
const EOA_LIFE: Duration = Duration::from_secs(12 * 60 * 60);
/// A contract may vouch for other people tomorrow.
const CONTRACT_LIFE: Duration = Duration::from_secs(60 * 60);
/// How long a session lasts that is not used.
const IDLE_LIFE: Duration = Duration::from_secs(30 * 60);
/// How exactly the last use is known.
const SEEN_EVERY: Duration = Duration::from_secs(60);
/// 130 bits.
const NONCE_LENGTH: usize = 22;

/// What an operator decides about sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// The page that people sign in at, as they and their wallets see it.
    pub public_url: WebUrl,
    /// The network's EIP-155 chain id.
    pub chain_id: u64,
}

/// A text to sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// Its id, to send the signature with.
    pub id: ChallengeId,
    /// The text (EIP-4361).
    pub message: String,
    /// From when on no signature is taken.
    pub expires_at: Timestamp,
}

/// What a wallet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountType {
    /// Somebody holds its key.
    Eoa,
    /// A contract decides who signs for it.
    Contract,
}

impl AccountType {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eoa => "eoa",
            Self::Contract => "contract",
        }
    }

    const fn life(self) -> Duration {
        match self {
            Self::Eoa => EOA_LIFE,
            Self::Contract => CONTRACT_LIFE,
        }
    }
}

/// A session that is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub wallet: Address,
    /// What the wallet is.
    pub account_type: AccountType,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
}

/// A session that has just begun.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// What it is known by.
    pub token: SessionToken,
    /// The session.
    pub session: Session,
}

/// All sessions.
pub struct Sessions {
    db: Db,
    chain: Arc<dyn ChainClient>,
    clock: Clock,
    settings: SessionSettings,
}

impl Sessions {
    /// The sessions of a database. [`Self::run`] forgets old ones.
    pub fn new(db: Db, chain: Arc<dyn ChainClient>, clock: Clock, settings: SessionSettings) -> Self {
        Self { db, chain, clock, settings }
    }

    /// What the operator decided.
    pub fn settings(&self) -> &SessionSettings {
        &self.settings
    }

    /// Gives out a text for a wallet to sign.
    pub async fn challenge(&self, address: Address) -> Result<Challenge, store::StoreError> {
        let now = (self.clock)();
        // Whole seconds, which is all that the text needs to say.
        let issued_at = timestamp(millis(now) / 1_000 * 1_000);
        let expires_at = issued_at.saturating_add(CHALLENGE_LIFE).unwrap_or(issued_at);
        let id = ChallengeId::new(millis(now), rand::random());
        let nonce = letters(&mut rand::rng(), NONCE_LENGTH);
        let settings = &self.settings;
        let message =
            SignInMessage { settings, address, nonce: &nonce, issued_at, expires_at, id }.to_string();
        let row = ChallengeRow { id, address, message, expires_at: millis(expires_at) };
        self.db.insert_challenge(&row).await?;
        Ok(Challenge { id, message: row.message, expires_at })
    }

    /// Begins a session if the wallet of the challenge has signed its text. `origin` is the network that the request came
    /// from, for the audit log.
    pub async fn sign_in(
        &self,
        challenge: ChallengeId,
        signature: &Bytes,
        origin: Option<String>,
    ) -> Result<SignedIn, SignInError> {
        let now = (self.clock)();
        let consumed = self.db.consume_challenge(challenge, millis(now)).await?;
        let consumed = consumed.ok_or(SignInError::ChallengeExpired)?;
        let hash = eip191_hash_message(&consumed.message);
        match signature::verify(&*self.chain, consumed.address, hash, signature).await {
            Ok(Some(account_type)) => self.begin(consumed.address, account_type, now, origin).await,
            Ok(None) => Err(SignInError::SignatureInvalid),
            Err(error) => {
                self.db.return_challenge(challenge, millis(now)).await?;
                Err(SignInError::Chain(error))
            }
        }
    }

    async fn begin(
        &self,
        wallet: Address,
        account_type: AccountType,
        now: Timestamp,
        origin: Option<String>,
    ) -> Result<SignedIn, SignInError> {
        let token = SessionToken::generate(&mut rand::rng());
        let expires_at = now.saturating_add(account_type.life()).unwrap_or(now);
        let row = SessionRow {
            id: SessionId::new(millis(now), rand::random()),
            token_hash: token.hash(),
            wallet,
            is_contract: account_type == AccountType::Contract,
            created_at: millis(now),
            last_seen_at: millis(now),
            expires_at: millis(expires_at),
            revoked_at: None,
        };
        let entry = entry(wallet, row.id, AuditAction::SignedIn, now, origin);
        self.db.insert_session(&row, &entry).await?;
        Ok(SignedIn { token, session: session(&row) })
    }

    /// The session that a presented text stands for.
    pub async fn check(&self, presented: &str) -> Result<Session, SessionDenied> {
        let hash = token::hash_of(presented).ok_or(SessionDenied::Invalid)?;
        let row = self.db.find_session(hash).await?.filter(|row| row.revoked_at.is_none());
        let row = row.ok_or(SessionDenied::Invalid)?;
        let now = millis((self.clock)());
        let unseen = now.saturating_sub(row.last_seen_at);
        if row.expires_at <= now || unseen >= span(IDLE_LIFE) {
            return Err(SessionDenied::Expired);
        }
        if unseen >= span(SEEN_EVERY)
            && let Err(error) = self.db.see_session(row.id, now).await
        {
            // At worst the session ends early.
            tracing::warn!(%error, "the use of a session could not be noted");
        }
        Ok(session(&row))
    }

    /// Ends a session.
    pub async fn sign_out(&self, session: &Session, origin: Option<String>) -> Result<(), SessionDenied> {
        let now = (self.clock)();
        let entry = entry(session.wallet, session.id, AuditAction::SignedOut, now, origin);
        self.db.revoke_session(session.wallet, session.id, millis(now), &entry).await?;
        Ok(())
    }
}

fn entry(
    wallet: Address,
    session: SessionId,
    action: AuditAction,
    now: Timestamp,
    origin: Option<String>,
) -> AuditRow {
    AuditRow {
        id: AuditId::new(millis(now), rand::random()),
        wallet: Some(wallet),
        actor: Actor::Wallet,
        action,
        target: session.to_string(),
        origin,
        at: millis(now),
    }
}

fn session(row: &SessionRow) -> Session {
    Session {
        id: row.id,
        wallet: row.wallet,
        account_type: if row.is_contract { AccountType::Contract } else { AccountType::Eoa },
        created_at: timestamp(row.created_at),
        expires_at: timestamp(row.expires_at),
    }
}

/// A duration in the store's milliseconds.
fn span(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
