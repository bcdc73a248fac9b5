//! Log lines that repeat are counted instead of written by the thousand: of one place in the code so many are written in a minute,
//! and at its end one line says how many more there were.
//!
//! Only lines that everybody sees are counted (information, warnings, errors); whoever asks for more detail gets all of it.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tracing::{
    Event, Level, Metadata, Subscriber,
    callsite::Identifier,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

/// Lines of one place in the code that are written in a minute.
const MOST: u64 = 60;
const MINUTE: Duration = Duration::from_secs(60);
/// The target of the lines that tell of others, which are not counted themselves.
const TARGET: &str = "chainnet::repeats";

/// Counts lines. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Repeats {
    counts: Arc<Mutex<HashMap<Identifier, Count>>>,
    most: u64,
}

/// The lines of one place in the code, in the minute that began with the first of them.
struct Count {
    metadata: &'static Metadata<'static>,
    since: Instant,
    lines: u64,
    /// What the last line said that was not written.
    message: String,
}

/// Lines that were not written.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    level: Level,
    lines: u64,
    message: String,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { counts: Arc::default(), most: MOST }
    }
}

impl Repeats {
    /// Tells of lines that were not written, every minute and as long as the process lives.
    pub(crate) fn tell_every_minute(&self) -> std::io::Result<()> {
        let repeats = self.clone();
        let tell = move || loop {
            // Nobody wakes it; if somebody did, the minutes that are not over would go on.
            std::thread::park_timeout(MINUTE);
            repeats.take_left(Instant::now()).iter().for_each(tell);
        };
        std::thread::Builder::new().name("log-repeats".to_owned()).spawn(tell).map(drop)
    }

    /// Whether a line is to be written.
    fn count(&self, event: &Event<'_>, now: Instant) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::INFO || metadata.target() == TARGET {
            return true;
        }
        let mut counts = self.counts.lock();
        let new = Count { metadata, since: now, lines: 0, message: String::new() };
        let count = counts.entry(metadata.callsite()).or_insert(new);
        count.lines += 1;
        if count.lines <= self.most {
            return true;
        }
        count.message.clear();
        event.record(&mut Message(&mut count.message));
        false
    }

    /// Ends the minutes that are over; answers what was not written in them.
    fn take_left(&self, now: Instant) -> Vec<Left> {
        let mut left = Vec::new();
        self.counts.lock().retain(|_, count| {
            let is_over = now.duration_since(count.since) >= MINUTE;
            if is_over && count.lines > self.most {
                let (level, lines) = (*count.metadata.level(), count.lines - self.most);
                left.push(Left { level, lines, message: std::mem::take(&mut count.message) });
            }
            !is_over
        });
        left
    }
}

fn tell(left: &Left) {
    let Left { level, lines, message } = left;
    match *level {
        Level::ERROR => tracing::error!(target: TARGET, repeated = lines, "again: {message}"),
        Level::WARN => tracing::warn!(target: TARGET, repeated = lines, "again: {message}"),
        _ => tracing::info!(target: TARGET, repeated = lines, "again: {message}"),
    }
}

impl<S: Subscriber> Layer<S> for Repeats {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        self.count(event, Instant::now())
    }
}

/// What a line says, without its fields.
struct Message<'a>(&'a mut String);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            *self.0 = format!("{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    /// Keeps what reaches it.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Written {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            let mut message = String::new();
            event.record(&mut Message(&mut message));
            self.0.lock().push(message);
        }
    }

    #[test]
    fn a_line_that_repeats_is_counted_and_others_are_written() {
        let (written, repeats) = (Written::default(), Repeats { most: 3, ..Repeats::default() });
        let log = tracing_subscriber::registry().with(repeats.clone()).with(written.clone());
        let began = Instant::now();
        tracing::subscriber::with_default(log, || {
            for number in 0..1_000 {
                tracing::warn!(number, "no node answers");
                tracing::debug!("in detail");
            }
            tracing::error!("something else");
            assert_eq!(repeats.take_left(began), [], "the minute is not over");
            let left = repeats.take_left(Instant::now() + MINUTE);
            let message = "no node answers".to_owned();
            assert_eq!(left, [Left { level: Level::WARN, lines: 997, message }]);
            left.iter().for_each(tell);
            for _ in 0..5 {
                tracing::warn!("no node answers");
            }
        });
        let written = written.0.lock().clone();
        let count = |text: &str| written.iter().filter(|line| *line == text).count();
        assert_eq!(count("no node answers"), 3 + 3);
        assert_eq!((count("in detail"), count("something else")), (1_000, 1));
        assert_eq!(count("again: no node answers"), 1);
    }
}
