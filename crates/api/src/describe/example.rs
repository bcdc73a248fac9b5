//! Examples of whole answers, put together from the examples of their fields.

use serde_json::{Map, Value, json};

/// References inside references that are followed; our schemas are not so deep.
const DEEPEST: usize = 12;

/// Adds an example to every body that has none.
pub(super) fn add(document: &mut Value) {
    let schemas = document.pointer("/components/schemas").cloned().unwrap_or_default();
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let items = paths.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut);
    for operation in items.flat_map(Map::values_mut) {
        if let Some(body) = operation.pointer_mut("/requestBody/content/application~1json") {
            add_to(body, &schemas);
        }
        let Some(Value::Object(responses)) = operation.get_mut("responses") else { continue };
        for response in responses.values_mut() {
            if let Some(body) = response.pointer_mut("/content/application~1json") {
                add_to(body, &schemas);
            }
        }
    }
}

fn add_to(body: &mut Value, schemas: &Value) {
    let Some(body) = body.as_object_mut() else { return };
    let example = body.get("schema").map(|schema| compose(schema, schemas, 0)).unwrap_or_default();
    let is_empty = example.as_object().is_some_and(Map::is_empty);
    if !body.contains_key("example") && !example.is_null() && !is_empty {
        body.insert("example".into(), example);
    }
}

/// An example of a schema; null where none can be made.
fn compose(schema: &Value, schemas: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Null;
    }
    if let Some(example) = schema.get("example") {
        return example.clone();
    }
    let inner = |schema: &Value| compose(schema, schemas, depth + 1);
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return schemas.get(name).map(inner).unwrap_or_default();
    }
    if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    if let Some(Value::Array(parts)) = schema.get("allOf") {
        let members = parts.iter().map(inner).filter_map(|part| match part {
            Value::Object(members) => Some(members),
            _ => None,
        });
        return Value::Object(members.flatten().collect());
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf").or_else(|| schema.get("anyOf")) {
        return choices.iter().map(inner).find(|choice| !choice.is_null()).unwrap_or_default();
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        return properties.iter().map(|(name, property)| (name.clone(), inner(property))).collect();
    }
    if let Some(items) = schema.get("items") {
        return json!([inner(items)]);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(0),
        Some("string") => json!(""),
        _ => Value::Null,
    }
}
