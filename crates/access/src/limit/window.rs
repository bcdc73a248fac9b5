//! A limit per minute: at most so much in any 60 seconds.
//!
//! A [`Window`] remembers what was used in the last minute, in a ring of entries of constant size. An entry collects what was used
//! within [`ENTRY_MS`] and counts until its last use is a minute old: never shorter than the minute, and never longer than that plus
//! [`ENTRY_MS`]. So a whole limit may be used at once and is there again exactly a minute later; who uses it evenly, in steps shorter
//! than an entry, gets 60 parts in 61.5 of it. Times are whole milliseconds since 1970.

use jiff::Timestamp;

pub(super) const MINUTE_MS: u64 = 60_000;
/// What is used within so long counts as used at once, at the end.
const ENTRY_MS: u64 = 1_500;
/// Entries that count at a time: they begin at least [`ENTRY_MS`] apart, and the oldest ended less than a minute ago.
const ENTRIES: usize = ((MINUTE_MS + ENTRY_MS) / ENTRY_MS) as usize + 1;
/// Entries keep the low bits of their time alone: all of them are within a minute before the newest use.
const _: () = assert!(MINUTE_MS + ENTRY_MS < u16::MAX as u64 && ENTRIES < u8::MAX as usize);

/// What was used in the last minute.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// When something was last used.
    newest: u64,
    /// When the newest entry began.
    began: u64,
    used: u32,
    /// Where the oldest entry is.
    first: u8,
    /// How many entries there are.
    len: u8,
    /// The last use of each entry: the low bits of its time.
    ends: [u16; ENTRIES],
    amounts: [u32; ENTRIES],
}

impl Default for Window {
    fn default() -> Self {
        Self { newest: 0, began: 0, used: 0, first: 0, len: 0, ends: [0; ENTRIES], amounts: [0; ENTRIES] }
    }
}

impl Window {
    /// Forgets what is a minute old. A clock that was set back by more than a minute locks nobody out: all is forgotten.
    pub(super) fn advance(&mut self, now: u64) {
        let is_ahead = self.newest > now.saturating_add(MINUTE_MS);
        if is_ahead || self.newest.saturating_add(MINUTE_MS) <= now {
            (self.newest, self.used, self.first, self.len) = (0, 0, 0, 0);
            return;
        }
        while let Some((end, amount)) = self.oldest()
            && end.saturating_add(MINUTE_MS) <= now
        {
            self.used = self.used.saturating_sub(amount);
            self.first = place(self.first, 1);
            self.len -= 1;
        }
    }

    /// What is used, as of the last [`Self::advance`].
    pub(super) const fn used(&self) -> u32 {
        self.used
    }

    /// How long until so much more fits under a limit; none if it does. Whatever costs more than the limit costs all of it.
    pub(super) fn wait(&self, limit: u32, cost: u32, now: u64) -> Option<u64> {
        if limit == 0 {
            return Some(MINUTE_MS);
        }
        let wanted = u64::from(self.used) + u64::from(cost.min(limit));
        let mut excess = wanted.checked_sub(limit.into()).filter(|excess| *excess > 0)?;
        for (end, amount) in self.entries() {
            excess = excess.saturating_sub(amount.into());
            if excess == 0 {
                return Some(end.saturating_add(MINUTE_MS).saturating_sub(now));
            }
        }
        Some(MINUTE_MS)
    }

    /// Notes a use.
    pub(super) fn add(&mut self, cost: u32, now: u64) {
        if cost == 0 {
            return;
        }
        // Callers read the clock before they have the lock: one may be a little behind another.
        let now = now.max(self.newest);
        let is_new = self.len == 0 || now.saturating_sub(self.began) >= ENTRY_MS;
        if is_new && usize::from(self.len) < ENTRIES {
            self.len += 1;
            self.began = now;
            self.put(0, now);
        }
        let amount = self.amounts.get(usize::from(place(self.first, self.len - 1))).copied().unwrap_or(0);
        self.put(amount.saturating_add(cost), now);
        self.used = self.used.saturating_add(cost);
        self.newest = now;
    }

    /// How long until something of what was used is there again.
    pub(super) fn reset_after(&self, now: u64) -> u64 {
        self.oldest().map_or(0, |(end, _)| end.saturating_add(MINUTE_MS).saturating_sub(now))
    }

    /// Until when it matters.
    pub(super) const fn matters_until(&self) -> u64 {
        self.newest.saturating_add(MINUTE_MS)
    }

    /// Writes the newest entry.
    fn put(&mut self, amount: u32, end: u64) {
        let at = usize::from(place(self.first, self.len.saturating_sub(1)));
        if let (Some(kept), Some(kept_end)) = (self.amounts.get_mut(at), self.ends.get_mut(at)) {
            (*kept, *kept_end) = (amount, low_bits(end));
        }
    }

    fn oldest(&self) -> Option<(u64, u32)> {
        self.entries().next()
    }

    /// The entries from the oldest on: when each ended, and what was used.
    fn entries(&self) -> impl Iterator<Item = (u64, u32)> {
        (0..self.len).filter_map(|index| {
            let at = usize::from(place(self.first, index));
            let age = low_bits(self.newest).wrapping_sub(*self.ends.get(at)?);
            Some((self.newest - u64::from(age), *self.amounts.get(at)?))
        })
    }
}

