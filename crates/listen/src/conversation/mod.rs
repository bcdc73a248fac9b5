//! What is said on a connection: requests in (`body` for what follows their heads), answers out (`send`), one after the other, until it
//! ends or becomes a WebSocket.

mod body;
mod send;

use std::{
    io,
    pin::{Pin, pin},
    time::Duration,
};

use bytes::{Buf, BytesMut};
use http1::{BadRequest, Body, Request, Room};
use tokio::{
    io::{AsyncReadExt, Interest},
    net::TcpStream,
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use self::{body::Reading, send::refuse_head};
use crate::{Handler, Manners, Response, Step, Switched, see_off, watch::Watch};

/// Room for the usual request with its head.
const ROOM: usize = 2 * 1024;
/// Buffers that have grown beyond this are given back after the request that needed them.
const KEPT_ROOM: usize = 16 * 1024;
/// How often a client that has sent ahead is looked at while it waits.
const LOOK_PERIOD: Duration = Duration::from_millis(100);

/// Answers requests until the connection ends, is given up, or becomes something else. `stop` lets the request under way be the last.
pub async fn converse<H: Handler>(
    stream: TcpStream,
    handler: &H,
    manners: &Manners,
    stop: &CancellationToken,
) -> Option<Switched<H::Socket>> {
    // Answers are small and awaited: never hold them back to fill a segment.
    stream.set_nodelay(true).ok()?;
    let watch = Watch::default();
    let conversation = Conversation {
        handler,
        manners,
        stop,
        watch: &watch,
        stream,
        arrived: BytesMut::with_capacity(ROOM),
        out: Vec::new(),
    };
    tokio::select! {
        biased;
        // A connection that fails has nobody to tell.
        ended = conversation.run() => ended.ok().flatten(),
        reason = watch.overdue(manners) => {
            tracing::debug!(%reason, "closing a connection");
            None
        }
    }
}

struct Conversation<'a, H> {
    handler: &'a H,
    manners: &'a Manners,
    stop: &'a CancellationToken,
    watch: &'a Watch,
    stream: TcpStream,
    /// What has arrived and was not dealt with.
    arrived: BytesMut,
    /// What is about to be sent.
    out: Vec<u8>,
}

/// What a head said that outlives it.
#[derive(Clone, Copy)]
struct Terms {
    body: Body,
    is_kept: bool,
    is_waiting: bool,
    is_old: bool,
    /// Whether the answer is sent without its body.
    is_head: bool,
}

impl Terms {
    /// Those of something that is no request.
    const NONE: Self =
        Self { body: Body::Length(0), is_kept: false, is_waiting: false, is_old: false, is_head: false };
}

type NextHead<H> = Result<(Step<<H as Handler>::Caller, <H as Handler>::Socket>, Terms), BadRequest>;

impl<H: Handler> Conversation<'_, H> {
    async fn run(mut self) -> io::Result<Option<Switched<H::Socket>>> {
        let mut stopped = pin!(self.stop.cancelled());
        loop {
            let (step, terms) = match self.next_head(stopped.as_mut()).await? {
                Some(Ok(head)) => head,
                Some(Err(bad)) => {
                    self.send(&refuse_head(bad), Terms::NONE).await?;
                    return self.leave().await;
                }
                None => return Ok(None),
            };
            let stays = match step {
                Step::Read(caller) => self.answer(caller, terms).await?,
                Step::Answer(response) => self.answer_at_once(response, terms).await?,
                Step::Switch(..) if terms.body != Body::Length(0) => {
                    self.send(&refuse_head(BadRequest::NotHttp), terms).await?
                }
                Step::Switch(response, socket) => {
                    self.send(&response, terms).await?;
                    return Ok(Some(Switched { stream: self.stream, early: self.arrived.to_vec(), socket }));
                }
            };
            if !stays {
                return self.leave().await;
            }
        }
    }

    /// The next request, as far as its head tells; nothing if there is none.
    async fn next_head(
        &mut self,
        mut stopped: Pin<&mut WaitForCancellationFuture<'_>>,
    ) -> io::Result<Option<NextHead<H>>> {
        loop {
            if !self.arrived.is_empty() {
                let mut room = Room::default();
                match Request::read(&self.arrived, &mut room) {
                    Ok(Some((request, bytes))) => {
                        let terms = Terms {
                            body: request.body,
                            is_kept: request.is_kept,
                            is_waiting: request.is_waiting,
                            is_old: request.is_old,
                            is_head: request.method == "HEAD",
                        };
                        let step = self.handler.receive(&request);
                        self.arrived.advance(bytes);
                        return Ok(Some(Ok((step, terms))));
                    }
                    Ok(None) => {}
                    Err(bad) => return Ok(Some(Err(bad))),
                }
            }
            self.arrived.reserve(ROOM / 2);
            // What has begun to arrive when we are told to stop is still answered.
            let is_between = self.arrived.is_empty();
            let read = tokio::select! {
                biased;
                read = self.stream.read_buf(&mut self.arrived) => read?,
                () = stopped.as_mut(), if is_between => 0,
            };
            if read == 0 {
                return Ok(None);
            }
        }
    }

    /// Reads a body and answers; whether the connection stays.
    async fn answer(&mut self, caller: H::Caller, terms: Terms) -> io::Result<bool> {
        let handler = self.handler;
        let mut reading = Reading::new(handler.account(&caller));
        if let Err(error) = self.read_body(&mut reading, terms).await {
            let response = handler.refuse_body(caller, error).last();
            return self.send(&response, terms).await;
        }
        self.watch.works();
        let (body, length) = match terms.body {
            Body::Length(length) => (self.arrived.get(..length).unwrap_or_default(), length),
            Body::Chunked => (&reading.chunked[..], 0),
        };
        let response = tokio::select! {
            biased;
            response = handler.answer(caller, body) => response,
            // Nobody is left to be answered.
            () = gone(&self.stream) => return Err(io::ErrorKind::ConnectionReset.into()),
        };
        // What is not needed any more does not wait for the client to take its answer.
        self.consume(length);
        drop(reading);
        self.send(&response, terms).await
    }

    /// Answers without looking at the body; whether the connection stays.
    async fn answer_at_once(&mut self, response: Response, terms: Terms) -> io::Result<bool> {
        match terms.body {
            Body::Length(length) if length <= self.arrived.len() => {
                self.consume(length);
                self.send(&response, terms).await
            }
            Body::Length(_) | Body::Chunked => self.send(&response.last(), terms).await,
        }
    }

    /// Ends the connection in a way that lets the client read the last answer.
    async fn leave<T>(mut self) -> io::Result<Option<T>> {
        self.arrived = BytesMut::new();
        self.out = Vec::new();
        see_off(self.stream).await?;
        Ok(None)
    }

    /// Leaves so many bytes behind, and the memory that an unusual request has needed.
    fn consume(&mut self, bytes: usize) {
        if bytes < KEPT_ROOM {
            return self.arrived.advance(bytes);
        }
        let rest = self.arrived.get(bytes..).unwrap_or_default();
        let mut arrived = BytesMut::with_capacity(ROOM.max(rest.len()));
        arrived.extend_from_slice(rest);
        self.arrived = arrived;
    }
}

/// Resolves when the client has left. One that has sent more already, such as its next request, is looked at now and then.
pub async fn gone(stream: &TcpStream) {
    while let Ok(1..) = stream.peek(&mut [0]).await {
        let ready = stream.ready(Interest::READABLE).await;
        if ready.is_ok_and(|ready| ready.is_read_closed()) {
            return;
        }
        tokio::time::sleep(LOOK_PERIOD).await;
    }
}
