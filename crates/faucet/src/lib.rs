//! The faucet: claims that are paid exactly once.
//!
//! [`Faucet`] takes claims: it checks the limits and reserves, in one transaction of the database. [`Sender`] pays them: it
//! alone has the key, gives every claim a nonce, stores the signed bytes before any node sees them and follows each to
//! its block. Whatever fails in between, what is stored says what may have happened, and the same bytes are sent again;
//! another transaction is signed only when a block proves that the first can never be mined.
//!
//! Keys, allowlists and HTTP are for the floors above.

mod claim;
mod counter;
mod error;
mod health;
mod metrics;
mod payer;
mod sender;
mod settings;
mod visitor;

use std::sync::Arc;

use access::Clock;
use alloy_primitives::Address;
use alloy_signer_local::PrivateKeySigner;
use chain::ChainClient;
use domain::Network;
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use store::Db;

pub use claim::{Claim, ClaimStatus, WalletStatus};
pub use error::ClaimRefusal;
pub use health::{FaucetHealth, Funds};
pub use sender::Sender;
pub use settings::{FaucetSettings, STUCK_PAYMENT_BLOCKS};

use crate::{counter::Counter, metrics::Metrics, payer::Payer, visitor::VisitorKey};

/// The network has no faucet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} has no faucet: its coin has a price")]
pub struct NoFaucet(pub Network);

/// Takes claims. Cheap to clone.
#[derive(Clone)]
pub struct Faucet {
    shared: Arc<Shared>,
}

/// What takes claims and what pays them have in common. Not the key.
struct Shared {
    chain: Arc<dyn ChainClient>,
    db: Db,
    settings: FaucetSettings,
    /// The account that pays.
    payer: Address,
    visitors: VisitorKey,
    counter: Counter,
    metrics: Metrics,
}

impl Faucet {
    /// A faucet of this network that pays from the account of `key`, and the sender that has to run somewhere for claims to
    /// be paid. Several processes may do this with one database; of their senders one pays at a time.
    pub fn new(
        network: Network,
        chain: Arc<dyn ChainClient>,
        db: Db,
        key: PrivateKeySigner,
        settings: FaucetSettings,
        clock: Clock,
    ) -> Result<(Self, Sender), NoFaucet> {
        match network {
            Network::Devnet | Network::Testnet => {}
            Network::Mainnet => return Err(NoFaucet(network)),
        }
        let shared = Arc::new(Shared {
            chain,
            db,
            settings,
            payer: key.address(),
            visitors: VisitorKey::derive(&key),
            counter: Counter::default(),
            metrics: Metrics::new(),
        });
        let sender = Sender::new(Arc::clone(&shared), Payer::new(key, network.chain_id()), clock);
        Ok((Self { shared }, sender))
    }

    /// The account that pays.
    pub fn address(&self) -> Address {
        self.shared.payer
    }

    /// The metrics, to be served where operators look. What needs the chain or the database is of the last
    /// [`Faucet::health`].
    pub fn registry(&self) -> &Mutex<Registry> {
        self.shared.metrics.registry()
    }

    /// What the faucet pays, and how often.
    pub fn settings(&self) -> &FaucetSettings {
        &self.shared.settings
    }
}
