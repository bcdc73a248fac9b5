//! Applications from submission to decision.

use chainnet_validators::{
    ApplicationError, Applications, Decision,
    application::{ApplicationDraft, Reviewer},
};
use domain::{ApplicationId, ApplicationState as State, Failure, FailureKind};

pub(crate) const NOW: u64 = 1_800_000_000_123;
pub(crate) const ALICE: Reviewer<'static> = Reviewer { name: "alice", note: None };

/// Confirms the address of the only application that waits for it, whose mail stays open.
pub(crate) async fn confirm(applications: &Applications, db: &store::Db) {
    let mail = db.take_due_mail(NOW, NOW, 1).await.expect("mail").remove(0);
    applications.confirm_email(&mail.confirmation.expect("a link"), NOW).await.expect("a link that is good");
}

pub(crate) fn draft(number: u64) -> ApplicationDraft {
    ApplicationDraft {
        moniker: format!("Validator {number}"),
        operator_address: format!("0x{number:040x}"),
        email: format!("ops{number}@example.org"),
        stake_amount: "250000.5".to_owned(),
        commission: 7.5,
        website: Some("https://example.org".to_owned()),
        region: Some("ID-JB".to_owned()),
        message: Some("secret plans".to_owned()),
    }
}

async fn submitted(applications: &Applications, number: u64) -> ApplicationId {
    applications.submit(&draft(number), None, NOW).await.expect("an application").row.id
}

