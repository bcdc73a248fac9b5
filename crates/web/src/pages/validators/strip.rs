//! What a validator did in the last blocks, as a strip of marks that differ in shape.

use std::fmt::{self, Display, Write};

use alloy_primitives::Address;
use askama::filters::HtmlSafe;
use store::index::StripBlock;

use crate::words::Language;

/// Blocks of a strip.
pub(super) const BLOCKS: u32 = 60;
/// Width of a mark and the space to the next, in the drawing and on the screen.
const STEP: usize = 4;
const STEP_ON_SCREEN: usize = 3;

words! {
    /// What the marks mean.
    LegendWords {
        proposed: "proposed", "mengusulkan";
        sealed: "sealed", "menyegel";
        unsealed: "seal not kept", "segel tidak tersimpan";
        turn_missed: "turn missed", "giliran terlewat";
        outside: "empty: not in the set", "kosong: di luar set";
        seal_note: "A block keeps a quorum's seals and drops those that come later: a missing seal is no sign of absence. A missed turn is.", "Blok menyimpan segel sebanyak kuorum dan membuang yang datang belakangan: segel yang tidak ada bukan tanda ketidakhadiran. Giliran terlewatlah tandanya.";
    }
}

/// What a validator did in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Built it.
    Proposed,
    /// Sealed it.
    Sealed,
    /// Was in the set, and its seal is not among those that were kept.
    Unsealed,
    /// Had its turn before, and proposed nothing.
    Missed,
    /// Was not in the set.
    Outside,
}

/// What a validator did in the last blocks.
#[derive(Debug, Clone)]
pub(super) struct Strip {
    /// Oldest first.
    parts: Vec<Part>,
    language: Language,
}

impl Strip {
    /// The strip of a node, from blocks that are newest first.
    pub(super) fn of(node: Address, blocks: &[StripBlock], language: Language) -> Self {
        Self { parts: blocks.iter().rev().map(|block| part(node, block)).collect(), language }
    }

    fn count(&self, wanted: Part) -> usize {
        self.parts.iter().filter(|part| **part == wanted).count()
    }

    /// The strip in words.
    pub(super) fn text(&self) -> String {
        let [proposed, sealed, unsealed, missed] =
            [Part::Proposed, Part::Sealed, Part::Unsealed, Part::Missed].map(|part| self.count(part));
        let all = self.parts.len();
        match self.language {
            Language::English => format!(
                "Last {all} blocks: {proposed} proposed, {sealed} sealed, {unsealed} without its seal, {missed} turns missed"
            ),
            Language::Indonesian => format!(
                "{all} blok terakhir: {proposed} diusulkan, {sealed} disegel, {unsealed} tanpa segelnya, {missed} giliran terlewat"
            ),
        }
    }
}

/// A turn that was missed is told even if the validator proposed the block in a later round.
fn part(node: Address, block: &StripBlock) -> Part {
    if block.missed.contains(&node) {
        Part::Missed
    } else if block.proposer == node {
        Part::Proposed
    } else if block.sealers.contains(&node) {
        Part::Sealed
    } else if block.validators.contains(&node) {
        Part::Unsealed
    } else {
        Part::Outside
    }
}

impl Display for Strip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.parts.len().max(1);
        let (drawn, shown) = (count * STEP, count * STEP_ON_SCREEN);
        write!(
            f,
            "<svg class=\"strip\" viewBox=\"0 0 {drawn} 16\" width=\"{shown}\" preserveAspectRatio=\"none\" role=\"img\">\
             <title>{}</title>",
            self.text()
        )?;
        for (part, class) in
            [(Part::Proposed, 'p'), (Part::Sealed, 's'), (Part::Unsealed, 'u'), (Part::Missed, 'm')]
        {
            let mut marks = String::new();
            for (place, _) in self.parts.iter().enumerate().filter(|(_, found)| **found == part) {
                draw(&mut marks, part, place * STEP)?;
            }
            if !marks.is_empty() {
                write!(f, "<path class=\"{class}\" d=\"{marks}\"/>")?;
            }
        }
        f.write_str("</svg>")
    }
}

impl HtmlSafe for Strip {}

/// A full bar, a half bar, a dot at the foot, a cross.
fn draw(marks: &mut String, part: Part, x: usize) -> fmt::Result {
    let middle = x + STEP / 2;
    match part {
        Part::Proposed => write!(marks, "M{middle} 0v16"),
        Part::Sealed => write!(marks, "M{middle} 7v9"),
        Part::Unsealed => write!(marks, "M{middle} 13v3"),
        Part::Missed => write!(marks, "M{x} 4l4 8m0-8l-4 8"),
        Part::Outside => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: u64, proposer: u8, sealers: &[u8], missed: &[u8]) -> StripBlock {
        let nodes = |bytes: &[u8]| bytes.iter().map(|byte| Address::repeat_byte(*byte)).collect();
        StripBlock {
            number,
            timestamp: number,
            proposer: Address::repeat_byte(proposer),
            round: 0,
            validators: nodes(&[1, 2, 3, 4]),
            sealers: nodes(sealers),
            missed: nodes(missed),
            unclear: Vec::new(),
        }
    }

    #[test]
    fn every_mark_has_a_shape_of_its_own_and_stands_in_order_of_time() {
        let blocks = [
            block(4, 1, &[2, 3], &[]),
            block(3, 2, &[1, 2], &[]),
            block(2, 3, &[], &[1]),
            block(1, 4, &[], &[]),
        ];
        let strip = Strip::of(Address::repeat_byte(1), &blocks, Language::English);
        assert_eq!(strip.parts, [Part::Unsealed, Part::Missed, Part::Sealed, Part::Proposed]);
        assert_eq!(strip.text(), "Last 4 blocks: 1 proposed, 1 sealed, 1 without its seal, 1 turns missed");
        let drawn = strip.to_string();
        for mark in [
            "class=\"u\" d=\"M2 13v3\"",
            "class=\"m\" d=\"M4 4l4 8m0-8l-4 8\"",
            "class=\"s\" d=\"M10 7v9\"",
            "class=\"p\" d=\"M14 0v16\"",
        ] {
            assert!(drawn.contains(mark), "{mark} is not in {drawn}");
        }
        let stranger = Strip::of(Address::repeat_byte(9), &blocks, Language::Indonesian);
        assert!(!stranger.to_string().contains("<path"), "{stranger}");
    }

    #[test]
    fn a_whole_strip_is_small() {
        let blocks: Vec<_> =
            (0..60).map(|number| block(number, 1 + (number % 4) as u8, &[1, 2, 3], &[])).collect();
        let length = Strip::of(Address::repeat_byte(1), &blocks, Language::English).to_string().len();
        assert!(length < 900, "{length}");
    }
}
