//! The body of a new invoice.

use std::{ops::RangeInclusive, str::FromStr};

use domain::portal::{AMOUNT_IDR, CustomerLabel, ExternalId, INVOICE_MINUTES, InvoiceNote, TextError};
use merchant::NewInvoice;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    code::Code,
    extract::members::{Fault, Members, text},
    problem::Problem,
};

const FIELDS: [&str; 5] = ["customerLabel", "amountIdr", "note", "externalId", "expiresInMinutes"];

/// What a merchant asks for.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described: the body is read member by member, to name every fault")]
pub(super) struct InvoiceRequest {
    /// Who is to pay, in your words: on one line, without white space around it.
    #[schema(min_length = 1, max_length = 80, example = "Budi #1042")]
    customer_label: String,
    /// How much, in rupiah.
    #[schema(minimum = 1000, maximum = 1_000_000_000_000_i64, example = 150000)]
    amount_idr: u64,
    /// What it is for.
    #[schema(max_length = 280, example = "Kopi susu 6x")]
    note: Option<String>,
    /// Your own name for it, which no other invoice of yours has.
    #[schema(min_length = 1, max_length = 64, example = "ORD-1042")]
    external_id: Option<String>,
    /// How long it can be paid: a day if nothing is said.
    #[schema(minimum = 15, maximum = 43200, example = 1440)]
    expires_in_minutes: Option<u64>,
}

/// Reads a body.
pub(super) fn read(bytes: &[u8]) -> Result<NewInvoice, Problem> {
    let mut members = Members::parse(bytes, &FIELDS)?;
    let label = members.required("customerLabel", some_text);
    let label = label.and_then(|text| shown::<CustomerLabel>(&mut members, "customerLabel", &text));
    let amount = members.required("amountIdr", some_integer);
    let amount = amount.and_then(|number| within(&mut members, "amountIdr", number, AMOUNT_IDR));
    let note = members.optional("note", text);
    let note = note.and_then(|text| shown::<InvoiceNote>(&mut members, "note", &text));
    let external_id = members.optional("externalId", text);
    let external_id = external_id.and_then(|text| shown::<ExternalId>(&mut members, "externalId", &text));
    let minutes = members.optional("expiresInMinutes", integer);
    let lifetime =
        minutes.and_then(|number| within(&mut members, "expiresInMinutes", number, INVOICE_MINUTES));
    let invoice = label.zip(amount).map(|(customer_label, amount)| NewInvoice {
        customer_label,
        amount,
        note: note.unwrap_or_default(),
        external_id,
        lifetime: lifetime.unwrap_or_default(),
    });
    members.finish()?;
    // Without faults there is one.
    invoice.ok_or_else(|| Problem::new(Code::Internal, Code::Internal.meaning()))
}

fn some_text(value: Value) -> Result<Option<String>, Fault> {
    text(value).map(Some)
}

/// A whole number. One that is not written as such, like `1.0` or `1e3`, is refused; one below zero is as good as zero, which
/// nothing here can be.
fn integer(value: Value) -> Result<u64, Fault> {
    if value.is_u64() || value.is_i64() {
        return Ok(value.as_u64().unwrap_or(0));
    }
    Err(("wrong_type", "must be a whole number"))
}

fn some_integer(value: Value) -> Result<Option<u64>, Fault> {
    integer(value).map(Some)
}

/// A number that must be in a range.
fn within<T: TryFrom<u64>>(
    members: &mut Members,
    field: &'static str,
    number: u64,
    range: RangeInclusive<u64>,
) -> Option<T> {
    let read = T::try_from(number).ok();
    if read.is_none() {
        let message = format!("must be from {} to {}", range.start(), range.end());
        members.refuse(field, "out_of_range", message);
    }
    read
}

