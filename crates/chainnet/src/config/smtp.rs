//! The mail server as an operator writes it: `smtps://USER:PASSWORD@HOST:PORT`, `smtp://HOST`.
//!
//! `smtps` speaks TLS from the first byte; `smtp` begins in the clear and must change to TLS, except on this machine.

use domain::WebUrl;
use percent_encoding::percent_decode_str;
use validators::mail::{Password, SmtpSettings, TlsMode};

/// Reads the URL. The sender is another setting.
pub(super) fn parse(text: &str) -> Result<SmtpSettings, String> {
    let (scheme, rest) = text.split_once("://").ok_or("no URL")?;
    let (tls, usual_port) = match scheme {
        "smtps" => (TlsMode::Implicit, 465),
        "smtp" => (TlsMode::StartTls, 587),
        _ => return Err("no mail server".to_owned()),
    };
    let (login, place) = rest.rsplit_once('@').map_or((None, rest), |(login, place)| (Some(login), place));
    // The rules of hosts and ports are those of the web.
    let place: WebUrl = format!("http://{place}").parse().map_err(|_| "no host".to_owned())?;
    let tls = if tls == TlsMode::StartTls && place.is_loopback() { TlsMode::None } else { tls };
    Ok(SmtpSettings {
        host: place.host().to_owned(),
        port: place.port().unwrap_or(if tls == TlsMode::None { 25 } else { usual_port }),
        credentials: login.map(credentials).transpose()?,
        from: String::new(),
        tls,
    })
}

fn credentials(login: &str) -> Result<(String, Password), String> {
    let (user, password) = login.split_once(':').ok_or("a user without a password")?;
    let decoded =
        |text| percent_decode_str(text).decode_utf8().map_err(|_| "user or password is not UTF-8".to_owned());
    Ok((decoded(user)?.into_owned(), Password::new(decoded(password)?)))
}

/// The server without its password.
pub(super) fn shown(settings: &SmtpSettings) -> String {
    let scheme = match settings.tls {
        TlsMode::Implicit => "smtps",
        TlsMode::StartTls | TlsMode::None => "smtp",
    };
    let user = settings.credentials.as_ref().map(|(user, _)| format!("{user}:***@")).unwrap_or_default();
    format!("{scheme}://{user}{}:{}", settings.host, settings.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_decides_about_tls_and_the_usual_port() {
        for (text, shown_as, tls) in [
            ("smtps://mail.example", "smtps://mail.example:465", TlsMode::Implicit),
            ("smtp://mail.example", "smtp://mail.example:587", TlsMode::StartTls),
            ("smtp://mail.example:2525", "smtp://mail.example:2525", TlsMode::StartTls),
            ("smtp://127.0.0.1", "smtp://127.0.0.1:25", TlsMode::None),
            ("smtps://a:b%40c@mail.example", "smtps://a:***@mail.example:465", TlsMode::Implicit),
        ] {
            let settings = parse(text).unwrap();
            assert_eq!((shown(&settings).as_str(), settings.tls), (shown_as, tls));
        }
        let login = parse("smtps://a:b%40c@mail.example").unwrap().credentials.unwrap();
        assert_eq!(login, ("a".to_owned(), Password::new("b@c")));
    }

    #[test]
    fn other_things_are_refused() {
        for text in
            ["mail.example", "http://mail.example", "smtp://", "smtps://user@mail.example", "smtp://h:99999"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
