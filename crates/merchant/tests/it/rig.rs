//! An index written by hand, orders and invoices to be paid, and crediting over them.

use std::{sync::Arc, time::Duration};

use access::Clock;
use alloy_primitives::{Address, B256, U256};
use chainnet_merchant::{CreditSettings, CreditStatus, Crediting, Rates};
use contracts::fees::FeeSource;
use domain::{
    Network, Wei,
    portal::{FeeSplit, InvoiceId, InvoiceState, InvoiceToken, OrderId, OrderState, Plan, Rate, Scopes},
};
use jiff::Timestamp;
use store::{
    Db,
    index::{ChainIdentity, ContractEvent, IndexWriter, NewBlock, NewEvent, NewTransaction},
    portal::{
        EventRow, InvoiceCreation, InvoiceRecord, InvoiceRow, KeyOrdering, NewQuote, OrderRow, PaymentRow,
        Purchase, QuoteIssue, QuoteRow, WalletRow,
    },
};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::silent::SilentChain;

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// When block 0 was made, in seconds.
pub(crate) const BEGIN: u64 = 1_767_225_600;
/// The same in milliseconds; the time on every clock here.
pub(crate) const NOW: u64 = BEGIN * 1000;
pub(crate) const MINUTE: u64 = 60_000;
/// What an order lives.
pub(crate) const LIFE: u64 = 30 * MINUTE;

pub(crate) fn wallet(number: u8) -> Address {
    Address::repeat_byte(number)
}

/// Something that happens in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paid {
    /// A fee of the portal: reference, payer, amount.
    Fee(B256, Address, Wei),
    /// A fee of something else.
    OtherFee(B256),
    /// A quote: id, merchant, amount.
    Quote(B256, Address, Wei),
}

/// An index that grows by hand.
pub(crate) struct Index {
    pub(crate) writer: IndexWriter,
    /// Makes the blocks of one index other than those of another.
    pub(crate) fork: u64,
}

impl Index {
    pub(crate) async fn open(db: &Db) -> Self {
        // Quotes have a rate.
        Rates::new(db.clone(), clock()).settle_default(Network::Devnet).await.expect("a rate");
        let chain = ChainIdentity { chain_id: 8845, genesis_hash: B256::repeat_byte(0xee) };
        Self { writer: IndexWriter::open(db.clone(), chain).await.expect("an index"), fork: 0 }
    }

    /// Appends a block two seconds after the last one.
    pub(crate) async fn block(&mut self, paid: &[Paid]) -> u64 {
        let number = self.writer.next_number();
        self.block_at(BEGIN + 2 * number, paid).await
    }

    /// Appends a block of this time, in seconds.
    pub(crate) async fn block_at(&mut self, timestamp: u64, paid: &[Paid]) -> u64 {
        let number = self.writer.next_number();
        let proposer = Address::repeat_byte(0xa0);
        let hash = B256::from(U256::from(1 + number) << 64 | U256::from(self.fork));
        let block = NewBlock {
            number,
            hash,
            parent_hash: self.writer.next_parent(),
            timestamp,
            proposer,
            round: 0,
            gas_used: 0,
            gas_limit: u64::MAX,
            size: 600,
            validators: vec![proposer],
            sealers: vec![proposer],
            turns: vec![],
            vote: None,
            transactions: (0..paid.len()).map(|index| transaction(hash, index)).collect(),
            events: (0..).zip(paid).map(|(index, paid)| event(index, *paid)).collect(),
        };
        self.writer.append(&[block]).await.expect("a block");
        number
    }
}

fn transaction(block: B256, index: usize) -> NewTransaction {
    NewTransaction {
        hash: alloy_primitives::keccak256([block.as_slice(), &index.to_be_bytes()].concat()),
        from: Address::repeat_byte(0xb0),
        to: Some(Address::repeat_byte(0xb1)),
        contract_address: None,
        value: Wei::default(),
        success: true,
        gas_used: 21_000,
        fee: Wei::default(),
        selector: None,
        nonce: 0,
    }
}

fn event(index: u32, paid: Paid) -> NewEvent {
    let fee = |source: FeeSource, reference, payer, amount| {
        let FeeSplit { burned, held } = FeeSplit::of(amount);
        ContractEvent::FeePaid { source: source.id(), reference, payer, amount, burned, held }
    };
    let event = match paid {
        Paid::Fee(reference, payer, amount) => fee(FeeSource::DeveloperPortal, reference, payer, amount),
        Paid::OtherFee(reference) => fee(FeeSource::Bridge, reference, wallet(1), Wei::from_coin(100)),
        Paid::Quote(quote_id, merchant, amount) => ContractEvent::QuotePaid {
            quote_id,
            merchant,
            payer: Address::repeat_byte(0xb2),
            amount,
            deadline: U256::MAX,
            salt: B256::ZERO,
        },
    };
    NewEvent { log_index: index, transaction_index: index, event }
}

