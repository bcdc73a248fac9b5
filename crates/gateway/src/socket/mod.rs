//! WebSockets: the same requests as over HTTP with the same limits, and subscriptions.
//!
//! `seats` counts the open ones and dismisses callers whose key was taken back,
//! `converse` is the conversation, `session` what was subscribed to, `listening` what the hub tells of it, `news` what peers are told
//! of that, `outgoing` how it is written, `ending` how it is closed.

mod converse;
mod ending;
mod listening;
mod news;
mod outgoing;
mod seats;
mod session;

use std::{sync::Arc, time::Duration};

use access::Subject;
use futures_util::{SinkExt, StreamExt};
use listen::Metered;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self,
        protocol::{Role, WebSocketConfig},
    },
};
use tokio_util::sync::CancellationToken;

pub(crate) use seats::{Seats, TakenSeat};
pub(crate) use session::Session;

use self::{converse::Conversation, ending::Ending};
use crate::gateway::Gateway;

/// A peer's connection.
type Socket = WebSocketStream<Metered<TcpStream, Subject>>;

/// What a connection reads at a time. Requests are short, and there may be thousands of connections.
const READ_BUFFER: usize = 2 * 1024;
/// What a connection gathers before it writes, when it has several events to tell of.
const WRITE_BUFFER: usize = 4 * 1024;
/// How long saying goodbye may take.
const FAREWELL: Duration = Duration::from_secs(3);
/// How often it is asked whether callers may stay.
const DISMISSALS: Duration = Duration::from_millis(500);

/// Serves a connection that has become a WebSocket to its end; `early` was read of it already.
pub(crate) async fn serve(
    gateway: &Gateway,
    seat: TakenSeat,
    stream: TcpStream,
    early: Vec<u8>,
    stop: &CancellationToken,
) {
    let most = gateway.config.limits.max_body_bytes;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(most))
        .max_frame_size(Some(most));
    let stream = Metered::new(stream, gateway.buffers.clone(), seat.seat().caller().subject());
    let mut socket = WebSocketStream::from_partially_read(stream, early, Role::Server, Some(config)).await;
    let session = Session::new(Arc::clone(&gateway.hub), gateway.config.limits.max_subscriptions);
    let conversation = Conversation::new(gateway, seat.seat(), &mut socket, &session);
    gateway.metrics.sockets.inc();
    let ending = tokio::select! {
        ending = conversation.run() => ending,
        () = seat.seat().dismissed() => Ending::Revoked,
        () = stop.cancelled() => Ending::Stopping,
    };
    gateway.metrics.sockets.dec();
    gateway.metrics.socket_ended(ending.label());
    tracing::debug!(reason = %ending, "closing a WebSocket");
    close(&mut socket, ending).await;
    // Fails only if nobody is there any more.
    let _ = listen::see_off(socket.into_inner().into_inner()).await;
}

/// Says goodbye and waits for the peer to do the same, for a moment.
async fn close(socket: &mut Socket, ending: Ending) {
    let farewell = async {
        match ending.frame() {
            Some(frame) => {
                socket.close(Some(frame)).await?;
                while socket.next().await.transpose()?.is_some() {}
            }
            // If the peer said goodbye first, the library has an answer ready.
            None => socket.flush().await?,
        }
        Ok::<_, tungstenite::Error>(())
    };
    let _ = tokio::time::timeout(FAREWELL, farewell).await;
}

/// Dismisses callers whose key was taken back or has expired, for as long as it is polled.
pub(crate) async fn watch_keys(gateway: &Gateway) {
    let mut ticks = tokio::time::interval(DISMISSALS);
    loop {
        ticks.tick().await;
        gateway.seats.dismiss(|caller| gateway.still_holds(caller));
    }
}
