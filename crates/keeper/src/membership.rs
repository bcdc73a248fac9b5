//! Who is in the validator set and who should be, by the registry. Pure.
//!
//! The registry does not change the set: validators do, by votes. So a third slash puts an operator out of the program, and
//! its node goes on proposing until more than half of the others have voted it out.

use std::collections::HashSet;

use alloy_primitives::Address;
use ibft::quorum::quorum;
use store::keeper::SetChange;

use crate::registry::{Member, Standing};

/// The smallest set that withstands a faulty validator.
const LEAST_VALIDATORS: usize = 4;

/// A change of the set that the registry asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DueChange {
    pub(crate) change: SetChange,
    pub(crate) operator: Address,
    pub(crate) node: Address,
    /// The operator's standing.
    pub(crate) standing: Standing,
}

/// Why a change has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsafe {
    #[error("fewer than {LEAST_VALIDATORS} validators would be left")]
    TooFew,
    #[error("of {after} validators {live} would be known to run, and {needed} are needed")]
    NoQuorum { after: usize, live: usize, needed: usize },
}

/// Nodes that are in the set although their operators are not in the registry any more.
pub(crate) fn due_drops(set: &[Address], members: &[Member]) -> Vec<DueChange> {
    let current: HashSet<Address> =
        members.iter().filter(|member| member.standing.is_member()).map(|member| member.node).collect();
    let is_due = |member: &&Member| {
        member.standing.is_former() && set.contains(&member.node) && !current.contains(&member.node)
    };
    members.iter().filter(is_due).map(|member| due(SetChange::Drop, member)).collect()
}

/// Nodes of members that are not in the set. Whose may be voted in is for the applications to say.
pub(crate) fn absent(set: &[Address], members: &[Member]) -> Vec<DueChange> {
    let is_absent = |member: &&Member| {
        member.standing == Standing::Active && !member.node.is_zero() && !set.contains(&member.node)
    };
    members.iter().filter(is_absent).map(|member| due(SetChange::Add, member)).collect()
}

fn due(change: SetChange, member: &Member) -> DueChange {
    DueChange { change, operator: member.operator, node: member.node, standing: member.standing }
}

/// Whether the set would go on making blocks after a change. `live` are those that did something for one of the last
/// blocks; a newcomer counts as not running, because nobody knows.
pub(crate) fn check_safety(due: &DueChange, set: &[Address], live: &HashSet<Address>) -> Result<(), Unsafe> {
    let after = match due.change {
        SetChange::Add => set.len().saturating_add(1),
        SetChange::Drop => set.len().saturating_sub(1),
    };
    if due.change == SetChange::Drop && after < LEAST_VALIDATORS {
        return Err(Unsafe::TooFew);
    }
    let live = set.iter().filter(|node| **node != due.node && live.contains(*node)).count();
    let needed = quorum(after);
    if live < needed { Err(Unsafe::NoQuorum { after, live, needed }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8) -> Address {
        Address::with_last_byte(number)
    }

    fn member(number: u8, standing: Standing) -> Member {
        Member {
            operator: Address::repeat_byte(number),
            node: node(number),
            standing,
            jailed_until: 0,
            slash_count: 0,
            has_stake: true,
        }
    }

    fn set(size: u8) -> Vec<Address> {
        (1..=size).map(node).collect()
    }

    #[test]
    fn who_left_the_registry_is_dropped_and_nobody_else() {
        let standings = [
            Standing::Active,
            Standing::Jailed,
            Standing::Slashed,
            Standing::Removed,
            Standing::Inactive,
            Standing::None,
        ];
        let members: Vec<_> =
            (1..).zip(standings).map(|(number, standing)| member(number, standing)).collect();
        let dropped: Vec<_> = due_drops(&set(6), &members).iter().map(|due| due.node).collect();
        assert_eq!(dropped, [node(3), node(4), node(5)]);
        assert_eq!(due_drops(&set(2), &members), []);
        // Another operator runs the node now.
        let taken_over =
            [member(3, Standing::Slashed), Member { node: node(3), ..member(9, Standing::Active) }];
        assert_eq!(due_drops(&set(3), &taken_over), []);
    }

    #[test]
    fn members_outside_of_the_set_are_absent_unless_they_are_in_jail() {
        let members = [
            member(1, Standing::Active),
            member(7, Standing::Active),
            member(8, Standing::Jailed),
            Member { node: Address::ZERO, ..member(9, Standing::Active) },
        ];
        let absent: Vec<_> = absent(&set(5), &members).iter().map(|due| due.node).collect();
        assert_eq!(absent, [node(7)]);
    }

    #[test]
    fn a_change_must_leave_a_quorum_that_runs_and_room_for_a_fault() {
        let drop = due(SetChange::Drop, &member(1, Standing::Slashed));
        let add = due(SetChange::Add, &member(9, Standing::Active));
        let live = |numbers: &[u8]| -> HashSet<Address> { numbers.iter().copied().map(node).collect() };
        assert_eq!(check_safety(&drop, &set(5), &live(&[1, 2, 3, 4, 5])), Ok(()));
        assert_eq!(check_safety(&drop, &set(5), &live(&[1, 2, 3, 4])), Ok(()), "3 of 4 go on");
        assert_eq!(check_safety(&drop, &set(4), &live(&[1, 2, 3, 4])), Err(Unsafe::TooFew));
        // Four of six make blocks, three of five do not.
        let halted = Err(Unsafe::NoQuorum { after: 5, live: 3, needed: 4 });
        assert_eq!(check_safety(&drop, &set(6), &live(&[1, 2, 3, 4])), halted);
        assert_eq!(check_safety(&drop, &set(6), &live(&[2, 3, 4, 5])), Ok(()), "it is the one that is down");
        assert_eq!(check_safety(&add, &set(5), &live(&[1, 2, 3, 4])), Ok(()), "4 of 6");
        let dead = Err(Unsafe::NoQuorum { after: 7, live: 4, needed: 5 });
        assert_eq!(check_safety(&add, &set(6), &live(&[1, 2, 3, 4])), dead);
    }
}
