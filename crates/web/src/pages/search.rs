//! The search: straight to the page when a text means one thing, a list when it may mean several, and what is wrong with it
//! when it means nothing.

use std::sync::Arc;

use alloy_primitives::Address;
use api::{
    BlockName, find_block, find_hash,
    search::{Found, LONGEST, search},
};
use askama::Template;
use axum::extract::State;
use domain::address::NotAnAddress;

use crate::{
    failure::{Failure, Malformed, Missing},
    frame::{Frame, Section},
    page::{Shown, go_to, show as show_page},
    parts::{AddressLink, BlockLink, TransactionLink},
    segment::repeated,
    site::Site,
    visit::Visit,
};

words! {
    SearchWords {
        title: "Search", "Pencarian";
        about: "This may mean several things:", "Ini dapat berarti beberapa hal:";
        hint: "Enter a block number, a transaction or block hash, an address, or part of a validator's name in the field above.", "Masukkan nomor blok, hash transaksi atau blok, alamat, atau bagian dari nama validator di kolom di atas.";
        block: "Block", "Blok";
        transaction: "Transaction", "Transaksi";
        account: "Account", "Akun";
        validator: "Validator", "Validator";
    }
}

#[derive(Template)]
#[template(path = "search.html")]
struct Page {
    frame: Frame,
    w: &'static SearchWords,
    lines: Vec<Line>,
}

struct Line {
    kind: &'static str,
    link: String,
    /// What leads there, already markup.
    detail: String,
}

/// `GET /search?q=`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let w = SearchWords::of(visit.language);
    let frame = Frame::new(&site, &visit, Section::Elsewhere, w.title);
    let Some(text) = visit.parameter("q") else {
        return show_page(&Page { frame, w, lines: Vec::new() });
    };
    if text.chars().count() > LONGEST {
        return Err(Failure::Malformed(Malformed::Parameter("q")));
    }
    // Wallets and files write hashes and addresses in many ways.
    let text = text.replace([',', '\u{202f}', '\u{a0}'], "");
    let head = site.last_head().map_or(0, |head| head.number());
    let found = search(&site.api, &text, head).await?;
    match &found[..] {
        [] => Err(nothing(&text, head)),
        [one] => Ok(go_to(&place(one))),
        several => {
            let lines = several.iter().map(|found| line(&site, found, w)).collect();
            show_page(&Page { frame, w, lines })
        }
    }
}

/// The page of what was found.
fn place(found: &Found) -> String {
    match found {
        Found::Block(number) => format!("/block/{number}"),
        Found::Transaction(hash) => format!("/tx/{hash}"),
        Found::Account(address) => format!("/address/{}", address.to_checksum(None)),
        Found::Validator(record) => format!("/validators/{}", record.address().to_checksum(None)),
    }
}

fn line(site: &Site, found: &Found, w: &SearchWords) -> Line {
    let full = |address: Address| AddressLink::new(address, None).full().pictured();
    let (kind, detail) = match found {
        Found::Block(number) => (w.block, BlockLink(*number).to_string()),
        Found::Transaction(hash) => (w.transaction, TransactionLink(*hash).to_string()),
        Found::Account(address) => (w.account, site.address_link(*address).pictured().to_string()),
        Found::Validator(record) => {
            let name = Some(record.moniker.clone()).filter(|name| !name.is_empty());
            let link = AddressLink { name, ..full(record.address()) }.of_validator();
            (w.validator, link.to_string())
        }
    };
    Line { kind, link: place(found), detail }
}

/// Why nothing was found.
fn nothing(text: &str, head: u64) -> Failure {
    if find_hash(text).is_some() {
        return Failure::Missing(Missing::Transaction);
    }
    if let Some(BlockName::Number(number)) = find_block(text) {
        return Failure::Missing(Missing::FutureBlock { number, head });
    }
    let Some(digits) = text.strip_prefix("0x") else { return Failure::Missing(Missing::Anything) };
    let text = repeated(text);
    Failure::Malformed(match domain::parse_address(&text) {
        Err(NotAnAddress::Checksum) => Malformed::Checksum(text),
        // Whichever it is nearer to.
        _ if digits.len() <= 48 => Malformed::Address(text),
        _ => Malformed::Hash(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_nothing_is_told_apart() {
        let hash = format!("0x{}", "ab".repeat(32));
        assert!(matches!(nothing(&hash, 9), Failure::Missing(Missing::Transaction)));
        assert!(matches!(nothing("12", 9), Failure::Missing(Missing::FutureBlock { number: 12, head: 9 })));
        assert!(matches!(nothing("kopi", 9), Failure::Missing(Missing::Anything)));
        assert!(matches!(nothing(&hash[..65], 9), Failure::Malformed(Malformed::Hash(_))));
        assert!(matches!(nothing(&hash[..41], 9), Failure::Malformed(Malformed::Address(_))));
        let typo = "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
        assert!(matches!(nothing(typo, 9), Failure::Malformed(Malformed::Checksum(_))));
    }
}
