//! Accepting connections, on a thread that does nothing else. The operating system keeps a queue of connections that nobody has
//! accepted; when it is full, whoever connects waits for a second before trying again. So however busy the others are, it is
//! emptied at once.

use std::{
    io,
    net::{SocketAddr, TcpListener as StdListener},
    thread,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    runtime::Builder,
    sync::oneshot,
};
use tokio_util::sync::CancellationToken;

/// Connections that wait to be accepted, where the system permits so many.
const BACKLOG: u32 = 4096;
/// Pause after a failed accept, so that running out of file descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Listens on an address, with a queue as long as the system permits.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A process that is started again takes its port over from connections that are still closing.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections until `shutdown` and hands them to `receive`, with a state that is given back at the end. Then the listener
/// is closed. Fails if the thread, which has this name, cannot be started.
pub async fn accept_connections<T: Send + 'static>(
    name: &str,
    listener: TcpListener,
    state: T,
    receive: impl Fn(&mut T, TcpStream, SocketAddr) -> io::Result<()> + Send + 'static,
    shutdown: CancellationToken,
) -> io::Result<T> {
    let listener = listener.into_std()?;
    let (sender, ended) = oneshot::channel();
    thread::Builder::new().name(format!("{name}-accept")).spawn(move || {
        // Nobody waits for the end when the process is given up.
        let _ = sender.send(run(listener, state, receive, &shutdown));
    })?;
    ended.await.map_err(|_| io::Error::other("the thread that accepts connections has panicked"))?
}

fn run<T>(
    listener: StdListener,
    mut state: T,
    receive: impl Fn(&mut T, TcpStream, SocketAddr) -> io::Result<()>,
    shutdown: &CancellationToken,
) -> io::Result<T> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
            if let Err(error) = accepted.and_then(|(stream, peer)| receive(&mut state, stream, peer)) {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        Ok(state)
    })
}
