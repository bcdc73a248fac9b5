//! What is done with a webhook: saving its URL, testing it, changing its secret.

use std::{sync::Arc, time::Duration};

use axum::{body::Bytes, extract::State};
use merchant::WebhookFee;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::time::{Instant, sleep, timeout};
use webhooks::{SavedWebhook, UrlRefusal, WebhookError};

use super::{
    Member, portal, refused,
    secret::{SecretOf, reveal},
    webhook::{Said, Wanted, WebhookWords, render},
};
use crate::{
    failure::{Failure, Malformed},
    fields::Fields,
    page::{Shown, go_to},
    site::Site,
    visit::Visit,
    words::Language,
};

/// How long a payment that was made is waited for, and how often is looked.
const PAYMENT_WAIT: Duration = Duration::from_secs(8);
const PAYMENT_LOOK: Duration = Duration::from_millis(200);
/// How long a page waits for a test; it goes on without one who looks.
const TEST_WAIT: Duration = Duration::from_secs(8);
/// How long both secrets sign after a change.
const OVERLAP: Duration = Duration::from_secs(24 * 3_600);

/// `POST /developers/webhook`: with `action` one of `save`, `test` and `rotate`.
pub(crate) async fn change(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    body: Bytes,
) -> Shown {
    let fields = Fields::read(&body);
    match fields.text("action") {
        "" | "save" => save(&site, &visit, &member, &fields).await,
        "test" => test(&site, &visit, &member).await,
        "rotate" => {
            let rotated = portal(&site)?.webhooks.rotate(member.wallet(), OVERLAP, member.origin()).await;
            let rotated = rotated.map_err(refused)?;
            reveal(&site, &visit, &member, SecretOf::NextWebhook, rotated.secret.as_str())
        }
        _ => Err(Failure::Malformed(Malformed::Parameter("action"))),
    }
}

async fn save(site: &Site, visit: &Visit, member: &Member, fields: &Fields) -> Shown {
    let url = fields.text("url");
    // A script has just seen the payment in a block; it is credited in a moment.
    let deadline = fields.filled("tx").map(|_| Instant::now() + PAYMENT_WAIT);
    let saved = loop {
        match portal(site)?.webhooks.save(member.wallet(), url, member.origin()).await {
            Err(WebhookError::FeeUnpaid) if deadline.is_some_and(|end| Instant::now() < end) => {
                sleep(PAYMENT_LOOK).await;
            }
            saved => break saved,
        }
    };
    match saved {
        Ok(SavedWebhook { secret: Some(secret), .. }) => {
            reveal(site, visit, member, SecretOf::Webhook, secret.as_str())
        }
        Ok(SavedWebhook { secret: None, .. }) => Ok(go_to("/developers/webhook")),
        Err(WebhookError::FeeUnpaid) => match portal(site)?.orders.webhook_fee(member.wallet()).await {
            Ok(WebhookFee::Unpaid(order)) => {
                let url = utf8_percent_encode(url, NON_ALPHANUMERIC);
                Ok(go_to(&format!("/developers/orders/{}?url={url}", order.row.id)))
            }
            // It was paid in between.
            Ok(WebhookFee::Paid(order)) => Ok(go_to(&format!("/developers/orders/{order}"))),
            Err(error) => Err(refused(error)),
        },
        Err(WebhookError::UrlBlocked(refusal)) => {
            let said =
                Said { url: Some(url.to_owned()), error: Some(blocked(refusal, visit.language)), note: None };
            render(site, visit, member, Wanted::default(), said).await
        }
        Err(error) => Err(refused(error)),
    }
}

/// Sends a test and leads to what came of it.
async fn test(site: &Site, visit: &Visit, member: &Member) -> Shown {
    let (webhooks, wallet) = (portal(site)?.webhooks.clone(), member.wallet());
    let testing = tokio::spawn(async move { webhooks.test(wallet).await });
    match timeout(TEST_WAIT, testing).await {
        Ok(Ok(Ok(report))) => Ok(go_to(&format!("/developers/webhook/deliveries/{}", report.delivery_id))),
        Ok(Ok(Err(WebhookError::Limited { .. }))) => {
            let note = Some(WebhookWords::of(visit.language).test_many);
            render(site, visit, member, Wanted::default(), Said { note, ..Said::default() }).await
        }
        Ok(Ok(Err(error))) => Err(refused(error)),
        Ok(Err(stopped)) => Err(Failure::Internal(stopped.to_string())),
        Err(_elapsed) => Ok(go_to("/developers/webhook?test=slow")),
    }
}

/// Why a URL is not sent to.
const fn blocked(refusal: UrlRefusal, language: Language) -> &'static str {
    match refusal {
        UrlRefusal::TooLong => {
            language.choose("it is longer than 2048 characters.", "lebih dari 2048 karakter.")
        }
        UrlRefusal::NotUrl => language.choose("this is not a URL.", "ini bukan URL."),
        UrlRefusal::Scheme => language.choose("it must begin with https://.", "harus diawali https://."),
        UrlRefusal::UserInfo => language.choose(
            "it must not carry a user name or a password.",
            "tidak boleh memuat nama pengguna atau kata sandi.",
        ),
        UrlRefusal::Fragment => {
            language.choose("it must not have a fragment (#…).", "tidak boleh memuat fragmen (#…).")
        }
        UrlRefusal::Port => language.choose("its port is not allowed.", "portnya tidak diizinkan."),
        UrlRefusal::AddressLiteral => language
            .choose("the host must be a name, not an address.", "host harus berupa nama, bukan alamat."),
        UrlRefusal::NotPublicName => language.choose(
            "the host must be a public name with a dot.",
            "host harus berupa nama publik dengan titik.",
        ),
        UrlRefusal::OwnHost => {
            language.choose("the host is one of our own.", "host tersebut milik kami sendiri.")
        }
        UrlRefusal::NotResolved => language.choose("the host has no address.", "host tidak memiliki alamat."),
        UrlRefusal::NotGlobal => language.choose(
            "the host leads to an address that is not public.",
            "host mengarah ke alamat yang tidak publik.",
        ),
    }
}
