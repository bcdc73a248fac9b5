//! `/api/v1/validators/applications…`: applying to become a validator, and following an application.

use std::sync::Arc;

use axum::{body::Body, extract::State, response::Response};
use domain::{ApplicationId, FieldFailure};
use hyper::HeaderMap;
use serde_json::{Map, Value};
use validators::application::ApplicationDraft;

use super::segment::Segment;
use crate::{
    code::Code,
    edge::answer::{Answer, Holds, created},
    extract::body,
    problem::Problem,
    state::ApiState,
    view::application::{ApplicationRequest, ApplicationView},
};

const MOST_BYTES: usize = 16 * 1024;
const FIELDS: [&str; 8] =
    ["moniker", "operatorAddress", "email", "stakeAmount", "commission", "website", "region", "message"];

/// Apply to become a validator
///
/// Starts the onboarding: a technical review of up to 7 days follows. An operator has one open application at a time.
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
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let bytes = body::json(&headers, request_body, MOST_BYTES).await?;
    let members: Map<String, Value> = serde_json::from_slice(&bytes)
        .map_err(|_| Problem::new(Code::InvalidJson, "The body is not a JSON object."))?;
    let draft = read_draft(members)?;
    let application = state.applications.submit(&draft, state.now_millis()).await?;
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

/// Reads the members of a body; every unknown, missing or mistyped one is named.
fn read_draft(mut members: Map<String, Value>) -> Result<ApplicationDraft, Problem> {
    let unknown = members.keys().filter(|name| !FIELDS.contains(&name.as_str())).map(|name| FieldFailure {
        field: name.clone().into(),
        code: "unknown_field",
        message: "is not a field of an application".into(),
    });
    let unknown: Vec<FieldFailure> = unknown.collect();
    if !unknown.is_empty() {
        return Err(Problem::new(Code::UnknownField, Code::UnknownField.meaning()).with_fields(unknown));
    }
    let mut faults = Vec::new();
    let draft = ApplicationDraft {
        moniker: required(&mut members, "moniker", text, &mut faults),
        operator_address: required(&mut members, "operatorAddress", text, &mut faults),
        email: required(&mut members, "email", text, &mut faults),
        stake_amount: required(&mut members, "stakeAmount", text, &mut faults),
        commission: required(&mut members, "commission", number, &mut faults),
        website: optional(&mut members, "website", &mut faults),
        region: optional(&mut members, "region", &mut faults),
        message: optional(&mut members, "message", &mut faults),
    };
    if faults.is_empty() {
        return Ok(draft);
    }
    let detail = "Fields of the application are missing or of another type; see errors.";
    Err(Problem::new(Code::ValidationFailed, detail).with_fields(faults))
}

type Fault = (&'static str, &'static str);

fn text(value: Value) -> Result<String, Fault> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(("wrong_type", "must be a string")),
    }
}

fn number(value: Value) -> Result<f64, Fault> {
    value.as_f64().ok_or(("wrong_type", "must be a number"))
}

fn required<T: Default>(
    members: &mut Map<String, Value>,
    field: &'static str,
    read: fn(Value) -> Result<T, Fault>,
    faults: &mut Vec<FieldFailure>,
) -> T {
    let value = members.remove(field).filter(|value| !value.is_null());
    let read = value.map_or(Err(("required", "is required")), read);
    read.unwrap_or_else(|(code, message)| {
        faults.push(FieldFailure { field: field.into(), code, message: message.into() });
        T::default()
    })
}

fn optional(
    members: &mut Map<String, Value>,
    field: &'static str,
    faults: &mut Vec<FieldFailure>,
) -> Option<String> {
    let value = members.remove(field).filter(|value| !value.is_null())?;
    text(value)
        .map_err(|(code, message)| {
            faults.push(FieldFailure { field: field.into(), code, message: message.into() });
        })
        .ok()
}
