//! All transactions, newest first, from the index.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;

use super::transaction_table::{Kind, ROWS, TableWords, Tables, TransactionTable, before, next_page};
use crate::{
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    site::Site,
    visit::Visit,
};

words! {
    TransactionsWords {
        title: "Transactions", "Transaksi";
        empty: "No transactions yet. The first one shows here as soon as its block is sealed.", "Belum ada transaksi. Yang pertama tampil di sini begitu bloknya disegel.";
        none_older: "There is nothing older.", "Tidak ada yang lebih lama.";
    }
}

#[derive(Template)]
#[template(path = "transactions.html")]
struct Page {
    frame: Frame,
    w: &'static TransactionsWords,
    t: &'static TableWords,
    is_newest: bool,
    table: TransactionTable,
    next: Option<String>,
}

/// `GET /transactions`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let w = TransactionsWords::of(visit.language);
    let before = before(&visit)?;
    let most = u32::try_from(ROWS + 1).unwrap_or(u32::MAX);
    let mut rows = site.api.db.list_transactions(before, most).await?;
    let next = next_page(&mut rows);
    let empty = if before.is_none() { w.empty } else { w.none_older };
    let tables = Tables { site: &site, language: visit.language, kind: Kind::Chain, caption: w.title, empty };
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Chain, w.title),
        w,
        t: TableWords::of(visit.language),
        is_newest: before.is_none(),
        table: tables.of_rows(&rows),
        next,
    })
}
