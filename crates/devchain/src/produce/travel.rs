//! Development-only powers: sealing on demand, moving the clock, going back to a snapshot.

use tracing::error;

use super::{ControlError, Pacing, Producer};
use crate::chain::ImportError;

/// Snapshots kept at the same time; the oldest is forgotten.
const MAX_SNAPSHOTS: usize = 1024;
/// Rounds that one `mine` may go through before it gives up; each has another proposer.
const MAX_ROUNDS: usize = 64;
/// 9999-12-31T23:59:59Z. Far beyond it times no longer fit into milliseconds and the chain could never go on.
const LATEST_TIMESTAMP: u64 = 253_402_300_799;

/// Heads to go back to.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    taken: Vec<Snapshot>,
    last_id: u64,
}

#[derive(Debug, Clone, Copy)]
struct Snapshot {
    id: u64,
    number: u64,
    clock_offset_ms: i64,
}

impl Producer {
    /// Seals one block now: moves the clock to when it is due and, if proposers are stopped, through their rounds.
    pub(super) fn mine(&mut self, timestamp: Option<u64>) -> Result<Result<u64, ControlError>, ImportError> {
        let head = self.chain.head();
        let height = head.block.number() + 1;
        if let Err(missing) = self.check_quorum() {
            return Ok(Err(missing));
        }
        let asked = timestamp.or(self.next_timestamp.take());
        if let Err(too_early) = asked.map_or(Ok(()), |asked| self.check_timestamp(asked)) {
            return Ok(Err(too_early));
        }
        match asked {
            Some(asked) => self.leap(asked),
            None if self.chain.clock().now_secs() < self.earliest_timestamp() => {
                self.leap(self.earliest_timestamp())
            }
            None => {}
        }
        if self.pacing == Pacing::OnDemand {
            self.hold_rounds();
        }
        for _ in 0..MAX_ROUNDS {
            self.fire_due()?;
            if self.chain.head().block.number() >= height {
                return Ok(Ok(height));
            }
            let Some(due) = self.next_due_ms() else { break };
            self.chain.clock().not_before(due);
        }
        Ok(Err(self.check_quorum().err().unwrap_or(ControlError::Failed)))
    }

    /// Moves the clock to a second, forth or back, and the rounds under way with it.
    pub(super) fn leap(&mut self, to_secs: u64) {
        let offset = self.chain.clock().offset_ms();
        self.chain.clock().set_ms(to_secs.saturating_mul(1000));
        self.shift_rounds(offset);
    }

    /// Moves the rounds under way along with the machine's clock: the time that was skipped is nobody's missed turn.
    pub(super) fn follow_machine(&mut self) {
        let set_forward_ms = self.chain.clock().set_forward_ms();
        let by = set_forward_ms.saturating_sub(self.set_forward_ms);
        self.set_forward_ms = set_forward_ms;
        self.shift_rounds_by(by);
    }

    fn shift_rounds(&mut self, old_offset_ms: i64) {
        self.shift_rounds_by(self.chain.clock().offset_ms().saturating_sub(old_offset_ms));
    }

    fn shift_rounds_by(&mut self, by: i64) {
        for seat in &mut self.seats {
            seat.shift_round(by);
        }
    }

    /// Nobody has been waiting for a block until now, so the time since the last one is nobody's missed turn.
    fn hold_rounds(&mut self) {
        let timeout_ms = self.chain.spec().ibft.request_timeout_secs.saturating_mul(1000);
        let until_ms = self.chain.clock().now_ms().saturating_add(timeout_ms);
        for seat in &mut self.seats {
            seat.hold_round(until_ms);
        }
    }

    fn check_quorum(&self) -> Result<(), ControlError> {
        let validators = self.chain.head().tally.validators();
        let running =
            self.seats.iter().filter(|seat| seat.machine.is_some() && validators.contains(&seat.address()));
        let (running, total) = (running.count(), validators.len());
        let quorum = ibft::quorum::quorum(total);
        if running >= quorum { Ok(()) } else { Err(ControlError::NoQuorum { running, total, quorum }) }
    }

    fn earliest_timestamp(&self) -> u64 {
        self.chain.head().block.header.timestamp + self.chain.spec().ibft.block_period_secs
    }

    fn check_timestamp(&self, asked: u64) -> Result<(), ControlError> {
        let earliest = self.earliest_timestamp();
        if asked < earliest {
            return Err(ControlError::TimestampTooEarly { asked, earliest });
        }
        not_too_late(asked)
    }

    pub(super) fn set_next_timestamp(&mut self, timestamp: u64) -> Result<(), ControlError> {
        self.check_timestamp(timestamp)?;
        self.next_timestamp = Some(timestamp);
        Ok(())
    }

    pub(super) fn increase_time(&mut self, secs: u64) -> Result<i64, ControlError> {
        not_too_late(self.chain.clock().now_secs().saturating_add(secs))?;
        let offset = self.chain.clock().offset_ms();
        self.chain.clock().advance_ms(secs.saturating_mul(1000));
        self.shift_rounds(offset);
        Ok(self.chain.clock().offset_ms() / 1000)
    }

    pub(super) fn snapshot(&mut self) -> u64 {
        let snapshots = &mut self.snapshots;
        snapshots.last_id += 1;
        if snapshots.taken.len() == MAX_SNAPSHOTS {
            snapshots.taken.remove(0);
        }
        snapshots.taken.push(Snapshot {
            id: snapshots.last_id,
            number: self.chain.head().block.number(),
            clock_offset_ms: self.chain.clock().offset_ms(),
        });
        snapshots.last_id
    }

    pub(super) fn revert(&mut self, id: u64) -> Result<bool, ControlError> {
        let Some(position) = self.snapshots.taken.iter().position(|snapshot| snapshot.id == id) else {
            return Ok(false);
        };
        let Some(snapshot) = self.snapshots.taken.get(position).copied() else { return Ok(false) };
        self.snapshots.taken.truncate(position);
        self.chain.revert_to(snapshot.number).map_err(|error| {
            error!(%error, "cannot revert");
            ControlError::Failed
        })?;
        self.chain.clock().restore(snapshot.clock_offset_ms);
        self.restart_running().map_err(|error| {
            error!(%error, "cannot restart the validators");
            ControlError::Failed
        })?;
        Ok(true)
    }

    /// Validators know only the future of the head they were started at; a head that went back needs new ones.
    fn restart_running(&mut self) -> Result<(), ImportError> {
        self.mail.clear();
        self.executed.clear();
        for index in 0..self.seats.len() {
            let Some(seat) = self.seats.get_mut(index).filter(|seat| seat.machine.is_some()) else {
                continue;
            };
            seat.stop();
            seat.lock = None;
            self.start_seat(index);
        }
        self.settle()
    }
}

fn not_too_late(asked: u64) -> Result<(), ControlError> {
    let latest = LATEST_TIMESTAMP;
    if asked <= latest { Ok(()) } else { Err(ControlError::TimestampTooLate { latest }) }
}
