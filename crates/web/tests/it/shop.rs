//! The portal and the faucet as the product has them, for the rig.

use std::{sync::Arc, time::Duration};

use access::{Counting, Keyring};
use accounts::{DeveloperKeys, Pepper, Peppers, SessionSettings, Sessions};
use alloy_signer_local::PrivateKeySigner;
use api::{
    Edge, EdgeConfig, FaucetAccess, FaucetState, InvoicePages, PayStreams, Portal, QuoteLimits, clock::Clock,
};
use chain::ChainClient;
use domain::{Deployment, Network, devnet};
use faucet::{Faucet, FaucetSettings};
use hyper::header::HeaderValue;
use merchant::{Checkout, CheckoutPlace, CreditProgress, Dashboards, Invoices, OrderSettings, Orders, Rates};
use store::Db;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use webhooks::{Guard, GuardSettings, SealingKeys, Sender, SenderLimits, SystemResolver, Webhooks};

use crate::rig::{CHAIN_ID, TestClock, deployment};

/// How long a claim waits here; longer than a block takes to be credited.
const CLAIM_WAIT: Duration = Duration::from_secs(2);

pub(crate) fn time(clock: &Arc<TestClock>) -> access::Clock {
    let clock = clock.clone();
    Arc::new(move || clock.now())
}

/// The portal; it may be used from the explorer's origin.
pub(crate) fn portal(
    chain: &Arc<dyn ChainClient>,
    db: &Db,
    clock: &Arc<TestClock>,
    progress: CreditProgress,
    stop: CancellationToken,
) -> Portal {
    let now = time(clock);
    let Deployment { urls, contracts, .. } = deployment();
    let settings = SessionSettings { public_url: urls.explorer.clone(), chain_id: CHAIN_ID };
    let place = CheckoutPlace {
        chain_id: CHAIN_ID,
        contract: contracts.platform_checkout,
        pages: urls.explorer.clone(),
    };
    let peppers = Peppers::new(vec![Pepper::new(1, vec![7; 32]).unwrap()]).unwrap();
    let keys = Arc::new(DeveloperKeys::new(db.clone(), now.clone(), peppers));
    let orders =
        OrderSettings { claim_wait: CLAIM_WAIT, ..OrderSettings::new(CHAIN_ID, contracts.platform_fees) };
    Portal {
        sessions: Arc::new(Sessions::new(db.clone(), chain.clone(), now.clone(), settings)),
        orders: Orders::new(db.clone(), chain.clone(), keys.clone(), progress.clone(), orders, now.clone()),
        keys,
        origins: vec![HeaderValue::try_from(urls.explorer.origin()).unwrap()],
        challenges: Portal::challenge_limits(&Counting::default()),
        invoices: Invoices::new(db.clone(), chain.heads(), now.clone()),
        invoice_pages: InvoicePages::default(),
        checkout: Checkout::new(db.clone(), chain.clone(), place, now.clone()),
        rates: Rates::new(db.clone(), now.clone()),
        dashboards: Dashboards::new(db.clone(), now.clone()),
        quote_limits: QuoteLimits::new(&Counting::default()),
        streams: PayStreams::new(progress, stop),
        webhooks: webhooks(db, now),
    }
}

fn webhooks(db: &Db, clock: access::Clock) -> Webhooks {
    let settings = GuardSettings { allow_private: true, ..GuardSettings::default() };
    let guard = Arc::new(Guard::new(settings, Arc::new(SystemResolver)));
    let sender = Sender::new(guard.clone(), SenderLimits::default());
    let keys = Arc::new(SealingKeys::new([(1, [9; 32])]).unwrap());
    Webhooks::new(db.clone(), guard, sender, keys, clock, Arc::new(Notify::new()))
}

/// The devnet's faucet: by invitation, paying from the tenth development account.
pub(crate) fn faucet(
    chain: &Arc<dyn ChainClient>,
    db: &Db,
    clock: &Arc<TestClock>,
    keyring: Arc<Keyring>,
    stop: CancellationToken,
) -> Edge {
    let network = Network::Devnet;
    let key = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[9].key).unwrap();
    let settings = FaucetSettings::default();
    let (faucet, sender) =
        Faucet::new(network, chain.clone(), db.clone(), key, settings, time(clock)).unwrap();
    tokio::spawn(async move { sender.run(stop).await });
    let state = FaucetState {
        faucet,
        chain: chain.clone(),
        network,
        access: FaucetAccess::Invited { keyring, db: db.clone() },
        clock: clock.clone(),
        started_at: clock.now(),
        version: "0.0.0-test",
    };
    api::faucet(state, EdgeConfig::default())
}
