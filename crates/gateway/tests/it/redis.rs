//! A Redis server of a test's own, which it may kill.

use std::{net::TcpListener, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdout, Command},
};

/// The variable that names the server's program; `scripts/redis run …` sets it.
const PROGRAM_VARIABLE: &str = "CHAINNET_TEST_REDIS";

/// A running server; killed when dropped.
pub(crate) struct Redis {
    program: String,
    port: u16,
    child: Child,
    /// Read no further, but kept open: a server without its output may end.
    _output: BufReader<ChildStdout>,
}

impl Redis {
    /// A server on a free port, if there is a program.
    #[expect(
        clippy::disallowed_methods,
        reason = "which server tests use is no configuration of the product"
    )]
    pub(crate) async fn start() -> Option<Self> {
        let Ok(program) = std::env::var(PROGRAM_VARIABLE) else {
            eprintln!("not run with Redis: {PROGRAM_VARIABLE} is not set");
            return None;
        };
        // Nobody can reserve a port: try until one was free when the server asked for it.
        for _ in 0..8 {
            let port =
                TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
            if let Some((child, output)) = launch(&program, port).await {
                return Some(Self { program, port, child, _output: output });
            }
        }
        panic!("{program} does not start")
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("killed");
    }

    /// A new server without any memory in the place of the killed one.
    pub(crate) async fn start_again(&mut self) {
        let (child, output) = launch(&self.program, self.port).await.expect("the port is still free");
        (self.child, self._output) = (child, output);
    }
}

/// Starts a server and waits until it says that it is ready.
async fn launch(program: &str, port: u16) -> Option<(Child, BufReader<ChildStdout>)> {
    let mut child = Command::new(program)
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no"])
        .args(["--port", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{program} cannot be run: {error}"));
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while output.read_line(&mut line).await.expect("output") > 0 {
        if line.contains("Ready to accept connections") {
            return Some((child, output));
        }
        line.clear();
    }
    None
}
