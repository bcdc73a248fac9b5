//! The printed result: one row per figure, both sides, the target and whether it is met.

/// A figure's unit, which decides how it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    PerSecond,
    Micros,
    Millis,
    Megabytes,
    Bytes,
    Count,
}

/// What ours must reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// Ours is at least this many times the peer's.
    AtLeastTimes(f64),
    /// Ours is at most this many times the peer's.
    AtMostTimes(f64),
    /// Ours is at most this, whatever the peer does.
    AtMost(f64),
    /// Ours is at least this, whatever the peer does.
    AtLeast(f64),
    /// Shown for information.
    None,
}

/// One figure on both sides; `None` where it was not, or cannot be, measured.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) metric: String,
    pub(crate) unit: Unit,
    pub(crate) ours: Option<f64>,
    pub(crate) peer: Option<f64>,
    pub(crate) target: Target,
}

/// Prints the rows as a Markdown table.
pub(crate) fn print(rows: &[Row], peer: &str) {
    println!("| metric | ours | {peer} | ratio | target | met |");
    println!("|---|---:|---:|---:|---|---|");
    for row in rows {
        let ratio = row.ratio().map_or_else(|| "n/a".to_owned(), |ratio| format!("{ratio:.2}×"));
        println!(
            "| {} | {} | {} | {ratio} | {} | {} |",
            row.metric,
            row.unit.write(row.ours),
            row.unit.write(row.peer),
            row.unit.write_target(row.target),
            row.met()
        );
    }
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        Some(self.ours? / self.peer.filter(|peer| *peer > 0.0)?)
    }

    fn met(&self) -> &'static str {
        let met = match self.target {
            Target::AtLeastTimes(times) => self.ratio().map(|ratio| ratio >= times),
            Target::AtMostTimes(times) => self.ratio().map(|ratio| ratio <= times),
            Target::AtMost(limit) => self.ours.map(|ours| ours <= limit),
            Target::AtLeast(limit) => self.ours.map(|ours| ours >= limit),
            Target::None => return "–",
        };
        match met {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not measured",
        }
    }
}

impl Unit {
    fn write(self, figure: Option<f64>) -> String {
        let Some(figure) = figure else {
            return "n/a".to_owned();
        };
        match self {
            Self::PerSecond => format!("{figure:.0}/s"),
            Self::Micros => format!("{figure:.1} µs"),
            Self::Millis => format!("{figure:.0} ms"),
            Self::Megabytes => format!("{figure:.1} MB"),
            Self::Bytes => format!("{figure:.0} B"),
            Self::Count => format!("{figure:.0}"),
        }
    }

    fn write_target(self, target: Target) -> String {
        match target {
            Target::AtLeastTimes(times) => format!("≥ {times}×"),
            Target::AtMostTimes(times) => format!("≤ {times}×"),
            Target::AtMost(limit) => format!("≤ {}", self.write(Some(limit))),
            Target::AtLeast(limit) => format!("≥ {}", self.write(Some(limit))),
            Target::None => "–".to_owned(),
        }
    }
}

/// The middle of several rounds; `None` without any.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_judged_by_ratio_or_by_our_own_figure() {
        let row = |target, ours, peer| Row { metric: String::new(), unit: Unit::Micros, ours, peer, target };
        assert_eq!(row(Target::AtLeastTimes(3.0), Some(31.0), Some(10.0)).met(), "yes");
        assert_eq!(row(Target::AtMostTimes(0.5), Some(6.0), Some(10.0)).met(), "no");
        assert_eq!(row(Target::AtMost(60.0), Some(59.0), None).met(), "yes");
        assert_eq!(row(Target::AtMost(60.0), None, Some(1.0)).met(), "not measured");
    }

    #[test]
    fn the_median_is_the_middle_round() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([]), None);
    }
}
