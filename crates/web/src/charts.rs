//! Charts as inline SVG: drawn here, coloured by the style sheet, sharp at every width, readable without a script.
//!
//! Drawings stretch to the width they are given and carry no text, so that letters are never stretched with them: words and
//! numbers stand beside the drawing as text of the page. Each says in `<title>` and `<desc>` what it shows; whoever uses one
//! puts the same figures in a table near it (under `<details>` if they are many).
//!
//! - [`Bars`]: a bar per block or day, of one part or of two on top of each other, each with its own tip.
//! - [`Area`]: a line over a filled area, for what changes steadily.
//! - [`Rows`]: a horizontal bar per name with its figure, as a list.
//! - [`Meter`]: one horizontal bar: how much of a whole.
//!
//! All of them print themselves: `{{ chart }}` in a template.

use std::fmt::{self, Display, Write};

use askama::filters::HtmlSafe;

use crate::parts::Escaped;

/// Width of a drawing in its own units.
const WIDTH: f64 = 600.0;
/// Height of a drawing in its own units.
const HEIGHT: f64 = 100.0;
/// Height of the smallest bar that is not nothing.
const LEAST: f64 = 1.5;

/// What a chart is, for those who cannot see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// In a few words.
    pub(crate) title: String,
    /// What there is to see: from where to where, the most, the least.
    pub(crate) detail: String,
}

impl About {
    pub(crate) fn new(title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { title: title.into(), detail: detail.into() }
    }
}

impl Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<title>{}</title>", Escaped(&self.title))?;
        if self.detail.is_empty() {
            return Ok(());
        }
        write!(f, "<desc>{}</desc>", Escaped(&self.detail))
    }
}

/// What is written at the edges of a chart, as text of the page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edges {
    /// At the top: what the full height is.
    pub(crate) top: String,
    /// Below, where it begins.
    pub(crate) start: String,
    /// Below, where it ends.
    pub(crate) end: String,
}

/// One bar.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bar {
    /// The tip of the bar: what it is of, and how much.
    pub(crate) tip: String,
    /// The lower part.
    pub(crate) value: f64,
    /// The part on top of it, in the second colour; zero for bars of one part.
    pub(crate) second: f64,
}

/// A bar per block or day, from left to right.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bars {
    pub(crate) about: About,
    pub(crate) bars: Vec<Bar>,
    pub(crate) edges: Edges,
    /// The value of the full height; the greatest bar's if that is more.
    pub(crate) full: f64,
    /// Places for bars, should there be fewer of them: a short history does not become broad beams.
    pub(crate) places: usize,
}

impl Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.bars.iter().map(|bar| bar.value + bar.second).fold(self.full, f64::max);
        let step = WIDTH / self.bars.len().max(self.places).max(1) as f64;
        // The newest is at the right end.
        let start = WIDTH - step * self.bars.len() as f64;
        let width = (step * 0.78).max(0.5);
        let x = |place: usize| start + step * place as f64 + (step - width) / 2.0;
        let (mut lower, mut upper, mut tips) = (String::new(), String::new(), String::new());
        for (place, bar) in self.bars.iter().enumerate() {
            let (first, second) = (height(bar.value, most), height(bar.second, most));
            draw(&mut lower, [x(place), HEIGHT - first, width, first]);
            draw(&mut upper, [x(place), HEIGHT - first - second, width, second]);
            // All the way up, because low bars are hard to point at.
            tips.push_str("<path d=\"");
            draw(&mut tips, [x(place), 0.0, width, HEIGHT]);
            // Writing to a string cannot fail.
            let _ = write!(tips, "\"><title>{}</title></path>", Escaped(&bar.tip));
        }
        open(f, &self.about)?;
        for (class, drawn) in [("fill", lower), ("fill2", upper)] {
            if !drawn.is_empty() {
                write!(f, "<path class=\"{class}\" d=\"{drawn}\"/>")?;
            }
        }
        write!(f, "<g class=\"hit\">{tips}</g>")?;
        close(f, &self.edges)
    }
}

impl HtmlSafe for Bars {}