store::engine_tests! {
    async fn a_submitted_application_can_be_read_back_with_its_review_date(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let made = applications.submit(&draft(1), None, NOW).await.expect("an application");
        let read = applications.get(&made.row.id).await.expect("the application");
        assert_eq!(read, made);
        assert_eq!(read.row.state, State::Submitted);
        assert_eq!(read.row.review_due_at, NOW + 7 * 86_400_000);
        assert_eq!(read.row.stake.to_string(), "250000.5");
        assert_eq!(read.row.commission_bps, 750);
        assert_eq!(read.row.message.as_deref(), Some("secret plans"));
        assert_eq!(test.count_open_mail().await.expect("a count"), 0);
    }

    async fn the_public_view_keeps_private_what_is_private(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let id = submitted(&applications, 1).await;
        let note = Reviewer { name: "alice", note: Some("looks odd") };
        let application = applications.transition(&id, Decision::Reject, note, NOW + 1).await.expect("a step");
        let shown = format!("{:?}", application.public());
        for private in ["ops1", "secret plans", "alice", "looks odd"] {
            assert!(!shown.contains(private), "{private}");
        }
        assert_eq!(application.public().history, [(State::Submitted, NOW), (State::Rejected, NOW + 1)]);
    }

    async fn a_bad_draft_is_refused_with_its_fields(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let bad = ApplicationDraft { moniker: "x".to_owned(), commission: 21.0, ..draft(1) };
        let error = applications.submit(&bad, None, NOW).await.expect_err("a refusal");
        assert_eq!((error.kind(), error.code()), (FailureKind::Invalid, "validation_failed"));
        let fields: Vec<_> = error.fields().iter().map(|field| field.field.as_ref()).collect();
        assert_eq!(fields, ["moniker", "commission"]);
    }

    async fn an_operator_has_one_open_application_at_a_time(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let first = submitted(&applications, 1).await;
        let error = applications.submit(&draft(1), None, NOW).await.expect_err("a refusal");
        assert_eq!((error.kind(), error.code()), (FailureKind::Conflict, "application_exists"));
        submitted(&applications, 2).await;
        applications.transition(&first, Decision::Withdraw, ALICE, NOW).await.expect("a step");
        submitted(&applications, 1).await;
    }

    async fn of_many_applications_at_once_for_one_operator_one_is_taken(test: TestDb) {
        let applications = Applications::new(test.db(), true);
        let submissions: Vec<_> = (0..16)
            .map(|_| {
                let applications = applications.clone();
                tokio::spawn(async move { applications.submit(&draft(1), None, NOW).await })
            })
            .collect();
        let mut taken = 0;
        for submission in submissions {
            match submission.await.expect("a task") {
                Ok(_) => taken += 1,
                Err(error) => assert!(matches!(error, ApplicationError::Exists), "{error:?}"),
            }
        }
        assert_eq!(taken, 1);
        assert_eq!(test.count_open_mail().await.expect("a count"), 1);
    }

    async fn an_approval_passes_through_the_review(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let id = submitted(&applications, 1).await;
        let bob = Reviewer { name: "bob", note: Some("welcome") };
        let application = applications.transition(&id, Decision::Approve, bob, NOW + 5).await.expect("a step");
        assert_eq!(application.row.state, State::Approved);
        assert_eq!(application.row.updated_at, NOW + 5);
        let steps: Vec<_> = application
            .steps
            .iter()
            .map(|step| (step.state, step.actor.as_str(), step.note.as_deref(), step.at))
            .collect();
        assert_eq!(steps, [
            (State::Submitted, "applicant", None, NOW),
            (State::InReview, "bob", Some("welcome"), NOW + 5),
            (State::Approved, "bob", Some("welcome"), NOW + 5),
        ]);
    }

    async fn a_step_that_is_not_allowed_is_refused_and_changes_nothing(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let id = submitted(&applications, 1).await;
        applications.transition(&id, Decision::Reject, ALICE, NOW).await.expect("a step");
        let before = applications.get(&id).await.expect("the application");
        for decision in [Decision::StartReview, Decision::Approve, Decision::Reject, Decision::Withdraw] {
            let error = applications.transition(&id, decision, ALICE, NOW).await.expect_err("a refusal");
            assert_eq!((error.kind(), error.code()), (FailureKind::Conflict, "transition_not_allowed"));
        }
        assert_eq!(applications.get(&id).await.expect("the application"), before);
    }

    async fn an_unknown_application_is_not_found(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let id = ApplicationId::from_uuid(7);
        for error in [
            applications.get(&id).await.expect_err("nothing"),
            applications.transition(&id, Decision::Approve, ALICE, NOW).await.expect_err("nothing"),
        ] {
            assert_eq!((error.kind(), error.code()), (FailureKind::NotFound, "application_not_found"));
        }
    }

    async fn rivals_for_one_application_take_its_states_once_each(test: TestDb) {
        let applications = Applications::new(test.db(), true);
        let id = submitted(&applications, 1).await;
        confirm(&applications, &test.db()).await;
        let decisions = [Decision::StartReview, Decision::Approve, Decision::Withdraw];
        let rivals: Vec<_> = (0..24)
            .map(|rival| {
                let (applications, id) = (applications.clone(), id.clone());
                tokio::spawn(async move { applications.transition(&id, decisions[rival % 3], ALICE, NOW).await })
            })
            .collect();
        let mut moves = 0;
        for rival in rivals {
            match rival.await.expect("a task") {
                Ok(_) => moves += 1,
                Err(error) => assert_eq!(error.code(), "transition_not_allowed", "{error:?}"),
            }
        }
        let application = applications.get(&id).await.expect("the application");
        assert_eq!(application.row.state, State::Withdrawn);
        for pair in application.steps.windows(2) {
            assert!(pair[0].state.successors().contains(&pair[1].state), "{:?}", application.steps);
        }
        assert_eq!(test.count_open_mail().await.expect("a count"), moves + 1);
    }

    async fn lists_are_newest_first_by_state_and_page(test: TestDb) {
        let applications = Applications::new(test.db(), false);
        let mut ids = Vec::new();
        for number in 1..=5 {
            let made = applications.submit(&draft(number), None, NOW + number).await.expect("an application");
            ids.push(made.row.id);
        }
        assert!(ids.is_sorted(), "ids sort by time");
        applications.transition(&ids[1], Decision::Approve, ALICE, NOW).await.expect("a step");
        let listed = async |state, before: Option<&ApplicationId>, limit| {
            let rows = applications.list(state, before, limit).await.expect("a list");
            rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        let newest: Vec<_> = ids.iter().rev().cloned().collect();
        assert_eq!(listed(None, None, 100).await, newest);
        assert_eq!(listed(None, None, 2).await, newest[..2]);
        assert_eq!(listed(None, Some(&newest[1]), 2).await, newest[2..4]);
        assert_eq!(listed(Some(State::Approved), None, 100).await, ids[1..2]);
    }
}
