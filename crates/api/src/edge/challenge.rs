//! What is asked of whoever is not known (RFC 6750): every answer with 401 carries a challenge.

use crate::code::Code;

/// The challenge that a refusal comes with, if it is one for want of a credential.
pub(super) fn challenge(code: Code) -> Option<&'static str> {
    if code.status() != 401 {
        return None;
    }
    let is_about_session = matches!(
        code,
        Code::SessionMissing
            | Code::SessionInvalid
            | Code::SessionExpired
            | Code::SignatureInvalid
            | Code::ChallengeExpired
    );
    let is_missing = matches!(code, Code::ApiKeyMissing | Code::SessionMissing);
    Some(match (is_about_session, is_missing) {
        (true, true) => "Bearer realm=\"wallet-session\"",
        (true, false) => "Bearer realm=\"wallet-session\", error=\"invalid_token\"",
        (false, true) => "Bearer realm=\"api-key\"",
        (false, false) => "Bearer realm=\"api-key\", error=\"invalid_token\"",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_401_has_a_challenge_and_nothing_else() {
        for code in Code::ALL {
            assert_eq!(challenge(*code).is_some(), code.status() == 401, "{code}");
        }
    }
}
