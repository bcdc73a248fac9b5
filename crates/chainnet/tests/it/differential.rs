//! The same signed transactions and reads on our node and on Anvil: status, gas, logs, return and revert data agree.

use testkit::{Anvil, NodeProcess, scenario};

#[tokio::test]
async fn our_node_and_anvil_answer_the_scenario_alike() {
    let node = NodeProcess::start(env!("CARGO_BIN_EXE_chainnet"), ["--on-demand"]).await.unwrap();
    let anvil = Anvil::start_on_demand().await.unwrap();
    let steps = scenario::steps();
    let (ours, theirs) =
        tokio::join!(scenario::observe(node.client(), &steps), scenario::observe(anvil.client(), &steps));
    let differences: Vec<String> = scenario::differences(&steps, ours.unwrap(), theirs.unwrap())
        .iter()
        .map(|found| format!("{}\n  ours:  {:?}\n  Anvil: {:?}", found.step.name, found.first, found.second))
        .collect();
    assert!(
        differences.is_empty(),
        "{} of {} steps differ\n{}",
        differences.len(),
        steps.len(),
        differences.join("\n")
    );
}
