//! `kill -9` at random moments: no sealed block is lost. `scripts/soak` runs the long campaign.

use testkit::{
    Mining,
    campaign::{CampaignReport, KillCampaign},
};

use crate::rig::BINARY;

async fn survive(kills: u32, mining: Mining) -> CampaignReport {
    let campaign = KillCampaign { binary: BINARY.into(), kills, seed: 0x5ea1, mining };
    campaign.run(|_| ()).await.unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

#[tokio::test]
async fn a_node_killed_under_load_keeps_every_block_that_a_client_saw() {
    let report = survive(8, Mining::OnDemand).await;
    assert!(report.blocks >= 8 && report.transactions > 0, "{report:?}");
}

#[tokio::test]
async fn a_node_killed_between_its_own_blocks_keeps_what_a_client_saw() {
    let report = survive(2, Mining::Interval).await;
    assert!(report.blocks >= 2, "{report:?}");
}