/// A text that is fit to be shown.
fn shown<T: FromStr<Err = TextError>>(members: &mut Members, field: &'static str, text: &str) -> Option<T> {
    let refuse = |error: TextError| {
        let code = match error {
            TextError::Empty => "empty",
            TextError::TooLong { .. } => "too_long",
            TextError::Control => "control_character",
            TextError::Space => "white_space",
        };
        members.refuse(field, code, error.to_string());
    };
    text.parse().map_err(refuse).ok()
}

#[cfg(test)]
mod tests {
    use domain::portal::InvoiceLifetime;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn faults(body: Value) -> Vec<(String, String)> {
        let problem = read(body.to_string().as_bytes()).unwrap_err();
        assert_eq!(problem.code(), Code::ValidationFailed);
        let body: Value = serde_json::from_slice(&problem.to_json("")).unwrap();
        let text = |fault: &Value, name: &str| fault[name].as_str().unwrap().to_owned();
        let errors = body["errors"].as_array().unwrap();
        errors.iter().map(|fault| (text(fault, "field"), text(fault, "code"))).collect()
    }

    #[test]
    fn an_invoice_needs_a_label_and_an_amount() {
        let body = json!({ "customerLabel": " Budi ", "amountIdr": 1000 });
        let read = read(body.to_string().as_bytes()).unwrap();
        assert_eq!((read.customer_label.as_str(), read.note.as_str()), ("Budi", ""));
        assert_eq!((read.amount.get(), read.lifetime), (1000, InvoiceLifetime::default()));
        let missing = faults(json!({}));
        assert_eq!(
            missing,
            [("customerLabel".into(), "required".into()), ("amountIdr".into(), "required".into())]
        );
    }

    #[test]
    fn every_fault_is_named() {
        for (field, value, code) in [
            ("customerLabel", json!("  "), "empty"),
            ("customerLabel", json!("a\u{0}"), "control_character"),
            ("customerLabel", json!("x".repeat(81)), "too_long"),
            ("customerLabel", json!(7), "wrong_type"),
            ("amountIdr", json!(0), "out_of_range"),
            ("amountIdr", json!(999), "out_of_range"),
            ("amountIdr", json!(-150_000), "out_of_range"),
            ("amountIdr", json!(1_000_000_000_001_u64), "out_of_range"),
            ("amountIdr", json!(u64::MAX), "out_of_range"),
            ("amountIdr", json!(1e30), "wrong_type"),
            ("amountIdr", json!(1500.5), "wrong_type"),
            ("amountIdr", json!(1500.0), "wrong_type"),
            ("amountIdr", json!("1500"), "wrong_type"),
            ("amountIdr", json!(true), "wrong_type"),
            ("note", json!("n".repeat(281)), "too_long"),
            ("note", json!(["n"]), "wrong_type"),
            ("externalId", json!(""), "empty"),
            ("externalId", json!("a b"), "white_space"),
            ("expiresInMinutes", json!(14), "out_of_range"),
            ("expiresInMinutes", json!(43_201), "out_of_range"),
            ("expiresInMinutes", json!("60"), "wrong_type"),
        ] {
            let mut body = json!({ "customerLabel": "Budi", "amountIdr": 150_000 });
            body[field] = value.clone();
            assert_eq!(faults(body), [(field.to_owned(), code.to_owned())], "{field}: {value}");
        }
        let unknown = read(br#"{"customerLabel":"Budi","amountIDR":150000}"#).unwrap_err();
        assert_eq!(unknown.code(), Code::UnknownField);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }

        #[test]
        fn an_amount_is_read_as_it_is_or_refused(amount: i64, label in "\\PC{1,90}") {
            let body = json!({ "customerLabel": label, "amountIdr": amount }).to_string();
            if let Ok(invoice) = read(body.as_bytes()) {
                prop_assert_eq!(i64::try_from(invoice.amount.get()).unwrap(), amount);
                prop_assert_eq!(invoice.customer_label.as_str(), label.trim());
            }
        }
    }
}
