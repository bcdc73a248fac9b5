//! Sums of fees.

use super::*;
use crate::engine_tests;

fn paid(source: u8, amount: U256) -> ContractEvent {
    let burned = amount / U256::from(10) * U256::from(3);
    ContractEvent::FeePaid {
        source: B256::repeat_byte(source),
        reference: B256::ZERO,
        payer: user(1),
        amount: Wei(amount),
        burned: Wei(burned),
        held: Wei(amount - burned),
    }
}

fn block_paying(number: u64, timestamp: u64, fees: &[(u8, U256)]) -> NewBlock {
    let events = (0u32..).zip(fees).map(|(log_index, &(source, amount))| NewEvent {
        log_index,
        transaction_index: 0,
        event: paid(source, amount),
    });
    NewBlock { timestamp, events: events.collect(), ..block_with(number, vec![transfer(1, 2)]) }
}

const DAY: u64 = 86_400;

engine_tests! {
    async fn sums_of_fees_are_exact_beyond_64_bits(test: TestDb) {
        let huge = U256::MAX / U256::from(4);
        let day = BEGIN - BEGIN % DAY;
        let chain = [
            block_paying(0, day + 5, &[(2, huge), (1, U256::from(10)), (2, U256::from(1))]),
            block_paying(1, day + 6, &[(2, huge)]),
            block_paying(2, day + 3 * DAY, &[(1, U256::from(20))]),
        ];
        // Together and one by one must come to the same.
        fill(test, &chain[..2]).await;
        fill(test, &chain[2..]).await;
        let totals = test.fee_totals().await.unwrap();
        assert_eq!(totals.as_of_block, Some(2));
        assert_eq!(totals.total.payments, 5);
        assert_eq!(totals.total.collected, Wei(huge + huge + U256::from(31)));
        assert_eq!(totals.total.collected.0, totals.total.burned.0 + totals.total.held.0);
        let sources: Vec<_> = totals.sources.iter().map(|fees| (fees.source[0], fees.sums.payments, fees.sums.collected)).collect();
        assert_eq!(sources, [(1, 2, Wei(U256::from(30))), (2, 3, Wei(huge + huge + U256::from(1)))]);

        let history = test.fee_history_by_day(30).await.unwrap();
        let days: Vec<_> = history.iter().map(|d| (d.start, d.total.payments, d.sources.len())).collect();
        assert_eq!(days, [(day, 4, 2), (day + 3 * DAY, 1, 1)]);
        assert_eq!(test.fee_history_by_day(3).await.unwrap(), history[1..]);
    }

    async fn sums_that_overflow_are_refused_whole(test: TestDb) {
        fill(test, &[block_paying(0, BEGIN, &[(1, U256::MAX)])]).await;
        let before = test.dump_index().await;
        let error = writer(test).await.append(&[block_paying(1, BEGIN, &[(1, U256::from(1))])]).await.unwrap_err();
        assert!(!error.is_temporary(), "{error}");
        assert_eq!(test.dump_index().await, before);
    }
}
