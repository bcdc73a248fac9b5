//! The guard before foreign addresses: a webhook's URL is chosen by a stranger, and must not make us knock at doors inside.
//!
//! It is asked twice. When a URL is saved, so that its owner learns what is wrong with it; and before every connection,
//! which is what counts: see [`resolve`]. A connector does not ask a resolver about a host that is an address, so the text
//! of the URL is judged again before every attempt.

mod address;
mod resolve;
mod url;

use std::{fmt, net::IpAddr, sync::Arc};

use ::url::Url;

pub(crate) use resolve::{GuardedResolver, Refused};
pub use resolve::{Resolve, SystemResolver};
pub use url::{GuardSettings, UrlRefusal};

/// Judges where webhooks may go.
pub struct Guard {
    settings: GuardSettings,
    resolver: Arc<dyn Resolve>,
}

impl Guard {
    /// A guard with these settings that looks names up with `resolver`.
    pub fn new(settings: GuardSettings, resolver: Arc<dyn Resolve>) -> Self {
        Self { settings, resolver }
    }

    /// Reads a URL, as far as its text tells.
    pub fn read(&self, text: &str) -> Result<Url, UrlRefusal> {
        url::read(text, &self.settings)
    }

    /// Judges a URL that is to be saved, and where its host leads today.
    pub async fn check(&self, text: &str) -> Result<Url, UrlRefusal> {
        let url = self.read(text)?;
        if let Some(::url::Host::Domain(host)) = url.host()
            && !self.settings.allow_private
        {
            self.addresses(host).await?;
        }
        Ok(url)
    }

    /// The addresses of a host that may be connected to.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, UrlRefusal> {
        resolve::public_addresses(&*self.resolver, host, self.settings.allow_private).await
    }

    /// Whether http is allowed.
    pub(crate) fn allows_plain(&self) -> bool {
        self.settings.allow_private
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("settings", &self.settings).finish_non_exhaustive()
    }
}
