//! Saving a URL and changing the secret.

use std::time::Duration;

use chainnet_webhooks::WebhookError;
use domain::{Failure, portal::DeliveryState};
use store::engine_tests;

use crate::{
    receiver::{Got, Receiver, Reply},
    rig::{HOUR, Rig, wallet},
};

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn signatures(got: &Got) -> (String, String, usize) {
    let standard = got.header("webhook-signature");
    let count = standard.split(' ').filter(|one| one.starts_with("v1,")).count();
    (got.header("x-platform-signature"), got.header("x-platform-signature-next"), count)
}

engine_tests! {
    async fn the_first_url_takes_a_paid_fee_and_later_ones_are_free(test: TestDb) {
        let rig = Rig::new(test.db());
        let save = async |url: &str| rig.webhooks.save(wallet(1), url, Some("203.0.113.0/24".into())).await;
        assert!(matches!(save("http://127.0.0.1:1/a").await, Err(WebhookError::FeeUnpaid)));
        assert_eq!(rig.webhooks.find(wallet(1)).await.unwrap(), None);
        rig.pay_fee(wallet(1)).await;
        let first = save("http://127.0.0.1:1/a").await.unwrap();
        assert!(first.secret.is_some_and(|secret| secret.as_str().starts_with("whsec_")));
        let orders = rig.db.list_orders(wallet(1), None, 10).await.unwrap();
        assert_eq!((orders.len(), orders[0].state.name()), (1, "claimed"));
        let second = save("http://127.0.0.1:1/b").await.unwrap();
        assert!(second.secret.is_none());
        assert_eq!(second.webhook.url, "http://127.0.0.1:1/b");
        assert_eq!(second.webhook.secrets, first.webhook.secrets, "the secret stays");
        let entries = rig.db.list_audit(wallet(1), 10).await.unwrap();
        assert_eq!(entries.len(), 2);
        assert!(entries.iter().all(|entry| entry.action.name() == "webhook.saved" && entry.target == "127.0.0.1"));
    }

    async fn of_rivals_that_save_the_first_url_one_takes_the_fee(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.pay_fee(wallet(1)).await;
        let saving: Vec<_> = (0..8)
            .map(|number| {
                let webhooks = rig.webhooks.clone();
                tokio::spawn(async move {
                    let url = format!("http://127.0.0.1:1/{number}");
                    webhooks.save(wallet(1), &url, None).await.is_ok_and(|saved| saved.secret.is_some())
                })
            })
            .collect();
        let mut first = 0;
        for saved in saving {
            first += u32::from(saved.await.unwrap());
        }
        assert_eq!(first, 1, "the secret is shown once");
    }

    async fn during_a_rotation_both_secrets_sign_and_then_the_new_one_alone(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        let worker = rig.work();
        let mut sent = 0;
        let mut send = async || {
            let (_, delivery) = rig.pay(wallet(1)).await;
            rig.reaches(wallet(1), delivery, DeliveryState::Delivered, 1).await;
            sent += 1;
            signatures(&receiver.got()[sent - 1])
        };
        let (_, next, count) = send().await;
        assert_eq!((next.as_str(), count), ("", 1));

        let forgotten = rig.webhooks.rotate(wallet(1), DAY, None).await.unwrap();
        let rotated = rig.webhooks.rotate(wallet(1), DAY, None).await.unwrap();
        assert_ne!(rotated.secret, forgotten.secret);
        let (_, next, count) = send().await;
        assert_eq!(count, 2);
        let body = receiver.got()[1].body.clone();
        assert_eq!(next, chainnet_webhooks::platform_signature(&rotated.secret, &body));

        rig.advance(24 * HOUR);
        let (signature, next, count) = send().await;
        assert_eq!((next.as_str(), count), ("", 1));
        let body = receiver.got()[2].body.clone();
        assert_eq!(signature, chainnet_webhooks::platform_signature(&rotated.secret, &body));

        // The one that has taken over signs on during the next overlap, and without one the new one signs at once.
        rig.webhooks.rotate(wallet(1), DAY, None).await.unwrap();
        let (signature, _, count) = send().await;
        let body = receiver.got()[3].body.clone();
        assert_eq!((signature, count), (chainnet_webhooks::platform_signature(&rotated.secret, &body), 2));
        let at_once = rig.webhooks.rotate(wallet(1), Duration::ZERO, None).await.unwrap();
        let (signature, _, count) = send().await;
        let body = receiver.got()[4].body.clone();
        assert_eq!((signature, count), (chainnet_webhooks::platform_signature(&at_once.secret, &body), 1));
        worker.stop().await;
    }

    async fn without_a_webhook_there_is_nothing_to_change(test: TestDb) {
        let rig = Rig::new(test.db());
        let rotated = rig.webhooks.rotate(wallet(1), DAY, None).await.unwrap_err();
        let tested = rig.webhooks.test(wallet(1)).await.unwrap_err();
        for error in [rotated, tested] {
            assert_eq!(error.code(), "webhook_not_configured");
        }
    }
}
