//! The cheapest HTTP client that is still correct here: pre-made request bytes over a kept-alive loopback connection.
//!
//! It shares two cores with the server it measures, so it parses no more than the status and the length of an answer.

use std::{net::SocketAddr, ops::Range, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Until a full pool is asked again.
const POOL_INTERVAL: Duration = Duration::from_millis(20);

/// A JSON-RPC request as it goes over the wire.
pub(crate) fn request(method: &str, params: &str) -> Vec<u8> {
    post("/", &[], &call(method, params))
}

/// A JSON-RPC call.
pub(crate) fn call(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

/// A body as it goes over the wire.
pub(crate) fn post(path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// One connection; one request at a time.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Where the body of the last answer is.
    body: Range<usize>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 * 1024), body: 0..0 })
    }

    /// Sends a request and returns the body of the answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let (start, end) = loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server closed the connection");
            if let Some(head) = Head::parse(&self.buffer)? {
                break (head.body_start, head.body_start + head.body_length);
            }
        };
        while self.buffer.len() < end {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server closed the connection");
        }
        self.body = start..end;
        self.buffer.get(start..end).context("the answer is shorter than announced")
    }

    /// Sends a request that must give a result; one that finds no room in the pool is sent again when there may be some.
    pub(crate) async fn exchange_ok(&mut self, request: &[u8]) -> Result<&[u8]> {
        while contains(self.exchange(request).await?, b"pool is full") {
            tokio::time::sleep(POOL_INTERVAL).await;
        }
        let body = self.buffer.get(self.body.clone()).context("the answer is shorter than announced")?;
        // A result may contain the word `error` only inside strings, which never follow this exact prefix.
        ensure!(!contains(body, b"\"error\":"), "the server refused: {}", String::from_utf8_lossy(body));
        Ok(body)
    }
}

/// Whether a short answer, or the beginning of a long one, contains this.
fn contains(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).take(100).any(|window| window == words)
}

struct Head {
    body_start: usize,
    body_length: usize,
}

impl Head {
    /// `None` while the head is not complete.
    fn parse(bytes: &[u8]) -> Result<Option<Self>> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).to_ascii_lowercase();
        if !head.starts_with("http/1.1 200") {
            bail!("unexpected answer: {head}");
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let body_length = length.context("an answer without a length")?.trim().parse()?;
        Ok(Some(Self { body_start: end + 4, body_length }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_read_from_a_complete_head_only() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{}";
        let head = Head::parse(answer).unwrap().unwrap();
        assert_eq!((head.body_start, head.body_length), (answer.len() - 2, 12));
        assert!(Head::parse(&answer[..answer.len() - 4]).unwrap().is_none());
        assert!(Head::parse(b"HTTP/1.1 500 Oops\r\n\r\n").is_err());
    }
}
