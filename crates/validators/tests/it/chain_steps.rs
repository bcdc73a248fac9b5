//! An accepted application follows its operator on chain, by itself.

use chainnet_validators::{Applications, Decision, application::ApplicationDraft, expansion::ExpansionView};
use contracts::PlatformValidatorRegistry as Registry;
use domain::{ApplicationState as State, Wei};

use crate::{
    applications::{ALICE, NOW, confirm, draft},
    rig::{ADMIN, Rig, account, node, record},
};

const APPLICANT: usize = 2;

store::engine_tests! {
    async fn an_approved_application_becomes_staked_voting_and_active(test: TestDb) {
        let rig = Rig::start(test.db());
        let applications = Applications::new(test.db(), false);
        let draft = ApplicationDraft { operator_address: account(APPLICANT).to_string(), ..draft(1) };
        let id = applications.submit(&draft, None, NOW).await.expect("an application").row.id;
        let state = async || applications.get(&id).await.expect("the application").row.state;
        let sync = async || applications.sync(&rig.board().await, NOW).await.expect("a sync");

        rig.registry(ADMIN, 0, &Registry::expandToPhaseCall { phase: 2 }).await;
        let registration = Registry::registerValidatorCall {
            moniker: "Newcomer".to_owned(),
            website: String::new(),
            stake: Wei::from_coin(100_000).0,
            commissionBps: 750,
        };
        rig.registry(APPLICANT, 100_000, &registration).await;
        assert_eq!((sync().await, state().await), (0, State::Submitted), "nobody has approved it");

        applications.transition(&id, Decision::Approve, ALICE, NOW).await.expect("a step");
        assert_eq!((sync().await, state().await), (1, State::Staked));
        assert_eq!((sync().await, state().await), (0, State::Staked), "again changes nothing");

        rig.registry(APPLICANT, 0, &Registry::setConsensusAddressCall { consensus: node(6) }).await;
        rig.vote_to_add([1], node(6)).await;
        rig.mine(6).await;
        assert_eq!((sync().await, state().await), (1, State::Voting));
        let expansion = ExpansionView::of(&rig.board().await);
        assert_eq!(expansion.votes[0].operator, Some(account(APPLICANT)));
        assert_eq!(expansion.votes[0].moniker.as_deref(), Some("Newcomer"));

        rig.vote_to_add([2, 3], node(6)).await;
        rig.mine(6).await;
        assert_eq!((sync().await, state().await), (1, State::Active));
        assert_eq!(sync().await, 0);
        let steps = applications.get(&id).await.expect("the application").steps;
        let path: Vec<_> = steps.iter().map(|step| step.state).collect();
        assert_eq!(path, State::COURSE);

        let board = rig.board().await;
        let newcomer = record(&board, account(APPLICANT));
        assert!(newcomer.in_validator_set);
        assert_eq!(newcomer.region, Some("ID-JB"));
        let regions = ExpansionView::of(&board).regions;
        let taken: Vec<_> = regions.iter().filter(|slots| slots.taken > 0).map(|slots| slots.region.code).collect();
        assert_eq!(taken, ["ID-JB"]);
    }

    async fn states_that_the_chain_went_through_between_two_looks_are_in_the_history(test: TestDb) {
        let rig = Rig::start(test.db());
        let applications = Applications::new(test.db(), true);
        // An operator of the genesis, which has long been a validator.
        let genesis = ApplicationDraft { operator_address: crate::rig::operator(1).to_string(), ..draft(1) };
        let id = applications.submit(&genesis, None, NOW).await.expect("an application").row.id;
        confirm(&applications, &test.db()).await;
        applications.transition(&id, Decision::Approve, ALICE, NOW).await.expect("a step");
        rig.mine(1).await;
        assert_eq!(applications.sync(&rig.board().await, NOW + 9).await.expect("a sync"), 1);
        let application = applications.get(&id).await.expect("the application");
        let path: Vec<_> = application.steps.iter().map(|step| step.state).collect();
        assert_eq!(path, State::COURSE);
        assert_eq!(application.steps.last().expect("a step").actor, "chain");
        // One letter each for submission, approval and activation.
        assert_eq!(test.count_open_mail().await.expect("a count"), 3);
    }
}
