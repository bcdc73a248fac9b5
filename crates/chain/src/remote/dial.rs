//! Opening a byte stream to a node, plain or over TLS; HTTP and WebSocket both start from it.

use std::io;

use hyper::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tower::ServiceExt;

use super::url::{Endpoint, NodeUrl};

/// A connection's bytes.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Opens connections.
pub(super) struct Dialer {
    /// There only if a node needs it, because it reads the system's certificates.
    tls: Option<HttpsConnector<HttpConnector>>,
}

impl Dialer {
    /// A dialer for these nodes. Fails if one needs TLS and the system has no certificates to trust.
    pub(super) fn new(nodes: &[NodeUrl]) -> io::Result<Self> {
        let needs_tls = nodes.iter().any(|node| node.http.tls || node.websocket.endpoint().tls);
        let tls = needs_tls.then(tls_connector).transpose()?;
        Ok(Self { tls })
    }

    /// Connects, without a time limit of its own.
    pub(super) async fn dial(&self, endpoint: &Endpoint) -> io::Result<Box<dyn Wire>> {
        if !endpoint.tls {
            let host = endpoint.host.trim_start_matches('[').trim_end_matches(']');
            let stream = TcpStream::connect((host, endpoint.port)).await?;
            stream.set_nodelay(true)?;
            return Ok(Box::new(stream));
        }
        let connector = self.tls.clone().ok_or_else(|| io::Error::other("TLS is not set up"))?;
        let uri: Uri = format!("https://{}", endpoint.authority()).parse().map_err(io::Error::other)?;
        let stream = connector.oneshot(uri).await.map_err(io::Error::other)?;
        Ok(Box::new(TokioIo::new(stream)))
    }
}

fn tls_connector() -> io::Result<HttpsConnector<HttpConnector>> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    Ok(HttpsConnectorBuilder::new().with_native_roots()?.https_only().enable_http1().wrap_connector(tcp))
}
