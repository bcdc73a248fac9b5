//! The documentation page, from the OpenAPI document: works without JavaScript, asks nobody else for anything.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{
    Surface,
    markup::{escape, page, prose},
};
use crate::code::Code;

/// An operation with its path and method.
struct Operation<'a> {
    path: &'a str,
    method: &'a str,
    value: &'a Value,
}

impl Operation<'_> {
    fn text(&self, member: &str) -> &str {
        self.value.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    fn tag(&self) -> &str {
        self.value.pointer("/tags/0").and_then(Value::as_str).unwrap_or("Other")
    }
}

/// The documentation: the page that everything begins with, and one for each part of a large interface.
pub(super) struct Pages {
    pub(super) first: String,
    /// By the last part of their paths.
    pub(super) parts: Vec<(String, String)>,
}

/// The documentation. With a place for them, parts have pages of their own, so that none is heavy.
pub(super) fn render(document: &Value, surface: &Surface) -> Pages {
    let operations = operations(document);
    let mut tags: Vec<&str> = Vec::new();
    for operation in &operations {
        if !tags.contains(&operation.tag()) {
            tags.push(operation.tag());
        }
    }
    let mut body =
        format!("<header><h1>{}</h1>{}</header><main>", escape(surface.title), surface.introduction);
    let mut parts = Vec::new();
    for tag in tags {
        let of_tag = || operations.iter().filter(|operation| operation.tag() == tag);
        match surface.parts {
            Some(place) => {
                let slug = tag.to_lowercase().replace(' ', "-");
                let _ = write!(
                    body,
                    "<h2><a href=\"{place}/{slug}\">{}</a></h2><ul class=\"operations\">",
                    escape(tag)
                );
                of_tag().for_each(|operation| put_link(&mut body, operation, &format!("{place}/{slug}")));
                body.push_str("</ul>");
                parts.push((slug, part(tag, place, of_tag())));
            }
            None => {
                let _ = write!(body, "<h2>{}</h2>", escape(tag));
                of_tag().for_each(|operation| put_operation(&mut body, operation, ""));
            }
        }
    }
    put_errors(&mut body);
    body.push_str("</main>");
    Pages { first: page("API", &body), parts }
}

/// The page of a part; `place` is that of the first page.
fn part<'a>(tag: &str, place: &str, operations: impl Iterator<Item = &'a Operation<'a>>) -> String {
    let mut body = format!(
        "<header><p><a href=\"/\">Explorer</a> · <a href=\"{place}\">API</a></p><h1>{}</h1></header><main>",
        escape(tag)
    );
    operations.for_each(|operation| put_operation(&mut body, operation, place));
    body.push_str("</main>");
    page(tag, &body)
}

fn put_link(body: &mut String, operation: &Operation<'_>, place: &str) {
    let (id, method) = (operation.text("operationId"), operation.method);
    let _ = write!(
        body,
        "<li><a href=\"{place}#{id}\"><span class=\"method {method}\">{}</span><code>{}</code></a> {}</li>",
        method.to_uppercase(),
        escape(operation.path),
        escape(operation.text("summary"))
    );
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document.get("paths").and_then(Value::as_object);
    let items = paths.into_iter().flat_map(Map::iter);
    items
        .flat_map(|(path, item)| {
            let methods = item.as_object().into_iter().flat_map(Map::iter);
            methods.map(move |(method, value)| Operation { path, method, value })
        })
        .collect()
}

/// An operation in full; `errors` is the page that has the table of error codes, empty for this one.
fn put_operation(body: &mut String, operation: &Operation<'_>, errors: &str) {
    let (id, method) = (operation.text("operationId"), operation.method);
    let _ = write!(
        body,
        "<section class=\"operation\" id=\"{id}\"><h3><span class=\"method {method}\">{}</span><code>{}</code></h3>\
         <p><strong>{}</strong>",
        method.to_uppercase(),
        escape(operation.path),
        prose(operation.text("summary"))
    );
    let description = operation.text("description");
    if !description.is_empty() {
        let _ = write!(body, "<br>{}", prose(description));
    }
    body.push_str("</p>");
    put_parameters(body, operation.value);
    if let Some(example) = operation.value.pointer("/requestBody/content/application~1json/example") {
        put_example(body, "Request", example);
    }
    put_responses(body, operation.value, errors);
    body.push_str("</section>");
}

fn put_parameters(body: &mut String, operation: &Value) {
    let Some(Value::Array(parameters)) = operation.get("parameters") else { return };
    body.push_str(
        "<h4>Parameters</h4><div class=\"scroll\" tabindex=\"0\"><table><tr><th scope=\"col\">Name</th><th scope=\"col\">In</th>\
         <th scope=\"col\">What</th><th scope=\"col\">Example</th></tr>",
    );
    for parameter in parameters {
        let text = |member: &str| parameter.get(member).and_then(Value::as_str).unwrap_or_default();
        let example = parameter.get("example").map(plain).unwrap_or_default();
        let _ = write!(
            body,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>",
            escape(text("name")),
            escape(text("in")),
            prose(text("description")),
            escape(&example)
        );
    }
    body.push_str("</table></div>");
}

fn put_responses(body: &mut String, operation: &Value, errors: &str) {
    let Some(Value::Object(responses)) = operation.get("responses") else { return };
    let mut refusals = String::new();
    for (status, response) in responses {
        let description = response.get("description").and_then(Value::as_str).unwrap_or_default();
        if let Some(codes) =
            response.pointer("/content/application~1problem+json/schema/allOf/1/properties/code/enum")
        {
            for code in codes.as_array().into_iter().flatten().filter_map(Value::as_str) {
                let _ = write!(refusals, "<a href=\"{errors}#{code}\"><code>{code}</code></a> ");
            }
            continue;
        }
        match response.pointer("/content/application~1json/example") {
            Some(example) => put_example(body, &format!("{status} {description}"), example),
            None => {
                let _ = write!(body, "<p class=\"soft\">{status} {}</p>", prose(description));
            }
        }
    }
    if !refusals.is_empty() {
        let _ = write!(body, "<h4>Refusals</h4><p>{refusals}</p>");
    }
}

fn put_example(body: &mut String, title: &str, example: &Value) {
    let text = serde_json::to_string_pretty(example).unwrap_or_default();
    let _ = write!(
        body,
        "<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>",
        escape(title),
        escape(&text)
    );
}

fn put_errors(body: &mut String) {
    body.push_str(
        "<h2 id=\"errors\">Error codes</h2><p>A refused request is answered with \
         <code>application/problem+json</code> (RFC 9457). Decide by <code>code</code>.</p>\
         <div class=\"scroll\" tabindex=\"0\"><table><tr><th scope=\"col\">Code</th><th scope=\"col\">Status</th>\
         <th scope=\"col\">Meaning</th></tr>",
    );
    for code in Code::ALL {
        let (word, status, meaning) = (code.word(), code.status(), escape(code.meaning()));
        let _ = write!(
            body,
            "<tr id=\"{word}\"><td><code>{word}</code></td><td>{status}</td><td>{meaning}</td></tr>"
        );
    }
    body.push_str("</table></div>");
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
