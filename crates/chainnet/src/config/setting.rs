//! What a setting is: its names, its meaning, how its text becomes a value and how that value is shown.

/// The names and the meaning of a setting. Flags, help, documentation and messages are made from it.
#[derive(Debug)]
pub struct About {
    /// Key in the configuration file, dotted.
    pub key: &'static str,
    /// Environment variable.
    pub env: &'static str,
    /// Flag without its dashes.
    pub flag: &'static str,
    /// What the flag's value is called in the help.
    pub value: &'static str,
    /// One line of meaning.
    pub meaning: &'static str,
    /// Which values are taken.
    pub allowed: &'static str,
    /// What holds when nobody says anything.
    pub default: DefaultValue,
    /// How the value is written in the configuration file.
    pub shape: Shape,
    /// Commands that have the flag; none for all of them.
    pub commands: &'static [&'static str],
}

/// What holds when nobody says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// Always the same value.
    Fixed(&'static str),
    /// Depends on other settings, in these words.
    Depends(&'static str),
}

/// How a value is written in the configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// In quotes.
    Text,
    /// Digits.
    Number,
    /// `true` or `false`.
    Switch,
    /// An array of texts; in variables and flags separated by commas.
    List,
}

/// A setting whose value is a `T`.
#[derive(Debug)]
pub(super) struct Setting<T> {
    pub(super) about: About,
    /// The value of a text, or what is wrong with it.
    pub(super) parse: fn(&str) -> Result<T, String>,
    /// The value as `chainnet config` prints it: without secrets.
    pub(super) show: fn(&T) -> String,
    /// Whether the text may hold a secret, so that a refusal does not quote it.
    pub(super) secret: bool,
}

impl About {
    /// The default in words.
    pub fn default_words(&self) -> &'static str {
        match self.default {
            DefaultValue::Fixed(value) => value,
            DefaultValue::Depends(words) => words,
        }
    }
}
