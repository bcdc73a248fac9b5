//! What mail says when an application enters a state.

use domain::{ApplicationState, WebUrl};
use store::DueMail;

use super::Letter;

/// The letter about a state that was entered; to an address that is not confirmed, the question whether it is the
/// applicant's. `pages` are the network's web pages.
pub(super) fn letter(mail: &DueMail, pages: &WebUrl) -> Letter {
    match &mail.confirmation {
        Some(token) => question(token, pages),
        None => news_letter(mail),
    }
}

/// Nothing that the applicant wrote is in it: the address may be anybody's.
fn question(token: &str, pages: &WebUrl) -> Letter {
    Letter {
        subject: "Validator application: confirm your e-mail address".to_owned(),
        body: format!(
            "Hello,\n\nsomebody has applied to run a validator and named this address. If that was you, confirm it here:\n\n\
             {pages}/validators/confirm/{token}\n\n\
             The link can be followed for 7 days. News of the application is sent to this address only after that.\n\
             If it was not you, do nothing: you will get no news of it.\n"
        ),
    }
}

fn news_letter(mail: &DueMail) -> Letter {
    let DueMail { application, moniker, state, note, .. } = mail;
    let news = news(*state);
    let next = state.next_step();
    let reason = note.as_ref().map(|note| format!("The reviewers write:\n\n{note}\n\n")).unwrap_or_default();
    Letter {
        subject: format!("Validator application: {}", headline(*state)),
        body: format!(
            "Hello {moniker},\n\n{news}\n\n{reason}Next: {next}\n\nApplication: {application}\nState: {state}\n\n\
             This message was sent by the validator program because of your application.\n"
        ),
    }
}

const fn headline(state: ApplicationState) -> &'static str {
    match state {
        ApplicationState::Submitted => "received",
        ApplicationState::InReview => "review started",
        ApplicationState::Approved => "approved",
        ApplicationState::Staked => "stake found",
        ApplicationState::Voting => "vote under way",
        ApplicationState::Active => "your validator is active",
        ApplicationState::Rejected => "not accepted",
        ApplicationState::Withdrawn => "withdrawn",
        ApplicationState::Removed => "your validator was removed",
    }
}

const fn news(state: ApplicationState) -> &'static str {
    match state {
        ApplicationState::Submitted => "we have received your application to run a validator.",
        ApplicationState::InReview => "the technical review of your application has started.",
        ApplicationState::Approved => "your application to run a validator was approved.",
        ApplicationState::Staked => "your registration and stake were found on chain.",
        ApplicationState::Voting => "the validators are voting on adding your node.",
        ApplicationState::Active => "your node is now a validator of the network.",
        ApplicationState::Rejected => "your application to run a validator was not accepted.",
        ApplicationState::Withdrawn => "your application to run a validator was withdrawn.",
        ApplicationState::Removed => "your validator was removed from the registry.",
    }
}
