//! Addresses as people write them.

use alloy_primitives::Address;

/// The text is not an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAddress {
    /// Its form is wrong.
    #[error("an address is 0x and 40 hexadecimal digits")]
    Form,
    /// It mixes upper and lower case, but not as its checksum does.
    #[error("the checksum of this mixed-case address is wrong (EIP-55)")]
    Checksum,
}

/// Reads an address: any case, but mixed case must carry the right checksum.
pub fn parse_address(text: &str) -> Result<Address, NotAnAddress> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 40).ok_or(NotAnAddress::Form)?;
    let address: Address = text.parse().map_err(|_| NotAnAddress::Form)?;
    let has_lower = digits.bytes().any(|byte| byte.is_ascii_lowercase());
    let has_upper = digits.bytes().any(|byte| byte.is_ascii_uppercase());
    if has_lower && has_upper && address.to_checksum(None) != text {
        return Err(NotAnAddress::Checksum);
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKSUMMED: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

    #[test]
    fn one_case_is_taken_and_mixed_case_must_be_the_checksum() {
        let address = parse_address(CHECKSUMMED).unwrap();
        assert_eq!(parse_address(&CHECKSUMMED.to_lowercase()), Ok(address));
        assert_eq!(parse_address(&CHECKSUMMED.to_uppercase().replacen("0X", "0x", 1)), Ok(address));
        assert_eq!(parse_address(&CHECKSUMMED.replacen('F', "f", 1)), Err(NotAnAddress::Checksum));
        for text in ["", "0x", "0x12", &CHECKSUMMED[2..], &CHECKSUMMED.replacen('f', "g", 1), "0xé"] {
            assert_eq!(parse_address(text), Err(NotAnAddress::Form), "{text}");
        }
    }
}
