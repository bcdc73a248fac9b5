//! One hostile client against the whole product: nobody else notices. `scripts/soak attack` runs the long campaign.

use std::time::Duration;

use testkit::attack::AttackCampaign;

use crate::rig::BINARY;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_client_harms_nobody_else() {
    let campaign = AttackCampaign {
        binary: BINARY.into(),
        time: Duration::from_secs(8),
        seed: 0xa77ac,
        // Other tests run beside it, and nothing here is optimised: late is what is stuck.
        max_delay: Duration::from_secs(30),
        max_memory: 500_000_000,
        only: None,
        // Clocks that are set have tests of their own in the chain.
        clock_library: None,
    };
    let report = campaign.run(|_, _| ()).await.unwrap_or_else(|error| panic!("{error}: {error:?}"));
    assert!(report.attacks > 0 && report.answers > 20, "{report:?}");
}
