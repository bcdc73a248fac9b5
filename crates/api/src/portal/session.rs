//! `/api/v1/platform-dev/session…`: signing in with a wallet, looking at the session, signing out.

use std::sync::Arc;

use accounts::{Challenge, Session, SignedIn};
use alloy_primitives::{Bytes, hex};
use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::{HeaderMap, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    cookie,
    guard::{Origin, SessionWallet},
};
use crate::{
    code::Code,
    describe::Refusals,
    edge::{
        Asker,
        answer::{Answer, Holds, created, made},
        rate_limited,
    },
    extract::{
        members::{Members, text},
        path,
    },
    problem::Problem,
    state::ApiState,
    view::{AddressText, TimeText},
};

const SESSION_PATH: &str = "/api/v1/platform-dev/session";

/// Ask for a message to sign
///
/// The first step of signing in: a text for the wallet to sign (EIP-4361). It can be answered once, within five minutes. A client
/// gets 30 in a minute.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/session/challenge", tag = "Portal sessions",
    request_body(content = ChallengeRequest, content_type = "application/json"),
    responses((status = 201, description = "The message to sign", body = ChallengeView))
)]
pub(super) async fn create_challenge(
    State(state): State<Arc<ApiState>>,
    Extension(asker): Extension<Asker>,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let portal = state.portal()?;
    let allowance = portal.challenges.take(asker.client(), state.clock.now()).await;
    if !allowance.is_granted {
        return Err(rate_limited(allowance));
    }
    let mut members = Members::read(&headers, request_body, &["address"]).await?;
    let address = members.required("address", text);
    members.finish()?;
    let challenge = portal.sessions.challenge(path::address(&address)?).await?;
    made(&ChallengeView::from(challenge))
}

/// Sign in
///
/// Begins a session of the wallet that signed the challenge's message: an account with a key, or a contract (ERC-1271), be it
/// not deployed yet (ERC-6492). A wrong signature uses the challenge up. The token is also set as a cookie that scripts
/// cannot read. A session ends after 30 minutes without use, or at `expiresAt`.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/session", tag = "Portal sessions",
    request_body(content = SessionRequest, content_type = "application/json"),
    responses((
        status = 201, description = "The session has begun", body = SignedInView,
        headers(("Set-Cookie" = String, description = "The session's cookie"))
    ))
)]
pub(super) async fn create_session(
    State(state): State<Arc<ApiState>>,
    Origin(origin): Origin,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let portal = state.portal()?;
    let mut members = Members::read(&headers, request_body, &["challengeId", "signature"]).await?;
    let (id, signature) = (members.required("challengeId", text), members.required("signature", text));
    members.finish()?;
    // What is no id is the id of no challenge, and what is no hexadecimal is no signature.
    let unknown = |_| Problem::from(accounts::SignInError::ChallengeExpired);
    let signature: Bytes = hex::decode(&signature).unwrap_or_default().into();
    let signed_in = portal.sessions.sign_in(id.parse().map_err(unknown)?, &signature, origin).await?;
    let life = cookie::life(state.clock.now(), signed_in.session.expires_at);
    let url = &portal.sessions.settings().public_url;
    let cookie = cookie::set(signed_in.token.expose(), url, life);
    let mut response = created(&SignedInView::from(signed_in), SESSION_PATH)?;
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Who is signed in
#[utoipa::path(
    get, path = "/api/v1/platform-dev/session", tag = "Portal sessions",
    responses((status = 200, description = "The session", body = SessionView))
)]
pub(super) async fn get_session(wallet: SessionWallet) -> Result<Answer, Problem> {
    Answer::json(&SessionView::from(wallet.session), Holds::Never)
}

/// Sign out
///
/// Ends the session and takes its cookie away.
#[utoipa::path(
    delete, path = "/api/v1/platform-dev/session", tag = "Portal sessions",
    responses((status = 204, description = "The session has ended"))
)]
pub(super) async fn delete_session(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Origin(origin): Origin,
) -> Result<Response, Problem> {
    let portal = state.portal()?;
    let cleared = portal.sign_out(&wallet.session, origin).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().extend(cleared.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Who wants to sign in.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "described here, read member by member")]
pub(super) struct ChallengeRequest {
    /// The wallet's address.
    #[schema(example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")]
    address: String,
}

/// A message to sign.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChallengeView {
    /// To send the signature with.
    #[schema(example = "chl_01kdvnqg00w5nv3x5nv3x5nv3x")]
    challenge_id: String,
    /// The text to sign, to the byte (EIP-4361).
    #[schema(example = "127.0.0.1:3000 wants you to sign in with your Ethereum account:\n…")]
    message: String,
    /// From when on no signature is taken.
    expires_at: TimeText,
}

impl From<Challenge> for ChallengeView {
    fn from(challenge: Challenge) -> Self {
        let Challenge { id, message, expires_at } = challenge;
        Self { challenge_id: id.to_string(), message, expires_at: TimeText(expires_at) }
    }
}

/// A signature.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "described here, read member by member")]
pub(super) struct SessionRequest {
    /// The challenge.
    #[schema(example = "chl_01kdvnqg00w5nv3x5nv3x5nv3x")]
    challenge_id: String,
    /// The wallet's signature of its message (`personal_sign`), or what its contract takes for one.
    #[schema(example = "0x…")]
    signature: String,
}

/// A session that has just begun.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignedInView {
    /// For `Authorization: Bearer`, where there are no cookies.
    #[schema(example = "pds_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg")]
    token: String,
    /// The wallet.
    address: AddressText,
    /// `eoa`, or `contract` for a wallet that a contract vouches for.
    #[schema(example = "eoa")]
    account_type: &'static str,
    /// When the session ends at the latest: after twelve hours, or one if a contract vouched.
    expires_at: TimeText,
}

impl From<SignedIn> for SignedInView {
    fn from(signed_in: SignedIn) -> Self {
        let SignedIn { token, session } = signed_in;
        Self {
            token: token.expose().to_owned(),
            address: AddressText(session.wallet),
            account_type: session.account_type.name(),
            expires_at: TimeText(session.expires_at),
        }
    }
}

/// A session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionView {
    /// Its id.
    #[schema(example = "ses_01kdvnqg00w5nv3x5nv3x5nv3x")]
    id: String,
    /// The wallet.
    address: AddressText,
    /// `eoa`, or `contract` for a wallet that a contract vouches for.
    #[schema(example = "eoa")]
    account_type: &'static str,
    /// When it began.
    created_at: TimeText,
    /// When it ends at the latest.
    expires_at: TimeText,
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        let Session { id, wallet, account_type, created_at, expires_at } = session;
        Self {
            id: id.to_string(),
            address: AddressText(wallet),
            account_type: account_type.name(),
            created_at: TimeText(created_at),
            expires_at: TimeText(expires_at),
        }
    }
}

/// Refusals of what needs a session.
pub(crate) const REFUSALS: &[Refusals] = &[
    (
        "create_challenge",
        &[
            Code::InvalidAddress,
            Code::InvalidJson,
            Code::NotFound,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "create_session",
        &[
            Code::InvalidJson,
            Code::SignatureInvalid,
            Code::ChallengeExpired,
            Code::NotFound,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::ChainUnavailable,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "get_session",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::NotFound,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "delete_session",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::OriginMismatch,
            Code::NotFound,
            Code::DatabaseUnavailable,
        ],
    ),
];
