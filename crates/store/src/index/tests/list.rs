//! Lists of blocks, transactions and events.

use super::*;
use crate::engine_tests;

fn registered(operator: u8) -> ContractEvent {
    ContractEvent::ValidatorRegistered {
        operator: user(operator),
        moniker: "Ünïcode 'quoted'".to_owned(),
        website: String::new(),
        stake: Wei::from_coin(100_000),
        commission_bps: 500,
    }
}

fn jailed(operator: u8) -> ContractEvent {
    ContractEvent::ValidatorJailed { operator: user(operator), until: 7 }
}

fn event(log_index: u32, transaction_index: u32, event: ContractEvent) -> NewEvent {
    NewEvent { log_index, transaction_index, event }
}

engine_tests! {
    async fn blocks_are_listed_newest_first_and_page_by_number(test: TestDb) {
        let chain: Vec<_> = (0..30).map(block).collect();
        fill(test, &chain).await;
        let page = test.list_blocks(None, 10).await.unwrap();
        assert_eq!(page.iter().map(|block| block.number).collect::<Vec<_>>(), (20..30).rev().collect::<Vec<_>>());
        let oldest = test.list_blocks(Some(3), 10).await.unwrap();
        assert_eq!(oldest.len(), 3);
        assert_eq!(oldest[0], BlockRow {
            number: 2,
            hash: hash(2),
            parent_hash: hash(1),
            timestamp: BEGIN + 20,
            proposer: validator(2),
            round: 0,
            transaction_count: 0,
            gas_used: 21_000,
            gas_limit: u64::MAX,
            size: 600,
        });
        assert_eq!(oldest[2].parent_hash, B256::ZERO);
        assert_eq!(test.list_blocks(Some(0), 10).await.unwrap(), []);
        assert_eq!(test.list_blocks(Some(u64::MAX), 1).await.unwrap()[0].number, 29);
    }

    async fn transactions_come_back_as_they_were(test: TestDb) {
        let creation = NewTransaction {
            to: None,
            contract_address: Some(user(9)),
            success: false,
            selector: None,
            ..transfer(3, 3)
        };
        let call = NewTransaction { selector: Some([0xde, 0xad, 0, 1]), ..transfer(4, 5) };
        fill(test, &[block(0), block_with(1, vec![transfer(1, 2), creation]), block_with(2, vec![call])]).await;
        let rows = test.list_transactions(None, 10).await.unwrap();
        assert_eq!(rows.iter().map(|row| (row.block_number, row.index)).collect::<Vec<_>>(), [(2, 0), (1, 1), (1, 0)]);
        assert_eq!(rows[0].selector, Some([0xde, 0xad, 0, 1]));
        assert_eq!((rows[1].to, rows[1].contract_address, rows[1].success), (None, Some(user(9)), false));
        let expected = transfer(1, 2);
        assert_eq!(rows[2], TransactionRow {
            block_number: 1,
            index: 0,
            hash: expected.hash,
            from: user(1),
            to: Some(user(2)),
            contract_address: None,
            value: expected.value,
            success: true,
            gas_used: 21_000,
            fee: expected.fee,
            selector: None,
            nonce: u64::MAX - 1,
            timestamp: BEGIN + 10,
        });
        assert_eq!(test.list_transactions(Some((1, 1)), 10).await.unwrap(), rows[2..]);
        assert_eq!(test.list_transactions(Some((2, 0)), 1).await.unwrap(), rows[1..2]);
    }

    async fn an_account_sees_what_it_sent_received_and_became_each_once(test: TestDb) {
        let to_itself = transfer(1, 1);
        let creation = NewTransaction { to: None, contract_address: Some(user(7)), ..transfer(1, 0) };
        let chain = [
            block_with(0, vec![transfer(1, 2), transfer(2, 1), transfer(3, 4)]),
            block_with(1, vec![to_itself, creation]),
            block_with(2, vec![transfer(4, 7)]),
        ];
        fill(test, &chain).await;
        let places = async |account: Address, before| {
            let rows = test.list_account_transactions(account, before, 10).await.unwrap();
            rows.iter().map(|row| (row.block_number, row.index)).collect::<Vec<_>>()
        };
        assert_eq!(places(user(1), None).await, [(1, 1), (1, 0), (0, 1), (0, 0)]);
        assert_eq!(places(user(1), Some((1, 0))).await, [(0, 1), (0, 0)]);
        assert_eq!(places(user(7), None).await, [(2, 0), (1, 1)]);
        assert_eq!(places(user(99), None).await, []);
        // A validator that never sent anything is known but has no history.
        assert_eq!(places(validator(0), None).await, []);
    }

    async fn events_are_found_by_subject_and_kind(test: TestDb) {
        let first = NewBlock {
            events: vec![event(0, 0, registered(1)), event(2, 1, registered(2))],
            ..block_with(1, vec![transfer(1, 9), transfer(2, 9)])
        };
        let second = NewBlock {
            events: vec![event(0, 0, jailed(1)), event(1, 0, ContractEvent::CommunityRegistrationChanged { open: true })],
            ..block_with(2, vec![transfer(8, 9)])
        };
        fill(test, &[block(0), first.clone(), second]).await;
        let found = async |subject, kinds: &[EventKind]| {
            let filter = EventFilter { subject, kinds: kinds.to_vec(), before: None };
            let rows = test.contract_events(&filter, 10).await.unwrap();
            rows.iter().map(|row| (row.block_number, row.log_index)).collect::<Vec<_>>()
        };
        assert_eq!(found(None, &[]).await, [(2, 1), (2, 0), (1, 2), (1, 0)]);
        assert_eq!(found(Some(user(1)), &[]).await, [(2, 0), (1, 0)]);
        assert_eq!(found(Some(user(1)), &[EventKind::ValidatorRegistered]).await, [(1, 0)]);
        assert_eq!(found(None, &[EventKind::ValidatorRegistered, EventKind::ValidatorJailed]).await, [(2, 0), (1, 2), (1, 0)]);
        assert_eq!(found(Some(user(200)), &[]).await, []);
        let filter = EventFilter { before: Some((1, 2)), ..EventFilter::default() };
        let rows = test.contract_events(&filter, 10).await.unwrap();
        assert_eq!(rows, [EventRow {
            block_number: 1,
            log_index: 0,
            transaction_index: 0,
            transaction_hash: first.transactions[0].hash,
            timestamp: BEGIN + 10,
            event: registered(1),
        }]);
    }

    async fn an_empty_index_answers_with_nothing(test: TestDb) {
        assert_eq!(test.list_transactions(None, 10).await.unwrap(), []);
        assert_eq!(test.contract_events(&EventFilter::default(), 10).await.unwrap(), []);
        assert_eq!(test.recent_blocks_strip(60).await.unwrap(), []);
        assert_eq!(test.votes_since(0).await.unwrap(), []);
        assert_eq!(test.fee_totals().await.unwrap().as_of_block, None);
        assert_eq!(test.fee_history_by_day(30).await.unwrap(), []);
        assert_eq!(test.validator_activity(&[86_400]).await.unwrap().validators, []);
    }
}
