//! States and times of the portal as people read them.

use std::fmt::{self, Display};

use askama::filters::HtmlSafe;
use domain::portal::{
    DeliveryState, InvoiceState, KeyState, OrderState, PaymentException, PaymentPurpose, Plan, Rate, Scope,
    WebhookState,
};

use crate::{
    format::{grouped, span, utc},
    parts::Ago,
    site::Site,
    words::Language,
};

/// A word in a coloured box; the word says what the colour says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag {
    pub(crate) tone: &'static str,
    pub(crate) text: &'static str,
}

impl Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<span class=\"tag {}\">{}</span>", self.tone, self.text)
    }
}

impl HtmlSafe for Tag {}

/// A time to come: how far away it is, and in its title exactly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Until {
    at: u64,
    now: u64,
    language: Language,
}

impl Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = span(self.at.saturating_sub(self.now), self.language);
        let text = match (self.at > self.now, self.language) {
            (true, Language::English) => format!("in {span}"),
            (true, Language::Indonesian) => format!("{span} lagi"),
            (false, _) => utc(self.at),
        };
        write!(f, "<time title=\"{}\">{text}</time>", utc(self.at))
    }
}

impl HtmlSafe for Until {}

/// A time in Unix milliseconds that has passed.
pub(crate) fn ago(site: &Site, millis: u64, language: Language) -> Ago {
    Ago { at: millis / 1_000, now: site.now(), language }
}

/// A time in Unix milliseconds that is to come.
pub(crate) fn until(site: &Site, millis: u64, language: Language) -> Until {
    Until { at: millis / 1_000, now: site.now(), language }
}

/// A plan's name.
pub(crate) const fn plan(plan: Plan, language: Language) -> &'static str {
    match plan {
        Plan::Monthly => language.choose("Monthly", "Bulanan"),
        Plan::Quarterly => language.choose("Three months", "Tiga bulan"),
        Plan::Yearly => language.choose("Yearly", "Tahunan"),
    }
}

/// What a scope allows.
pub(crate) const fn scope(scope: Scope, language: Language) -> &'static str {
    match scope {
        Scope::DashboardRead => language.choose("read the dashboard", "membaca dasbor"),
        Scope::InvoicesRead => language.choose("read invoices", "membaca tagihan"),
        Scope::InvoicesWrite => language.choose("make and void invoices", "membuat dan membatalkan tagihan"),
    }
}

/// Whether a key is good.
pub(crate) const fn key(state: KeyState, language: Language) -> Tag {
    match state {
        KeyState::Active => Tag { tone: "good", text: language.choose("active", "aktif") },
        KeyState::Expired => Tag { tone: "", text: language.choose("expired", "kedaluwarsa") },
        KeyState::Revoked => Tag { tone: "bad", text: language.choose("revoked", "dicabut") },
    }
}

/// Where an order stands.
pub(crate) const fn order(state: OrderState, language: Language) -> Tag {
    match state {
        OrderState::AwaitingPayment => {
            Tag { tone: "warn", text: language.choose("waits for payment", "menunggu pembayaran") }
        }
        OrderState::Paid => {
            Tag { tone: "good", text: language.choose("paid, to be claimed", "lunas, belum diambil") }
        }
        OrderState::PaidWaiting => Tag {
            tone: "warn",
            text: language.choose("paid late, waits for a slot", "dibayar terlambat, menunggu slot"),
        },
        OrderState::Claimed => Tag { tone: "good", text: language.choose("done", "selesai") },
        OrderState::Expired => {
            Tag { tone: "", text: language.choose("not paid in time", "tidak dibayar tepat waktu") }
        }
        OrderState::Cancelled => Tag { tone: "", text: language.choose("cancelled", "dibatalkan") },
    }
}

/// Where an invoice stands.
pub(crate) const fn invoice(state: InvoiceState, language: Language) -> Tag {
    match state {
        InvoiceState::Open => Tag { tone: "warn", text: language.choose("open", "terbuka") },
        InvoiceState::Paid => Tag { tone: "good", text: language.choose("paid", "lunas") },
        InvoiceState::Expired => Tag { tone: "", text: language.choose("expired", "kedaluwarsa") },
        InvoiceState::Void => Tag { tone: "bad", text: language.choose("void", "dibatalkan") },
    }
}

/// Where a delivery stands.
pub(crate) const fn delivery(state: DeliveryState, language: Language) -> Tag {
    match state {
        DeliveryState::Pending => Tag { tone: "warn", text: language.choose("pending", "menunggu") },
        DeliveryState::Delivered => Tag { tone: "good", text: language.choose("delivered", "terkirim") },
        DeliveryState::Exhausted => Tag { tone: "bad", text: language.choose("given up", "gagal") },
    }
}

/// Whether a webhook is sent to.
pub(crate) const fn webhook(state: WebhookState, language: Language) -> Tag {
    match state {
        WebhookState::Active => Tag { tone: "good", text: language.choose("active", "aktif") },
        WebhookState::Disabled => Tag { tone: "bad", text: language.choose("disabled", "nonaktif") },
    }
}

/// What a payment was for.
pub(crate) const fn purpose(purpose: PaymentPurpose, language: Language) -> &'static str {
    match purpose {
        PaymentPurpose::Invoice => language.choose("Invoice", "Tagihan"),
        PaymentPurpose::ApiKey => language.choose("Key", "Kunci"),
        PaymentPurpose::Webhook => language.choose("Webhook", "Webhook"),
        PaymentPurpose::Unmatched => language.choose("Unknown", "Tidak diketahui"),
    }
}

/// What is odd about a payment, if anything is.
pub(crate) const fn exception(exception: PaymentException, language: Language) -> Option<Tag> {
    let (tone, text) = match exception {
        PaymentException::None => return None,
        PaymentException::Underpaid => ("bad", language.choose("too little", "kurang bayar")),
        PaymentException::Overpaid => ("warn", language.choose("too much", "lebih bayar")),
        PaymentException::PaidLate => ("warn", language.choose("late", "terlambat")),
        PaymentException::Duplicate => ("bad", language.choose("paid twice", "dibayar dua kali")),
        PaymentException::Unmatched => ("bad", language.choose("no such order", "tanpa pesanan")),
    };
    Some(Tag { tone, text })
}

/// What a coin costs, as Indonesia writes it: `Rp 1.000,5`.
pub(crate) fn rate(rate: Rate) -> String {
    let text = rate.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let whole = grouped(whole).replace('\u{202f}', ".");
    let comma = if rest.is_empty() { "" } else { "," };
    format!("Rp\u{a0}{whole}{comma}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_written_as_in_indonesia() {
        for (given, expected) in
            [("1000", "Rp\u{a0}1.000"), ("1250000.5", "Rp\u{a0}1.250.000,5"), ("0.25", "Rp\u{a0}0,25")]
        {
            assert_eq!(rate(given.parse().unwrap()), expected);
        }
    }

    #[test]
    fn a_time_to_come_is_told_in_both_languages() {
        let until = |language| Until { at: 10_000, now: 2_800, language }.to_string();
        assert!(until(Language::English).contains(">in 2\u{a0}h<"));
        assert!(until(Language::Indonesian).contains(">2\u{a0}jam lagi<"));
        let past = Until { at: 5, now: 9, language: Language::English }.to_string();
        assert!(past.contains(">1970-01-01 00:00:05 UTC<"), "{past}");
    }
}
