//! The scenario does on a known node what each step says: otherwise two nodes could agree on nonsense.

use chainnet_testkit::{Anvil, scenario};

#[tokio::test]
async fn every_step_gives_on_anvil_what_it_promises() {
    let anvil = Anvil::start_on_demand().await.unwrap();
    let steps = scenario::steps();
    let observations = scenario::observe(anvil.client(), &steps).await.unwrap();
    let broken: Vec<_> = steps
        .iter()
        .zip(&observations)
        .filter(|(step, observation)| !observation.meets(step.expected))
        .map(|(step, observation)| format!("{}: {observation:?}", step.name))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_scenario_is_the_same_every_time() {
    assert_eq!(format!("{:?}", scenario::steps()), format!("{:?}", scenario::steps()));
}
