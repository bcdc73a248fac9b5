//! The field `website`, which people do not see and programs that fill every form fill. Whoever falls for it is told so and
//! loses nothing: browsers fill fields by themselves, too.

use serde_json::Value;

use crate::{code::Code, problem::Problem};

/// Whether the field may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Honeypot {
    Optional,
    Mandatory,
}

/// Checks the field as it was sent.
pub(super) fn check(website: Option<&Value>, honeypot: Honeypot) -> Result<(), Problem> {
    match website {
        Some(Value::String(text)) if text.is_empty() => Ok(()),
        None | Some(Value::Null) => match honeypot {
            Honeypot::Optional => Ok(()),
            Honeypot::Mandatory => Err(Problem::new(Code::HoneypotMissing, Code::HoneypotMissing.meaning())),
        },
        Some(_) => Err(Problem::new(Code::HoneypotFilled, Code::HoneypotFilled.meaning())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_field_must_be_empty_and_on_some_networks_there() {
        let code = |website: Option<Value>, honeypot| {
            check(website.as_ref(), honeypot).err().map(|problem| problem.code())
        };
        for honeypot in [Honeypot::Optional, Honeypot::Mandatory] {
            assert_eq!(code(Some(json!("")), honeypot), None);
            for filled in [json!("x"), json!(" "), json!(0), json!(false), json!([]), json!({})] {
                assert_eq!(code(Some(filled.clone()), honeypot), Some(Code::HoneypotFilled), "{filled}");
            }
        }
        for missing in [None, Some(Value::Null)] {
            assert_eq!(code(missing.clone(), Honeypot::Optional), None);
            assert_eq!(code(missing, Honeypot::Mandatory), Some(Code::HoneypotMissing));
        }
    }
}
