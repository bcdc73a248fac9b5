//! A transaction: what became of it, what it moved, what it cost, and what it said in the words of the contracts it called.

mod fee;
mod said;

use std::sync::Arc;

use alloy_consensus::{Transaction as _, Typed2718};
use alloy_primitives::{B256, U256};
use api::find_hash;
use askama::Template;
use axum::extract::State;
use chain::{Block, FoundTransaction, Receipt, Transaction};

use self::{
    fee::Fee,
    said::{Events, Names, Refusal, Said},
};
use crate::{
    failure::{Failure, Malformed, Missing},
    format::{Number, coin, gwei, percent, utc},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Ago, BlockLink, Mono},
    segment::{Segment, repeated},
    site::Site,
    visit::Visit,
};

words! {
    /// Words of a transaction's page.
    TransactionWords {
        title: "Transaction", "Transaksi";
        hash: "Hash", "Hash";
        status: "Status", "Status";
        success: "Success", "Berhasil";
        failed: "Failed", "Gagal";
        pending: "Waiting for a block", "Menunggu blok";
        pending_hint: "Blocks come every few seconds. This page shows the result as soon as there is one.", "Blok muncul setiap beberapa detik. Halaman ini menampilkan hasilnya begitu ada.";
        reason: "Reason", "Alasan";
        no_reason: "The contract gave no reason. It may have run out of gas.", "Kontrak tidak memberi alasan. Mungkin gasnya habis.";
        block: "Block", "Blok";
        position: "position", "posisi";
        time: "Time", "Waktu";
        from: "From", "Dari";
        to: "To", "Ke";
        created: "Created contract", "Kontrak yang dibuat";
        not_created: "a new contract, which was not created", "kontrak baru, yang tidak jadi dibuat";
        will_create: "a new contract", "kontrak baru";
        contract: "contract", "kontrak";
        value: "Value", "Nilai";
        fee: "Fee", "Biaya";
        fee_none_yet: "at most", "paling banyak";
        gas_used: "gas used", "gas terpakai";
        burned: "burned as base fee", "dibakar sebagai biaya dasar";
        to_proposer: "to the proposer", "untuk pengusul";
        gas: "Gas used", "Gas terpakai";
        gas_limit: "Gas limit", "Batas gas";
        gas_price: "Gas price", "Harga gas";
        offered: "offered at most", "penawaran tertinggi";
        nonce: "Nonce", "Nonce";
        nonce_hint: "transactions that the sender had sent before", "transaksi yang telah dikirim pengirim sebelumnya";
        kind: "Type", "Jenis";
        legacy: "legacy", "lama";
        access_list: "access list (EIP-2930)", "daftar akses (EIP-2930)";
        dynamic_fee: "dynamic fee (EIP-1559)", "biaya dinamis (EIP-1559)";
        other_kind: "other", "lainnya";
        input: "Input", "Masukan";
        calls: "Calls", "Memanggil";
        parameter: "Parameter", "Parameter";
        type_of: "Type", "Tipe";
        raw: "As hexadecimal", "Dalam heksadesimal";
        raw_code: "Creation code as hexadecimal", "Kode pembuatan dalam heksadesimal";
        unknown_function: "The function is not one that we know.", "Fungsi ini tidak kami kenal.";
        no_input: "None: coin was sent, nothing was called", "Tidak ada: hanya mengirim koin, tidak memanggil apa pun";
        cut: "The rest is left out here; the API has all of it:", "Sisanya tidak ditampilkan di sini; API memuat semuanya:";
        events: "Events", "Peristiwa";
        no_events: "It emitted no events.", "Tidak ada peristiwa yang dicatat.";
        topics: "Topics", "Topik";
        data: "Data", "Data";
        next_events: "More events", "Peristiwa lainnya";
        first_events: "First events", "Peristiwa pertama";
    }
}

#[derive(Template)]
#[template(path = "transaction.html")]
struct Page {
    frame: Frame,
    w: &'static TransactionWords,
    hash: Mono,
    link: B256,
    outcome: Outcome,
    from: AddressLink,
    to: Option<AddressLink>,
    is_to_contract: bool,
    created: Option<AddressLink>,
    value: String,
    fee: Fee,
    gas_limit: Number,
    offered: String,
    nonce: Number,
    kind_number: u8,
    kind: &'static str,
    said: Said,
    events: Option<Events>,
}

