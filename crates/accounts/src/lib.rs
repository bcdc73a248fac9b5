//! Who a portal caller is: a credential in, a wallet out.
//!
//! People sign in with their wallet: [`Sessions`] gives out a text to sign (EIP-4361), judges the signature of a key or of a
//! contract, and knows the session's token again. Programs present a developer key: [`DeveloperKeys`] answers with a
//! [`Grant`]. How keys are bought, and how a refusal looks, is for the crates above.

mod key;
mod random;
mod session;

pub use key::{
    DeveloperKeyDenied, DeveloperKeyText, DeveloperKeys, Grant, MintedKey, Pepper, PepperError, Peppers,
    ScopeMissing,
};
pub use session::{
    AccountType, Challenge, Session, SessionDenied, SessionSettings, SessionToken, Sessions, SignInError,
    SignedIn,
};

use jiff::Timestamp;

/// A time as the store keeps it: Unix milliseconds.
fn millis(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or(0)
}

/// The way back of [`millis`].
fn timestamp(millis: u64) -> Timestamp {
    i64::try_from(millis)
        .ok()
        .and_then(|millis| Timestamp::from_millisecond(millis).ok())
        .unwrap_or(Timestamp::MAX)
}
