//! Transactions as a table: of the chain, of a block, of an address.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256, U256, hex};
use api::meaning;
use askama::Template;
use chain::{Block, Receipt};
use store::index::TransactionRow;

use crate::{
    failure::{Failure, Malformed},
    parts::{AddressLink, Ago, Amount, BlockLink, TransactionLink},
    site::Site,
    visit::Visit,
    words::Language,
};

/// Rows of a page.
pub(crate) const ROWS: usize = 25;

words! {
    /// Words of tables of transactions.
    TableWords {
        hash: "Transaction", "Transaksi";
        method: "Method", "Metode";
        block: "Block", "Blok";
        age: "Age", "Usia";
        from: "From", "Dari";
        direction: "Direction", "Arah";
        to: "To", "Ke";
        value: "Value", "Nilai";
        fee: "Fee", "Biaya";
        created: "new contract", "kontrak baru";
        failed: "failed", "gagal";
        create: "create", "buat";
        send: "send", "kirim";
        arrives: "in", "masuk";
        leaves: "out", "keluar";
        own: "self", "sendiri";
        older: "Older", "Lebih lama";
        newest: "Newest", "Terbaru";
        next: "Next", "Berikutnya";
        first: "First", "Pertama";
        pages: "Pages", "Halaman";
    }
}

/// What a table shows beside what all of them show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of the whole chain: with blocks and ages.
    Chain,
    /// Of one block.
    Block,
    /// Of one address: with blocks, ages and directions.
    Of(Address),
}

/// A table of transactions.
#[derive(Template)]
#[template(path = "transaction_table.html")]
pub(crate) struct TransactionTable {
    w: &'static TableWords,
    caption: &'static str,
    empty: &'static str,
    symbol: String,
    has_block: bool,
    has_direction: bool,
    lines: Vec<Line>,
}

struct Line {
    hash: TransactionLink,
    is_failed: bool,
    method: Method,
    block: BlockLink,
    age: Ago,
    from: AddressLink,
    direction: Option<Direction>,
    /// None when a contract was to be created and was not.
    to: Option<AddressLink>,
    is_creation: bool,
    value: Amount,
    fee: Amount,
}

/// The function that is called.
struct Method {
    name: String,
    /// The whole signature, where it is known.
    title: String,
}

struct Direction {
    class: &'static str,
    name: &'static str,
}

/// A transaction from the index or from a block.
struct Facts {
    hash: B256,
    from: Address,
    to: Option<Address>,
    created: Option<Address>,
    value: U256,
    fee: U256,
    is_failed: bool,
    selector: Option<[u8; 4]>,
    block: u64,
    timestamp: u64,
}

impl From<&TransactionRow> for Facts {
    fn from(row: &TransactionRow) -> Self {
        Self {
            hash: row.hash,
            from: row.from,
            to: row.to,
            // Receipts name the address even if nothing came to be there.
            created: row.contract_address.filter(|_| row.success),
            value: row.value.0,
            fee: row.fee.0,
            is_failed: !row.success,
            selector: row.selector,
            block: row.block_number,
            timestamp: row.timestamp,
        }
    }
}

/// Makes tables for one visit.
pub(crate) struct Tables<'a> {
    pub(crate) site: &'a Site,
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) caption: &'static str,
    /// What is said when there is nothing.
    pub(crate) empty: &'static str,
}