/// What became of it.
struct Outcome {
    /// None while it waits.
    mined: Option<Mined>,
    is_failed: bool,
    refusal: Option<Refusal>,
}

struct Mined {
    block: BlockLink,
    position: usize,
    time: String,
    ago: Ago,
    gas_used: Number,
    gas_percent: String,
}

/// `GET /tx/{hash}`.
pub(crate) async fn show(State(site): State<Arc<Site>>, Segment(text): Segment, visit: Visit) -> Shown {
    let hash = find_hash(&text).ok_or_else(|| Failure::Malformed(Malformed::Hash(repeated(&text))))?;
    let found = site.api.chain.transaction(hash).await?;
    match found.ok_or(Failure::Missing(Missing::Transaction))? {
        FoundTransaction::Pending(transaction) => page(&site, &visit, &transaction, None),
        FoundTransaction::Mined { block, index } => {
            let receipts = site.api.chain.receipts(&block).await?;
            let both = block.transactions.get(index).zip(receipts.get(index));
            let (transaction, receipt) = both.ok_or(Failure::Missing(Missing::Transaction))?;
            page(&site, &visit, transaction, Some(&Place { block: &block, index, receipt }))
        }
    }
}

/// Where a transaction is.
struct Place<'a> {
    block: &'a Block,
    index: usize,
    receipt: &'a Receipt,
}

fn page(site: &Site, visit: &Visit, transaction: &Transaction, place: Option<&Place<'_>>) -> Shown {
    let w = TransactionWords::of(visit.language);
    let names = Names(site);
    let receipt = place.map(|place| place.receipt);
    let events = receipt.map(|receipt| Events::of(&receipt.logs, first_event(visit)?, &names));
    let to_name = transaction.to().and_then(|to| site.api.label(to));
    show_page(&Page {
        frame: Frame::new(site, visit, Section::Chain, w.title),
        w,
        hash: Mono(transaction.tx_hash().to_string()),
        link: *transaction.tx_hash(),
        outcome: outcome(site, visit, transaction, place),
        from: site.address_link(transaction.signer()).full().pictured(),
        to: transaction.to().map(|to| site.address_link(to).full().pictured()),
        is_to_contract: to_name.is_some() || receipt.is_some_and(|receipt| !receipt.logs.is_empty()),
        // Receipts name the address even if nothing came to be there.
        created: receipt
            .filter(|receipt| receipt.success)
            .and_then(|receipt| receipt.contract_address)
            .map(|created| site.address_link(created).full().pictured()),
        value: coin(transaction.value()),
        fee: Fee::of(transaction, place.map(|place| (place.block, place.receipt))),
        gas_limit: Number(transaction.gas_limit()),
        offered: gwei(U256::from(transaction.max_fee_per_gas())),
        nonce: Number(transaction.nonce()),
        kind_number: transaction.ty(),
        kind: match transaction.ty() {
            0 => w.legacy,
            1 => w.access_list,
            2 => w.dynamic_fee,
            _ => w.other_kind,
        },
        said: Said::of(transaction, to_name.as_deref(), &names),
        events: events.transpose()?,
    })
}

fn outcome(site: &Site, visit: &Visit, transaction: &Transaction, place: Option<&Place<'_>>) -> Outcome {
    let Some(Place { block, index, receipt }) = place else {
        return Outcome { mined: None, is_failed: false, refusal: None };
    };
    let time = block.header.timestamp;
    Outcome {
        mined: Some(Mined {
            block: BlockLink(block.number()),
            position: *index,
            time: utc(time),
            ago: Ago { at: time, now: site.now(), language: visit.language },
            gas_used: Number(receipt.gas_used),
            gas_percent: percent(receipt.gas_used, transaction.gas_limit()),
        }),
        is_failed: !receipt.success,
        refusal: receipt.revert_reason.as_deref().map(|output| Refusal::of(output, &Names(site))),
    }
}

/// The event that the list begins with: `?from=`.
fn first_event(visit: &Visit) -> Result<usize, Failure> {
    let Some(text) = visit.parameter("from") else { return Ok(0) };
    text.parse().map_err(|_| Failure::Malformed(Malformed::Parameter("from")))
}
