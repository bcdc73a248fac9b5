//! What is done by people as well as by programs, with one set of rules for the API and for the pages.

use access::Client;
use accounts::{Session, SessionDenied};
use alloy_primitives::Address;
use domain::portal::{InvoiceId, InvoiceToken, KeyState};
use hyper::{
    HeaderMap,
    header::{self, HeaderValue},
};
use jiff::Timestamp;
use merchant::{Done, InvoiceError, OrderError, VoidedBy};
use store::{
    StoreError,
    portal::{InvoiceRecord, Once, QuoteRow},
};

use super::{Portal, cookie};
use crate::problem::Problem;

impl Portal {
    /// The session of a browser, by its cookie; none if it is not signed in, or not any more. Whatever changes something
    /// must ask [`Self::is_own_page`], too.
    pub async fn session_of(&self, headers: &HeaderMap) -> Result<Option<Session>, StoreError> {
        let Some(token) = cookie::token(headers, &self.sessions.settings().public_url) else {
            return Ok(None);
        };
        match self.sessions.check(token).await {
            Ok(session) => Ok(Some(session)),
            Err(SessionDenied::Store(error)) => Err(error),
            Err(SessionDenied::Missing | SessionDenied::Invalid | SessionDenied::Expired) => Ok(None),
        }
    }

    /// Whether a request comes from a page of ours, which a change that is asked for with the cookie must: browsers send
    /// cookies along whoever asks.
    pub fn is_own_page(&self, headers: &HeaderMap) -> bool {
        headers.get(header::ORIGIN).is_some_and(|origin| self.origins.contains(origin))
    }

    /// Ends a session; gives the line that takes its cookie away.
    pub async fn sign_out(
        &self,
        session: &Session,
        origin: Option<String>,
    ) -> Result<Option<HeaderValue>, SessionDenied> {
        self.sessions.sign_out(session, origin).await?;
        Ok(cookie::clear(&self.sessions.settings().public_url))
    }

    /// Whether a wallet may make invoices by hand: programs need a key for that, and so do people.
    pub async fn may_invoice(&self, wallet: Address, now: Timestamp) -> Result<bool, OrderError> {
        let now = u64::try_from(now.as_millisecond()).unwrap_or(0);
        let keys = self.orders.list_keys(wallet).await?;
        Ok(keys.iter().any(|key| key.state_at(now) == KeyState::Active))
    }

    /// Takes an invoice back, and tells whoever watches it.
    pub async fn void(
        &self,
        wallet: Address,
        id: InvoiceId,
        by: VoidedBy,
        once: Option<Once<'_, InvoiceRecord>>,
    ) -> Result<Done<InvoiceRecord>, InvoiceError> {
        let done = self.invoices.void(wallet, id, by, once).await?;
        if let Done::Now(record) = &done {
            self.streams.wake(record.invoice.token);
        }
        Ok(done)
    }

    /// The quote of a payment link, or a new one if that is not asked for too often.
    pub async fn quote(
        &self,
        token: InvoiceToken,
        client: Client,
        now: Timestamp,
    ) -> Result<(InvoiceRecord, QuoteRow), Problem> {
        self.quote_limits.take(token, client, now).await?;
        let quoted = self.checkout.quote(token).await?;
        self.streams.wake(token);
        Ok(quoted)
    }
}
