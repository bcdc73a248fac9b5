//! Between the portal's types and the columns.

use crate::StoreError;

/// A column of 16 bytes, which is an id.
pub(crate) fn parse_id(what: &'static str, bytes: &[u8]) -> Result<[u8; 16], StoreError> {
    bytes.try_into().map_err(|error| StoreError::corrupt(what, error))
}
