//! The developer and merchant portal under `/api/v1/platform-dev`.
//!
//! People come with a wallet's session, programs with a developer key; which of them a handler serves, and what a key must be
//! good for, is in its signature ([`guard`]).

mod cookie;
pub(crate) mod current_key;
pub(crate) mod guard;
pub(crate) mod session;

use std::sync::Arc;

use access::WindowLimiter;
use accounts::{DeveloperKeys, Sessions};
use hyper::header::HeaderValue;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::rest::Shared;

/// What the portal's handlers work with.
pub struct Portal {
    /// Who is signed in. Its housekeeping must run somewhere.
    pub sessions: Arc<Sessions>,
    /// Who may use the API. Its recording of uses must run somewhere.
    pub keys: Arc<DeveloperKeys>,
    /// Origins whose pages may change something with the cookie of a session.
    pub origins: Vec<HeaderValue>,
    /// Challenges that a client may ask for in a minute: [`Portal::CHALLENGES_PER_MINUTE`].
    pub challenges: WindowLimiter,
}

impl Portal {
    /// Challenges that a client gets in a minute.
    pub const CHALLENGES_PER_MINUTE: u32 = 30;
}

/// Every route of the portal, with its description.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(session::create_challenge))
        .routes(routes!(session::create_session, session::get_session, session::delete_session))
        .routes(routes!(current_key::get_current_key))
}
