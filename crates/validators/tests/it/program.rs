//! The program's constants are those of the contract that decides.

use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use chain::At;
use chainnet_validators::program;
use contracts::{PlatformValidatorRegistry as Registry, address::REGISTRY};
use store::testing::TestDb;

use crate::rig::{ADMIN, Rig};

const DAY: u64 = 86_400;

async fn ask<C: SolCall>(rig: &Rig, call: C) -> C::Return {
    let answer = rig.client.call(REGISTRY, call.abi_encode().into(), At::Head).await.expect("an answer");
    C::abi_decode_returns(&answer).expect("the answer's type")
}

#[tokio::test(flavor = "multi_thread")]
async fn constants_are_those_of_the_registry() {
    let test = TestDb::sqlite().await;
    let rig = Rig::without_index(test.db());
    assert_eq!(ask(&rig, Registry::MIN_STAKECall {}).await, program::min_stake().0);
    assert_eq!(ask(&rig, Registry::MAX_COMMISSION_BPSCall {}).await, program::MAX_COMMISSION_BPS);
    assert_eq!(ask(&rig, Registry::JAIL_DURATIONCall {}).await, u64::from(program::JAIL_DAYS) * DAY);
    assert_eq!(ask(&rig, Registry::MAX_SLASHESCall {}).await, program::SLASHING.removed_at);
    let downtime = ask(&rig, Registry::DOWNTIME_PENALTY_BPSCall {}).await;
    let double_sign = ask(&rig, Registry::DOUBLE_SIGN_PENALTY_BPSCall {}).await;
    assert_eq!(downtime, U256::from(program::SLASHING.downtime_bps));
    assert_eq!(double_sign, U256::from(program::SLASHING.double_sign_bps));
    let target = ask(&rig, Registry::TARGET_VALIDATORSCall {}).await;
    assert_eq!(target, U256::from(program::TARGET_VALIDATORS));
}

#[tokio::test(flavor = "multi_thread")]
async fn phases_have_the_slots_that_the_registry_gives_them() {
    let test = TestDb::sqlite().await;
    let rig = Rig::without_index(test.db());
    for phase in program::PHASES {
        rig.registry(ADMIN, 0, &Registry::expandToPhaseCall { phase: phase.phase }).await;
        let status = ask(&rig, Registry::getExpansionStatusCall {}).await;
        assert_eq!(status.phase, phase.phase);
        assert_eq!(status.max, U256::from(phase.max_validators));
        assert!(status.communityOpen);
    }
}
