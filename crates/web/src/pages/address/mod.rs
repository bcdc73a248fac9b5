//! An address: what it has, what it is, and its history.

pub(crate) mod csv;

use std::sync::Arc;

use alloy_primitives::{Address, hex, keccak256};
use askama::Template;
use axum::extract::State;
use chain::{Account, At};
use domain::address::NotAnAddress;

use super::transaction_table::{Kind, ROWS, TableWords, Tables, TransactionTable, before, next_page};
use crate::{
    decode,
    failure::{Failure, Malformed},
    format::{Number, bytes, coin},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Identicon, Mono},
    segment::{Segment, repeated},
    site::Site,
    visit::Visit,
};

/// Bytes of code that are shown.
const LONGEST_CODE: usize = 4_096;

words! {
    AddressWords {
        account: "Account", "Akun";
        contract: "Contract", "Kontrak";
        address: "Address", "Alamat";
        balance: "Balance", "Saldo";
        sent: "Transactions sent", "Transaksi terkirim";
        kind: "Kind", "Jenis";
        an_account: "account of a person or service, moved by a key", "akun orang atau layanan, digerakkan dengan kunci";
        a_contract: "contract, moved by its code", "kontrak, digerakkan oleh kodenya";
        known_as: "Known as", "Dikenal sebagai";
        validator: "Validator", "Validator";
        unknown: "unknown while no node answers", "tidak diketahui selama tidak ada node yang menjawab";
        history: "History", "Riwayat";
        history_caption: "Transactions that this address sent, received or was created by", "Transaksi yang dikirim, diterima, atau membuat alamat ini";
        download: "Download as CSV", "Unduh sebagai CSV";
        empty: "This address has no transactions. Coin that contracts pay out is not listed here, but is in the balance.", "Alamat ini belum memiliki transaksi. Koin yang dibayarkan kontrak tidak tercantum di sini, tetapi masuk dalam saldo.";
        none_older: "There is nothing older.", "Tidak ada yang lebih lama.";
        code: "Code", "Kode";
        code_hash: "Code hash", "Hash kode";
        code_cut: "The rest is left out.", "Sisanya tidak ditampilkan.";
        interface: "Functions and events", "Fungsi dan peristiwa";
    }
}

#[derive(Template)]
#[template(path = "address.html")]
struct Page {
    frame: Frame,
    w: &'static AddressWords,
    t: &'static TableWords,
    picture: Identicon,
    address: String,
    shown: Mono,
    facts: Option<Facts>,
    label: Option<String>,
    validator: Option<AddressLink>,
    validator_standing: &'static str,
    table: TransactionTable,
    is_newest: bool,
    next: Option<String>,
    interface: Option<Interface>,
}

/// What only a node knows.
struct Facts {
    balance: String,
    nonce: Number,
    code: Option<Code>,
}

struct Code {
    size: String,
    hash: Mono,
    text: String,
    is_cut: bool,
}

struct Interface {
    functions: Vec<String>,
    events: Vec<String>,
}

/// Reads an address of a path.
pub(crate) fn parse(text: &str) -> Result<Address, Failure> {
    domain::parse_address(text).map_err(|error| {
        let text = repeated(text);
        Failure::Malformed(match error {
            NotAnAddress::Form => Malformed::Address(text),
            NotAnAddress::Checksum => Malformed::Checksum(text),
        })
    })
}

/// `GET /address/{address}`.
pub(crate) async fn show(State(site): State<Arc<Site>>, Segment(text): Segment, visit: Visit) -> Shown {
    let w = AddressWords::of(visit.language);
    let address = parse(&text)?;
    let before = before(&visit)?;
    let most = u32::try_from(ROWS + 1).unwrap_or(u32::MAX);
    let mut rows = site.api.db.list_account_transactions(address, before, most).await?;
    let next = next_page(&mut rows);
    // The history is there even if no node is.
    let account = site.api.chain.account(address, At::Head).await.ok();
    let facts = account.as_ref().map(facts);
    let board = site.api.boards.borrow().clone();
    let record = board.as_ref().and_then(|board| board.find(address));
    let label = site.api.label(address);
    let is_contract = facts.as_ref().is_some_and(|facts| facts.code.is_some());
    let tables = Tables {
        site: &site,
        language: visit.language,
        kind: Kind::Of(address),
        caption: w.history_caption,
        empty: if before.is_none() { w.empty } else { w.none_older },
    };
    let title = if is_contract { w.contract } else { w.account };
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Chain, title),
        w,
        t: TableWords::of(visit.language),
        picture: Identicon(address),
        address: address.to_checksum(None),
        shown: Mono(address.to_checksum(None)),
        facts,
        interface: label
            .as_deref()
            .and_then(decode::interface)
            .map(|interface| Interface { functions: interface.functions(), events: interface.events() }),
        label,
        validator: record.map(|record| {
            let name = Some(record.moniker.clone()).filter(|name| !name.is_empty());
            AddressLink::new(record.address(), name).of_validator()
        }),
        validator_standing: record.map_or("", |record| record.standing.name()),
        table: tables.of_rows(&rows),
        is_newest: before.is_none(),
        next,
    })
}

fn facts(account: &Account) -> Facts {
    Facts {
        balance: coin(account.balance),
        nonce: Number(account.nonce),
        code: (!account.code.is_empty()).then(|| Code {
            size: bytes(account.code.len() as u64),
            hash: Mono(keccak256(&account.code).to_string()),
            text: hex::encode_prefixed(account.code.get(..LONGEST_CODE).unwrap_or(&account.code)),
            is_cut: account.code.len() > LONGEST_CODE,
        }),
    }
}
