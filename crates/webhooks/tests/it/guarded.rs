//! The guard where it counts: when a URL is saved, and at every connection.

use std::{
    collections::VecDeque,
    io,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use chainnet_webhooks::{Guard, GuardSettings, Resolve, SenderLimits, UrlRefusal, WebhookError};
use domain::{Failure, portal::DeliveryState};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use store::{engine_tests, testing::TestDb};

use crate::{
    receiver::{Receiver, Reply},
    rig::{Rig, wallet},
};

const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8));

/// Gives one answer after the other, and the last one for ever.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<VecDeque<Vec<IpAddr>>>>);

impl Names {
    fn say(&self, answers: impl IntoIterator<Item = Vec<IpAddr>>) {
        *self.0.lock() = answers.into_iter().collect();
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut answers = self.0.lock();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

fn guarded(test: &TestDb) -> (Rig, Names) {
    let names = Names::default();
    let guard = Guard::new(GuardSettings::default(), Arc::new(names.clone()));
    let limits = SenderLimits { attempt: Duration::from_secs(5), connect: Duration::from_secs(1) };
    (Rig::guarded(test.db(), guard, limits), names)
}

/// An address of every class that is not public.
const INSIDE: &[&str] = &[
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00::1",
    "fe80::1",
    "ff02::1",
];

engine_tests! {
    async fn no_name_is_saved_that_leads_inside(test: TestDb) {
        let (rig, names) = guarded(test);
        let save = async || rig.webhooks.save(wallet(1), "https://shop.example.org/", None).await.unwrap_err();
        for address in INSIDE {
            let address: IpAddr = address.parse().unwrap();
            for answer in [vec![address], vec![PUBLIC, address], vec![address, PUBLIC]] {
                names.say([answer]);
                let error = save().await;
                assert!(matches!(error, WebhookError::UrlBlocked(UrlRefusal::NotGlobal)), "{address}");
                assert_eq!(error.code(), "webhook_url_blocked");
            }
        }
        names.say([vec![]]);
        assert!(matches!(save().await, WebhookError::UrlBlocked(UrlRefusal::NotResolved)));
        names.say([]);
        assert!(matches!(save().await, WebhookError::UrlBlocked(UrlRefusal::NotResolved)));
        names.say([vec![PUBLIC]]);
        assert!(matches!(save().await, WebhookError::FeeUnpaid), "the URL is judged before the fee is asked for");
    }

    async fn a_name_that_changes_its_mind_is_not_connected_to(test: TestDb) {
        let (rig, names) = guarded(test);
        let trap = Receiver::start(Reply::Status(200)).await;
        // The port of a receiver of ours, so that a connection would be seen.
        let port = trap.address.port();
        let guard = GuardSettings { ports: vec![443, port], ..GuardSettings::default() };
        let limits = SenderLimits { attempt: Duration::from_secs(5), connect: Duration::from_secs(1) };
        let rig = Rig::guarded(rig.db.clone(), Guard::new(guard, Arc::new(names.clone())), limits);
        names.say([vec![PUBLIC]]);
        rig.webhook(wallet(1), &format!("https://shop.example.org:{port}/")).await;
        let worker = rig.work();
        for (number, address) in INSIDE.iter().enumerate() {
            let address: IpAddr = address.parse().unwrap();
            names.say([vec![PUBLIC, address]]);
            // Saving again would ask the resolver; only the attempt does.
            let report = rig.webhooks.test(wallet(1)).await;
            let report = match report {
                Ok(report) => report,
                Err(error) => {
                    assert_eq!(error.code(), "rate_limited");
                    rig.advance(60_000);
                    rig.webhooks.test(wallet(1)).await.unwrap()
                }
            };
            let error = report.answer.unwrap_err();
            assert_eq!(error, "the host resolves to an address that is not public", "{number}: {address}");
        }
        let (_, delivery) = rig.pay(wallet(1)).await;
        let row = rig.reaches(wallet(1), delivery, DeliveryState::Pending, 1).await;
        assert_eq!(row.last_error.as_deref(), Some("the host resolves to an address that is not public"));
        assert_eq!(trap.connections(), 0);
        worker.stop().await;
    }

    async fn an_address_that_was_saved_when_it_was_allowed_is_not_sent_to(test: TestDb) {
        let open = Rig::new(test.db());
        let receiver = Receiver::start(Reply::Status(200)).await;
        open.webhook(wallet(1), &receiver.url()).await;
        let secure = receiver.url().replace("http:", "https:");
        open.webhook(wallet(2), &secure).await;
        let (strict, _) = guarded(test);
        for (wallet, expected) in [
            (wallet(1), "the URL must begin with https://"),
            (wallet(2), "the URL's port is not allowed"),
        ] {
            let report = strict.webhooks.test(wallet).await.unwrap();
            assert_eq!(report.answer.unwrap_err(), expected);
        }
        open.webhook(wallet(3), "https://127.0.0.1/").await;
        let report = strict.webhooks.test(wallet(3)).await.unwrap();
        assert_eq!(report.answer.unwrap_err(), "the host must be a DNS name, not an address");
        assert_eq!(receiver.connections(), 0);
    }
}