impl Tables<'_> {
    /// Of rows of the index.
    pub(crate) fn of_rows(&self, rows: &[TransactionRow]) -> TransactionTable {
        self.table(rows.iter().map(Facts::from))
    }

    /// Of a part of a block, from the chain itself.
    pub(crate) fn of_block(&self, block: &Block, receipts: &[Receipt], from: usize) -> TransactionTable {
        let both = block.transactions.iter().zip(receipts).skip(from).take(ROWS);
        self.table(both.map(|(transaction, receipt)| {
            let price = U256::from(transaction.effective_gas_price(block.header.base_fee_per_gas));
            Facts {
                hash: *transaction.tx_hash(),
                from: transaction.signer(),
                to: transaction.to(),
                created: receipt.contract_address.filter(|_| receipt.success),
                value: transaction.value(),
                fee: price * U256::from(receipt.gas_used),
                is_failed: !receipt.success,
                selector: transaction.input().first_chunk().copied(),
                block: block.number(),
                timestamp: block.header.timestamp,
            }
        }))
    }

    fn table(&self, facts: impl Iterator<Item = Facts>) -> TransactionTable {
        TransactionTable {
            w: TableWords::of(self.language),
            caption: self.caption,
            empty: self.empty,
            symbol: self.site.symbol().to_owned(),
            has_block: self.kind != Kind::Block,
            has_direction: matches!(self.kind, Kind::Of(_)),
            lines: facts.map(|facts| self.line(&facts)).collect(),
        }
    }

    fn line(&self, facts: &Facts) -> Line {
        let w = TableWords::of(self.language);
        let now = self.site.now();
        Line {
            hash: TransactionLink(facts.hash),
            is_failed: facts.is_failed,
            method: method(facts.selector, facts.to.is_none(), w),
            block: BlockLink(facts.block),
            age: Ago { at: facts.timestamp, now, language: self.language },
            from: self.site.address_link(facts.from),
            direction: match self.kind {
                Kind::Of(address) => Some(direction(facts, address, w)),
                Kind::Chain | Kind::Block => None,
            },
            to: facts.to.or(facts.created).map(|to| self.site.address_link(to)),
            is_creation: facts.to.is_none(),
            value: Amount(facts.value),
            fee: Amount(facts.fee),
        }
    }
}

/// The function with this selector in a word.
fn method(selector: Option<[u8; 4]>, is_creation: bool, w: &TableWords) -> Method {
    let plain = |name: &str| Method { name: name.to_owned(), title: String::new() };
    match selector {
        _ if is_creation => plain(w.create),
        None => plain(w.send),
        Some(selector) => match meaning::function(selector) {
            Some(signature) => {
                let name = signature.split('(').next().unwrap_or(signature);
                Method { name: name.to_owned(), title: signature.to_owned() }
            }
            None => plain(&hex::encode_prefixed(selector)),
        },
    }
}

fn direction(facts: &Facts, address: Address, w: &TableWords) -> Direction {
    match (facts.from == address, facts.to == Some(address)) {
        (true, true) => Direction { class: "", name: w.own },
        (true, false) => Direction { class: "warn", name: w.leaves },
        (false, _) => Direction { class: "good", name: w.arrives },
    }
}

/// Where a page of transactions begins: `?before=block-index`.
pub(crate) fn before(visit: &Visit) -> Result<Option<(u64, u32)>, Failure> {
    let Some(text) = visit.parameter("before") else { return Ok(None) };
    let place =
        text.split_once('-').and_then(|(block, index)| Some((block.parse().ok()?, index.parse().ok()?)));
    place.map(Some).ok_or(Failure::Malformed(Malformed::Parameter("before")))
}

/// Cuts the row off that was read only to know whether there is a next page, and says where that begins.
pub(crate) fn next_page(rows: &mut Vec<TransactionRow>) -> Option<String> {
    let has_more = rows.len() > ROWS;
    rows.truncate(ROWS);
    rows.last().filter(|_| has_more).map(|row| format!("{}-{}", row.block_number, row.index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_short_names() {
        let w = TableWords::of(Language::English);
        let name = |selector, is_creation| method(selector, is_creation, w).name;
        assert_eq!(name(None, false), "send");
        assert_eq!(name(Some([0xa9, 0x05, 0x9c, 0xbb]), false), "transfer");
        assert_eq!(name(Some([1, 2, 3, 4]), false), "0x01020304");
        assert_eq!(name(Some([1, 2, 3, 4]), true), "create");
    }
}
