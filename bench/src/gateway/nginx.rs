//! nginx as a plain proxy with kept-alive connections to the node.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};
use tempfile::TempDir;
use testkit::{
    ServerProcess,
    process::{Ready, free_port},
};
use tokio::process::Command;

use crate::load::Server;

/// An nginx that runs; its folder is removed when dropped.
pub(super) struct Nginx {
    process: ServerProcess,
    _folder: TempDir,
}

impl Nginx {
    /// Starts nginx before this node.
    pub(super) async fn start(node: SocketAddr) -> Result<Self> {
        let folder = TempDir::new()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
        let path = folder.path().join("nginx.conf");
        std::fs::write(&path, configuration(&folder.path().display().to_string(), address, node))?;
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&path).arg("-p").arg(folder.path());
        let process = ServerProcess::start(command, Ready::Listening(address))
            .await
            .context("nginx does not start; Debian has it in the package `nginx`")?;
        Ok(Self { process, _folder: folder })
    }

    /// Ends it. Killed instead, it would leave its workers behind.
    pub(super) async fn stop(mut self) -> Result<()> {
        self.process.stop().await?;
        Ok(())
    }

    pub(super) fn server(&self) -> Server {
        Server { address: self.process.address(), pid: self.process.pid() }
    }
}

/// What its handbook recommends for a proxy, with nothing that costs time: no log, no limit, no filter.
fn configuration(folder: &str, address: SocketAddr, node: SocketAddr) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("    {kind}_temp_path {folder}/{kind};\n"))
        .concat();
    format!(
        "daemon off;
worker_processes auto;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
    access_log off;
{temporary}    upstream node {{ server {node}; keepalive 64; keepalive_requests 1000000000; }}
    server {{
        listen {address};
        keepalive_requests 1000000000;
        location / {{
            proxy_pass http://node;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_set_header Host $host;
        }}
    }}
}}
"
    )
}