/// An order of a key, with an id and a reference that follow from a number.
pub(crate) fn order(wallet: Address, number: u64) -> OrderRow {
    OrderRow {
        id: OrderId::new(NOW, u128::from(number) << 64),
        wallet,
        purchase: Purchase::Key { plan: Plan::Monthly, name: "shop".to_owned(), scopes: Scopes::ALL },
        amount: Wei::from_coin(100),
        reference: B256::from(U256::from(0x0e00_0000 + number)),
        state: OrderState::AwaitingPayment,
        created_at: NOW,
        expires_at: NOW + LIFE,
        paid_at: None,
        claimed_at: None,
    }
}

pub(crate) async fn open_order(db: &Db, wallet: Address, number: u64) -> OrderRow {
    let order = order(wallet, number);
    // More than a wallet may have: limits are not what this is about.
    let opened = db.open_key_order(&order, 1_000, None).await.expect("an answer");
    assert_eq!(opened, KeyOrdering::Opened);
    order
}

/// An invoice with a live quote, both with ids that follow from a number. Answers the quote's id.
pub(crate) async fn open_invoice(db: &Db, wallet: Address, number: u64) -> (InvoiceId, B256) {
    let invoice = InvoiceRow {
        id: InvoiceId::new(NOW, u128::from(number) << 64),
        wallet,
        token: InvoiceToken::from_bytes(u128::from(number).to_be_bytes()),
        customer_label: "Budi #1042".to_owned(),
        amount_idr: 150_000,
        note: "Kopi susu 6x".to_owned(),
        external_id: Some(format!("ORD-{number}")),
        state: InvoiceState::Open,
        created_at: NOW,
        expires_at: NOW + LIFE,
        paid_at: None,
        void_requested_at: None,
    };
    let id = invoice.id;
    let record = InvoiceRecord { invoice, quote: None, payment: None };
    assert_eq!(db.create_invoice(&record, None).await.expect("an answer"), InvoiceCreation::Made);
    let quote = QuoteRow {
        id: B256::from(U256::from(0x0f00_0000 + number)),
        amount: Wei::from_coin(150),
        rate_id: 1,
        rate: Rate::from_e8(100_000_000_000).expect("a rate"),
        rate_at: NOW,
        deadline: BEGIN + 15 * 60,
        salt: B256::ZERO,
    };
    let new = NewQuote { wallet, invoice: id, quote: &quote, chain_time: BEGIN, at: NOW };
    let issued = db.issue_quote(new).await.expect("an answer");
    assert!(matches!(issued, QuoteIssue::Quoted(_)), "{issued:?}");
    (id, quote.id)
}

/// Crediting that runs.
pub(crate) struct Running {
    pub(crate) status: watch::Receiver<CreditStatus>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

pub(crate) fn settings() -> CreditSettings {
    CreditSettings {
        idle_poll: Duration::from_millis(2),
        standby: Duration::from_millis(300),
        ..CreditSettings::default()
    }
}

fn clock() -> Clock {
    Arc::new(|| Timestamp::from_millisecond(NOW.cast_signed()).expect("a time"))
}

pub(crate) fn start(db: &Db, settings: CreditSettings) -> Running {
    let crediting = Crediting::new(db.clone(), SilentChain::new(), settings, clock());
    let status = crediting.status();
    let stop = CancellationToken::new();
    let task = tokio::spawn(crediting.run(stop.clone()));
    Running { status, stop, task }
}

impl Running {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("crediting ends");
    }

    /// Ends it wherever it is.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// Waits until a block is credited.
pub(crate) async fn credited(db: &Db, block: u64) {
    let reached = async {
        while db.credit_point().await.expect("a cursor").map(|point| point.number) < Some(block) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, reached).await.expect("credited in time");
}

/// Credits all there is.
pub(crate) async fn credit(db: &Db, block: u64) {
    let running = start(db, settings());
    credited(db, block).await;
    running.stop().await;
}

/// Everything that belongs to some wallets, to be compared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Books {
    pub(crate) wallets: Vec<WalletRow>,
    pub(crate) payments: Vec<PaymentRow>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) orders: Vec<OrderRow>,
}

pub(crate) async fn books(db: &Db, wallets: impl IntoIterator<Item = Address>) -> Books {
    let mut books = Books { wallets: vec![], payments: vec![], events: vec![], orders: vec![] };
    for address in wallets {
        if let Some(row) = db.find_wallet(address).await.expect("a wallet") {
            // How often its row was locked does not matter.
            books.wallets.push(WalletRow { revision: 0, ..row });
        }
        books.payments.extend(db.list_payments(address, None, 10_000).await.expect("payments"));
        books.events.extend(db.list_events(address, None, 10_000).await.expect("events"));
        books.orders.extend(db.list_orders(address, None, 10_000).await.expect("orders"));
    }
    books
}
