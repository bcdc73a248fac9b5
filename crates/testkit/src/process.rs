//! A server as a child process: started, awaited until it listens, stopped or killed, never left behind.

use std::{
    collections::VecDeque,
    io,
    net::{Ipv4Addr, SocketAddr},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    net::TcpStream,
    process::{Child, Command},
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};

/// Lines of output kept to explain a failure.
const KEPT_LINES: usize = 200;
/// How long a server may take to listen: generous, because a loaded test machine is slow.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long a server may take to end after it was asked to.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// How to tell that a server is up.
#[derive(Debug, Clone)]
pub enum Ready {
    /// It prints a line that contains this text and, after it on the same line, `127.0.0.1:PORT`.
    Announced(&'static str),
    /// Something accepts connections at this address.
    Listening(SocketAddr),
}

/// Why a server did not come up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program could not be run at all.
    #[error("cannot run {program}")]
    Spawn {
        /// The program's path.
        program: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The program ended before it listened.
    #[error("the server ended with {status} before it listened:\n{output}")]
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// What it had printed, standard output and error interleaved.
        output: String,
    },
    /// The program neither listened nor ended.
    #[error("the server did not listen within {} s:\n{output}", START_LIMIT.as_secs())]
    TooSlow {
        /// What it had printed.
        output: String,
    },
}

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    pid: Pid,
    address: SocketAddr,
    output: OutputTail,
}

impl ServerProcess {
    /// Runs `command` and waits until it is ready.
    pub async fn start(mut command: Command, ready: Ready) -> Result<Self, StartError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        let mut child =
            command.spawn().map_err(|source| StartError::Spawn { program: program.clone(), source })?;
        let pid = child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()))
            .ok_or_else(|| StartError::Spawn { program, source: io::ErrorKind::NotFound.into() })?;

        let output = OutputTail::default();
        let (announce, announced) = mpsc::unbounded_channel();
        if let Some(stdout) = child.stdout.take() {
            output.follow(stdout, Some(announce));
        }
        if let Some(stderr) = child.stderr.take() {
            output.follow(stderr, None);
        }
        let address = await_ready(&mut child, &output, ready, announced).await?;
        Ok(Self { child, pid, address, output })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address behind a marker in what it has printed.
    pub fn announced(&self, marker: &str) -> Option<SocketAddr> {
        self.output.text().lines().find_map(|line| announced_address(line, marker))
    }

    /// The operating system's number of the process.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// The last lines it printed, to explain a failure.
    pub fn output(&self) -> String {
        self.output.text()
    }

    /// Ends it at once, as a power cut would (`kill -9`), and waits until it is gone.
    pub async fn kill9(&mut self) -> io::Result<ExitStatus> {
        self.child.start_kill()?;
        self.child.wait().await
    }

    /// Asks it to end (`SIGTERM`).
    pub fn terminate(&self) -> io::Result<()> {
        Ok(kill_process(self.pid, Signal::TERM)?)
    }

    /// Asks it to end (`SIGTERM`) and waits until it did.
    pub async fn stop(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(status);
        }
        self.terminate()?;
        self.ended().await
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits until it has ended.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        match timeout_at(Instant::now() + STOP_LIMIT, self.child.wait()).await {
            Ok(status) => status,
            Err(elapsed) => Err(io::Error::new(io::ErrorKind::TimedOut, elapsed)),
        }
    }
}

/// A loopback port that nobody uses at this moment, for servers that cannot pick one themselves.
pub fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

async fn await_ready(
    child: &mut Child,
    output: &OutputTail,
    ready: Ready,
    announced: mpsc::UnboundedReceiver<String>,
) -> Result<SocketAddr, StartError> {
    let listening = async {
        match ready {
            Ready::Announced(marker) => await_announcement(marker, announced).await,
            Ready::Listening(address) => await_connection(address).await,
        }
    };
    tokio::select! {
        biased;
        address = listening => Ok(address),
        status = child.wait() => {
            let status = status.map_err(|source| StartError::Spawn { program: "the server".to_owned(), source })?;
            output.drained().await;
            Err(StartError::Exited { status, output: output.text() })
        }
        () = sleep(START_LIMIT) => Err(StartError::TooSlow { output: output.text() }),
    }
}

async fn await_announcement(marker: &str, mut lines: mpsc::UnboundedReceiver<String>) -> SocketAddr {
    while let Some(line) = lines.recv().await {
        if let Some(address) = announced_address(&line, marker) {
            return address;
        }
    }
    // Its output ended without the line; the caller sees the process end or the time run out.
    std::future::pending().await
}

fn announced_address(line: &str, marker: &str) -> Option<SocketAddr> {
    let after_marker = line.get(line.find(marker)?..)?;
    let from_host = after_marker.get(after_marker.find("127.0.0.1:")?..)?;
    let end =
        from_host.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':')).unwrap_or(from_host.len());
    from_host.get(..end)?.parse().ok()
}

async fn await_connection(address: SocketAddr) -> SocketAddr {
    while TcpStream::connect(address).await.is_err() {
        sleep(Duration::from_millis(1)).await;
    }
    address
}

/// The last lines of both output streams.
#[derive(Debug, Clone, Default)]
struct OutputTail {
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl OutputTail {
    /// Reads a stream to its end in the background, so that the server never blocks on a full pipe.
    fn follow(
        &self,
        stream: impl AsyncRead + Unpin + Send + 'static,
        lines_to: Option<mpsc::UnboundedSender<String>>,
    ) {
        let tail = self.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                // Kept first: whoever hears of the line may look for it among those that are kept.
                tail.push(line.clone());
                if let Some(sender) = &lines_to {
                    // Nobody listens once the server is up.
                    let _ = sender.send(line);
                }
            }
        });
    }

    fn push(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Waits until the readers of an ended process have seen its last words.
    async fn drained(&self) {
        let deadline = Instant::now() + Duration::from_secs(2);
        while Arc::strong_count(&self.lines) > 1 && Instant::now() < deadline {
            sleep(Duration::from_millis(5)).await;
        }
    }

    fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(|line| format!("  {line}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_the_line_that_names_the_service() {
        let address =
            announced_address("  JSON-RPC    http://127.0.0.1:41234 (HTTP and WebSocket)", "JSON-RPC");
        assert_eq!(address, Some(SocketAddr::from(([127, 0, 0, 1], 41234))));
        assert_eq!(announced_address("control http://127.0.0.1:41234", "JSON-RPC"), None);
        assert_eq!(announced_address("JSON-RPC is starting", "JSON-RPC"), None);
    }

    #[tokio::test]
    async fn a_server_that_ends_early_is_reported_with_its_last_words() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo about to fail; echo port taken >&2; exit 3"]);
        let error = ServerProcess::start(command, Ready::Announced("JSON-RPC")).await.unwrap_err();
        let StartError::Exited { status, output } = error else { panic!("{error}") };
        assert_eq!(status.code(), Some(3));
        assert!(output.contains("about to fail") && output.contains("port taken"), "{output}");
    }

    #[tokio::test]
    async fn a_server_is_stopped_by_a_signal() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo JSON-RPC http://127.0.0.1:1; exec sleep 60"]);
        let mut server = ServerProcess::start(command, Ready::Announced("JSON-RPC")).await.unwrap();
        let status = server.stop().await.unwrap();
        assert!(!status.success());
        assert_eq!(server.stop().await.unwrap(), status, "stopping twice is harmless");
    }
}
