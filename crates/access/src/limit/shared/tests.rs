//! Replicas and a Redis of a few lines, in an order and with delays that chance decides.

use std::{num::NonZeroU32, time::Duration};

use proptest::prelude::*;

use super::purse::{Circumstances, Lease, Purse};
use crate::limit::gcra::Rate;

const BEGIN: u64 = 1_700_000_000 * 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
const REPLICAS: usize = 3;

/// `lease.lua`, in nanoseconds.
struct Ledger {
    rate: Rate,
    arrival: u64,
}

impl Ledger {
    fn settle(&mut self, debt: u32, returned: u32, wanted: u32, now: u64) -> Lease {
        let (token, window) = (self.rate.span(1), self.rate.window());
        let charged = self.arrival.max(now) + u64::from(debt) * token;
        let arrival = charged.saturating_sub(u64::from(returned) * token).clamp(now, now + 2 * window);
        let left = (now + window).saturating_sub(arrival) / token;
        let granted = u64::from(wanted).min(left);
        self.arrival = arrival + granted * token;
        let is_all = granted == u64::from(wanted);
        let wait = if is_all { 0 } else { (self.arrival + token).saturating_sub(now + window) };
        Lease {
            granted: u32::try_from(granted).unwrap(),
            left: u32::try_from(left - granted).unwrap(),
            wait: Duration::from_nanos(wait),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A client asks a replica so often, which asks Redis when it is time to.
    Take(usize, u8),
    /// The answer of Redis arrives.
    Deliver(usize),
    /// A replica gives back what was not used, and charges debts.
    Settle(usize),
    /// Milliseconds go by.
    Pass(u16),
    /// Redis goes, or comes back.
    Toggle,
}

fn step() -> impl Strategy<Value = Step> {
    let replica = 0..REPLICAS;
    prop_oneof![
        8 => (replica.clone(), 1u8..60).prop_map(|(replica, times)| Step::Take(replica, times)),
        6 => replica.clone().prop_map(Step::Deliver),
        2 => replica.prop_map(Step::Settle),
        3 => (1u16..3_000).prop_map(Step::Pass),
        1 => Just(Step::Toggle),
    ]
}

/// An answer that has not arrived.
struct OnTheWay {
    lease: Lease,
    debt: u32,
    sent_at: u64,
}

struct World {
    limit: NonZeroU32,
    ledger: Ledger,
    purses: [Purse; REPLICAS],
    answers: [Option<OnTheWay>; REPLICAS],
    lost_at: Option<u64>,
    settled_at: u64,
    now: u64,
    granted: u64,
}

impl World {
    fn new(limit: NonZeroU32) -> Self {
        let ledger = Ledger { rate: Rate::per_minute(limit), arrival: 0 };
        let (purses, answers) = Default::default();
        Self { limit, ledger, purses, answers, lost_at: None, settled_at: BEGIN, now: BEGIN, granted: 0 }
    }

    fn at(&self) -> Circumstances {
        let replicas = NonZeroU32::new(REPLICAS as u32).unwrap();
        Circumstances { replicas, lost_at: self.lost_at, now: self.now }
    }

    fn go(&mut self, step: Step) {
        match step {
            Step::Take(replica, times) => {
                for _ in 0..times {
                    self.take(replica);
                }
            }
            Step::Deliver(replica) => self.deliver(replica),
            Step::Settle(replica) => self.settle(replica),
            Step::Pass(milliseconds) => self.pass(u64::from(milliseconds) * MILLISECOND),
            Step::Toggle => self.toggle(),
        }
    }

    fn take(&mut self, replica: usize) {
        let (at, purse) = (self.at(), &mut self.purses[replica]);
        if let Ok(payment) = purse.quote(self.limit, 1, at) {
            purse.pay(payment);
            self.granted += 1;
        }
        if let Some(wanted) = purse.ask(self.limit, 1, at) {
            let debt = purse.take_debt(self.limit, at);
            let lease = self.ledger.settle(debt, 0, wanted, self.now);
            self.answers[replica] = Some(OnTheWay { lease, debt, sent_at: self.now });
        }
    }

    fn settle(&mut self, replica: usize) {
        let (at, purse) = (self.at(), &mut self.purses[replica]);
        let returned = purse.give_up(false);
        if self.lost_at.is_none() {
            let debt = if purse.has_old_debt() { purse.take_debt(self.limit, at) } else { 0 };
            self.ledger.settle(debt, returned, 0, self.now);
        }
    }

    fn deliver(&mut self, replica: usize) {
        if let Some(answer) = self.answers[replica].take() {
            self.purses[replica].receive(answer.lease, self.now);
        }
    }

    /// No answer takes longer than half a second, and every two seconds everything is settled.
    fn pass(&mut self, span: u64) {
        let late = 500 * MILLISECOND;
        let arrived_at = self.now + span.min(late);
        let end = self.now + span;
        self.now = arrived_at;
        for replica in 0..REPLICAS {
            if self.answers[replica].as_ref().is_some_and(|answer| arrived_at - answer.sent_at >= late) {
                self.deliver(replica);
            }
        }
        self.now = end;
        if self.now - self.settled_at >= 2_000 * MILLISECOND {
            self.settled_at = self.now;
            (0..REPLICAS).for_each(|replica| self.settle(replica));
        }
    }

    /// What was on its way is lost; who comes back charges first what it granted on its own.
    fn toggle(&mut self) {
        let at = self.at();
        if self.lost_at.take().is_none() {
            self.lost_at = Some(self.now);
            for (purse, answer) in self.purses.iter_mut().zip(&mut self.answers) {
                if let Some(answer) = answer.take() {
                    purse.put_back(answer.debt);
                    purse.forget_ask();
                }
            }
            return;
        }
        for purse in &mut self.purses {
            let debt = purse.take_debt(self.limit, at);
            self.ledger.settle(debt, 0, 0, self.now);
        }
    }

    /// What may have been granted by now: the limit, what came back, and the replicas' advances. Two seconds for
    /// what is granted between two settlements.
    fn most(&self) -> u64 {
        let limit = u64::from(self.limit.get());
        let refilled = limit * (self.now - BEGIN + 2_000 * MILLISECOND) / (60_000 * MILLISECOND) + 1;
        let advances = (limit / (8 * REPLICAS as u64)).max(1) * REPLICAS as u64;
        limit + refilled + advances
    }
}

proptest! {
    #[test]
    fn replicas_never_grant_more_than_the_limit_and_their_advances(
        limit in 3u32..2_000,
        steps in prop::collection::vec(step(), 1..400),
    ) {
        let mut world = World::new(NonZeroU32::new(limit).unwrap());
        for step in steps {
            world.go(step);
            prop_assert!(world.granted <= world.most(), "{} of {} at {:?}", world.granted, world.most(), step);
        }
    }
}

/// The bound above is not kept by being mean: one replica that is asked alone gets the whole limit.
#[test]
fn one_replica_can_grant_the_whole_limit() {
    let mut world = World::new(NonZeroU32::new(600).unwrap());
    for _ in 0..100 {
        world.go(Step::Take(0, 60));
        world.go(Step::Deliver(0));
    }
    assert!((600..=world.most()).contains(&world.granted), "{}", world.granted);
}
