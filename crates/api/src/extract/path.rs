//! The parts of paths: addresses, hashes, and the three ways to name a block.

use alloy_primitives::{Address, B256};
use domain::address::NotAnAddress;

use crate::{code::Code, problem::Problem};

/// A block as a caller names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockName {
    /// The newest.
    Latest,
    /// By its height.
    Number(u64),
    /// By its on-chain hash.
    Hash(B256),
}

/// Reads an address: any case, but mixed case must carry the right checksum.
pub(crate) fn address(text: &str) -> Result<Address, Problem> {
    domain::parse_address(text).map_err(|error| {
        let detail = match error {
            NotAnAddress::Form => "An address is 0x and 40 hexadecimal digits.",
            NotAnAddress::Checksum => "The checksum of this mixed-case address is wrong (EIP-55).",
        };
        Problem::new(Code::InvalidAddress, detail)
    })
}

/// Reads a hash of 32 bytes.
pub(crate) fn hash(text: &str) -> Result<B256, Problem> {
    let refuse = || Problem::new(Code::InvalidHash, "A hash is 0x and 64 hexadecimal digits.");
    find_hash(text).ok_or_else(refuse)
}

/// Like `hash`, for texts that may be something else.
pub fn find_hash(text: &str) -> Option<B256> {
    hex_digits(text, 64).and_then(|_| text.parse().ok())
}

/// Reads the name of a block: decimal, 0x-hex, hash, or `latest`.
pub(crate) fn block(text: &str) -> Result<BlockName, Problem> {
    find_block(text).ok_or_else(|| {
        let detail = "A block is named by its number, decimal or 0x-hex, by its hash, or as latest.";
        Problem::new(Code::InvalidBlockNumber, detail)
    })
}

/// Like `block`, for texts that may be something else.
pub fn find_block(text: &str) -> Option<BlockName> {
    if text == "latest" {
        return Some(BlockName::Latest);
    }
    if let Some(hash) = find_hash(text) {
        return Some(BlockName::Hash(hash));
    }
    let number = match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16)
        }
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse(),
        Some(_) | None => return None,
    };
    number.ok().map(BlockName::Number)
}

fn hex_digits(text: &str, count: usize) -> Option<&str> {
    let digits = text.strip_prefix("0x")?;
    (digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHECKSUMMED: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

    #[test]
    fn addresses_come_in_any_case_but_with_the_right_checksum() {
        let lower = CHECKSUMMED.to_lowercase();
        let upper = format!("0x{}", lower[2..].to_uppercase());
        let expected: Address = lower.parse().unwrap();
        for text in [CHECKSUMMED, &lower, &upper] {
            assert_eq!(address(text).unwrap(), expected, "{text}");
        }
        let wrong = CHECKSUMMED.replace("f39F", "F39F");
        for text in
            ["", "0x", "f39Fd6e51aad88F6F4ce6aB8827279cffFb92266", &wrong, &format!("{CHECKSUMMED}0"), "0xg"]
        {
            assert_eq!(address(text).unwrap_err().code(), Code::InvalidAddress, "{text}");
        }
    }

    #[test]
    fn blocks_are_named_in_four_ways_and_no_other() {
        let hash = format!("0x{}", "ab".repeat(32));
        for (text, expected) in [
            ("latest", BlockName::Latest),
            ("0", BlockName::Number(0)),
            ("007", BlockName::Number(7)),
            ("0x1f", BlockName::Number(31)),
            ("18446744073709551615", BlockName::Number(u64::MAX)),
            (&hash, BlockName::Hash(hash.parse().unwrap())),
        ] {
            assert_eq!(block(text).unwrap(), expected, "{text}");
        }
        for text in
            ["", "-1", "+1", "1.0", "0x", "0x+1", "abc", "18446744073709551616", "Latest", " 1", "0xzz"]
        {
            assert_eq!(block(text).unwrap_err().code(), Code::InvalidBlockNumber, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "\\PC{0,80}") {
            let _ = (address(&text), hash(&text), block(&text));
        }

        #[test]
        fn numbers_and_addresses_parse_back(number: u64, bytes: [u8; 20], word: [u8; 32]) {
            prop_assert_eq!(block(&number.to_string()).unwrap(), BlockName::Number(number));
            prop_assert_eq!(block(&format!("{number:#x}")).unwrap(), BlockName::Number(number));
            let expected = Address::new(bytes);
            prop_assert_eq!(address(&expected.to_checksum(None)).unwrap(), expected);
            prop_assert_eq!(hash(&B256::new(word).to_string()).unwrap(), B256::new(word));
        }
    }
}
