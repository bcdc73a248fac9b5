//! A validator application: its id, its contact, its states and which of them may follow which.
//!
//! Who may ask for a step, and what an application must contain, is for the crate that receives it.

use std::{fmt, str::FromStr};

/// Where an application stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApplicationState {
    /// Received; nobody has looked at it yet.
    Submitted,
    /// The technical review is under way.
    InReview,
    /// Accepted; the operator may stake.
    Approved,
    /// The operator is registered with its stake.
    Staked,
    /// Validators vote on the operator's node.
    Voting,
    /// The operator's node is a validator.
    Active,
    /// The review turned it down.
    Rejected,
    /// The applicant, or an operator of the network for it, took it back.
    Withdrawn,
    /// The operator was removed from the registry, by its third slash or by an admin.
    Removed,
}

/// The text names no state of an application.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown application state `{0}`")]
pub struct UnknownApplicationState(String);

impl ApplicationState {
    /// Every state.
    pub const ALL: [Self; 9] = [
        Self::Submitted,
        Self::InReview,
        Self::Approved,
        Self::Staked,
        Self::Voting,
        Self::Active,
        Self::Rejected,
        Self::Withdrawn,
        Self::Removed,
    ];

    /// The states from the application to the running validator, in order.
    pub const COURSE: [Self; 6] =
        [Self::Submitted, Self::InReview, Self::Approved, Self::Staked, Self::Voting, Self::Active];

    /// The name in answers and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::InReview => "in_review",
            Self::Approved => "approved",
            Self::Staked => "staked",
            Self::Voting => "voting",
            Self::Active => "active",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::Removed => "removed",
        }
    }

    /// Whether it is on its way to a running validator. An operator has one open application at a time.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Submitted | Self::InReview | Self::Approved | Self::Staked | Self::Voting => true,
            Self::Active | Self::Rejected | Self::Withdrawn | Self::Removed => false,
        }
    }

    /// Whether the review has accepted it.
    pub const fn is_accepted(self) -> bool {
        match self {
            Self::Approved | Self::Staked | Self::Voting | Self::Active => true,
            Self::Submitted | Self::InReview | Self::Rejected | Self::Withdrawn | Self::Removed => false,
        }
    }

    /// The states that may follow this one directly.
    pub const fn successors(self) -> &'static [Self] {
        match self {
            Self::Submitted => &[Self::InReview, Self::Rejected, Self::Withdrawn],
            Self::InReview => &[Self::Approved, Self::Rejected, Self::Withdrawn],
            Self::Approved => &[Self::Staked, Self::Withdrawn],
            Self::Staked => &[Self::Voting, Self::Withdrawn, Self::Removed],
            Self::Voting => &[Self::Active, Self::Withdrawn, Self::Removed],
            Self::Active => &[Self::Removed],
            Self::Rejected | Self::Withdrawn | Self::Removed => &[],
        }
    }

    /// The states to pass through, the target last; `None` when the target cannot be reached.
    ///
    /// States on the way are passed, not skipped: an approval of a submitted application is a review that was short.
    pub fn path_to(self, target: Self) -> Option<&'static [Self]> {
        if let Some(at) = self.successors().iter().position(|&state| state == target) {
            return self.successors().get(at..=at);
        }
        let place = |state| Self::COURSE.iter().position(|&step| step == state);
        let (from, to) = (place(self)?, place(target)?);
        (from < to).then(|| Self::COURSE.get(from + 1..=to)).flatten()
    }

    /// What has to happen next, for the applicant to read.
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::Submitted => "The technical review starts within 7 days of the application.",
            Self::InReview => "The technical review is under way; there is nothing to do for now.",
            Self::Approved => "Stake at least 100000 coin by calling registerValidator on the registry.",
            Self::Staked => {
                "Deploy the validator node; a genesis validator then proposes the vote that adds it."
            }
            Self::Voting => "Keep the node running and in sync until the vote has passed.",
            Self::Active => "The node is a validator. Keep its uptime at 99% or above.",
            Self::Rejected => "A new application may be submitted.",
            Self::Withdrawn => "A new application may be submitted.",
            Self::Removed => {
                "The operator was removed from the registry. What is left of its stake can be withdrawn after 7 days; a new \
                 application may be submitted."
            }
        }
    }
}

impl fmt::Display for ApplicationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ApplicationState {
    type Err = UnknownApplicationState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| UnknownApplicationState(text.to_owned()))
    }
}

