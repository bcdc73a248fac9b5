//! What a GraphQL document may make the library do once it is admitted, and the codes of refusals.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_graphql::{
    ErrorExtensionValues, Response, ServerError, ServerResult, ValidationResult, Value, async_trait,
    extensions::{
        Extension, ExtensionContext, ExtensionFactory, NextExecute, NextResolve, NextValidation, ResolveInfo,
    },
};

use crate::code::Code;

/// Fields and entries of lists in one answer. What `admit` expects of lists are means; this is what they are.
const MAX_RESOLVED: usize = 20_000;
/// Errors of one document: a document can have one at each of its letters.
const MAX_ERRORS: usize = 10;

/// Makes what counts for one request.
pub(super) struct Limits;

impl ExtensionFactory for Limits {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Resolved::default())
    }
}

/// Counts what one operation resolves.
#[derive(Default)]
struct Resolved(AtomicUsize);

#[async_trait::async_trait]
impl Extension for Resolved {
    async fn validation(
        &self,
        ctx: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        next.run(ctx).await.map_err(|errors| errors.into_iter().take(MAX_ERRORS).map(invalid).collect())
    }

    async fn execute(
        &self,
        ctx: &ExtensionContext<'_>,
        operation_name: Option<&str>,
        next: NextExecute<'_>,
    ) -> Response {
        // Each event of a subscription is an answer of its own.
        self.0.store(0, Ordering::Relaxed);
        let response = next.run(ctx, operation_name).await;
        if self.0.load(Ordering::Relaxed) > MAX_RESOLVED {
            return Response::from_errors(vec![too_large("the answer has too many fields")]);
        }
        response
    }

    async fn resolve(
        &self,
        ctx: &ExtensionContext<'_>,
        info: ResolveInfo<'_>,
        next: NextResolve<'_>,
    ) -> ServerResult<Option<Value>> {
        if self.0.fetch_add(1, Ordering::Relaxed) >= MAX_RESOLVED {
            return Err(too_large("the answer has too many fields"));
        }
        next.run(ctx, info).await
    }
}

/// The library's refusal of a document.
pub(super) fn invalid(error: ServerError) -> ServerError {
    with_code(error, Code::InvalidQuery)
}

/// A document that asks for too much.
pub(super) fn too_large(reason: &'static str) -> ServerError {
    with_code(ServerError::new(reason, None), Code::QueryTooLarge)
}

/// A refusal with its code.
pub(super) fn with_code(mut error: ServerError, code: Code) -> ServerError {
    error.extensions.get_or_insert_with(ErrorExtensionValues::default).set("code", code.word());
    error
}
