//! From a name to addresses that may be connected to.
//!
//! The connector asks here, once for each connection, and connects to nothing but the answer: a name that changes its
//! mind between a check and the connection gains nothing.

use std::{
    error::Error,
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
    vec,
};

use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;
use tower::Service;

use super::{Guard, UrlRefusal, address::is_global};

/// How long a name may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Looks names up.
pub trait Resolve: Send + Sync + 'static {
    /// The addresses of a host.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Asks the machine's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}

/// A name was refused. In the chain of a connector's error it says that the guard, not the network, was the reason.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) UrlRefusal);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Refused {}

/// The addresses of a host, all of them public. One that is not spoils the rest: an honest name has none.
pub(super) async fn public_addresses(
    resolver: &dyn Resolve,
    host: &str,
    allow_private: bool,
) -> Result<Vec<IpAddr>, UrlRefusal> {
    let found = tokio::time::timeout(LIMIT, resolver.resolve(host)).await;
    let addresses = found.ok().and_then(Result::ok).unwrap_or_default();
    if addresses.is_empty() {
        return Err(UrlRefusal::NotResolved);
    }
    if !allow_private && !addresses.iter().all(|address| is_global(*address)) {
        return Err(UrlRefusal::NotGlobal);
    }
    Ok(addresses)
}

/// The guard as the connector's resolver.
#[derive(Clone)]
pub(crate) struct GuardedResolver(pub(crate) Arc<Guard>);

impl Service<Name> for GuardedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = Refused;
    type Future = BoxFuture<'static, Result<Self::Response, Refused>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let addresses = guard.addresses(name.as_str()).await.map_err(Refused)?;
            // The connector puts in the port.
            let addresses: Vec<_> =
                addresses.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            Ok(addresses.into_iter())
        })
    }
}
