//! `/api/v1/validators/applications…`: applying to become a validator, and following an application.

use std::sync::Arc;

use axum::{Extension, body::Body, extract::State, response::Response};
use domain::ApplicationId;
use hyper::{HeaderMap, StatusCode};
use validators::{ApplicationError, application::ApplicationDraft};

use super::segment::Segment;
use crate::{
    code::Code,
    edge::{
        Asker,
        answer::{Answer, Holds, created},
    },
    extract::members::{Members, number, text},
    portal::json,
    problem::Problem,
    state::ApiState,
    view::application::{ApplicationRequest, ApplicationView, ConfirmationRequest, ConfirmationView},
};

const FIELDS: [&str; 8] =
    ["moniker", "operatorAddress", "email", "stakeAmount", "commission", "website", "region", "message"];

/// Apply to become a validator
///
/// Starts the onboarding: a technical review of up to 7 days follows. An operator has one open application at a time. Where the
/// network sends mail, the address gets a link first, and news only once that was followed.
#[utoipa::path(
    post, path = "/api/v1/validators/applications", tag = "Validators",
    request_body(content = ApplicationRequest, content_type = "application/json"),
    responses((
        status = 201, description = "The application was received", body = ApplicationView,
        headers(("Location" = String, description = "Where the application can be followed"))
    ))
)]
pub(super) async fn create_application(
    State(state): State<Arc<ApiState>>,
    Extension(asker): Extension<Asker>,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let draft = read_draft(Members::read(&headers, request_body, &FIELDS).await?)?;
    let application = state.applications.submit(&draft, Some(asker.client()), state.now_millis()).await;
    let application = application.map_err(refuse)?;
    let view = ApplicationView::from(&application.public());
    created(&view, &format!("/api/v1/validators/applications/{}", application.row.id))
}

/// Follow an application
///
/// Its state and the next step; never the e-mail address, the message or the reviewers' notes.
#[utoipa::path(
    get, path = "/api/v1/validators/applications/{id}", tag = "Validators",
    params((
        "id" = String, Path, description = "The application's id",
        pattern = "^app_[0-9a-f]{32}$", example = "app_0192f00d0192f00d0192f00d0192f00d"
    )),
    responses((status = 200, description = "The application", body = ApplicationView))
)]
pub(super) async fn get_application(
    State(state): State<Arc<ApiState>>,
    Segment(id): Segment,
) -> Result<Answer, Problem> {
    let unknown = |_| Problem::new(Code::ApplicationNotFound, Code::ApplicationNotFound.meaning());
    let id: ApplicationId = id.parse().map_err(unknown)?;
    let application = state.applications.get(&id).await?;
    Answer::json(&ApplicationView::from(&application.public()), Holds::Never)
}

/// Confirm the e-mail address of an application
///
/// With the token of the link that the applicant got by mail. Doing it again changes nothing.
#[utoipa::path(
    post, path = "/api/v1/validators/applications/confirm", tag = "Validators",
    request_body(content = ConfirmationRequest, content_type = "application/json"),
    responses((status = 200, description = "The address is confirmed", body = ConfirmationView))
)]
pub(super) async fn confirm_application_email(
    State(state): State<Arc<ApiState>>,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let mut members = Members::read(&headers, request_body, &["token"]).await?;
    let token = members.required("token", text);
    members.finish()?;
    state.applications.confirm_email(&token, state.now_millis()).await?;
    json(StatusCode::OK, &ConfirmationView { is_email_confirmed: true })
}

/// A refusal with when to come back.
fn refuse(error: ApplicationError) -> Problem {
    match error {
        ApplicationError::Limited { retry_after } => Problem::from(error).with_retry_after(retry_after),
        ApplicationError::Invalid(_)
        | ApplicationError::Exists
        | ApplicationError::NotFound
        | ApplicationError::LinkUnknown
        | ApplicationError::TransitionNotAllowed { .. }
        | ApplicationError::Store(_) => error.into(),
    }
}

fn read_draft(mut members: Members) -> Result<ApplicationDraft, Problem> {
    let draft = ApplicationDraft {
        moniker: members.required("moniker", text),
        operator_address: members.required("operatorAddress", text),
        email: members.required("email", text),
        stake_amount: members.required("stakeAmount", text),
        commission: members.required("commission", number),
        website: members.optional("website", text),
        region: members.optional("region", text),
        message: members.optional("message", text),
    };
    members.finish()?;
    Ok(draft)
}
