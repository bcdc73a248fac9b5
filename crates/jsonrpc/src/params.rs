//! The parameters of a request: their bytes as they came, and where one ends and the next begins.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The parameters of a request, not looked at yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Params<'a> {
    /// Absent or `null`.
    None,
    /// An array, whose text this is.
    List(&'a str),
    /// An object, whose text this is. JSON-RPC allows it; no Ethereum method takes it.
    Named(&'a str),
}

impl<'a> Params<'a> {
    /// The text to send on; absent parameters are an empty list.
    pub fn text(self) -> &'a str {
        match self {
            Self::None => "[]",
            Self::List(text) | Self::Named(text) => text,
        }
    }

    /// The parameters by position, or nothing if they are named.
    pub fn elements(self) -> Option<Elements<'a>> {
        match self {
            Self::None => Some(Elements::default()),
            Self::List(text) => serde_json::from_str(text).ok(),
            Self::Named(_) => None,
        }
    }
}

/// Most parameters that are told apart; no Ethereum method takes more than four.
const MAX_ELEMENTS: usize = 8;

/// Parameters by position, each still text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Elements<'a> {
    texts: [Option<&'a str>; MAX_ELEMENTS],
    count: usize,
}

impl<'a> Elements<'a> {
    /// How many there are, the ones beyond those told apart included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The text of the parameter at this position, `null` included.
    pub fn get(&self, index: usize) -> Option<&'a str> {
        self.texts.get(index).copied().flatten()
    }

    /// The texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.texts.iter().map_while(|text| *text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Elements<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of parameters")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Elements::default();
                while let Some(raw) = seq.next_element::<&RawValue>()? {
                    if let Some(place) = elements.texts.get_mut(elements.count) {
                        *place = Some(raw.get());
                    }
                    elements.count += 1;
                }
                Ok(elements)
            }
        }

        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_cut_where_they_end() {
        let elements = Params::List(r#"[ {"a":[1,2]} , "la\"test",null]"#).elements().expect("a list");
        assert_eq!(elements.iter().collect::<Vec<_>>(), [r#"{"a":[1,2]}"#, r#""la\"test""#, "null"]);
        assert_eq!((elements.count(), elements.get(1), elements.get(3)), (3, Some(r#""la\"test""#), None));
        let many = Params::List("[0,1,2,3,4,5,6,7,8,9]").elements().expect("a list");
        assert_eq!((many.count(), many.get(7), many.get(8)), (10, Some("7"), None));
        assert_eq!(Params::None.elements().expect("none").count(), 0);
        assert!(Params::Named("{}").elements().is_none());
    }
}
