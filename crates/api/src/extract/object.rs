//! A JSON object in which no name is there twice, at any depth.
//!
//! Which of two equal names counts is up to every reader (RFC 8259, 4): whoever checks a body before us may have seen the other
//! one. serde_json keeps the last; here it is a refusal.

use std::{cell::RefCell, fmt};

use domain::FieldFailure;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::{code::Code, problem::Problem};

/// Bytes of a member's name that are repeated in a refusal.
const LONGEST_NAME: usize = 200;

/// Reads a JSON object.
pub(crate) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let place = RefCell::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = Unique(&place).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    let twice = place.into_inner().twice;
    match (read, twice) {
        (Ok(Value::Object(members)), _) => Ok(members),
        (Err(_), Some(name)) => Err(refuse(name)),
        (Ok(_) | Err(_), _) => Err(Problem::new(Code::InvalidJson, "The body is not a JSON object.")),
    }
}

fn refuse(mut name: String) -> Problem {
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    let field = FieldFailure {
        field: name.into(),
        code: "duplicate_member",
        message: "is there twice; send it once".into(),
    };
    Problem::new(Code::InvalidJson, "A member of the body is there twice; see errors.")
        .with_fields(vec![field])
}

/// Where in the body reading is.
#[derive(Default)]
struct Place {
    /// The way to what is read, such as `note.a[0]`.
    path: String,
    /// The way to a member that was there before.
    twice: Option<String>,
}

impl Place {
    /// Goes into a member; answers where to go back to.
    fn enter(&mut self, name: &str) -> usize {
        let before = self.path.len();
        if before > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        before
    }
}

/// Any value, whose objects have each name once.
#[derive(Clone, Copy)]
struct Unique<'a>(&'a RefCell<Place>);

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let before = self.0.borrow().path.len();
        let mut values = Vec::new();
        loop {
            self.0.borrow_mut().path.push_str(&format!("[{}]", values.len()));
            let next = seq.next_element_seed(self)?;
            self.0.borrow_mut().path.truncate(before);
            let Some(value) = next else { return Ok(Value::Array(values)) };
            values.push(value);
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let before = self.0.borrow_mut().enter(&name);
            if members.contains_key(&name) {
                let mut place = self.0.borrow_mut();
                place.twice = Some(place.path.clone());
                return Err(A::Error::custom("a member is there twice"));
            }
            let value = map.next_value_seed(self)?;
            self.0.borrow_mut().path.truncate(before);
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn twice(body: &str) -> Option<String> {
        let problem = parse(body.as_bytes()).err()?;
        assert_eq!(problem.code(), Code::InvalidJson);
        let shown: Value = serde_json::from_slice(&problem.to_json("")).unwrap();
        shown["errors"][0]["field"].as_str().map(str::to_owned)
    }

    #[test]
    fn a_name_that_is_there_twice_is_named() {
        for (body, field) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":1,"b":2,"\u0061":3}"#, "a"),
            (r#"{"a":{"b":1,"b":2}}"#, "a.b"),
            (r#"{"a":[1,[{}],{"c":{"d":null,"d":null}}]}"#, "a[2].c.d"),
        ] {
            assert_eq!(twice(body).as_deref(), Some(field), "{body}");
        }
        assert_eq!(twice(&format!("{{\"{0}\":1,\"{0}\":1}}", "ä".repeat(4_000))).unwrap().len(), 200);
        for body in ["", "[]", "7", "{} {}", r#"{"a":1"#, r#"{"a":1}}"#, r#"[{"a":1,"b":1}]"#] {
            assert_eq!((parse(body.as_bytes()).is_err(), twice(body)), (true, None), "{body}");
        }
        let other = r#"{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}"#;
        assert!(parse(other.as_bytes()).is_ok());
    }

    proptest! {
        /// Whatever has each name once is read as serde_json reads it.
        #[test]
        fn everything_else_is_read_as_ever(text in r#"[\[\]{}",:ab0-9.e\-tru\\ ]{0,40}"#) {
            let bytes = format!("{{{text}}}");
            let expected: Option<Map<String, Value>> = serde_json::from_str(&bytes).ok();
            match parse(bytes.as_bytes()) {
                Ok(read) => prop_assert_eq!(Some(read), expected),
                Err(problem) => prop_assert!(expected.is_none() || problem.to_json("").windows(16).any(|part| part == b"duplicate_member")),
            }
        }
    }
}
