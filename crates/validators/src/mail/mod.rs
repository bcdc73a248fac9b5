//! Mail to applicants: how it is sent. What it says is in `template`; when it is sent, in `worker`.
//!
//! Nothing here logs an address or a text.

mod template;
mod worker;

use std::{fmt, time::Duration};

use domain::Email;
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    address::AddressError,
    message::{Mailbox, header::ContentType},
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
    },
};

pub use worker::MailWorker;

/// How long a mail server may take for one step.
const STEP_PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take for a whole letter.
const LETTER_PATIENCE: Duration = Duration::from_secs(60);

/// How the connection to the mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// Not at all: for a server on the same machine.
    None,
    /// Begins in the clear and must change to TLS.
    #[default]
    StartTls,
    /// TLS from the first byte.
    Implicit,
}

/// A password. It does not print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Takes a password.
    pub fn new(password: impl Into<String>) -> Self {
        Self(password.into())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(hidden)")
    }
}

/// The mail server and who writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpSettings {
    /// Host name.
    pub host: String,
    /// Port; usually 587 for STARTTLS, 465 for implicit TLS, 25 without.
    pub port: u16,
    /// User and password, if the server wants them.
    pub credentials: Option<(String, Password)>,
    /// Sender, such as `Validator program <validators@example.org>`.
    pub from: String,
    /// How the connection is protected.
    pub tls: TlsMode,
}

/// Why mail cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The sender is not an address.
    #[error("the sender of mail is not an address")]
    Sender(#[source] AddressError),
    /// The recipient is not an address that mail can carry.
    #[error("the recipient of mail is not an address")]
    Recipient(#[source] AddressError),
    /// The message cannot be put together.
    #[error("the mail cannot be put together")]
    Message(#[source] lettre::error::Error),
    /// The connection to the server cannot be set up.
    #[error("the connection to the mail server cannot be set up")]
    SetUp(#[source] lettre::transport::smtp::Error),
    /// The server did not take it.
    #[error("the mail server did not take the mail")]
    Refused(#[source] lettre::transport::smtp::Error),
    /// The server took too long.
    #[error("the mail server took too long")]
    TimedOut,
}

impl MailError {
    /// Whether the same mail may go through later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Refused(error) => !error.is_permanent(),
            Self::TimedOut => true,
            Self::Sender(_) | Self::Recipient(_) | Self::Message(_) | Self::SetUp(_) => false,
        }
    }
}

/// A text to somebody.
#[derive(Clone, PartialEq, Eq)]
struct Letter {
    subject: String,
    body: String,
}

/// Sends mail through one server.
#[derive(Debug, Clone)]
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Mailer {
    /// Prepares the connection; nothing is sent or looked up yet.
    pub fn new(settings: &SmtpSettings) -> Result<Self, MailError> {
        let from = settings.from.parse().map_err(MailError::Sender)?;
        let parameters = || TlsParameters::new(settings.host.clone()).map_err(MailError::SetUp);
        let tls = match settings.tls {
            TlsMode::None => Tls::None,
            TlsMode::StartTls => Tls::Required(parameters()?),
            TlsMode::Implicit => Tls::Wrapper(parameters()?),
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(settings.host.as_str())
            .port(settings.port)
            .tls(tls)
            .timeout(Some(STEP_PATIENCE));
        if let Some((user, Password(password))) = &settings.credentials {
            builder = builder.credentials(Credentials::new(user.clone(), password.clone()));
        }
        Ok(Self { transport: builder.build(), from })
    }

    /// Sends one letter. `id` names it, so that a receiver can tell a repeated one.
    async fn send(&self, id: &str, to: &Email, letter: Letter) -> Result<(), MailError> {
        let to = to.as_str().parse().map_err(MailError::Recipient)?;
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .subject(letter.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.body)
            .map_err(MailError::Message)?;
        let sending = tokio::time::timeout(LETTER_PATIENCE, self.transport.send(message));
        sending.await.map_err(|_| MailError::TimedOut)?.map_err(MailError::Refused)?;
        Ok(())
    }
}
