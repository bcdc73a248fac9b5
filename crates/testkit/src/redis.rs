//! A Redis server of a test's own, which it may kill.

use std::{io, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdout, Command},
};

use crate::process::free_port;

/// The variable that names the server's program; `scripts/redis run …` sets it.
const PROGRAM_VARIABLE: &str = "CHAINNET_TEST_REDIS";
/// Nobody can reserve a port: it is tried until one was free when the server asked for it.
const TRIES: usize = 8;

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct Redis {
    program: String,
    port: u16,
    child: Child,
    /// Read no further, but kept open: a server without its output may end.
    _output: BufReader<ChildStdout>,
}

impl Redis {
    /// A server on a free port; none, and a word about it, if there is no program.
    #[expect(
        clippy::disallowed_methods,
        reason = "which server tests use is no configuration of the product"
    )]
    pub async fn start() -> io::Result<Option<Self>> {
        let Ok(program) = std::env::var(PROGRAM_VARIABLE) else {
            eprintln!("not run with Redis: {PROGRAM_VARIABLE} is not set");
            return Ok(None);
        };
        for _ in 0..TRIES {
            let port = free_port()?;
            if let Some((child, output)) = launch(&program, port).await? {
                return Ok(Some(Self { program, port, child, _output: output }));
            }
        }
        Err(io::Error::other(format!("{program} does not start")))
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Ends it at once.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// A new server without any memory in the place of the killed one.
    pub async fn start_again(&mut self) -> io::Result<()> {
        let started = launch(&self.program, self.port).await?;
        let (child, output) = started.ok_or_else(|| io::Error::other("the port was taken meanwhile"))?;
        (self.child, self._output) = (child, output);
        Ok(())
    }
}

/// Starts a server and waits until it says that it is ready; none if it ends before.
async fn launch(program: &str, port: u16) -> io::Result<Option<(Child, BufReader<ChildStdout>)>> {
    let mut child = Command::new(program)
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no"])
        .args(["--port", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let Some(output) = child.stdout.take() else { return Ok(None) };
    let (mut output, mut line) = (BufReader::new(output), String::new());
    while output.read_line(&mut line).await? > 0 {
        if line.contains("Ready to accept connections") {
            return Ok(Some((child, output)));
        }
        line.clear();
    }
    Ok(None)
}
