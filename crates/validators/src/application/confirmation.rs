//! Consent to mail: whoever applies gives an address, which need not be theirs. It gets one mail that asks for confirmation, and
//! nothing else before that; and so many may apply, because each of them is written to.

use access::{Client, Counted};
use domain::Email;
use store::{ApplicationQuota, ApplicationRow, MailConsent, StoreError};

use super::{Applications, DAY_MILLIS};
use crate::error::ApplicationError;

/// Applications with one address, from one client and in all that are taken in 24 hours.
const PER_EMAIL: usize = 3;
const PER_CLIENT: usize = 10;
const IN_ALL: usize = 500;
/// An address that has not confirmed is not asked again before.
const ASK_AGAIN_MILLIS: u64 = DAY_MILLIS;
/// How long a link can be followed.
const LINK_MILLIS: u64 = 7 * DAY_MILLIS;

impl Applications {
    /// Confirms the address whose link has this token. Doing it again changes nothing.
    pub async fn confirm_email(&self, token: &str, now: u64) -> Result<(), ApplicationError> {
        let since = now.saturating_sub(LINK_MILLIS);
        if self.db.confirm_contact(token, since, now).await? {
            return Ok(());
        }
        Err(ApplicationError::LinkUnknown)
    }

    /// What a mail needs that asks for consent; none where no mail is sent.
    pub(super) fn consent(&self, now: u64) -> Option<MailConsent> {
        self.with_mail.then(|| MailConsent {
            token: format!("{:032x}", rand::random::<u128>()),
            not_asked_since: now.saturating_sub(ASK_AGAIN_MILLIS),
        })
    }

    /// Whether the applicant has confirmed the address; none where no mail is sent.
    pub(super) async fn is_confirmed(&self, row: &ApplicationRow) -> Result<Option<bool>, StoreError> {
        if !self.with_mail {
            return Ok(None);
        }
        Ok(Some(self.db.is_contact_confirmed(&row.email).await?.unwrap_or(false)))
    }
}

/// What an application counts against, in the order in which rows are locked.
pub(super) fn quotas(email: &Email, client: Option<Client>) -> Vec<ApplicationQuota> {
    let quota = |subject, most| ApplicationQuota { subject, most, period: DAY_MILLIS };
    let mut quotas = vec![quota("all".to_owned(), IN_ALL)];
    quotas.extend(client.map(|client| quota(format!("client:{:032x}", client.number()), PER_CLIENT)));
    quotas.push(quota(format!("email:{}", mailbox(email)), PER_EMAIL));
    quotas
}

/// The mailbox behind an address: `ops+1@example.org` is the same as `Ops@example.org`.
fn mailbox(email: &Email) -> String {
    let address = email.as_str().to_ascii_lowercase();
    let Some((local, host)) = address.rsplit_once('@') else { return address };
    let local = local.split('+').next().filter(|local| !local.is_empty()).unwrap_or(local);
    format!("{local}@{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_mailbox_count_together() {
        for (address, expected) in [
            ("ops@example.org", "ops@example.org"),
            ("Ops@Example.ORG", "ops@example.org"),
            ("ops+1@example.org", "ops@example.org"),
            ("ops+1+2@example.org", "ops@example.org"),
            ("+@example.org", "+@example.org"),
        ] {
            assert_eq!(mailbox(&Email::new(address)), expected);
        }
    }
}
