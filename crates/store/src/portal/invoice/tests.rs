//! Invoices on both engines, by themselves: payments are the crediting's matter.

use alloy_primitives::{Address, B256, U256};
use domain::{
    Wei,
    portal::{Actor, AuditAction, AuditId, InvoiceId, InvoiceState, InvoiceToken},
};

use super::{InvoiceRecord, InvoiceRow, NewQuote, QuoteIssue, QuoteRow};
use crate::{
    Db, engine_tests,
    portal::{AuditRow, InvoiceCreation, InvoiceFilter, InvoiceVoid, KeptAnswer, Once, OnceRequest, RateRow},
};

const WALLET: Address = Address::repeat_byte(7);
const NOW: u64 = 1_767_225_600_000;

fn record(number: u64) -> InvoiceRecord {
    let invoice = InvoiceRow {
        id: InvoiceId::new(NOW + number, 0),
        wallet: WALLET,
        token: InvoiceToken::from_bytes(u128::from(number).to_be_bytes()),
        customer_label: format!("Budi #{number}"),
        amount_idr: 150_000,
        note: String::new(),
        external_id: Some(format!("ORD-{number}")),
        state: InvoiceState::Open,
        created_at: NOW + number,
        expires_at: NOW + 86_400_000,
        paid_at: None,
        void_requested_at: None,
    };
    InvoiceRecord { invoice, quote: None, payment: None }
}

fn audit(at: u64) -> AuditRow {
    AuditRow {
        id: AuditId::new(at, 0),
        wallet: Some(WALLET),
        actor: Actor::Wallet,
        action: AuditAction::InvoiceVoided,
        target: "an invoice".to_owned(),
        origin: None,
        at,
    }
}

fn quote(number: u8, deadline: u64) -> QuoteRow {
    QuoteRow {
        id: B256::repeat_byte(number),
        amount: Wei(U256::from(150)),
        rate_id: 1,
        rate: "1000".parse().unwrap(),
        rate_at: NOW,
        deadline,
        salt: B256::repeat_byte(number),
    }
}

fn request(key: &str, body: u8) -> OnceRequest {
    let (key, fingerprint) = (key.to_owned(), B256::repeat_byte(body));
    OnceRequest { route: "invoices", key, fingerprint, at: NOW, expires_at: NOW + 1_000 }
}

fn answer(record: &InvoiceRecord) -> KeptAnswer {
    KeptAnswer { status: 201, body: record.invoice.id.to_string().into_bytes() }
}

async fn make(db: &Db, record: &InvoiceRecord) {
    assert_eq!(db.create_invoice(record, None).await.unwrap(), InvoiceCreation::Made);
}

async fn set_rate(db: &Db) {
    let rate =
        RateRow { id: 1, rate: "1000".parse().unwrap(), set_by: "x".into(), note: None, created_at: NOW };
    let audit = AuditRow { wallet: None, ..audit(1) };
    assert!(db.insert_rate(&rate, &audit).await.unwrap());
}

async fn issue(db: &Db, record: &InvoiceRecord, quote: &QuoteRow, chain_time: u64) -> QuoteIssue {
    let (wallet, invoice) = (record.invoice.wallet, record.invoice.id);
    db.issue_quote(NewQuote { wallet, invoice, quote, chain_time, at: NOW }).await.unwrap()
}

/// What crediting does to a quote whose deadline has passed.
async fn end_quotes(db: &Db) {
    on_writer!(db, pool => {
        sqlx::query("UPDATE portal_quote SET is_live = FALSE").execute(pool).await.map(drop)
    })
    .unwrap();
}

