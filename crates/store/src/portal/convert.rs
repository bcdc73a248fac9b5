//! Between the portal's types and the columns.

use domain::portal::Scopes;

use crate::StoreError;

/// A column of 16 bytes, which is an id.
pub(crate) fn parse_id(what: &'static str, bytes: &[u8]) -> Result<[u8; 16], StoreError> {
    bytes.try_into().map_err(|error| StoreError::corrupt(what, error))
}

/// A column of scopes as bits.
pub(crate) fn parse_scopes(bits: i16) -> Result<Scopes, StoreError> {
    let bits = u8::try_from(bits).map_err(|error| StoreError::corrupt("scopes", error))?;
    Scopes::from_bits(bits).ok_or_else(|| StoreError::corrupt("scopes", "unknown bits"))
}
