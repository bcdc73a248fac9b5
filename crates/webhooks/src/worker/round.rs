//! One turn at the database: what became of attempts goes in, what is to be sent comes out.
//!
//! There is one turn at a time. While it lasts attempts go on ending, and the next turn writes all of them down together.

use store::{
    Db, StoreError,
    portal::{EndpointReply, EndpointReport, Lease, Portion, TakenEndpoint},
};

/// What a turn is to do.
pub(super) struct Round {
    pub(super) reports: Vec<EndpointReport>,
    /// Whether to look for endpoints that are due, and for how many there is room.
    pub(super) room: Option<u32>,
    pub(super) lease: Lease,
    pub(super) portion: Portion,
}

/// What came of it.
pub(super) struct RoundResult {
    pub(super) now: u64,
    pub(super) replies: Vec<EndpointReply>,
    pub(super) taken: Vec<TakenEndpoint>,
    /// Whose deliveries were added.
    pub(super) routed: Vec<alloy_primitives::Address>,
    /// When the next endpoint is due that nobody has.
    pub(super) next_due: Option<u64>,
    /// What failed, and the reports that are still to be written.
    pub(super) failure: Option<(StoreError, Vec<EndpointReport>)>,
}

impl Round {
    pub(super) async fn run(mut self, db: Db) -> RoundResult {
        let mut result = RoundResult {
            now: self.lease.now,
            replies: Vec::new(),
            taken: Vec::new(),
            routed: Vec::new(),
            next_due: None,
            failure: None,
        };
        if let Err(error) = self.steps(&db, &mut result).await {
            result.failure = Some((error, self.reports));
        }
        result
    }

    async fn steps(&mut self, db: &Db, result: &mut RoundResult) -> Result<(), StoreError> {
        if !self.reports.is_empty() {
            result.replies = db.report_attempts(&mut self.reports, self.lease).await?;
            self.reports.clear();
        }
        if let Some(room) = self.room {
            result.routed = db.route_deliveries(self.lease.now).await?;
            if room > 0 {
                result.taken = db.take_endpoints(self.lease, room, self.portion).await?;
            }
        }
        result.next_due = db.next_endpoint_due(self.lease.now).await?;
        Ok(())
    }
}
