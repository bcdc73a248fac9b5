//! The text to sign, as EIP-4361 wants it. We write it and keep it, so it never needs to be read.

use std::fmt;

use alloy_primitives::Address;
use domain::portal::ChallengeId;
use jiff::Timestamp;

use super::SessionSettings;

const STATEMENT: &str = "Sign in to the chainnet portal. No transaction is sent.";

/// What a wallet shows and signs.
pub(super) struct SignInMessage<'a> {
    pub(super) settings: &'a SessionSettings,
    pub(super) address: Address,
    pub(super) nonce: &'a str,
    pub(super) issued_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) id: ChallengeId,
}

impl fmt::Display for SignInMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { settings, address, nonce, issued_at, expires_at, id } = self;
        let origin = settings.public_url.origin();
        // The host, and the port if it is not the scheme's own: wallets compare it with the page that asks.
        let domain = origin.split_once("://").map_or(origin.as_str(), |(_, domain)| domain);
        writeln!(f, "{domain} wants you to sign in with your Ethereum account:")?;
        writeln!(f, "{}\n\n{STATEMENT}\n", address.to_checksum(None))?;
        writeln!(f, "URI: {}", settings.public_url)?;
        writeln!(f, "Version: 1")?;
        writeln!(f, "Chain ID: {}", settings.chain_id)?;
        writeln!(f, "Nonce: {nonce}")?;
        writeln!(f, "Issued At: {issued_at}")?;
        writeln!(f, "Expiration Time: {expires_at}")?;
        write!(f, "Request ID: {id}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(public_url: &str) -> String {
        SignInMessage {
            settings: &SessionSettings { public_url: public_url.parse().unwrap(), chain_id: 8845 },
            address: "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266".parse().unwrap(),
            nonce: "8fK2nQ0wZ4rT6yUe8fK2nQ",
            issued_at: "2026-01-01T00:00:00Z".parse().unwrap(),
            expires_at: "2026-01-01T00:05:00Z".parse().unwrap(),
            id: ChallengeId::new(1_767_225_600_000, 7 << 100),
        }
        .to_string()
    }

    #[test]
    fn the_text_is_the_one_of_the_standard() {
        let expected = "\
localhost:3000 wants you to sign in with your Ethereum account:
0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

Sign in to the chainnet portal. No transaction is sent.

URI: http://localhost:3000
Version: 1
Chain ID: 8845
Nonce: 8fK2nQ0wZ4rT6yUe8fK2nQ
Issued At: 2026-01-01T00:00:00Z
Expiration Time: 2026-01-01T00:05:00Z
Request ID: chl_01kdvdna0000000w0000000000";
        assert_eq!(message("http://localhost:3000"), expected);
    }

    #[test]
    fn the_domain_has_no_default_port_and_no_path() {
        let text = message("https://portal.example.org:443/developers");
        assert!(text.starts_with("portal.example.org wants you"), "{text}");
        assert!(text.contains("URI: https://portal.example.org:443/developers\n"), "{text}");
    }
}
