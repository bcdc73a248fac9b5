//! What is indexed is what the chain says.

use std::collections::BTreeMap;

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::SolCall;
use chain::{Agreement, At};
use contracts::{PlatformFees, address::FEES, fees::FeeSource};
use domain::Wei;
use store::{
    Db, engine_tests,
    index::{ContractEvent, EventFilter, EventKind, TurnOutcome},
    testing::TestDb,
};

use crate::{
    rig::{Rig, user, validator},
    stage::index,
};

async fn indexed(db: &Db) -> Rig {
    let rig = Rig::new();
    rig.live_through_everything().await;
    index(rig.client(), db, rig.head()).await;
    rig
}

engine_tests! {
    async fn blocks_are_those_of_the_chain(test: TestDb) {
        let rig = indexed(test).await;
        let client = rig.client();
        let rows = test.list_blocks(None, 100).await.unwrap();
        assert_eq!(rows.len() as u64, rig.head() + 1);
        for row in rows {
            let block = client.block(row.number).await.unwrap().unwrap();
            let header = &block.header;
            assert_eq!(
                (row.hash, row.parent_hash, row.timestamp, row.proposer),
                (block.hash, header.parent_hash, header.timestamp, header.beneficiary)
            );
            assert_eq!((row.gas_used, row.gas_limit), (header.gas_used, header.gas_limit));
            assert_eq!(row.transaction_count as usize, block.transactions.len());
            assert_eq!(row.round, Agreement::of(header).unwrap().round);
            assert_eq!(row.size, block.encoded_length() as u64);
        }
    }

    async fn transactions_are_those_of_the_chain(test: TestDb) {
        let rig = indexed(test).await;
        let client = rig.client();
        let mut expected = Vec::new();
        let mut of_account = BTreeMap::<Address, Vec<B256>>::new();
        for number in 0..=rig.head() {
            let block = client.block(number).await.unwrap().unwrap();
            let receipts = client.receipts(&block).await.unwrap();
            for (transaction, receipt) in block.transactions.iter().zip(receipts.iter()) {
                let hash = *transaction.inner().tx_hash();
                let fee = Wei(U256::from(receipt.gas_used) * U256::from(3));
                let parties = [Some(transaction.signer()), transaction.to(), receipt.contract_address];
                let mut parties: Vec<_> = parties.into_iter().flatten().collect();
                parties.sort_unstable();
                parties.dedup();
                parties.into_iter().for_each(|party| of_account.entry(party).or_default().insert(0, hash));
                expected.insert(0, (hash, transaction.signer(), transaction.to(), receipt.contract_address, receipt.success, fee, block.header.timestamp));
            }
        }
        let rows = test.list_transactions(None, 1_000).await.unwrap();
        let rows: Vec<_> = rows
            .into_iter()
            .map(|row| (row.hash, row.from, row.to, row.contract_address, row.success, row.fee, row.timestamp))
            .collect();
        assert_eq!(rows, expected);
        assert!(expected.iter().any(|row| !row.4) && expected.iter().any(|row| row.3.is_some()));
        for (account, hashes) in of_account {
            let rows = test.list_account_transactions(account, None, 1_000).await.unwrap();
            assert_eq!(rows.iter().map(|row| row.hash).collect::<Vec<_>>(), hashes, "{account}");
        }
    }

    async fn fees_are_what_the_contract_has_counted(test: TestDb) {
        let rig = indexed(test).await;
        let client = rig.client();
        let totals = test.fee_totals().await.unwrap();
        assert_eq!(totals.as_of_block, Some(rig.head()));
        let answer = client.call(FEES, PlatformFees::getTotalsCall {}.abi_encode().into(), At::Head).await.unwrap();
        let counted = PlatformFees::getTotalsCall::abi_decode_returns(&answer).unwrap();
        let sums = totals.total;
        assert_eq!(
            (sums.payments, sums.collected.0, sums.burned.0, sums.held.0),
            (counted.count, counted.paid, counted.burned, counted.held)
        );
        assert_eq!(sums.payments, 8);
        for source in FeeSource::ALL {
            let call = PlatformFees::getSourceTotalsCall { source: source.id() };
            let answer = client.call(FEES, call.abi_encode().into(), At::Head).await.unwrap();
            let counted = PlatformFees::getSourceTotalsCall::abi_decode_returns(&answer).unwrap();
            let found = totals.sources.iter().find(|fees| fees.source == source.id()).unwrap().sums;
            assert_eq!(
                (found.payments, found.collected.0, found.burned.0, found.held.0),
                (counted.count, counted.paid, counted.burned, counted.held)
            );
        }
    }

    async fn events_of_our_contracts_are_decoded(test: TestDb) {
        indexed(test).await;
        let of = async |subject, kind| {
            let filter = EventFilter { subject: Some(subject), kinds: vec![kind], before: None };
            test.contract_events(&filter, 10).await.unwrap().into_iter().map(|row| row.event).collect::<Vec<_>>()
        };
        assert_eq!(of(user(6), EventKind::ValidatorRegistered).await, [ContractEvent::ValidatorRegistered {
            operator: user(6),
            moniker: "Sixth".to_owned(),
            website: "https://sixth.example".to_owned(),
            stake: Wei::from_coin(100_000),
            commission_bps: 500,
        }]);
        assert_eq!(of(validator(2), EventKind::ValidatorSlashed).await, [ContractEvent::ValidatorSlashed {
            operator: validator(2),
            reason: 1,
            penalty: Wei::from_coin(1_000),
            stake: Wei::from_coin(99_000),
            slash_count: 1,
        }]);
        assert_eq!(of(validator(2), EventKind::ValidatorJailed).await.len(), 1);
        assert_eq!(of(validator(1), EventKind::ValidatorSlashed).await, []);
        assert_eq!(of(validator(1), EventKind::RewardsDistributed).await, [ContractEvent::RewardsDistributed {
            operator: validator(1),
            amount: Wei(U256::from(12_345)),
        }]);
        let paid = of(user(8), EventKind::QuotePaid).await;
        assert!(matches!(&paid[..], [ContractEvent::QuotePaid { payer, .. }] if *payer == user(7)), "{paid:?}");
        let unknown = EventFilter { kinds: vec![EventKind::Unknown], ..EventFilter::default() };
        assert_eq!(test.contract_events(&unknown, 10).await.unwrap(), []);
    }

    async fn a_stopped_validator_misses_its_turns_and_nobody_else_does(test: TestDb) {
        let rig = indexed(test).await;
        let report = test.validator_activity(&[86_400]).await.unwrap();
        let missed = |address| {
            let of = report.validators.iter().find(|v| v.validator == address).unwrap();
            assert_eq!(of.windows[0], of.total);
            of.total.missed
        };
        let late = test.list_blocks(None, 100).await.unwrap().iter().filter(|block| block.round > 0).count() as u64;
        assert!(late >= 2, "{late} late blocks");
        assert_eq!(missed(validator(3)), late);
        assert_eq!([1, 2, 4, 5].map(|number| missed(validator(number))), [0; 4]);
        let turns = test.recent_turns(validator(3), 100).await.unwrap();
        assert_eq!(turns[0].outcome, TurnOutcome::Kept);
        assert_eq!(turns.iter().filter(|turn| turn.outcome == TurnOutcome::Missed).count() as u64, late);

        let proposed: u64 = report.validators.iter().map(|v| v.total.proposed).sum();
        assert_eq!(proposed, rig.head());
    }

    async fn seals_sets_and_votes_are_those_of_the_headers(test: TestDb) {
        let rig = indexed(test).await;
        let client = rig.client();
        let mut votes = Vec::new();
        for block in test.recent_blocks_strip(100).await.unwrap() {
            let header = client.block(block.number).await.unwrap().unwrap().header.clone();
            let agreement = Agreement::of(&header).unwrap();
            let mut committers = agreement.committers();
            committers.sort_unstable();
            assert_eq!((block.sealers, block.validators), (committers, agreement.validators));
            votes.extend(agreement.vote.map(|vote| (block.number, header.beneficiary, vote.recipient)));
        }
        votes.reverse();
        let found = test.votes_since(0).await.unwrap();
        assert_eq!(found.iter().map(|v| (v.block_number, v.voter, v.recipient)).collect::<Vec<_>>(), votes);
        assert_eq!(votes.len(), 3);
        assert_eq!(test.validator_set_at(rig.head()).await.unwrap().len(), 6);
        assert_eq!(test.validator_set_at(1).await.unwrap().len(), 5);
    }

    async fn both_engines_hold_the_same_rows(test: TestDb) {
        let rig = indexed(test).await;
        let other = TestDb::sqlite().await;
        index(rig.client(), &other, rig.head()).await;
        assert_eq!(test.dump_index().await, other.dump_index().await);
    }
}
