//! The pages of the validator program: ranking, one validator, the program, applications, the expansion.

mod application;
mod apply;
mod breakdown;
mod concentration;
mod confirm;
mod detail;
mod expansion;
mod figures;
mod history;
mod map;
mod program;
mod ranking;
mod region;
mod standing;
mod strip;

use std::sync::Arc;

use access::{Client, Counting};
use axum::{Extension, Router, extract::DefaultBodyLimit, routing::get};
use validators::{Board, ValidatorError};

use crate::{
    failure::{Failure, Missing},
    site::Site,
};

/// Applications that a visitor may send in a minute, complete or not.
const APPLICATIONS_PER_MINUTE: u32 = 12;
/// Bytes of an application: its longest field in the longest spelling that forms have, and the rest.
const MOST_BYTES: usize = 64 * 1024;

/// The routes of these pages.
pub(crate) fn routes(counting: &Counting) -> Router<Arc<Site>> {
    let limiter = Arc::new(counting.limiter::<Client>("applications", APPLICATIONS_PER_MINUTE));
    let apply = Router::new()
        .route("/validators/apply", get(apply::show).post(apply::submit))
        .layer(Extension(limiter))
        .layer(DefaultBodyLimit::max(MOST_BYTES));
    Router::new()
        .route("/validators", get(ranking::show))
        .route("/validators/program", get(program::show))
        .route("/validators/applications/{id}", get(application::show))
        .route("/validators/confirm/{token}", get(confirm::show).post(confirm::confirm))
        .route("/validators/expansion", get(expansion::show))
        .route("/validators/{address}", get(detail::show))
        .merge(apply)
}

/// What is known of the validators, also when no node answers now.
fn board(site: &Site) -> Result<Arc<Board>, Failure> {
    let board = site.api.boards.borrow().clone();
    board.ok_or_else(|| Failure::ChainUnavailable("no board yet".to_owned()))
}

impl From<ValidatorError> for Failure {
    fn from(error: ValidatorError) -> Self {
        match error {
            ValidatorError::NotFound => Self::Missing(Missing::Validator),
            ValidatorError::Chain(error) => error.into(),
            ValidatorError::Store(error) => error.into(),
            ValidatorError::NotReady => Self::ChainUnavailable(error.to_string()),
            ValidatorError::Header { .. } | ValidatorError::MissingBlock { .. } => {
                Self::Internal(error.to_string())
            }
        }
    }
}
