//! The developer and merchant portal under `/api/v1/platform-dev`.

use utoipa_axum::router::OpenApiRouter;

use crate::rest::Shared;

/// What the portal's handlers work with.
pub struct Portal {}

/// Every route of the portal, with its description.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
}
