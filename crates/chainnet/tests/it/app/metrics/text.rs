//! A strict reader of the OpenMetrics text format, as much of it as we write.

use std::collections::{BTreeMap, BTreeSet};

/// Everything that was scraped.
#[derive(Debug)]
pub(crate) struct Exposition {
    pub(crate) families: BTreeMap<String, Family>,
}

/// A family of series.
#[derive(Debug)]
pub(crate) struct Family {
    kind: String,
    /// Name and labels of each series, and its value.
    samples: Vec<(String, BTreeMap<String, String>, f64)>,
}

impl Family {
    /// The type, and the names of the labels without buckets.
    pub(crate) fn summary(&self) -> String {
        let names = self.samples.iter().flat_map(|(_, labels, _)| labels.keys());
        let names: BTreeSet<_> = names.filter(|name| *name != "le").map(String::as_str).collect();
        format!("{} {}", self.kind, names.into_iter().collect::<Vec<_>>().join(",")).trim().to_owned()
    }
}

impl Exposition {
    /// Reads a text, and ends the test at the first thing that is against the format.
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.strip_suffix("# EOF\n").expect("the text ends with # EOF");
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let mut current = String::new();
        for line in text.lines() {
            assert!(!line.is_empty(), "an empty line");
            if let Some(comment) = line.strip_prefix("# ") {
                let (word, rest) = comment.split_once(' ').expect("a comment has words");
                let (name, what) = rest.split_once(' ').expect("a comment names a family");
                match word {
                    "HELP" => {
                        assert!(what.len() > 3, "no help: {line}");
                        assert_is_name(name);
                        let family = Family { kind: String::new(), samples: Vec::new() };
                        assert!(families.insert(name.to_owned(), family).is_none(), "{name} is there twice");
                        current = name.to_owned();
                    }
                    "TYPE" => {
                        assert_eq!(name, current, "a type of another family");
                        assert!(["counter", "gauge", "histogram"].contains(&what), "{line}");
                        families.get_mut(name).unwrap().kind = what.to_owned();
                    }
                    "UNIT" => assert!(name == current && name.ends_with(&format!("_{what}")), "{line}"),
                    _ => panic!("an unknown comment: {line}"),
                }
                continue;
            }
            let sample = parse_sample(line);
            let family = families.get_mut(&current).expect("a sample follows its family");
            assert_suffix(&sample.0, &current, &family.kind);
            assert!(
                !family.samples.iter().any(|(name, labels, _)| (name, labels) == (&sample.0, &sample.1)),
                "twice: {line}"
            );
            family.samples.push(sample);
        }
        let exposition = Self { families };
        exposition.check_histograms();
        exposition
    }

    /// Buckets grow, and the last one is the count.
    fn check_histograms(&self) {
        for (name, family) in self.families.iter().filter(|(_, family)| family.kind == "histogram") {
            let mut buckets: BTreeMap<BTreeMap<String, String>, Vec<(f64, f64)>> = BTreeMap::new();
            for (_, labels, value) in family.samples.iter().filter(|(name, ..)| name.ends_with("_bucket")) {
                let mut labels = labels.clone();
                let bound = labels.remove("le").expect("a bucket has a bound");
                let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
                buckets.entry(labels).or_default().push((bound, *value));
            }
            for (labels, buckets) in buckets {
                assert!(
                    buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1),
                    "{name}{labels:?}: {buckets:?}"
                );
                let (last, count) = *buckets.last().unwrap();
                assert_eq!(last, f64::INFINITY, "{name} ends with all");
                let named = family
                    .samples
                    .iter()
                    .find(|(sample, other, _)| sample.ends_with("_count") && *other == labels);
                assert_eq!(named.unwrap().2, count, "{name}{labels:?}");
            }
        }
    }

    /// The value of the only series with this name and these labels.
    #[track_caller]
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let samples = self.families.values().flat_map(|family| &family.samples);
        let mut found = samples.filter(|(sample, own, _)| sample == name && *own == labels);
        let value = found.next().unwrap_or_else(|| panic!("no {name} with {labels:?}")).2;
        assert!(found.next().is_none(), "{name} is there twice");
        value
    }

    /// Every series by name and labels.
    pub(crate) fn series(&self) -> BTreeSet<String> {
        let samples = self.families.values().flat_map(|family| &family.samples);
        samples.map(|(name, labels, _)| format!("{name}{labels:?}")).collect()
    }

    /// The names that queries may use.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (name, family) in &self.families {
            match family.kind.as_str() {
                "counter" => drop(names.insert(format!("{name}_total"))),
                "histogram" => {
                    names.extend(["bucket", "sum", "count"].map(|suffix| format!("{name}_{suffix}")));
                }
                _ => drop(names.insert(name.clone())),
            }
        }
        names
    }
}

fn assert_is_name(name: &str) {
    let is_good = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    assert!(is_good && name.as_bytes()[0].is_ascii_lowercase(), "{name} is no name");
}

fn assert_suffix(sample: &str, family: &str, kind: &str) {
    let suffix = sample.strip_prefix(family).unwrap_or_else(|| panic!("{sample} is not of {family}"));
    let allowed: &[&str] = match kind {
        "counter" => &["_total"],
        "gauge" => &[""],
        _ => &["_bucket", "_sum", "_count"],
    };
    assert!(allowed.contains(&suffix), "{sample} is no {kind}");
}

fn parse_sample(line: &str) -> (String, BTreeMap<String, String>, f64) {
    let (series, value) = line.rsplit_once(' ').expect("a value");
    let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
    let Some((name, rest)) = series.split_once('{') else {
        return (series.to_owned(), BTreeMap::new(), value);
    };
    let labels = rest.strip_suffix('}').expect("labels end");
    let mut parsed = BTreeMap::new();
    for label in labels.split("\",") {
        let (name, text) = label.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
        assert_is_name(name);
        let text = text.strip_suffix('"').unwrap_or(text);
        assert!(!text.is_empty() && !text.contains(['"', '\\', '\n']), "{line}");
        assert!(parsed.insert(name.to_owned(), text.to_owned()).is_none(), "{line}");
    }
    (name.to_owned(), parsed, value)
}
