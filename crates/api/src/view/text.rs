//! Values as they are written in answers, in REST and GraphQL alike: addresses with their checksum, amounts as decimal
//! strings, times in RFC 3339. Each is also a schema and a GraphQL scalar.

use alloy_primitives::{Address, B256, Bytes, U256};
use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use domain::Wei;
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

macro_rules! text_value {
    ($(#[$doc:meta])* $name:ident($inner:ty), $graphql:literal, $pattern:literal, $example:literal, |$value:ident| $print:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
        #[schema(as = $name, value_type = String, pattern = $pattern, example = $example)]
        pub(crate) struct $name(pub(crate) $inner);

        impl $name {
            fn print(&self) -> String {
                let $value = &self.0;
                $print
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.print())
            }
        }

        $(#[$doc])*
        #[Scalar(name = $graphql)]
        impl ScalarType for $name {
            fn parse(value: Value) -> InputValueResult<Self> {
                // Only ever an output.
                Err(InputValueError::expected_type(value))
            }

            fn to_value(&self) -> Value {
                Value::String(self.print())
            }
        }
    };
}

text_value!(
    /// An address in EIP-55 spelling.
    AddressText(Address), "Address", "^0x[0-9a-fA-F]{40}$", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    |address| address.to_checksum(None)
);
text_value!(
    /// A hash of 32 bytes.
    HashText(B256), "Hash", "^0x[0-9a-f]{64}$", "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    |hash| hash.to_string()
);
text_value!(
    /// Bytes in hexadecimal.
    HexText(Bytes), "Bytes", "^0x([0-9a-f]{2})*$", "0xa9059cbb", |bytes| bytes.to_string()
);
text_value!(
    /// An amount in coin, in decimal.
    CoinText(Wei), "Coin", "^[0-9]+(\\.[0-9]{1,18})?$", "1.5", |amount| amount.to_string()
);
text_value!(
    /// An amount in wei, in decimal.
    WeiText(U256), "Wei", "^[0-9]+$", "1500000000000000000", |amount| amount.to_string()
);

impl CoinText {
    /// So many wei, shown in coin.
    pub(crate) fn of(wei: U256) -> Self {
        Self(Wei(wei))
    }
}

/// A point in time, RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-01-01T00:00:02Z")]
pub(crate) struct TimeText(pub(crate) Timestamp);

impl TimeText {
    /// Seconds since 1970. A block from beyond the year 9999 is shown as of its end.
    pub(crate) fn from_unix(seconds: u64) -> Self {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        Self(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
    }

    /// Milliseconds since 1970.
    pub(crate) fn from_millis(millis: u64) -> Self {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        Self(Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX))
    }
}

impl Serialize for TimeText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A point in time, RFC 3339 in UTC.
#[Scalar(name = "DateTime")]
impl ScalarType for TimeText {
    fn parse(value: Value) -> InputValueResult<Self> {
        Err(InputValueError::expected_type(value))
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

/// A whole number from 0 up, written as a JSON number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(value_type = u64, minimum = 0, example = 1024)]
#[serde(transparent)]
pub(crate) struct Long(pub(crate) u64);

/// A whole number that may be larger than `Int`, written as a JSON number.
#[Scalar(name = "Long")]
impl ScalarType for Long {
    fn parse(value: Value) -> InputValueResult<Self> {
        match &value {
            Value::Number(number) => number
                .as_u64()
                .map(Self)
                .ok_or_else(|| InputValueError::custom("not a whole number from 0 up")),
            _ => Err(InputValueError::expected_type(value)),
        }
    }

    fn to_value(&self) -> Value {
        Value::Number(self.0.into())
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::address;

    use super::*;

    #[test]
    fn values_are_written_as_the_conventions_say() {
        let written = serde_json::json!([
            AddressText(address!("f39fd6e51aad88f6f4ce6ab8827279cfffb92266")),
            CoinText::of(U256::from(1_500_000_000_000_000_000u64)),
            WeiText(U256::from(7)),
            TimeText::from_unix(1_767_225_602),
            HexText(Bytes::new()),
            Long(u64::MAX),
        ]);
        let expected = serde_json::json!([
            "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "1.5",
            "7",
            "2026-01-01T00:00:02Z",
            "0x",
            u64::MAX,
        ]);
        assert_eq!(written, expected);
        assert_eq!(TimeText::from_unix(u64::MAX).0, Timestamp::MAX);
    }
}
