//! Connections up to Besu's limit.

use std::{future::Future, sync::Arc};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};

use super::exchange::Exchange;

/// Takes connections for ever, and serves each on its own.
pub(super) async fn receive<F>(
    listener: TcpListener,
    exchange: Arc<Exchange>,
    serve: impl Fn(TcpStream, Arc<Exchange>) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let seats = Arc::new(Semaphore::new(exchange.settings.max_connections));
    // Connections end with the server.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        // Beyond its limit Besu accepts a connection and closes it.
        let Ok(seat) = Arc::clone(&seats).try_acquire_owned() else {
            exchange.tally.note_turned_away();
            continue;
        };
        let served = serve(stream, Arc::clone(&exchange));
        connections.spawn(async move {
            served.await;
            drop(seat);
        });
    }
}
