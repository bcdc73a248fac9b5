//! Settings of mail.

use validators::mail::SmtpSettings;

use crate::config::{
    setting::{About, DefaultValue::Depends, Setting, Shape},
    smtp, value,
};

pub(in crate::config) const SMTP_URL: Setting<SmtpSettings> = Setting {
    about: About {
        key: "mail.smtp_url",
        env: "SMTP_URL",
        flag: "smtp-url",
        value: "URL",
        meaning: "Mail server that takes the notices to applicants",
        allowed: "smtps://USER:PASSWORD@HOST or smtp://HOST",
        default: Depends("no mail is sent"),
        shape: Shape::Text,
        commands: &["up", "worker", "applications"],
    },
    parse: smtp::parse,
    show: smtp::shown,
    secret: true,
};

pub(in crate::config) const SMTP_FROM: Setting<String> = Setting {
    about: About {
        key: "mail.from",
        env: "SMTP_FROM",
        flag: "smtp-from",
        value: "SENDER",
        meaning: "Sender of the notices; needed with a mail server",
        allowed: "an e-mail address, also as NAME <ADDRESS>",
        default: Depends("none"),
        shape: Shape::Text,
        commands: &["up", "worker", "applications"],
    },
    parse: value::sender,
    show: String::clone,
    secret: false,
};