engine_tests! {
    async fn an_invoice_comes_back_as_it_was_made(test: TestDb) {
        let made = record(1);
        make(test, &made).await;
        let id = made.invoice.id;
        assert_eq!(test.find_invoice(WALLET, id).await.unwrap(), Some(made.clone()));
        assert_eq!(test.find_invoice_by_token(made.invoice.token).await.unwrap(), Some(made.clone()));
        assert_eq!(test.find_invoice(Address::ZERO, id).await.unwrap(), None, "another wallet's");
        assert_eq!(test.find_wallet(WALLET).await.unwrap().unwrap().open_count, 1);
        let again = InvoiceRecord { invoice: InvoiceRow { external_id: made.invoice.external_id.clone(), ..record(2).invoice }, ..record(2) };
        let taken = test.create_invoice(&again, None).await.unwrap();
        assert_eq!(taken, InvoiceCreation::ExternalIdTaken(Box::new(made)));
        assert_eq!(test.find_wallet(WALLET).await.unwrap().unwrap().open_count, 1);
    }

    async fn pages_are_newest_first_and_filtered(test: TestDb) {
        for number in 1..=5 {
            make(test, &record(number)).await;
        }
        let other = InvoiceRow { wallet: Address::ZERO, ..record(9).invoice };
        make(test, &InvoiceRecord { invoice: other, ..record(9) }).await;
        test.void_invoice(WALLET, record(4).invoice.id, &audit(2), None).await.unwrap();
        let list = async |filter| {
            let page = test.list_invoices(WALLET, filter, 2).await.unwrap();
            page.iter().map(|record| record.invoice.created_at - NOW).collect::<Vec<_>>()
        };
        assert_eq!(list(InvoiceFilter::default()).await, [5, 4]);
        let before = Some(record(4).invoice.id);
        assert_eq!(list(InvoiceFilter { before, ..Default::default() }).await, [3, 2]);
        let state = Some(InvoiceState::Open);
        assert_eq!(list(InvoiceFilter { state, ..Default::default() }).await, [5, 3]);
        assert_eq!(list(InvoiceFilter { state, before, ..Default::default() }).await, [3, 2]);
        let external_id = Some("ORD-4");
        assert_eq!(list(InvoiceFilter { external_id, ..Default::default() }).await, [4]);
        assert_eq!(list(InvoiceFilter { external_id, state, ..Default::default() }).await, [0; 0]);
        assert_eq!(list(InvoiceFilter { external_id: Some("ORD-9"), ..Default::default() }).await, [0; 0]);
    }

    async fn a_page_reads_a_range_of_an_index(test: TestDb) {
        let sql = "EXPLAIN QUERY PLAN SELECT i.id FROM portal_invoice i \
                   LEFT JOIN portal_quote q ON q.invoice_id = i.id AND q.is_live \
                   LEFT JOIN portal_rate r ON r.id = q.rate_id \
                   LEFT JOIN portal_payment p ON p.invoice_id = i.id AND p.exception = 'none' \
                   WHERE i.wallet = $1 AND i.id < $2 ORDER BY i.id DESC LIMIT 20";
        let crate::db::Pools::Sqlite { readers, .. } = &test.pools else { return };
        let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(sql).fetch_all(readers).await.unwrap();
        let text = format!("{plan:?}");
        assert!(!text.contains("SCAN") && !text.contains("TEMP B-TREE"), "{text}");
    }

    async fn a_request_takes_effect_once(test: TestDb) {
        let create = async |number: u64, request: &OnceRequest| {
            let once = Once { request, answer: &answer };
            test.create_invoice(&record(number), Some(once)).await.unwrap()
        };
        assert_eq!(create(1, &request("a", 1)).await, InvoiceCreation::Made);
        let first = answer(&record(1));
        assert_eq!(create(2, &request("a", 1)).await, InvoiceCreation::Repeated(first));
        assert_eq!(create(2, &request("a", 2)).await, InvoiceCreation::KeyReused);
        assert_eq!(create(2, &request("b", 1)).await, InvoiceCreation::Made);
        let late = OnceRequest { at: NOW + 1_000, expires_at: NOW + 2_000, ..request("a", 2) };
        assert_eq!(create(3, &late).await, InvoiceCreation::Made, "the first answer has expired");
        assert_eq!(test.find_wallet(WALLET).await.unwrap().unwrap().open_count, 3);
        assert_eq!(test.prune_answers(NOW + 999, 10).await.unwrap(), 0);
        assert_eq!(test.prune_answers(NOW + 1_000, 10).await.unwrap(), 1, "the one of b");
        assert_eq!(test.prune_answers(NOW + 2_000, 10).await.unwrap(), 1);
    }

    async fn rivals_with_one_key_make_one_invoice(test: TestDb) {
        let making: Vec<_> = (0..16)
            .map(|number| {
                let db = test.db();
                tokio::spawn(async move {
                    let request = request("a", 1);
                    let once = Once { request: &request, answer: &answer };
                    match db.create_invoice(&record(number), Some(once)).await.unwrap() {
                        InvoiceCreation::Made => answer(&record(number)),
                        InvoiceCreation::Repeated(answer) => answer,
                        other => panic!("{other:?}"),
                    }
                })
            })
            .collect();
        let mut answers = Vec::new();
        for made in making {
            answers.push(made.await.unwrap());
        }
        answers.dedup();
        assert_eq!(answers.len(), 1);
        assert_eq!(test.list_invoices(WALLET, InvoiceFilter::default(), 20).await.unwrap().len(), 1);
    }

    async fn an_invoice_has_one_quote_at_a_time(test: TestDb) {
        set_rate(test).await;
        let made = record(1);
        make(test, &made).await;
        let (first, second) = (quote(1, 100), quote(2, 200));
        let quoted = |quote: &QuoteRow| {
            QuoteIssue::Quoted(Box::new(InvoiceRecord { quote: Some(quote.clone()), ..made.clone() }))
        };
        assert_eq!(issue(test, &made, &first, 50).await, quoted(&first));
        assert_eq!(issue(test, &made, &second, 100).await, quoted(&first), "its last second");
        assert_eq!(issue(test, &made, &second, 101).await, QuoteIssue::Unsettled);
        end_quotes(test).await;
        assert_eq!(issue(test, &made, &second, 101).await, quoted(&second));
        assert_eq!(issue(test, &record(2), &second, 101).await, QuoteIssue::Unknown);
        let found = test.find_invoice(WALLET, made.invoice.id).await.unwrap().unwrap();
        assert_eq!(found.quote, Some(second));
    }

    async fn rivals_get_the_same_quote(test: TestDb) {
        set_rate(test).await;
        make(test, &record(1)).await;
        let asking: Vec<_> = (1..=16)
            .map(|number| {
                let db = test.db();
                tokio::spawn(async move { issue(&db, &record(1), &quote(number, 100), 50).await })
            })
            .collect();
        let mut issues = Vec::new();
        for asked in asking {
            issues.push(asked.await.unwrap());
        }
        issues.dedup();
        assert_eq!(issues.len(), 1, "{issues:?}");
    }

    async fn an_invoice_without_a_quote_is_void_at_once(test: TestDb) {
        let made = record(1);
        make(test, &made).await;
        for at in [2, 3] {
            let InvoiceVoid::Done(void) =
                test.void_invoice(WALLET, made.invoice.id, &audit(at), None).await.unwrap() else { panic!() };
            assert_eq!(void.invoice.state, InvoiceState::Void);
        }
        let wallet = test.find_wallet(WALLET).await.unwrap().unwrap();
        assert_eq!((wallet.open_count, wallet.void_count), (0, 1));
        assert_eq!(test.list_audit(WALLET, 10).await.unwrap(), [audit(2)], "the second time changed nothing");
        assert_eq!(issue(test, &made, &quote(1, 100), 50).await, QuoteIssue::NotOpen);
        let foreign = test.void_invoice(Address::ZERO, made.invoice.id, &audit(4), None).await.unwrap();
        assert_eq!(foreign, InvoiceVoid::Unknown);
    }

    async fn a_void_waits_for_the_quote(test: TestDb) {
        set_rate(test).await;
        let made = record(1);
        make(test, &made).await;
        issue(test, &made, &quote(1, 100), 50).await;
        for at in [2, 3] {
            let InvoiceVoid::Done(asked) =
                test.void_invoice(WALLET, made.invoice.id, &audit(at), None).await.unwrap() else { panic!() };
            assert_eq!((asked.invoice.state, asked.invoice.void_requested_at), (InvoiceState::Open, Some(2)));
        }
        assert_eq!(issue(test, &made, &quote(2, 100), 50).await, QuoteIssue::NotOpen, "no further quote");
        assert_eq!(test.list_audit(WALLET, 10).await.unwrap().len(), 1);
    }
}
