//! Who a caller of the portal is. A handler that takes one of these cannot forget to ask.

use std::{marker::PhantomData, sync::Arc};

use access::{KeyDenied, presented_bearer, presented_developer_key};
use accounts::{DeveloperKeyDenied, Grant, ScopeMissing, Session, SessionDenied};
use alloy_primitives::Address;
use axum::{
    extract::{FromRef, FromRequestParts},
    http::request::Parts,
};
use domain::portal::{Scope, origin_of};
use hyper::{
    HeaderMap, Method,
    header::{HeaderName, HeaderValue},
};
use jiff::Timestamp;

use super::{Portal, cookie};
use crate::{
    code::Code,
    edge::{Asker, marks::Marks},
    problem::Problem,
    state::ApiState,
};

const X_KEY_EXPIRES_AT: HeaderName = HeaderName::from_static("x-key-expires-at");

/// A wallet that is signed in: by its cookie, or by its token as a bearer, which counts alone if there is one.
///
/// A change that is asked for with the cookie must come from a page of ours, because browsers send cookies along whoever
/// asks.
pub(crate) struct SessionWallet {
    pub(crate) session: Session,
}

impl SessionWallet {
    /// Whose session it is.
    pub(crate) fn address(&self) -> Address {
        self.session.wallet
    }
}

impl<S> FromRequestParts<S> for SessionWallet
where
    S: Send + Sync,
    Arc<ApiState>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let state = Arc::<ApiState>::from_ref(state);
        let portal = state.portal()?;
        let session = match presented_bearer(&parts.headers) {
            Ok(token) => portal.sessions.check(token).await?,
            Err(KeyDenied::Missing) => {
                let url = &portal.sessions.settings().public_url;
                let token = cookie::token(&parts.headers, url).ok_or(SessionDenied::Missing)?;
                check_origin(portal, &parts.method, &parts.headers)?;
                portal.sessions.check(token).await?
            }
            Err(_not_one_token) => return Err(SessionDenied::Invalid.into()),
        };
        Ok(Self { session })
    }
}

fn check_origin(portal: &Portal, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if is_read || portal.is_own_page(headers) {
        return Ok(());
    }
    Err(Problem::new(Code::OriginMismatch, Code::OriginMismatch.meaning()))
}

/// A program with a good developer key, whatever its scopes. The answer says until when the key is good.
pub(crate) struct DeveloperCaller {
    pub(crate) grant: Arc<Grant>,
}

impl<S> FromRequestParts<S> for DeveloperCaller
where
    S: Send + Sync,
    Arc<ApiState>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let state = Arc::<ApiState>::from_ref(state);
        let portal = state.portal()?;
        let presented = presented_developer_key(&parts.headers).map_err(refuse_presented)?;
        let checked = portal.keys.check(presented).await;
        if let Some(end) = end_of(&checked) {
            mark_expiry(parts, end);
        }
        Ok(Self { grant: checked? })
    }
}

/// Two keys, or none, or bytes that are no text.
fn refuse_presented(denied: KeyDenied) -> Problem {
    Problem::from(match denied {
        KeyDenied::Missing => DeveloperKeyDenied::Missing,
        KeyDenied::Ambiguous => DeveloperKeyDenied::Ambiguous,
        KeyDenied::Malformed
        | KeyDenied::Unknown
        | KeyDenied::Revoked
        | KeyDenied::Expired
        | KeyDenied::IpNotAllowed => DeveloperKeyDenied::Malformed,
    })
}

/// When a key ends, if it is good or that is why it is refused.
fn end_of(checked: &Result<Arc<Grant>, DeveloperKeyDenied>) -> Option<Timestamp> {
    match checked {
        Ok(grant) => Some(grant.expires_at),
        Err(DeveloperKeyDenied::Expired { at }) => Some(*at),
        Err(
            DeveloperKeyDenied::Missing
            | DeveloperKeyDenied::Ambiguous
            | DeveloperKeyDenied::Malformed
            | DeveloperKeyDenied::Unknown
            | DeveloperKeyDenied::Revoked
            | DeveloperKeyDenied::Store(_),
        ) => None,
    }
}

fn mark_expiry(parts: &Parts, end: Timestamp) {
    if let (Some(marks), Ok(end)) = (parts.extensions.get::<Marks>(), HeaderValue::try_from(end.to_string()))
    {
        marks.add(X_KEY_EXPIRES_AT, end);
    }
}

/// A scope as a type, so that a signature can name it.
pub(crate) trait RequiredScope: Send + Sync + 'static {
    /// The scope.
    const SCOPE: Scope;
}

/// `dashboard:read`.
pub(crate) struct DashboardRead;

/// `invoices:read`.
pub(crate) struct InvoicesRead;

/// `invoices:write`.
pub(crate) struct InvoicesWrite;

impl RequiredScope for DashboardRead {
    const SCOPE: Scope = Scope::DashboardRead;
}

impl RequiredScope for InvoicesRead {
    const SCOPE: Scope = Scope::InvoicesRead;
}

impl RequiredScope for InvoicesWrite {
    const SCOPE: Scope = Scope::InvoicesWrite;
}

/// A program with a developer key that has a scope.
pub(crate) struct Scoped<R> {
    pub(crate) grant: Arc<Grant>,
    scope: PhantomData<R>,
}

impl<S, R> FromRequestParts<S> for Scoped<R>
where
    S: Send + Sync,
    R: RequiredScope,
    Arc<ApiState>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let DeveloperCaller { grant } = DeveloperCaller::from_request_parts(parts, state).await?;
        grant.require(R::SCOPE).map_err(refuse_scope)?;
        Ok(Self { grant, scope: PhantomData })
    }
}

fn refuse_scope(missing: ScopeMissing) -> Problem {
    let ScopeMissing(scope) = missing;
    Problem::from(missing).with_member("requiredScope", scope.name())
}

/// Where a request comes from, for the audit log.
pub(crate) struct Origin(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Origin {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.extensions.get::<Asker>().map(|asker| origin_of(asker.address))))
    }
}
