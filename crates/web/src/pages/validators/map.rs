//! The regions of the program as tiles, roughly where they are on a map of Indonesia.

use std::fmt::{self, Display};

use askama::filters::HtmlSafe;
use validators::expansion::RegionSlots;

use super::region;
use crate::{parts::Escaped, words::Language};

/// Side of the square that stands for a slot, and the way to the next.
const SLOT: u32 = 12;
const SLOT_STEP: u32 = 16;

/// Where a tile is: code, left, top, width, height.
type Tile = (&'static str, u32, u32, u32, u32);

/// From the west to the east; Java in the south, the world beside the map.
const TILES: [Tile; 8] = [
    ("ID-SU", 8, 24, 124, 92),
    ("ID-JK", 116, 156, 96, 76),
    ("ID-JB", 216, 156, 104, 76),
    ("ID-JT", 324, 156, 104, 76),
    ("ID-JI", 432, 156, 100, 76),
    ("ID-KA", 184, 16, 140, 104),
    ("ID-ML", 440, 44, 192, 84),
    ("GLOBAL", 546, 156, 106, 76),
];

/// The regions with the slots that are taken.
#[derive(Debug, Clone)]
pub(super) struct Map {
    pub(super) regions: Vec<RegionSlots>,
    pub(super) language: Language,
}

impl Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<svg class=\"chart map\" viewBox=\"0 0 656 240\" aria-hidden=\"true\">")?;
        for slots in &self.regions {
            if let Some(tile) = TILES.iter().find(|(code, ..)| *code == slots.region.code) {
                draw(f, *tile, slots, region::name(slots.region, self.language))?;
            }
        }
        f.write_str("</svg>")
    }
}

impl HtmlSafe for Map {}

fn draw(
    f: &mut fmt::Formatter<'_>,
    (code, x, y, width, height): Tile,
    slots: &RegionSlots,
    name: &str,
) -> fmt::Result {
    let kind = if code == "GLOBAL" { "tile abroad" } else { "tile" };
    write!(
        f,
        "<rect class=\"{kind}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\
         <text class=\"name\" x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\">{} / {}</text>",
        x + 10,
        y + 20,
        Escaped(name),
        x + 10,
        y + 36,
        slots.taken,
        slots.region.slots
    )?;
    let total = usize::from(slots.region.slots).max(slots.taken);
    for (place, left) in (0..total).zip((x + 10..).step_by(SLOT_STEP as usize)) {
        // A slot that is taken is full, one that is free is a frame.
        let state = if place < slots.taken { "fill" } else { "free" };
        write!(
            f,
            "<rect class=\"{state}\" x=\"{left}\" y=\"{}\" width=\"{SLOT}\" height=\"{SLOT}\" rx=\"2\"/>",
            y + 46
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use validators::program::REGIONS;

    use super::*;

    #[test]
    fn every_region_has_a_tile_and_every_slot_a_square() {
        let regions = REGIONS.iter().map(|region| RegionSlots { region, taken: 1 }).collect();
        let drawn = Map { regions, language: Language::English }.to_string();
        let count = |text: &str| drawn.matches(text).count();
        assert_eq!((count("class=\"tile"), count("class=\"fill\""), count("class=\"free\"")), (8, 8, 13));
        assert!(drawn.contains("Maluku and Papua"));
    }

    #[test]
    fn tiles_do_not_overlap() {
        for (place, one) in TILES.iter().enumerate() {
            for other in TILES.iter().skip(place + 1) {
                let apart = |(_, x, y, w, h): &Tile, (_, x2, y2, w2, h2): &Tile| {
                    x + w <= *x2 || x2 + w2 <= *x || y + h <= *y2 || y2 + h2 <= *y
                };
                assert!(apart(one, other), "{one:?} {other:?}");
            }
        }
    }
}
