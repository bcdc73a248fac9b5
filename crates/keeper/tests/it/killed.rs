//! Keepers that are killed between signing and sending, and others that go on.

use std::sync::Arc;

use store::{engine_tests, keeper::ActionState};
use testkit::{Fault, FlakyClient};

use crate::rig::{PATIENCE, Rig, SLASHER, account, run};

const JAILED: u8 = 2;
const DOWN: u64 = 36;

/// A chain that never answers to a transaction, and does not take it either.
fn mute(rig: &Rig) -> Arc<FlakyClient> {
    let line = FlakyClient::new(rig.client.clone());
    line.spoil(Fault::Silence);
    Arc::new(line)
}

/// Waits until something was sent.
async fn is_asked(line: &FlakyClient) {
    let mut sent = line.sent();
    let asked = sent.wait_for(|sent| !sent.is_empty());
    tokio::time::timeout(PATIENCE, asked).await.expect("something is sent").expect("the line is there");
}

engine_tests! {
    async fn killed_after_signing_the_same_slash_is_sent_by_the_next_keeper_and_only_once(test: TestDb) {
        let rig = Rig::start(test.db());
        let mute = mute(&rig);
        let first = run(rig.make_on(mute.clone(), Some(account(SLASHER)), rig.slashing()));
        rig.mine(6).await;
        rig.control.stop_validator("V3").await.expect("stopped");
        for _ in 0..DOWN {
            rig.mine(1).await;
        }
        is_asked(&mute).await;
        first.kill().await;
        let [open] = &rig.db.open_actions().await.unwrap()[..] else { panic!("not one open action") };
        let stored = open.transaction.clone().expect("signed before it was sent");
        assert_eq!(rig.chain.pool().len(), 0);

        rig.outlast_lease();
        let second = rig.keep(Some(account(SLASHER)), rig.slashing());
        rig.pooled(1).await;
        assert!(rig.chain.pool().get(stored.hash).is_some(), "the very same transaction");
        rig.mine(1).await;
        rig.looked(&second).await;
        let record = rig.record(3).await;
        assert_eq!((record.status, record.slashCount), (JAILED, 1));
        second.kill().await;
        rig.outlast_lease();
        let third = rig.keep(Some(account(SLASHER)), rig.slashing());
        rig.mine(5).await;
        rig.looked(&third).await;
        let actions = rig.db.recent_actions(5).await.unwrap();
        assert_eq!((actions.len(), actions[0].state, actions[0].attempts), (1, ActionState::Done, 1));
        assert_eq!((rig.record(3).await.slashCount, rig.chain.pool().len()), (1, 0));
        third.stop().await;
    }

    async fn a_signed_slash_that_somebody_made_by_hand_meanwhile_is_recalled(test: TestDb) {
        let rig = Rig::start(test.db());
        let mute = mute(&rig);
        let keeper_key = account(SLASHER);
        let first = run(rig.make_on(mute.clone(), Some(keeper_key.clone()), rig.slashing()));
        rig.mine(6).await;
        rig.control.stop_validator("V3").await.expect("stopped");
        for _ in 0..DOWN {
            rig.mine(1).await;
        }
        is_asked(&mute).await;
        first.kill().await;
        // Another account with the role does it before the stored transaction is ever sent.
        let admin = account(0);
        let role = alloy_primitives::keccak256("SLASHER_ROLE");
        let grant = contracts::PlatformValidatorRegistry::grantRoleCall { role, account: account(6).address() };
        rig.registry(&admin, &grant).await;
        let slash = contracts::PlatformValidatorRegistry::slashValidatorCall {
            operator: crate::rig::operator(3),
            reason: 1,
        };
        rig.registry(&account(6), &slash).await;
        rig.outlast_lease();
        let second = rig.keep(Some(keeper_key), rig.slashing());
        rig.pooled(1).await;
        rig.mine(1).await;
        rig.looked(&second).await;
        assert_eq!(rig.record(3).await.slashCount, 1, "by hand, and not again");
        let actions = rig.db.recent_actions(5).await.unwrap();
        assert_eq!((actions.len(), actions[0].state), (1, ActionState::Superseded));
        second.stop().await;
    }
}
