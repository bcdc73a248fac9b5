//! The limiter of one process, as its callers see it.

use std::net::Ipv4Addr;

use super::*;

fn quota(requests: u32) -> Quota {
    Quota::per_minute(requests.try_into().unwrap())
}

fn client(last: u8) -> Subject {
    Subject::Client(Client::V4(Ipv4Addr::new(203, 0, 113, last)))
}

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_millisecond(1_700_000_000_000 + (seconds * 1000.0) as i64).unwrap()
}

fn granted(limiter: &Limiter, subject: Subject, quota: Quota, cost: u32, now: Timestamp) -> usize {
    (0..10_000).take_while(|_| limiter.take(subject, quota, cost, now).is_granted).count()
}

#[test]
fn the_301st_request_of_an_instant_is_refused() {
    let limiter = Limiter::local();
    for used in 1..=300 {
        let allowance = limiter.take(client(1), quota(300), 1, at(0.0));
        assert!(allowance.is_granted, "{used}");
        assert_eq!((allowance.limit, allowance.remaining), (300, 300 - used));
    }
    let refused = limiter.take(client(1), quota(300), 1, at(0.0));
    assert!(!refused.is_granted);
    assert_eq!((refused.meter, refused.remaining), (Meter::Requests, 0));
    assert_eq!((refused.retry_seconds(), refused.reset_seconds()), (60, 60));
    assert_eq!(granted(&limiter, client(1), quota(300), 1, at(59.9)), 0, "in the same minute");
    assert_eq!(granted(&limiter, client(1), quota(300), 1, at(60.0)), 300, "a minute later");
    assert_eq!(granted(&limiter, client(1), quota(300), 1, at(600.0)), 300, "much later");
}

#[test]
fn every_subject_has_its_own_quota() {
    let limiter = Limiter::local();
    let key = Subject::Key("internal-dev".parse().unwrap());
    assert_eq!(granted(&limiter, client(1), quota(3), 1, at(0.0)), 3);
    assert_eq!(granted(&limiter, client(2), quota(3), 1, at(0.0)), 3);
    assert_eq!(granted(&limiter, key, quota(600), 1, at(0.0)), 600);
}

#[test]
fn heavy_methods_use_units_and_ordinary_ones_do_not() {
    let limiter = Limiter::local();
    // 100 requests have 500 units: 25 of 20.
    assert_eq!(granted(&limiter, client(1), quota(100), 20, at(0.0)), 25);
    let refused = limiter.take(client(1), quota(100), 20, at(0.0));
    assert_eq!((refused.meter, refused.limit, refused.remaining), (Meter::Units, 500, 0));
    assert_eq!(refused.retry_after, Duration::from_secs(60));
    assert_eq!(granted(&limiter, client(1), quota(100), 1, at(0.0)), 75, "a refusal used nothing");
    assert_eq!(limiter.take(client(1), quota(100), 0, at(0.0)).meter, Meter::Requests);
}

#[test]
fn of_two_meters_that_refuse_the_one_that_does_so_longer_is_told() {
    let limiter = Limiter::local();
    assert_eq!(granted(&limiter, client(1), quota(100), 1, at(0.0)), 100);
    assert_eq!((0..75).filter(|_| limiter.take(client(2), quota(100), 1, at(0.0)).is_granted).count(), 75);
    assert_eq!(granted(&limiter, client(2), quota(100), 20, at(30.0)), 25);
    for (subject, meter) in [(client(1), Meter::Requests), (client(2), Meter::Units)] {
        assert_eq!(limiter.take(subject, quota(100), 500, at(30.0)).meter, meter);
    }
}

#[test]
fn a_method_dearer_than_the_whole_budget_can_be_asked_when_nothing_is_used() {
    let limiter = Limiter::local();
    assert_eq!(granted(&limiter, client(1), quota(1), 1_000, at(0.0)), 1);
    assert_eq!(granted(&limiter, client(1), quota(1), 1_000, at(60.0)), 1);
}

/// 300 a minute is 300 in any minute: a burst and then an even stream, as a patient caller would have it.
#[test]
fn a_burst_leaves_nothing_for_the_rest_of_its_minute() {
    let limiter = Limiter::local();
    let mut times = Vec::new();
    for tenth in 0..1_800 {
        let now = f64::from(tenth) / 10.0;
        times.extend(std::iter::repeat_n(tenth, granted(&limiter, client(1), quota(300), 1, at(now))));
    }
    for begin in 0..1_800 {
        let in_minute = times.iter().filter(|tenth| (begin..begin + 600).contains(*tenth)).count();
        assert!(in_minute <= 300, "{in_minute} from {begin} on");
    }
    assert_eq!(times.len(), 900, "three minutes");
}

#[test]
fn callers_on_many_threads_get_the_limit_together() {
    let limiter = Limiter::local();
    let total: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| granted(&limiter, client(1), quota(1_000), 1, at(0.0)))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(total, 1_000);
}
