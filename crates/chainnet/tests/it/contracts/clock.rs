//! The clock that these tests move.

use serde_json::{Value, json};

use super::chain::{DAY, TestChain};

/// The IBFT round of the newest block.
async fn round(chain: &TestChain) -> u32 {
    let block: Value =
        chain.client().call("eth_getBlockByNumber", json!(["latest", false])).await.expect("a block");
    let extra_data: alloy_primitives::Bytes =
        serde_json::from_value(block["extraData"].clone()).expect("extra data");
    ibft::extra_data::ExtraData::decode(&extra_data).expect("IBFT extra data").round
}

#[tokio::test]
async fn a_block_has_the_time_that_was_set_to_the_second() {
    let chain = TestChain::start().await;
    chain.mine().await;
    for ahead in [2, 3, 5, 7 * DAY - 1, 7 * DAY] {
        let asked = chain.now().await + ahead;
        chain.next_block_at(asked).await;
        chain.mine().await;
        assert_eq!(chain.now().await, asked);
    }
}

#[tokio::test]
async fn a_moved_clock_costs_no_validator_its_turn() {
    let chain = TestChain::start().await;
    chain.wait(DAY).await;
    chain.mine().await;
    assert_eq!(round(&chain).await, 0, "after evm_increaseTime");
    chain.next_block_at(chain.now().await + DAY).await;
    chain.mine().await;
    assert_eq!(round(&chain).await, 0, "after evm_setNextBlockTimestamp");
}
