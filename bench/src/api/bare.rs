//! The peer: an axum server with one handler that returns bytes, in a process of its own.

use std::{io::Write, net::Ipv4Addr, path::PathBuf};

use anyhow::{Context, Result};
use axum::{Router, http::header::CONTENT_TYPE};
use clap::Args;
use tempfile::NamedTempFile;
use testkit::{ServerProcess, process::Ready};
use tokio::{net::TcpListener, process::Command};

use crate::load::Server;

/// What the server prints in front of its address.
const MARKER: &str = "listening";

/// `bench bare`.
#[derive(Debug, Args)]
pub(crate) struct BareOptions {
    /// File with the bytes to return.
    body: PathBuf,
}

/// Serves the bytes under every path until it is killed.
pub(crate) async fn serve(options: BareOptions) -> Result<()> {
    let body = bytes::Bytes::from(std::fs::read(&options.body)?);
    let handler = move || {
        let body = body.clone();
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{MARKER} {}", listener.local_addr()?);
    axum::serve(listener, Router::new().fallback(handler)).await.context("the bare server ended")
}

/// A bare server that runs; killed when dropped.
pub(crate) struct Bare {
    process: ServerProcess,
    _body: NamedTempFile,
}

impl Bare {
    pub(crate) fn server(&self) -> Server {
        Server { address: self.process.address(), pid: self.process.pid() }
    }
}

/// Starts this program again as a bare server of these bytes.
pub(crate) async fn start(body: &[u8]) -> Result<Bare> {
    let mut file = NamedTempFile::new()?;
    file.write_all(body)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bare").arg(file.path());
    let process = ServerProcess::start(command, Ready::Announced(MARKER)).await?;
    Ok(Bare { process, _body: file })
}
