//! Between the types of Rust and those of the columns.

use alloy_primitives::{Address, B256, U256};
use domain::{Team, Wei};

use crate::StoreError;

/// A number that is compared in SQL, where columns are signed.
pub(crate) fn to_signed(what: &'static str, number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| StoreError::TooLarge { what })
}

/// The way back of [`to_signed`].
pub(crate) fn to_unsigned(what: &'static str, number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|error| StoreError::corrupt(what, error))
}

/// Wei as decimal text.
pub(crate) fn wei_text(wei: Wei) -> String {
    // Most amounts fit 128 bits, whose printing is several times faster.
    match u128::try_from(wei.0) {
        Ok(small) => small.to_string(),
        Err(_) => wei.0.to_string(),
    }
}

/// The way back of [`wei_text`].
pub(crate) fn parse_wei(what: &'static str, text: &str) -> Result<Wei, StoreError> {
    U256::from_str_radix(text, 10).map(Wei).map_err(|error| StoreError::corrupt(what, error))
}

/// A column of 20 bytes.
pub(crate) fn parse_address(what: &'static str, bytes: &[u8]) -> Result<Address, StoreError> {
    Address::try_from(bytes).map_err(|error| StoreError::corrupt(what, error))
}

/// A column of 32 bytes.
pub(crate) fn parse_hash(what: &'static str, bytes: &[u8]) -> Result<B256, StoreError> {
    B256::try_from(bytes).map_err(|error| StoreError::corrupt(what, error))
}

/// A column with the name of a team.
pub(crate) fn parse_team(text: &str) -> Result<Team, StoreError> {
    text.parse().map_err(|error| StoreError::corrupt("name of a team", error))
}