/// A line over a filled area, from left to right.
#[derive(Debug, Clone, Default)]
pub(crate) struct Area {
    pub(crate) about: About,
    pub(crate) values: Vec<f64>,
    pub(crate) edges: Edges,
    /// The value of the full height; the greatest value's if that is more.
    pub(crate) full: f64,
}

impl Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        open(f, &self.about)?;
        let line = line(&self.values, self.full);
        if !line.is_empty() {
            write!(
                f,
                "<path class=\"area\" d=\"{line}V{HEIGHT}H0z\"/><path class=\"stroke\" d=\"{line}\"/>"
            )?;
        }
        close(f, &self.edges)
    }
}

impl HtmlSafe for Area {}

/// How much of a whole: one horizontal bar.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    /// What it says, for those who cannot see it.
    pub(crate) title: String,
    /// From 0 to 1.
    pub(crate) share: f64,
    /// A second share after the first, in the second colour.
    pub(crate) second: f64,
}

impl Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "<svg class=\"chart meter\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" role=\"img\"><title>{}</title>",
            Escaped(&self.title)
        )?;
        let first = whole(self.share) * 100.0;
        let second = (whole(self.second) * 100.0).min(100.0 - first);
        write_rect(f, "back", [0.0, 0.0, 100.0, 8.0])?;
        write_rect(f, "fill", [0.0, 0.0, first, 8.0])?;
        write_rect(f, "fill2", [first, 0.0, second, 8.0])?;
        f.write_str("</svg>")
    }
}

impl HtmlSafe for Meter {}

/// A name, its bar and its figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// The figure as text.
    pub(crate) figure: String,
    pub(crate) value: f64,
    /// In the second colour, after the first.
    pub(crate) second: f64,
}

/// A horizontal bar per name. Text and figures are there for everybody, so the bars themselves say nothing more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    /// The value of the full width; the greatest row's if that is more.
    pub(crate) full: f64,
}

impl Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.rows.iter().map(|row| row.value + row.second).fold(self.full, f64::max);
        let share = |value: f64| if most > 0.0 { value / most } else { 0.0 };
        f.write_str("<ul class=\"rows\">")?;
        for row in &self.rows {
            let title = format!("{}: {}", row.name, row.figure);
            let meter = Meter { title, share: share(row.value), second: share(row.second) };
            let (name, figure) = (Escaped(&row.name), Escaped(&row.figure));
            write!(f, "<li><span>{name}</span>{meter}<b>{figure}</b></li>")?;
        }
        f.write_str("</ul>")
    }
}

impl HtmlSafe for Rows {}

fn open(f: &mut fmt::Formatter<'_>, about: &About) -> fmt::Result {
    write!(
        f,
        "<figure class=\"plot\"><svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" \
         role=\"img\">{about}"
    )
}

fn close(f: &mut fmt::Formatter<'_>, edges: &Edges) -> fmt::Result {
    let Edges { top, start, end } = edges;
    write!(
        f,
        "</svg><figcaption><span class=\"peak\">{}</span><span>{}</span><span>{}</span></figcaption></figure>",
        Escaped(top),
        Escaped(start),
        Escaped(end)
    )
}

/// A rectangle as path data, which is half as long as one as an element.
fn draw(path: &mut String, [x, y, width, height]: [f64; 4]) {
    if width <= 0.0 || height <= 0.0 {
        return;
    }
    let [x, y, width, height] = [x, y, width, height].map(Coordinate);
    // Writing to a string cannot fail.
    let _ = write!(path, "M{x} {y}h{width}v{height}h-{width}z");
}