/// The place in the ring so many after another.
const fn place(first: u8, after: u8) -> u8 {
    ((first as usize + after as usize) % ENTRIES) as u8
}

const fn low_bits(time: u64) -> u16 {
    (time & u16::MAX as u64) as u16
}

/// A time as it is counted here. Before 1970 there is nothing to count.
pub(super) fn milliseconds(now: Timestamp) -> u64 {
    u64::try_from(now.as_millisecond()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: u64 = 1_700_000_000_000;

    /// Uses so much if it fits.
    fn take(window: &mut Window, limit: u32, cost: u32, now: u64) -> Result<(), u64> {
        window.advance(now);
        match window.wait(limit, cost, now) {
            Some(wait) => Err(wait),
            None => {
                window.add(cost.min(limit), now);
                Ok(())
            }
        }
    }

    #[test]
    fn a_whole_limit_used_at_once_is_there_again_a_minute_later_and_nothing_before() {
        for limit in [1, 7, 300, 100_000] {
            let mut window = Window::default();
            assert_eq!(
                (0..=limit).filter(|_| take(&mut window, limit, 1, NOW).is_ok()).count(),
                limit as usize
            );
            for later in [0, 1, 30_000, 59_999] {
                assert_eq!(take(&mut window, limit, 1, NOW + later), Err(MINUTE_MS - later));
                assert_eq!(window.reset_after(NOW + later), MINUTE_MS - later);
            }
            assert_eq!(take(&mut window, limit, limit, NOW + MINUTE_MS), Ok(()));
        }
    }

    #[test]
    fn what_costs_more_than_there_ever_is_costs_everything_and_no_limit_grants_nothing() {
        let mut window = Window::default();
        assert_eq!(take(&mut window, 10, u32::MAX, NOW), Ok(()));
        assert_eq!((window.used(), take(&mut window, 10, 1, NOW)), (10, Err(MINUTE_MS)));
        assert_eq!(take(&mut Window::default(), 0, 1, NOW), Err(MINUTE_MS));
        assert_eq!(take(&mut window, 5, 1, NOW + 1), Err(MINUTE_MS - 1), "a limit that was lowered");
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out_and_one_that_trembles_grants_nothing_more() {
        let mut window = Window::default();
        assert_eq!(take(&mut window, 3, 3, NOW), Ok(()));
        assert!(take(&mut window, 3, 1, NOW - 20).is_err());
        assert_eq!(take(&mut window, 3, 3, NOW - 3_600_000), Ok(()));
        assert!(take(&mut window, 3, 1, u64::MAX).is_ok() && take(&mut window, 3, 1, 0).is_ok());
    }

    proptest! {
        /// The rule itself, and that a refusal says truly how long to wait.
        #[test]
        fn no_minute_has_more_than_the_limit_and_who_waits_is_served(
            limit in prop_oneof![Just(1u32), Just(20), Just(100), Just(300), 1u32..2_000],
            steps in prop::collection::vec((prop_oneof![0u64..50, 0u64..3_000, 0u64..40_000], 1u32..60), 1..300),
        ) {
            let (mut window, mut now, mut granted) = (Window::default(), NOW, Vec::<(u64, u32)>::new());
            for (pause, cost) in steps {
                now += pause;
                match take(&mut window, limit, cost, now) {
                    Ok(()) => granted.push((now, cost.min(limit))),
                    Err(wait) => {
                        prop_assert!((1..=MINUTE_MS).contains(&wait));
                        prop_assert_eq!(take(&mut window.clone(), limit, cost, now + wait), Ok(()));
                        prop_assert!(take(&mut window.clone(), limit, cost, now + wait - 1).is_err());
                    }
                }
                let in_minute = granted.iter().filter(|(at, _)| at + MINUTE_MS > now);
                prop_assert!(in_minute.map(|(_, cost)| u64::from(*cost)).sum::<u64>() <= u64::from(limit));
            }
        }

        /// Who asks evenly, a little below the limit, is never refused.
        #[test]
        fn an_even_caller_is_served(limit in 1u32..2_000, start in 0u64..5_000) {
            // 60 parts in 61.5, which is the price of a ring of constant size.
            let per_minute = f64::from(limit) * 60.0 / 61.5;
            let mut window = Window::default();
            for index in 0..u64::from(limit) * 3 {
                let now = NOW + start + (index as f64 * 60_000.0 / per_minute).ceil() as u64;
                prop_assert_eq!(take(&mut window, limit, 1, now), Ok(()), "{} of {}", index, limit);
            }
        }

        /// Who asks less often than an entry is long gets its limit to the millisecond.
        #[test]
        fn a_slow_even_caller_gets_the_limit_itself(limit in 1u32..=40) {
            let mut window = Window::default();
            for index in 0..200 {
                prop_assert_eq!(take(&mut window, limit, 1, NOW + index * MINUTE_MS.div_ceil(limit.into())), Ok(()));
            }
        }

        #[test]
        fn nothing_overflows(limit: u32, steps in prop::collection::vec((any::<u64>(), any::<u32>()), 1..100)) {
            let mut window = Window::default();
            for (now, cost) in steps {
                let _ = take(&mut window, limit, cost, now);
                prop_assert!(window.used() <= limit);
            }
        }
    }
}
