//! The body of a claim.

use alloy_primitives::Address;
use domain::FieldFailure;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    code::Code,
    extract::{object, path},
    problem::Problem,
};

const FIELDS: [&str; 2] = ["address", "website"];

/// What a claimant sends.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described: the body is read member by member, to name every fault")]
pub(super) struct ClaimRequest {
    /// The wallet to be paid, 0x-prefixed; mixed case must be EIP-55.
    #[schema(pattern = "^0x[0-9a-fA-F]{40}$", example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")]
    address: String,
    /// Must be empty; on the private testnet it must be there, too.
    #[schema(max_length = 0, example = "")]
    website: Option<String>,
}

/// The body of a claim, read.
#[derive(Debug)]
pub(super) struct ClaimBody {
    pub(super) wallet: Address,
    /// As it was sent, to be judged by the honeypot.
    pub(super) website: Option<Value>,
}

impl ClaimBody {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let mut members = object::parse(bytes)?;
        let unknown = members.keys().filter(|name| !FIELDS.contains(&name.as_str()));
        let unknown: Vec<FieldFailure> =
            unknown.map(|name| fault(name.clone(), "unknown_field", "is not a field of a claim")).collect();
        if !unknown.is_empty() {
            return Err(Problem::new(Code::UnknownField, Code::UnknownField.meaning()).with_fields(unknown));
        }
        let wallet = match members.remove("address") {
            Some(Value::String(text)) => path::address(&text)?,
            None | Some(Value::Null) => return Err(refuse_address("required", "is required")),
            Some(_) => return Err(refuse_address("wrong_type", "must be a string")),
        };
        Ok(Self { wallet, website: members.remove("website") })
    }
}

fn refuse_address(code: &'static str, message: &'static str) -> Problem {
    let detail = "The wallet is missing or not a string; see errors.";
    Problem::new(Code::ValidationFailed, detail).with_fields(vec![fault("address".to_owned(), code, message)])
}

fn fault(field: String, code: &'static str, message: &'static str) -> FieldFailure {
    FieldFailure { field: field.into(), code, message: message.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(body: &str) -> Code {
        ClaimBody::read(body.as_bytes()).unwrap_err().code()
    }

    #[test]
    fn every_fault_has_its_code() {
        assert_eq!(code("["), Code::InvalidJson);
        assert_eq!(code("[]"), Code::InvalidJson);
        assert_eq!(code(r#"{"address":"0x1"}"#), Code::InvalidAddress);
        assert_eq!(code(r#"{"address":"0xF39fd6e51aad88F6F4ce6aB8827279cffFb92266"}"#), Code::InvalidAddress);
        assert_eq!(code(r#"{"website":""}"#), Code::ValidationFailed);
        assert_eq!(code(r#"{"address":7}"#), Code::ValidationFailed);
        assert_eq!(code(r#"{"address":7,"amount":"1"}"#), Code::UnknownField);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = ClaimBody::read(&bytes);
        }

        #[test]
        fn any_members_are_read_or_refused(name in "(address|website|Address|x)", value in r#"(null|1|""|"0x"|\[\]|\{\}|"\\u0000")"#) {
            let _ = ClaimBody::read(format!(r#"{{"{name}":{value}}}"#).as_bytes());
        }
    }
}
