//! `/graphql` in the OpenAPI document. What can be asked there is described by the GraphQL schema.

use serde_json::{Value, json};

/// Adds the operations at `/graphql`.
pub(crate) fn describe(document: &mut Value) {
    let errors = json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["message"],
            "properties": {
                "message": { "type": "string" },
                "extensions": { "type": "object", "properties": { "code": { "type": "string" } } },
            },
        },
    });
    let answer = json!({
        "type": "object",
        "description": "GraphQL's answer.",
        "properties": { "data": { "type": ["object", "null"] }, "errors": errors },
    });
    let refused = |description: &str| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/GraphqlAnswer" } } },
        })
    };
    let operation = json!({
        "tags": ["GraphQL"],
        "summary": "GraphQL",
        "description": "One query. Subscriptions use a WebSocket (graphql-transport-ws) at the same path.",
        "operationId": "post_graphql",
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/GraphqlRequest" } } },
        },
        "responses": {
            "200": {
                "description": "The answer, which may carry errors of single fields",
                "content": { "application/json": {
                    "schema": { "$ref": "#/components/schemas/GraphqlAnswer" },
                    "example": { "data": { "chainStats": { "blockNumber": 1024, "chainId": 8845 } } },
                } },
            },
            "400": refused("Refused before it was executed; see `errors[].extensions.code`"),
            "413": refused("The body has more than 32768 bytes"),
            "415": refused("The body is not `application/json`"),
            "503": refused("No node of the chain answers"),
        },
    });
    let page = json!({
        "tags": ["GraphQL"],
        "summary": "GraphQL page",
        "description": "A page to try queries on; with a WebSocket upgrade, subscriptions (graphql-transport-ws).",
        "operationId": "get_graphql",
        "responses": {
            "200": { "description": "A page", "content": { "text/html": { "schema": { "type": "string" } } } },
        },
    });
    let request = json!({
        "type": "object",
        "description": "A GraphQL request.",
        "required": ["query"],
        "properties": {
            "query": { "type": "string", "example": "{ chainStats { blockNumber chainId } }" },
            "operationName": { "type": ["string", "null"] },
            "variables": { "type": ["object", "null"] },
        },
    });
    if let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) {
        paths.insert("/graphql".into(), json!({ "get": page, "post": operation }));
    }
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        schemas.insert("GraphqlRequest".into(), request);
        schemas.insert("GraphqlAnswer".into(), answer);
    }
}
