//! What ends by the chain's time, and what happens when blocks are taken back.

use alloy_primitives::{B256, U256};
use chainnet_merchant::{CreditSettings, CreditStatus};
use domain::{
    Wei,
    portal::{Actor, AuditAction, AuditId, InvoiceId, InvoiceState},
};
use store::{Db, engine_tests, portal::AuditRow};

use crate::rig::{
    BEGIN, Index, LIFE, NOW, PATIENCE, Paid, books, credit, credited, open_invoice, open_order, settings,
    start, wallet,
};

async fn state(db: &Db, id: InvoiceId) -> InvoiceState {
    db.find_invoice(wallet(1), id).await.unwrap().unwrap().invoice.state
}

async fn take_back(db: &Db, id: InvoiceId) {
    let audit = AuditRow {
        id: AuditId::from_bytes(*id.as_bytes()),
        wallet: Some(wallet(1)),
        actor: Actor::Wallet,
        action: AuditAction::InvoiceVoided,
        target: id.to_string(),
        origin: None,
        at: NOW,
    };
    db.void_invoice(wallet(1), id, &audit, None).await.unwrap();
}

engine_tests! {
    async fn invoices_end_when_the_chain_has_passed_them(test: TestDb) {
        let mut index = Index::open(test).await;
        let (lapsing, _) = open_invoice(test, wallet(1), 1).await;
        let (voided, _) = open_invoice(test, wallet(1), 2).await;
        let (paid, quote) = open_invoice(test, wallet(1), 3).await;
        take_back(test, voided).await;
        let deadline = BEGIN + 15 * 60;
        // In its last second a quote can be paid.
        let last = index.block_at(deadline, &[Paid::Quote(quote, wallet(1), Wei::from_coin(150))]).await;
        credit(test, last).await;
        assert_eq!(state(test, paid).await, InvoiceState::Paid);
        assert_eq!(state(test, voided).await, InvoiceState::Open, "its quote may be paid yet");
        let last = index.block_at(deadline + 1, &[]).await;
        credit(test, last).await;
        assert_eq!(state(test, voided).await, InvoiceState::Void);
        assert_eq!(state(test, lapsing).await, InvoiceState::Open, "another quote may be asked for");
        let last = index.block_at(BEGIN + LIFE / 1000 + 1, &[]).await;
        credit(test, last).await;
        assert_eq!(state(test, lapsing).await, InvoiceState::Expired);
        let row = &books(test, [wallet(1)]).await.wallets[0];
        assert_eq!((row.open_count, row.paid_count, row.expired_count, row.void_count), (0, 1, 1, 1));
    }

    async fn a_block_is_looked_through_again_without_effect(test: TestDb) {
        let mut index = Index::open(test).await;
        let order = open_order(test, wallet(1), 1).await;
        let (_, quote) = open_invoice(test, wallet(1), 2).await;
        let odd = Paid::Fee(B256::repeat_byte(7), wallet(1), Wei::from_coin(5));
        let fee = Paid::Fee(order.reference, wallet(1), order.amount);
        let last = index.block(&[fee, odd, Paid::Quote(quote, wallet(1), Wei::from_coin(150))]).await;
        credit(test, last).await;
        let before = books(test, [wallet(1)]).await;
        for _ in 0..2 {
            let point = test.credit_point().await.unwrap().unwrap();
            assert!(test.rewind_credit(point).await.unwrap());
            assert!(!test.rewind_credit(point).await.unwrap());
            credit(test, last).await;
            assert_eq!(books(test, [wallet(1)]).await, before);
        }
    }

    async fn blocks_taken_back_start_it_again_on_the_devnet(test: TestDb) {
        let mut index = Index::open(test).await;
        let order = open_order(test, wallet(1), 1).await;
        let (_, quote) = open_invoice(test, wallet(1), 2).await;
        let fee = Paid::Fee(order.reference, wallet(1), order.amount);
        index.block(&[]).await;
        let last = index.block(&[fee]).await;
        let running = start(test, CreditSettings { may_rewind: true, ..settings() });
        credited(test, last).await;
        index.writer.reset().await.unwrap();
        index.fork = 1;
        index.block(&[]).await;
        index.block(&[Paid::Quote(quote, wallet(1), Wei::from_coin(150))]).await;
        let last = index.block(&[]).await;
        credited(test, last).await;
        running.stop().await;
        let books = books(test, [wallet(1)]).await;
        assert_eq!(books.payments.len(), 2, "what was credited stays");
        assert_eq!(books.wallets[0].sequence, 3);
    }

    async fn elsewhere_it_halts_rather_than_guess(test: TestDb) {
        let mut index = Index::open(test).await;
        let order = open_order(test, wallet(1), 1).await;
        index.block(&[]).await;
        let last = index.block(&[Paid::Fee(order.reference, wallet(1), order.amount)]).await;
        let mut running = start(test, settings());
        credited(test, last).await;
        index.writer.reset().await.unwrap();
        // The index may be built again: that is no reason to halt.
        let is_waiting = |status: &CreditStatus| *status == CreditStatus::WaitingForIndex;
        tokio::time::timeout(PATIENCE, running.status.wait_for(is_waiting)).await.expect("in time").unwrap();
        index.fork = 1;
        index.block(&[]).await;
        index.block(&[]).await;
        let has_halted = |status: &CreditStatus| matches!(status, CreditStatus::Halted(_));
        let halted = tokio::time::timeout(PATIENCE, running.status.wait_for(has_halted)).await;
        let CreditStatus::Halted(halt) = *halted.expect("in time").unwrap() else { panic!("not halted") };
        assert_eq!((halt.number, halt.indexed), (1, B256::from(U256::from(2) << 64 | U256::from(1))));
        running.stop().await;
    }
}
