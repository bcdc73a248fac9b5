//! What an applicant sends, and what it must be like. Every fault is reported, not just the first.
//!
//! Unknown members and wrong JSON types are the edge's business; whether an application is already open is the
//! database's.

use std::borrow::Cow;

use alloy_primitives::Address;
use domain::{Email, FieldFailure, Wei, address::NotAnAddress, amount::AmountError};

use crate::program;

use super::contact::{is_email, is_web_address};

/// Fewest and most characters of a moniker.
pub const MONIKER_CHARS: (usize, usize) = (3, 40);
/// Most characters of a website's address.
pub const WEBSITE_CHARS: usize = 200;
/// Most characters of a message.
pub const MESSAGE_CHARS: usize = 2_000;

/// An application as the applicant wrote it.
#[derive(Clone, Default)]
pub struct ApplicationDraft {
    /// Display name.
    pub moniker: String,
    /// Account of the operator, 0x-prefixed.
    pub operator_address: String,
    /// Where the operator can be reached.
    pub email: String,
    /// Intended stake in coin, decimal.
    pub stake_amount: String,
    /// Commission in percent.
    pub commission: f64,
    /// The operator's website.
    pub website: Option<String>,
    /// Code of a region of the program.
    pub region: Option<String>,
    /// Anything the reviewers should know.
    pub message: Option<String>,
}

/// An application that satisfies every rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApplication {
    /// Display name, trimmed.
    pub moniker: String,
    /// Account of the operator.
    pub operator: Address,
    /// Where the operator can be reached.
    pub email: Email,
    /// Intended stake.
    pub stake: Wei,
    /// Commission in basis points.
    pub commission_bps: u16,
    /// The operator's website.
    pub website: Option<String>,
    /// Code of a region of the program.
    pub region: Option<&'static str>,
    /// Anything the reviewers should know.
    pub message: Option<String>,
}

/// A rule that a field breaks: code and message.
type Fault = (&'static str, Cow<'static, str>);

impl ApplicationDraft {
    /// Checks every field and reports all that are wrong.
    pub fn check(&self) -> Result<NewApplication, Vec<FieldFailure>> {
        let mut faults = Faults::default();
        let moniker = faults.take("moniker", check_moniker(&self.moniker));
        let operator = faults.take("operatorAddress", check_operator(&self.operator_address));
        let email = faults.take("email", check_email(&self.email));
        let stake = faults.take("stakeAmount", check_stake(&self.stake_amount));
        let commission = faults.take("commission", check_commission(self.commission));
        let website = faults.take("website", optional(&self.website, check_website));
        let region = faults.take("region", optional(&self.region, check_region));
        let message = faults.take("message", optional(&self.message, check_message));
        match (moniker, operator, email, stake, commission, website, region, message) {
            (
                Some(moniker),
                Some(operator),
                Some(email),
                Some(stake),
                Some(commission_bps),
                Some(website),
                Some(region),
                Some(message),
            ) => Ok(NewApplication {
                moniker,
                operator,
                email,
                stake,
                commission_bps,
                website,
                region,
                message,
            }),
            _some_field_is_wrong => Err(faults.0),
        }
    }
}

#[derive(Default)]
struct Faults(Vec<FieldFailure>);

impl Faults {
    fn take<T>(&mut self, field: &'static str, checked: Result<T, Fault>) -> Option<T> {
        checked
            .map_err(|(code, message)| self.0.push(FieldFailure { field: field.into(), code, message }))
            .ok()
    }
}

/// An absent field and an empty one mean the same.
fn optional<T>(
    value: &Option<String>,
    check: impl FnOnce(&str) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    match value.as_deref().map(str::trim) {
        None | Some("") => Ok(None),
        Some(text) => check(text).map(Some),
    }
}

fn check_moniker(text: &str) -> Result<String, Fault> {
    let text = text.trim();
    let (least, most) = MONIKER_CHARS;
    if !(least..=most).contains(&text.chars().count()) {
        return Err(("invalid_length", format!("must have {least} to {most} characters").into()));
    }
    if !text.chars().all(is_printable) {
        return Err(("invalid_characters", "must not contain control or direction characters".into()));
    }
    Ok(text.to_owned())
}

/// Neither a control character nor one that is invisible or turns the direction of the text around it.
fn is_printable(character: char) -> bool {
    let is_invisible = matches!(
        character,
        '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    !character.is_control() && !is_invisible
}

fn check_operator(text: &str) -> Result<Address, Fault> {
    let address = domain::parse_address(text).map_err(|error| match error {
        NotAnAddress::Form => ("invalid_address", "must be 0x and 40 hexadecimal digits".into()),
        NotAnAddress::Checksum => {
            ("invalid_checksum", "the upper and lower case digits do not match EIP-55".into())
        }
    })?;
    if address.is_zero() {
        return Err(("invalid_address", "must not be the zero address".into()));
    }
    Ok(address)
}

fn check_email(text: &str) -> Result<Email, Fault> {
    let text = text.trim();
    if is_email(text) {
        Ok(Email::new(text))
    } else {
        Err(("invalid_email", "must be an e-mail address such as ops@example.org".into()))
    }
}

fn check_stake(text: &str) -> Result<Wei, Fault> {
    let stake: Wei = text.parse().map_err(|error| match error {
        AmountError::NotDecimal => {
            ("invalid_amount", Cow::from("must be a decimal number of coin such as \"100000\""))
        }
        AmountError::TooPrecise => ("too_precise", "must have at most 18 decimals".into()),
        AmountError::TooLarge => ("too_large", "is more coin than there can be".into()),
    })?;
    if stake < program::min_stake() {
        return Err(("too_small", format!("must be at least {} coin", program::MIN_STAKE_COIN).into()));
    }
    Ok(stake)
}

fn check_commission(percent: f64) -> Result<u16, Fault> {
    let most = f64::from(program::MAX_COMMISSION_BPS) / 100.0;
    if !(0.0..=most).contains(&percent) {
        return Err(("out_of_range", format!("must be between 0 and {most} percent").into()));
    }
    let bps = (percent * 100.0).round();
    // What JSON wrote with two decimals is the nearest double to a whole number of hundredths.
    if bps / 100.0 != percent {
        return Err(("too_precise", "must have at most 2 decimals".into()));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 2000, checked above"
    )]
    let bps = bps as u16;
    Ok(bps)
}

fn check_website(text: &str) -> Result<String, Fault> {
    if text.chars().count() > WEBSITE_CHARS {
        return Err(("too_long", format!("must have at most {WEBSITE_CHARS} characters").into()));
    }
    if !is_web_address(text) {
        return Err(("invalid_url", "must be an address that starts with http:// or https://".into()));
    }
    Ok(text.to_owned())
}

fn check_region(code: &str) -> Result<&'static str, Fault> {
    program::region(code)
        .map(|region| region.code)
        .ok_or_else(|| ("unknown_region", "must be the code of a region of the program".into()))
}

fn check_message(text: &str) -> Result<String, Fault> {
    if text.chars().count() > MESSAGE_CHARS {
        return Err(("too_long", format!("must have at most {MESSAGE_CHARS} characters").into()));
    }
    let is_layout = |character| matches!(character, '\n' | '\r' | '\t');
    if !text.chars().all(|character| is_printable(character) || is_layout(character)) {
        return Err(("invalid_characters", "must not contain control or direction characters".into()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests;
