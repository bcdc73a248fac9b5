//! How the stake is spread: a bar with a part for every member, largest first, and marks at a third and two thirds.

use std::fmt::{self, Display};

use alloy_primitives::U256;
use askama::filters::HtmlSafe;
use validators::{Board, board::Standing};

use super::figures::permille;

/// How the stake is spread over the members.
#[derive(Debug, Clone)]
pub(super) struct Concentration {
    /// Where the part of each member ends, in thousandths of all stake, largest first.
    ends: Vec<u16>,
    /// The fewest members that hold more than a third together.
    pub(super) third: usize,
    /// The fewest members that hold more than two thirds together.
    pub(super) two_thirds: usize,
}

impl Concentration {
    /// Of the members of a board; none without stake.
    pub(super) fn of(board: &Board) -> Option<Self> {
        let members = board.validators.iter();
        let members = members.filter(|record| matches!(record.standing, Standing::Active | Standing::Jailed));
        Self::of_stakes(members.map(|record| record.stake.0).collect())
    }

    fn of_stakes(mut stakes: Vec<U256>) -> Option<Self> {
        stakes.sort_by(|one, other| other.cmp(one));
        let total: U256 = stakes.iter().fold(U256::ZERO, |sum, stake| sum.saturating_add(*stake));
        if total.is_zero() {
            return None;
        }
        let sums: Vec<U256> = stakes
            .iter()
            .scan(U256::ZERO, |sum, stake| {
                *sum = sum.saturating_add(*stake);
                Some(*sum)
            })
            .collect();
        let holders = |thirds: u64| {
            let wanted = total.saturating_mul(U256::from(thirds));
            sums.iter().take_while(|sum| sum.saturating_mul(U256::from(3)) <= wanted).count() + 1
        };
        Some(Self {
            third: holders(1),
            two_thirds: holders(2),
            ends: sums.iter().map(|sum| permille(*sum, total)).collect(),
        })
    }
}

impl Display for Concentration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<svg class=\"chart spread\" viewBox=\"0 0 1000 22\" preserveAspectRatio=\"none\" aria-hidden=\"true\">")?;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        for (place, (start, end)) in starts.zip(&self.ends).enumerate() {
            // Parts are told apart by the gap between them; the tone only helps.
            let tone = if place % 2 == 0 { "fill" } else { "fill half" };
            let width = end.saturating_sub(start).saturating_sub(3).max(1);
            write!(f, "<rect class=\"{tone}\" x=\"{start}\" y=\"4\" width=\"{width}\" height=\"14\"/>")?;
        }
        f.write_str("<path class=\"mark\" d=\"M333 0v22M667 0v22\"/></svg>")?;
        f.write_str("<div class=\"thirds small\" aria-hidden=\"true\"><span>33%</span><span>67%</span></div>")
    }
}

impl HtmlSafe for Concentration {}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stakes: &[u64]) -> Option<(usize, usize)> {
        let stakes = stakes.iter().map(|stake| U256::from(*stake)).collect();
        Concentration::of_stakes(stakes).map(|found| (found.third, found.two_thirds))
    }

    #[test]
    fn the_fewest_holders_of_more_than_a_third_are_counted() {
        assert_eq!(of(&[1, 1, 1]), Some((2, 3)), "exactly a third is not more");
        assert_eq!(of(&[1, 1, 1, 1, 1]), Some((2, 4)));
        assert_eq!(of(&[1, 98, 1]), Some((1, 1)));
        assert_eq!(of(&[0, 0]), None);
        assert_eq!(of(&[]), None);
    }
}
