//! A secret, shown once.

use askama::Template;

use super::{Member, Tabs, show};
use crate::{
    frame::{Frame, Section},
    page::Shown,
    site::Site,
    visit::Visit,
};

words! {
    SecretWords {
        once: "This is shown once. Store it now, where only your server can read it; we keep nothing that it could be made from again.", "Ini hanya ditampilkan sekali. Simpan sekarang di tempat yang hanya dapat dibaca server Anda; kami tidak menyimpan apa pun yang dapat membuatnya kembali.";
        key_title: "Your key", "Kunci Anda";
        key_use: "Send it as the header X-Platform-Dev-Key.", "Kirim sebagai header X-Platform-Dev-Key.";
        webhook_title: "The secret of your webhook", "Rahasia webhook Anda";
        webhook_use: "Check the header X-Platform-Signature with it: the HMAC-SHA256 of the raw body.", "Gunakan untuk memeriksa header X-Platform-Signature: HMAC-SHA256 dari isi mentah.";
        next_title: "The next secret of your webhook", "Rahasia webhook Anda berikutnya";
        next_use: "Until it takes over, X-Platform-Signature-Next is made with it, and X-Platform-Signature with the old one.", "Sampai mulai berlaku, X-Platform-Signature-Next dibuat dengannya, dan X-Platform-Signature dengan yang lama.";
        copy: "Copy", "Salin";
        stored: "I have stored it", "Sudah saya simpan";
    }
}

/// What a secret is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretOf {
    /// A developer key.
    Key,
    /// A webhook that was saved for the first time.
    Webhook,
    /// A webhook, from some time on.
    NextWebhook,
}

#[derive(Template)]
#[template(path = "developers_secret.html")]
struct Page<'a> {
    frame: Frame,
    w: &'static SecretWords,
    tabs: Tabs,
    title: &'static str,
    usage: &'static str,
    id: &'static str,
    secret: &'a str,
    back: &'static str,
}

/// The page with a secret.
pub(crate) fn reveal(site: &Site, visit: &Visit, member: &Member, of: SecretOf, secret: &str) -> Shown {
    let w = SecretWords::of(visit.language);
    let (title, usage, id, tab, back) = match of {
        SecretOf::Key => (w.key_title, w.key_use, "key-secret", "keys", "/developers/keys"),
        SecretOf::Webhook => {
            (w.webhook_title, w.webhook_use, "webhook-secret", "webhook", "/developers/webhook")
        }
        SecretOf::NextWebhook => {
            (w.next_title, w.next_use, "webhook-secret", "webhook", "/developers/webhook")
        }
    };
    let frame = Frame::new(site, visit, Section::Developers, title);
    show(&Page { frame, w, tabs: Tabs::new(tab, member, visit.language), title, usage, id, secret, back })
}
