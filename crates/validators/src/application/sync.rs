//! The steps that nobody decides: an accepted application follows what the chain shows of its operator.

use domain::ApplicationState;
use tokio_util::sync::CancellationToken;

use crate::{
    Clock,
    board::{Board, Boards, Standing, ValidatorRecord},
    error::ApplicationError,
};

use super::{Applications, Reviewer};

/// Most accepted applications that are looked at; older ones have long come to their end.
const MOST: u32 = 1_000;
/// The actor of what the chain shows.
const CHAIN: Reviewer<'static> = Reviewer { name: "chain", note: None };

impl Applications {
    /// Follows the boards until stopped, or until nobody makes them any more.
    pub async fn follow(&self, mut boards: Boards, clock: Clock, stop: CancellationToken) {
        loop {
            let board = boards.borrow_and_update().clone();
            if let Some(board) = board
                && let Err(error) = self.sync(&board, clock()).await
            {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "applications cannot be brought up to date with the chain"
                );
            }
            match stop.run_until_cancelled(boards.changed()).await {
                Some(Ok(())) => {}
                Some(Err(_)) | None => return,
            }
        }
    }

    /// Moves accepted applications to where the chain shows them, and answers how many moved. Doing it again changes
    /// nothing.
    pub async fn sync(&self, board: &Board, now: u64) -> Result<usize, ApplicationError> {
        let mut moved = 0;
        for application in self.db.list_accepted_applications(MOST).await? {
            let record = board.find(application.operator);
            let record = record.filter(|record| record.operator == Some(application.operator));
            let Some(shown) = record.and_then(|record| shown_state(record, board)) else { continue };
            if application.state.path_to(shown).is_none() {
                continue;
            }
            match self.advance(&application.id, shown, CHAIN, now).await {
                Ok(()) => moved += 1,
                // Somebody closed it, or another process moved it as far.
                Err(ApplicationError::TransitionNotAllowed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(moved)
    }
}

/// How far the chain shows an operator to be; `None` when it is not a member, or left by its own request.
fn shown_state(record: &ValidatorRecord, board: &Board) -> Option<ApplicationState> {
    match record.standing {
        Standing::Active | Standing::Jailed => {}
        Standing::Slashed | Standing::Removed => return Some(ApplicationState::Removed),
        Standing::None | Standing::Inactive => return None,
    }
    if record.in_validator_set {
        return Some(ApplicationState::Active);
    }
    let is_voted_on = record.consensus.is_some_and(|node| board.votes.has_vote_to_add(node));
    Some(if is_voted_on { ApplicationState::Voting } else { ApplicationState::Staked })
}
