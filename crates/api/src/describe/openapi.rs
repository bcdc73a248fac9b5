//! The OpenAPI document: what the handlers say of themselves, and what holds for all of them.
//!
//! The handlers name their parameters and their success. Refusals come from one table ([`Surface::refusals`]), because they
//! would otherwise be pasted on every handler; examples are put together from the examples of fields.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use super::{Surface, example};
use crate::code::Code;

/// Refusals that every limited operation has.
const COMMON: [Code; 4] = [Code::UriTooLong, Code::RateLimited, Code::Internal, Code::TimedOut];
/// Operations that are never limited.
const PROBES: [&str; 2] = ["get_health", "get_readiness"];
/// How schemas are called whose fields may be left out, because they are not of answers.
const REQUEST: &str = "Request";

/// The whole document.
pub(super) fn document(handlers: OpenApi, surface: &Surface) -> Value {
    // What utoipa builds always serialises.
    let mut document = serde_json::to_value(handlers).unwrap_or_default();
    rename_schemas(&mut document);
    loosen_choices(&mut document);
    if let Some(root) = document.as_object_mut() {
        root.insert("openapi".into(), "3.1.0".into());
        root.insert("info".into(), info(surface));
        root.insert("servers".into(), json!([{ "url": "/" }]));
    }
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        schemas.iter_mut().for_each(|(name, schema)| require_all(name, schema));
        schemas.insert("Problem".into(), problem_schema());
    }
    (surface.extend)(&mut document);
    for_operations(&mut document, |operation| {
        drop_null_parameters(operation);
        add_refusals(operation, surface);
    });
    example::add(&mut document);
    for_operations(&mut document, |operation| {
        let id = operation.get("operationId").and_then(Value::as_str).map(camel_case);
        operation.insert("operationId".into(), id.into());
    });
    document
}

fn info(surface: &Surface) -> Value {
    json!({
        "title": surface.title,
        "version": env!("CARGO_PKG_VERSION"),
        "description": surface.description,
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

fn for_operations(document: &mut Value, mut change: impl FnMut(&mut Map<String, Value>)) {
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let items = paths.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut);
    items.flat_map(Map::values_mut).filter_map(Value::as_object_mut).for_each(&mut change);
}

/// The names of our types without their endings, which say something to us only.
fn public_name(name: &str) -> &str {
    name.strip_suffix("View").or_else(|| name.strip_suffix("Text")).unwrap_or(name)
}

fn rename_schemas(document: &mut Value) {
    const PREFIX: &str = "#/components/schemas/";
    match document {
        Value::Object(members) => {
            if let Some(Value::Object(schemas)) = members.get_mut("schemas") {
                *schemas = std::mem::take(schemas)
                    .into_iter()
                    .map(|(name, schema)| (public_name(&name).to_owned(), schema))
                    .collect();
            }
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(PREFIX)
            {
                *reference = format!("{PREFIX}{}", public_name(name));
            }
            members.values_mut().for_each(rename_schemas);
        }
        Value::Array(items) => items.iter_mut().for_each(rename_schemas),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A block without transactions is of both its forms, so that choices are "any of", but for those between something and
/// null.
fn loosen_choices(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_loose = members.get("oneOf").and_then(Value::as_array).is_some_and(|choices| {
                choices.iter().all(|choice| choice.get("type").is_none_or(|kind| kind != "null"))
            });
            if is_loose && let Some(choices) = members.remove("oneOf") {
                members.insert("anyOf".into(), choices);
            }
            members.values_mut().for_each(loosen_choices);
        }
        Value::Array(items) => items.iter_mut().for_each(loosen_choices),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Answers never leave a member out: what is unknown is null.
fn require_all(name: &str, schema: &mut Value) {
    if name.ends_with(REQUEST) {
        if let Some(request) = schema.as_object_mut() {
            request.insert("additionalProperties".into(), false.into());
        }
        return;
    }
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
                members.insert("required".into(), names.into());
            }
            members.values_mut().for_each(|member| require_all("", member));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| require_all("", item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A parameter that may be left out is not one that may be null.
fn drop_null_parameters(operation: &mut Map<String, Value>) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let Some(Value::Object(schema)) = parameter.get_mut("schema") else { continue };
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".into(), only);
            }
        }
    }
}

fn add_refusals(operation: &mut Map<String, Value>, surface: &Surface) {
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut lists = surface.refusals.iter().copied().flatten();
    let own = lists.find(|(name, _)| *name == id).map_or(&[][..], |(_, codes)| codes);
    let common: &[Code] = if PROBES.contains(&id.as_str()) { &[Code::UriTooLong] } else { &COMMON };
    let Some(Value::Object(responses)) = operation.get_mut("responses") else { return };
    let mut codes: Vec<Code> = own.iter().chain(common).copied().collect();
    codes.sort();
    for same_status in codes.chunk_by(|a, b| a.status() == b.status()) {
        let Some(first) = same_status.first() else { continue };
        responses.insert(first.status().to_string(), refusal(*first, same_status));
    }
}

/// The answer to a refused request: a problem whose code is one of these.
fn refusal(first: Code, codes: &[Code]) -> Value {
    let words: Vec<&str> = codes.iter().map(|code| code.word()).collect();
    let meanings: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}", code.word(), code.meaning())).collect();
    json!({
        "description": meanings.join("\n\n"),
        "content": { "application/problem+json": {
            "schema": { "allOf": [
                { "$ref": "#/components/schemas/Problem" },
                { "type": "object", "properties": {
                    "status": { "const": first.status() },
                    "code": { "enum": words },
                } },
            ] },
            "example": {
                "type": format!("/api/v1/docs#{first}"),
                "title": first.title(),
                "status": first.status(),
                "detail": first.meaning(),
                "code": first.word(),
                "requestId": "0199a2c4-7",
            },
        } },
    })
}

fn problem_schema() -> Value {
    let words: Vec<&str> = Code::ALL.iter().map(|code| code.word()).collect();
    json!({
        "type": "object",
        "description": "Why a request was refused (RFC 9457).",
        "required": ["type", "title", "status", "detail", "code", "requestId"],
        "properties": {
            "type": { "type": "string", "format": "uri-reference", "description": "Where the code is explained." },
            "title": { "type": "string", "description": "The code in words." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599, "description": "The answer's status." },
            "detail": { "type": "string", "description": "What is wrong with this request." },
            "code": { "type": "string", "enum": words, "description": "The word to decide by." },
            "requestId": { "type": "string", "description": "Finds the request in the server's log." },
            "errors": {
                "type": "array",
                "description": "The fields of the body that were refused.",
                "items": {
                    "type": "object",
                    "required": ["field", "code", "message"],
                    "properties": {
                        "field": { "type": "string", "description": "The field's name." },
                        "code": { "type": "string", "description": "The word to decide by." },
                        "message": { "type": "string", "description": "What is wrong and what would be right." },
                    },
                },
            },
        },
    })
}

/// `get_block` as `getBlock`.
fn camel_case(snake: &str) -> String {
    let mut words = snake.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}
