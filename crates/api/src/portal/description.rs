//! What problems of the portal say beyond those of the rest.

use serde_json::{Value, json};

/// Describes the members that some refusals have.
pub(crate) fn describe(document: &mut Value) {
    let problem = document.pointer_mut("/components/schemas/Problem/properties");
    let Some(properties) = problem.and_then(Value::as_object_mut) else { return };
    let scope = json!({ "type": "string", "description": "The scope that a developer key lacks." });
    properties.insert("requiredScope".into(), scope);
    // The order that has to be paid, as it stands.
    properties.insert("order".into(), json!({ "$ref": "#/components/schemas/Order" }));
    let reason = json!({ "type": "string", "description": "Why webhooks are not sent to a URL, as a word." });
    properties.insert("reason".into(), reason);
    let notice = json!({
        "type": "object", "required": ["code", "message"],
        "properties": { "code": { "type": "string" }, "message": { "type": "string" } },
    });
    let description =
        "What a buyer should know before paying: `rate_unavailable` where no invoice can be paid yet.";
    let notices = json!({ "type": "array", "description": description, "items": notice });
    properties.insert("notices".into(), notices);
    // An invoice that is in the way of a new one.
    properties.insert("invoice".into(), json!({ "$ref": "#/components/schemas/Invoice" }));
}