fn write_rect(f: &mut fmt::Formatter<'_>, class: &str, [x, y, width, height]: [f64; 4]) -> fmt::Result {
    if width <= 0.0 || height <= 0.0 {
        return Ok(());
    }
    let [x, y, width, height] = [x, y, width, height].map(Coordinate);
    write!(f, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
}

/// The height of a value, where `most` is the full height. What is not nothing can be seen.
fn height(value: f64, most: f64) -> f64 {
    if value <= 0.0 || most <= 0.0 { 0.0 } else { (value / most * HEIGHT).max(LEAST) }
}

/// A share between nothing and everything, whatever was divided by what.
fn whole(share: f64) -> f64 {
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// The line through values as path data; nothing for fewer than two.
fn line(values: &[f64], full: f64) -> String {
    let most = values.iter().copied().fold(full, f64::max);
    let mut path = String::new();
    if values.len() < 2 {
        return path;
    }
    let step = WIDTH / (values.len() - 1) as f64;
    for (place, value) in values.iter().enumerate() {
        let x = step * place as f64;
        let y = HEIGHT - if most > 0.0 { value / most * (HEIGHT - 2.0) } else { 0.0 } - 1.0;
        let command = if place == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{command}{} {}", Coordinate(x), Coordinate(y));
    }
    path
}

/// A coordinate with one decimal, and with none where it has none.
struct Coordinate(f64);

impl Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        write!(f, "{rounded}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_values_and_say_what_they_are() {
        let bar = |tip: &str, value| Bar { tip: tip.to_owned(), value, second: 0.0 };
        let chart = Bars {
            about: About::new("Transactions", "<most> 4"),
            bars: vec![bar("one", 1.0), bar("<four>", 4.0), bar("none", 0.0)],
            ..Bars::default()
        };
        let text = chart.to_string();
        assert!(text.contains("<title>Transactions</title><desc>&lt;most&gt; 4</desc>"), "{text}");
        let drawn = r#"class="fill" d="M22 75h156v25h-156zM222 0h156v100h-156z"/>"#;
        assert!(text.contains(drawn), "nothing is not drawn: {text}");
        assert!(text.contains("<title>&lt;four&gt;</title>"), "{text}");
    }

    #[test]
    fn parts_of_a_bar_stand_on_each_other() {
        let bars = vec![Bar { tip: String::new(), value: 3.0, second: 7.0 }];
        let text = Bars { bars, ..Bars::default() }.to_string();
        assert!(text.contains(r#"class="fill" d="M66 70h468v30h-468z"/>"#), "{text}");
        assert!(text.contains(r#"class="fill2" d="M66 0h468v70h-468z"/>"#), "{text}");
    }

    #[test]
    fn a_short_history_stays_at_the_right_and_slim() {
        let bars = vec![Bar { tip: String::new(), value: 1.0, second: 0.0 }];
        let text = Bars { bars, places: 60, ..Bars::default() }.to_string();
        assert!(text.contains("M591.1 "), "{text}");
    }

    #[test]
    fn sixty_bars_are_small() {
        let bar = |number: u64| Bar { tip: format!("{number}: 3"), value: number as f64, second: 0.0 };
        let text = Bars { bars: (0..60).map(bar).collect(), ..Bars::default() }.to_string();
        assert!(text.len() < 7_000, "{}", text.len());
    }

    #[test]
    fn lines_need_two_values_and_never_leave_the_drawing() {
        assert_eq!(line(&[1.0], 0.0), "");
        assert_eq!(line(&[0.0, 0.0], 0.0), "M0 99L600 99");
        assert_eq!(line(&[0.0, 5.0, 10.0], 20.0), "M0 99L300 74.5L600 50");
        assert!(!Area { values: vec![1.0], ..Area::default() }.to_string().contains("path"));
    }

    #[test]
    fn meters_are_between_nothing_and_everything() {
        let meter = |share, second| Meter { title: "t".to_owned(), share, second }.to_string();
        assert!(meter(0.5, 0.2).contains(r#"class="fill2" x="50" y="0" width="20""#));
        assert!(meter(7.0, 1.0).contains(r#"class="fill" x="0" y="0" width="100""#));
        assert!(!meter(f64::NAN, 0.0).contains("class=\"fill"));
        let rows = Rows {
            rows: vec![Row { name: "<a>".to_owned(), figure: "0".to_owned(), ..Row::default() }],
            full: 0.0,
        };
        assert!(rows.to_string().contains("<span>&lt;a&gt;</span>"), "{rows}");
    }
}
