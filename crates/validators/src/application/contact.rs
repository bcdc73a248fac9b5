//! Whether a text can be an e-mail address or a web address. Pragmatic: what mail servers and browsers take in
//! practice, not everything that the standards permit.

/// Most bytes of an e-mail address (RFC 5321, 4.5.3.1).
const EMAIL_BYTES: usize = 254;
/// Most bytes before the at sign.
const LOCAL_BYTES: usize = 64;
/// Most bytes of a host name, and of one of its labels (RFC 1035, 2.3.4).
const HOST_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;

/// Whether the text is `local@host` with a dotted host name. Quoted local parts and address literals are refused.
pub(super) fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else { return false };
    let is_atom_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    let is_atom = |atom: &str| !atom.is_empty() && atom.bytes().all(is_atom_byte);
    text.len() <= EMAIL_BYTES
        && local.len() <= LOCAL_BYTES
        && local.split('.').all(is_atom)
        && host.contains('.')
        && is_host_name(host)
        && !host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether the text is an absolute http or https address of a named or numbered host, without a user.
pub(super) fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest else { return false };
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _path) = rest.split_at(end);
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    rest.bytes().all(is_plain) && is_host_name(host) && port.parse::<u16>().is_ok_and(|port| port != 0)
}

fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LABEL_BYTES).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= HOST_BYTES && text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn usual_addresses_are_taken() {
        for text in
            ["a@b.co", "first.last+tag@mail.example.org", "o'neil@xn--bcher-kva.example", "x@1.example"]
        {
            assert!(is_email(text), "{text}");
        }
        for text in [
            "http://example.org",
            "https://example.org:8443/a/b?c=d#e",
            "https://localhost",
            "http://127.0.0.1:3000/",
        ] {
            assert!(is_web_address(text), "{text}");
        }
    }

    #[test]
    fn addresses_that_cannot_work_are_refused() {
        let long = format!("{}@example.org", "a".repeat(65));
        for text in [
            "",
            "@",
            "a@",
            "@b.co",
            "a@b",
            "a b@c.de",
            "a@b..co",
            ".a@b.co",
            "a.@b.co",
            "a@-b.co",
            "a@b.co.",
            "a@b.co\n",
            "a@b.co\r\nBcc: x@y.zz",
            "\"a\"@b.co",
            "a@[127.0.0.1]",
            "a@1.2.3.4",
            "<a@b.co>",
            &long,
        ] {
            assert!(!is_email(text), "{text:?}");
        }
        for text in [
            "",
            "example.org",
            "ftp://example.org",
            "javascript:alert(1)",
            "http://",
            "https:///path",
            "https://a b.org",
            "https://user@example.org",
            "https://example.org:0",
            "https://example.org:70000",
            "https://example.org/\u{202e}",
            "https://example.org/\"onload",
            "https://-x.org",
        ] {
            assert!(!is_web_address(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_has_no_byte_that_could_break_out_of_a_header_or_an_attribute(text in "\\PC{0,60}|[ -~\r\n]{0,60}") {
            if is_email(&text) || is_web_address(&text) {
                prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>".contains(&byte)));
            }
        }
    }
}