/// The id of an application: `app_` and a UUID of version 7 in 32 hexadecimal digits, so that ids sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationId(String);

/// The text is not the id of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an application")]
pub struct NotAnApplicationId;

impl ApplicationId {
    const PREFIX: &'static str = "app_";

    /// The id for a UUID.
    pub fn from_uuid(uuid: u128) -> Self {
        Self(format!("{}{uuid:032x}", Self::PREFIX))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApplicationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ApplicationId {
    type Err = NotAnApplicationId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(Self::PREFIX).ok_or(NotAnApplicationId)?;
        let is_lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() == 32 && digits.bytes().all(is_lower_hex) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnApplicationId)
        }
    }
}

/// An e-mail address. It does not print itself: applicants have not agreed to stand in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Email(String);

impl Email {
    /// Takes an address that was checked by whoever received it.
    pub fn new(address: impl Into<String>) -> Self {
        Self(address.into())
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ApplicationState as State, *};

    #[test]
    fn the_transitions_are_exactly_those_of_the_program() {
        let allowed: BTreeSet<(&str, &str)> = State::ALL
            .into_iter()
            .flat_map(|from| from.successors().iter().map(move |to| (from.name(), to.name())))
            .collect();
        let expected = BTreeSet::from([
            ("submitted", "in_review"),
            ("submitted", "rejected"),
            ("submitted", "withdrawn"),
            ("in_review", "approved"),
            ("in_review", "rejected"),
            ("in_review", "withdrawn"),
            ("approved", "staked"),
            ("approved", "withdrawn"),
            ("staked", "voting"),
            ("staked", "withdrawn"),
            ("voting", "active"),
            ("voting", "withdrawn"),
            ("staked", "removed"),
            ("voting", "removed"),
            ("active", "removed"),
        ]);
        assert_eq!(allowed, expected);
    }

    #[test]
    fn every_path_is_made_of_allowed_steps_and_ends_at_its_target() {
        for from in State::ALL {
            for target in State::ALL {
                let Some(path) = from.path_to(target) else { continue };
                assert_eq!(path.last(), Some(&target));
                let mut at = from;
                for &next in path {
                    assert!(at.successors().contains(&next), "{from} to {target} by {at} to {next}");
                    at = next;
                }
            }
        }
    }

    #[test]
    fn no_state_is_left_once_closed_but_by_removal_and_none_is_its_own_target() {
        for from in State::ALL {
            let is_over = !from.is_open() && from != State::Active;
            assert_eq!(is_over, from.successors().is_empty(), "{from}");
            assert_eq!(from.path_to(from), None, "{from}");
            for target in State::ALL.into_iter().filter(|target| *target != State::Removed) {
                assert!(from.is_open() || from.path_to(target).is_none(), "{from} to {target}");
            }
        }
    }

    #[test]
    fn only_who_has_staked_can_be_removed() {
        let removable: Vec<_> =
            State::ALL.into_iter().filter(|from| from.path_to(State::Removed).is_some()).collect();
        assert_eq!(removable, [State::Staked, State::Voting, State::Active]);
    }

    #[test]
    fn the_course_only_goes_forward_and_rejection_only_comes_from_review() {
        for (place, from) in State::COURSE.into_iter().enumerate() {
            for (other, target) in State::COURSE.into_iter().enumerate() {
                assert_eq!(from.path_to(target).is_some(), other > place, "{from} to {target}");
            }
            assert_eq!(from.path_to(State::Rejected).is_some(), place < 2, "{from}");
            assert_eq!(from.path_to(State::Withdrawn).is_some(), from.is_open(), "{from}");
        }
    }

    #[test]
    fn names_parse_back() {
        for state in State::ALL {
            assert_eq!(state.name().parse(), Ok(state));
        }
        assert!("Submitted".parse::<State>().is_err());
    }

    #[test]
    fn an_email_address_does_not_print_itself() {
        assert!(!format!("{:?}", Email::new("ops@example.org")).contains("example"));
    }

    #[test]
    fn ids_parse_back_and_nothing_else_does() {
        let id = ApplicationId::from_uuid(0x0192_f00d);
        assert_eq!(id.as_str(), "app_0000000000000000000000000192f00d");
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        for text in ["", "app_", "app_0192f00d", &id.as_str().to_uppercase(), &format!("{id}0"), "app_\u{e9}"]
        {
            assert_eq!(text.parse::<ApplicationId>(), Err(NotAnApplicationId), "{text}");
        }
    }
}
