//! GraphQL over HTTP. A refusal before anything is executed has a status of its own; an answer with errors has 200, as
//! clients expect. Answers are kept until the next head, because everything in them is of one head.

use std::sync::Arc;

use async_graphql::{PathSegment, Request, Response as GraphqlResponse, Variables};
use axum::{
    body::Body,
    extract::{FromRequestParts, State, WebSocketUpgrade},
    response::{IntoResponse, Response},
};
use hyper::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Service, page, query::Pin, socket};
use crate::{
    code::Code,
    edge::answer::{Answer, Holds, JSON, Rendered},
    extract::body,
    problem::Problem,
};

/// Bytes of a body.
const MOST_BYTES: usize = 32 * 1024;

/// One operation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Operation {
    query: String,
    operation_name: Option<String>,
    variables: Option<Value>,
}

/// `POST /graphql`.
pub(super) async fn post_operation(
    State(service): State<Service>,
    headers: HeaderMap,
    request_body: Body,
) -> Response {
    match execute(&service, &headers, request_body).await {
        Ok(answer) => answer.into_response(),
        Err(problem) => refuse(&problem),
    }
}

/// `GET /graphql`: the page, or the start of a WebSocket.
pub(super) async fn get_page_or_socket(
    State(service): State<Service>,
    request: axum::extract::Request,
) -> Response {
    let (mut parts, _) = request.into_parts();
    match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => socket::open(upgrade, &parts, service),
        Err(_not_an_upgrade) => page::page().into_response(),
    }
}

async fn execute(service: &Service, headers: &HeaderMap, request_body: Body) -> Result<Answer, Problem> {
    let bytes = body::json(headers, request_body, MOST_BYTES).await?;
    let text =
        str::from_utf8(&bytes).map_err(|_| Problem::new(Code::InvalidJson, "The body is not UTF-8."))?;
    let question = format!("POST /graphql {text}");
    if let Some(kept) = service.cache.find(&question) {
        return Ok(Answer::rendered(kept, Holds::Never));
    }
    let era = service.cache.era();
    let request = parse(text)?;
    let pin = Arc::new(Pin::new(service.state.head()?));
    let mut response = match service.admission.admit(request) {
        Ok(request) => service.schema.execute(request.data(pin.clone())).await,
        Err(error) => GraphqlResponse::from_errors(vec![error]),
    };
    void_incomplete(&mut response);
    let is_clean = response.errors.is_empty();
    let answer = render(&response)?;
    if is_clean && !pin.is_lagging() {
        let kept = Answer::rendered(answer.clone(), Holds::Head(pin.head.hash));
        service.cache.keep(&question, &kept, era);
    }
    Ok(Answer::rendered(answer, Holds::Never))
}

fn parse(text: &str) -> Result<Request, Problem> {
    if text.trim_start().starts_with('[') {
        return Err(Problem::new(Code::BatchRefused, Code::BatchRefused.meaning()));
    }
    let operation: Operation = serde_json::from_str(text).map_err(|error| {
        let detail = format!("The body is not a GraphQL request: {error}.");
        Problem::new(Code::InvalidJson, detail)
    })?;
    let variables = operation.variables.map(Variables::from_json).unwrap_or_default();
    let mut request = Request::new(operation.query).variables(variables);
    if let Some(name) = operation.operation_name {
        request = request.operation_name(name);
    }
    Ok(request)
}

/// A field that failed and may not be null makes its parent null, and the parent of a query's fields is `data`. The
/// executor leaves such a field out instead.
fn void_incomplete(response: &mut GraphqlResponse) {
    let async_graphql::Value::Object(data) = &response.data else { return };
    let is_missing = response.errors.iter().any(|error| match error.path.first() {
        Some(PathSegment::Field(name)) => !data.contains_key(name.as_str()),
        Some(PathSegment::Index(_)) | None => false,
    });
    if is_missing {
        response.data = async_graphql::Value::Null;
    }
}

/// Renders an answer, or finds out that nothing was executed.
fn render(response: &GraphqlResponse) -> Result<Arc<Rendered>, Problem> {
    let refused = response.errors.iter().find(|error| error.path.is_empty()).map(|error| {
        let word = error.extensions.as_ref().and_then(|values| values.get("code"));
        let code = match word {
            Some(async_graphql::Value::String(word)) => Code::from_word(word),
            _ => None,
        };
        Problem::new(code.unwrap_or(Code::InvalidQuery), error.message.clone())
    });
    if let Some(problem) = refused {
        return Err(problem);
    }
    let body = serde_json::to_vec(response)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.meaning()).with_cause(error))?;
    Ok(Arc::new(Rendered::new(body.into(), JSON, Holds::Never)))
}

/// A refusal in GraphQL's shape.
fn refuse(problem: &Problem) -> Response {
    let body = json!({
        "data": null,
        "errors": [{ "message": problem.detail(), "extensions": { "code": problem.code().word() } }],
    });
    let mut response = (problem.status(), axum::Json(body)).into_response();
    if let Some(seconds) = problem.retry_after() {
        response.headers_mut().insert(hyper::header::RETRY_AFTER, seconds.into());
    }
    response
}
