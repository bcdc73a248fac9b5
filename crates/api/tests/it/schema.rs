//! JSON Schema, as much of it as our OpenAPI document uses. A keyword that is not known here fails the test, so that nothing is
//! skipped silently.
//!
//! Written by hand because validators from outside turn on features of shared crates, and with them other number parsing.

use serde_json::{Map, Value};

/// Keywords that say nothing about what is valid.
const NOTES: [&str; 6] = ["description", "example", "examples", "title", "default", "deprecated"];

/// Checks `instance` against `schema`; faults are named with their place. Members that no schema describes are faults, too.
pub(crate) fn faults(document: &Value, schema: &Value, instance: &Value) -> Vec<String> {
    let checker = Checker { document };
    let mut faults = Vec::new();
    checker.check(schema, instance, "", &mut faults);
    faults
}

struct Checker<'a> {
    document: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, instance: &Value, place: &str, faults: &mut Vec<String>) {
        self.check_keywords(schema, instance, place, faults);
        if let Value::Object(members) = instance {
            let Some(known) = self.members(schema, members) else { return };
            for name in members.keys().filter(|name| !known.contains(name)) {
                faults.push(format!("{place}/{name} is not described"));
            }
        }
    }

    fn check_keywords(&self, schema: &Value, instance: &Value, place: &str, faults: &mut Vec<String>) {
        let Value::Object(keywords) = schema else { return };
        for (keyword, wanted) in keywords {
            let is_met = match keyword.as_str() {
                "$ref" => {
                    self.check_keywords(self.resolve(wanted), instance, place, faults);
                    true
                }
                "allOf" => {
                    let parts = wanted.as_array().unwrap();
                    parts.iter().for_each(|part| self.check_keywords(part, instance, place, faults));
                    true
                }
                "anyOf" => self.matching(wanted, instance) >= 1,
                "oneOf" => self.matching(wanted, instance) == 1,
                "type" => has_type(wanted, instance),
                "enum" => wanted.as_array().unwrap().contains(instance),
                "const" => wanted == instance,
                "properties" => {
                    self.check_properties(wanted, instance, place, faults);
                    true
                }
                "items" => {
                    for (index, item) in instance.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{place}/{index}"), faults);
                    }
                    true
                }
                "required" => wanted.as_array().unwrap().iter().all(|name| {
                    instance.as_object().is_none_or(|members| members.contains_key(name.as_str().unwrap()))
                }),
                "additionalProperties" => {
                    for (name, value) in instance.as_object().into_iter().flatten() {
                        self.check(wanted, value, &format!("{place}/{name}"), faults);
                    }
                    true
                }
                "propertyNames" => true,
                "pattern" => instance.as_str().is_none_or(|text| matches(wanted.as_str().unwrap(), text)),
                "format" => has_format(wanted.as_str().unwrap(), instance),
                "minimum" => instance.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
                "maximum" => instance.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
                note if NOTES.contains(&note) => true,
                unknown => panic!("the test does not know the keyword {unknown}"),
            };
            if !is_met {
                faults.push(format!("{place}: {instance} against {keyword} {wanted}"));
            }
        }
    }

    fn check_properties(&self, properties: &Value, instance: &Value, place: &str, faults: &mut Vec<String>) {
        for (name, schema) in properties.as_object().unwrap() {
            if let Some(value) = instance.get(name) {
                self.check(schema, value, &format!("{place}/{name}"), faults);
            }
        }
    }

    fn matching(&self, choices: &Value, instance: &Value) -> usize {
        let choices = choices.as_array().unwrap().iter();
        choices
            .filter(|choice| {
                let mut faults = Vec::new();
                self.check(choice, instance, "", &mut faults);
                faults.is_empty()
            })
            .count()
    }

    /// The members that a schema describes; none for a schema of any object.
    fn members(&self, schema: &Value, instance: &Map<String, Value>) -> Option<Vec<String>> {
        let mut names = Vec::new();
        if schema.get("additionalProperties").is_some() {
            return None;
        }
        if let Some(reference) = schema.get("$ref") {
            names.extend(self.members(self.resolve(reference), instance)?);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                let is_chosen = keyword == "allOf" || {
                    let mut faults = Vec::new();
                    self.check(part, &Value::Object(instance.clone()), "", &mut faults);
                    faults.is_empty()
                };
                if is_chosen {
                    names.extend(self.members(part, instance)?);
                }
            }
        }
        match schema.get("properties") {
            Some(properties) => names.extend(properties.as_object().unwrap().keys().cloned()),
            None if names.is_empty() => return None,
            None => {}
        }
        Some(names)
    }

    fn resolve(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
        self.document.pointer(pointer).unwrap_or_else(|| panic!("no {reference}"))
    }
}

fn has_type(wanted: &Value, instance: &Value) -> bool {
    let is_one = |kind: &Value| match kind.as_str().unwrap() {
        "null" => instance.is_null(),
        "boolean" => instance.is_boolean(),
        "integer" => instance.is_i64() || instance.is_u64(),
        "number" => instance.is_number(),
        "string" => instance.is_string(),
        "array" => instance.is_array(),
        "object" => instance.is_object(),
        other => panic!("no type {other}"),
    };
    wanted.as_array().map_or_else(|| is_one(wanted), |kinds| kinds.iter().any(is_one))
}

fn has_format(format: &str, instance: &Value) -> bool {
    let Some(text) = instance.as_str() else { return true };
    match format {
        "date-time" => text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok(),
        "uri" => text.starts_with("http://") || text.starts_with("https://"),
        "uri-reference" => text.starts_with('/'),
        "email" => text.contains('@'),
        other => panic!("no format {other}"),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    regex::Regex::new(pattern).unwrap().is_match(text)
}

#[test]
fn faults_are_found() {
    let document = serde_json::json!({ "a": { "type": "object", "required": ["x"], "properties": {
        "x": { "type": "integer", "minimum": 1 }, "y": { "oneOf": [{ "type": "null" }, { "type": "string", "pattern": "^a+$" }] },
    } } });
    let schema = serde_json::json!({ "$ref": "#/a" });
    let count = |instance: Value| faults(&document, &schema, &instance).len();
    assert_eq!(count(serde_json::json!({ "x": 1, "y": "aa" })), 0);
    assert_eq!(count(serde_json::json!({ "x": 1, "y": null })), 0);
    for bad in [
        serde_json::json!({}),
        serde_json::json!({ "x": 0 }),
        serde_json::json!({ "x": 1, "y": "b" }),
        serde_json::json!({ "x": 1, "z": 1 }),
        serde_json::json!([]),
    ] {
        assert_eq!(count(bad.clone()), 1, "{bad}");
    }
}
