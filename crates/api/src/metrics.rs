//! Requests counted for operators, by the first word of the path and the class of the answer. Handles are made once and found
//! by a look at a short list; a request costs a few additions, no lock and no memory. Nothing that a caller wrote becomes a
//! label: a word that is not on the list is counted as the last one.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use hyper::StatusCode;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet},
    metrics::{MetricType, counter::ConstCounter},
    registry::Unit,
};

/// Upper bounds in microseconds.
const BUCKETS: [u64; 12] =
    [50, 200, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_000_000, 10_000_000];
/// Classes of answers.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Requests of one server.
pub struct HttpMetrics {
    /// What is cut off in front of a path's first word, where it is there.
    prefix: &'static str,
    /// Words that are counted apart; an empty one is the path `/`. The last one stands for all others.
    words: &'static [&'static str],
    routes: Vec<RouteMetrics>,
}

/// Requests of one route.
#[derive(Default)]
struct RouteMetrics {
    answers: [AtomicU64; CLASSES.len()],
    /// Those within each bound and no lower one, and the rest.
    times: [AtomicU64; BUCKETS.len() + 1],
    nanoseconds: AtomicU64,
}

impl HttpMetrics {
    /// Counts requests by the first word of their path behind `prefix`; the last of the words stands for all others.
    pub fn new(prefix: &'static str, words: &'static [&'static str]) -> Self {
        Self { prefix, words, routes: words.iter().map(|_| RouteMetrics::default()).collect() }
    }

    /// The place of a path in the list of words.
    pub fn route(&self, path: &str) -> usize {
        let rest = path.strip_prefix(self.prefix).or_else(|| path.strip_prefix('/')).unwrap_or(path);
        let word = rest.split('/').next().unwrap_or_default();
        let others = self.words.len().saturating_sub(1);
        self.words.iter().take(others).position(|known| *known == word).unwrap_or(others)
    }

    /// Counts an answer.
    pub fn answered(&self, route: usize, status: StatusCode, took: Duration) {
        let Some(route) = self.routes.get(route) else { return };
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(count) = route.answers.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.partition_point(|bound| *bound < micros);
        if let Some(count) = route.times.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        route.nanoseconds.fetch_add(nanos, Ordering::Relaxed);
    }
}

/// The label of a word. An empty one would be none.
fn label(word: &'static str) -> &'static str {
    if word.is_empty() { "home" } else { word }
}

impl RouteMetrics {
    /// Upper bounds in seconds with their counts, and the count of all.
    fn buckets(&self) -> (Vec<(f64, u64)>, u64) {
        let bounds = BUCKETS.iter().map(|micros| Duration::from_micros(*micros).as_secs_f64());
        let counts = self.times.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(counts).collect();
        let all = buckets.iter().map(|(_, count)| count).sum();
        (buckets, all)
    }
}

impl Collector for HttpMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "Requests by the first word of the path and the class of the answer";
        let mut requests = encoder.encode_descriptor("requests", help, None, MetricType::Counter)?;
        for (word, route) in self.words.iter().zip(&self.routes) {
            for (class, count) in CLASSES.iter().zip(&route.answers) {
                let count = ConstCounter::new(count.load(Ordering::Relaxed));
                count.encode(requests.encode_family(&[("route", label(word)), ("status", *class)])?)?;
            }
        }
        let help = "Time to an answer, by the first word of the path";
        let mut seconds =
            encoder.encode_descriptor("request", help, Some(&Unit::Seconds), MetricType::Histogram)?;
        for (word, route) in self.words.iter().zip(&self.routes) {
            let (buckets, all) = route.buckets();
            let sum = Duration::from_nanos(route.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
            let labels = [("route", label(word))];
            seconds.encode_family(&labels)?.encode_histogram::<NoLabelSet>(sum, all, &buckets, None)?;
        }
        Ok(())
    }
}

impl fmt::Debug for HttpMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpMetrics").field("words", &self.words).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::{encoding::text, registry::Registry};

    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_class_and_an_unknown_path_is_another() {
        let metrics = std::sync::Arc::new(HttpMetrics::new("/api/v1/", &["blocks", "health", "other"]));
        for (path, status, millis) in [
            ("/api/v1/blocks/7", 200, 1),
            ("/api/v1/blocks", 404, 3),
            ("/health", 200, 1),
            ("/api/v1/other", 200, 1),
            ("/api/v1/cnk_secret", 500, 20_000),
            ("/", 200, 1),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            metrics.answered(metrics.route(path), status, Duration::from_millis(millis));
        }
        let mut registry = Registry::with_prefix("api");
        registry.register_collector(Box::new(metrics));
        let mut text = String::new();
        text::encode(&mut text, &registry).unwrap();
        for line in [
            "api_requests_total{route=\"blocks\",status=\"2xx\"} 1",
            "api_requests_total{route=\"blocks\",status=\"4xx\"} 1",
            "api_requests_total{route=\"health\",status=\"2xx\"} 1",
            "api_requests_total{route=\"other\",status=\"2xx\"} 2",
            "api_requests_total{route=\"other\",status=\"5xx\"} 1",
            "api_request_seconds_bucket{le=\"0.001\",route=\"blocks\"} 1",
            "api_request_seconds_bucket{le=\"0.005\",route=\"blocks\"} 2",
            "api_request_seconds_bucket{le=\"10.0\",route=\"other\"} 2",
            "api_request_seconds_bucket{le=\"+Inf\",route=\"other\"} 3",
            "api_request_seconds_count{route=\"blocks\"} 2",
        ] {
            assert!(text.contains(line), "{line} is missing from\n{text}");
        }
        assert!(!text.contains("secret"), "{text}");
    }
}
