//! What is said on a connection: requests in, answers out, one after the other, until it ends or becomes a WebSocket.

use std::{
    io::{self, IoSlice},
    pin::{Pin, pin},
    time::Duration,
};

use bytes::{Buf, BytesMut};
use http::StatusCode;
use http1::{BadFraming, BadRequest, Body, Chunks, Request, Room};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, Interest},
    net::TcpStream,
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use crate::{Response, watch::Watch};

/// Room for the usual request with its head.
const ROOM: usize = 2 * 1024;
/// Buffers that have grown beyond this are given back after the request that needed them.
const KEPT_ROOM: usize = 64 * 1024;
/// Longer answers are not copied behind their head.
const COPIED_ANSWER: usize = 16 * 1024;
/// How often a client that has sent ahead is looked at while it waits.
const LOOK_PERIOD: Duration = Duration::from_millis(100);
/// What is still read after the last answer, and for how long: closing a connection with bytes unread is a reset, which takes the
/// answer with it.
const MAX_DISCARDED: usize = 8 * 1024 * 1024;
const DISCARD_LIMIT: Duration = Duration::from_secs(1);

/// What a connection may do.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// Bytes of a request's body.
    pub max_body_bytes: usize,
    /// How long a body may take to arrive.
    pub transfer_timeout: Duration,
    /// How long a connection may stand idle, or take to send a head or to take an answer.
    pub idle_timeout: Duration,
}

/// Why a body cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than this.
    TooLong(usize),
    /// It broke off, or is not what its head says.
    Broken,
}

/// What is done with a request whose head is in.
pub enum Step<C, S> {
    /// Its body is awaited.
    Read(C),
    /// It is answered; nobody wants its body.
    Answer(Response),
    /// The connection becomes something else.
    Switch(Response, S),
}

/// Who answers requests.
pub trait Handler {
    /// A request that was let in, until its body has arrived.
    type Caller: Send;
    /// What a connection is served with that has become something else.
    type Socket;

    /// Looks at a request's head.
    fn receive(&self, request: &Request<'_, '_>) -> Step<Self::Caller, Self::Socket>;

    /// Answers a request.
    fn answer(&self, caller: Self::Caller, body: &[u8]) -> impl Future<Output = Response> + Send;

    /// Answers a request whose body cannot be read.
    fn refuse_body(&self, caller: Self::Caller, error: BodyError) -> Response;
}

/// A connection that is no longer HTTP.
pub struct Switched<S> {
    /// The connection.
    pub stream: TcpStream,
    /// What was read of it already.
    pub early: Vec<u8>,
    /// What it is served with.
    pub socket: S,
}

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
            self.give_back_room();
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
        let mut chunked = BytesMut::new();
        let read = match terms.body {
            Body::Length(length) => self.read_length(length, terms).await.map(|()| length),
            Body::Chunked => self.read_chunks(&mut chunked, terms).await.map(|()| 0),
        };
        let length = match read {
            Ok(length) => length,
            Err(error) => {
                let response = self.handler.refuse_body(caller, error).last();
                self.send(&response, terms).await?;
                return Ok(false);
            }
        };
        self.watch.works();
        let body = match terms.body {
            Body::Length(length) => self.arrived.get(..length).unwrap_or_default(),
            Body::Chunked => &chunked,
        };
        let response = tokio::select! {
            biased;
            response = self.handler.answer(caller, body) => response,
            // Nobody is left to be answered.
            () = gone(&self.stream) => return Err(io::ErrorKind::ConnectionReset.into()),
        };
        self.arrived.advance(length);
        self.send(&response, terms).await
    }

    /// Answers without looking at the body; whether the connection stays.
    async fn answer_at_once(&mut self, response: Response, terms: Terms) -> io::Result<bool> {
        match terms.body {
            Body::Length(length) if length <= self.arrived.len() => {
                self.arrived.advance(length);
                self.send(&response, terms).await
            }
            Body::Length(_) | Body::Chunked => self.send(&response.last(), terms).await,
        }
    }

    async fn read_length(&mut self, length: usize, terms: Terms) -> Result<(), BodyError> {
        if length > self.manners.max_body_bytes {
            return Err(BodyError::TooLong(self.manners.max_body_bytes));
        }
        if self.arrived.len() < length {
            self.watch.awaits_body();
            self.invite(terms).await?;
            self.arrived.reserve(length - self.arrived.len());
        }
        while self.arrived.len() < length {
            self.read_on().await?;
        }
        Ok(())
    }

    async fn read_chunks(&mut self, body: &mut BytesMut, terms: Terms) -> Result<(), BodyError> {
        let mut chunks = Chunks::default();
        let most = self.manners.max_body_bytes;
        self.watch.awaits_body();
        if self.arrived.is_empty() {
            self.invite(terms).await?;
        }
        loop {
            match chunks.take(&mut self.arrived, body, most) {
                Ok(true) => return Ok(()),
                Ok(false) => self.read_on().await?,
                Err(BadFraming::TooLong(most)) => return Err(BodyError::TooLong(most)),
                Err(BadFraming::Chunk | BadFraming::Length) => return Err(BodyError::Broken),
            }
        }
    }

    /// Tells a client to send its body, if it waits for that.
    async fn invite(&mut self, terms: Terms) -> Result<(), BodyError> {
        if terms.is_waiting {
            let invited = self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await;
            invited.map_err(|_| BodyError::Broken)?;
        }
        Ok(())
    }

    /// Reads more of a body.
    async fn read_on(&mut self) -> Result<(), BodyError> {
        if self.arrived.capacity() == self.arrived.len() {
            self.arrived.reserve(ROOM);
        }
        match self.stream.read_buf(&mut self.arrived).await {
            Ok(0) | Err(_) => Err(BodyError::Broken),
            Ok(_) => Ok(()),
        }
    }

    /// Sends an answer; whether the connection stays.
    async fn send(&mut self, response: &Response, terms: Terms) -> io::Result<bool> {
        self.watch.awaits_caller();
        let switches = response.status == StatusCode::SWITCHING_PROTOCOLS;
        let stays = terms.is_kept && !response.is_last && !self.stop.is_cancelled();
        let keeps = (!switches && (!stays || terms.is_old)).then_some(stays);
        self.out.clear();
        response.write_head(&mut self.out, keeps);
        let body = if terms.is_head { None } else { Some(&response.body) };
        match body {
            Some(body) if body.len() > COPIED_ANSWER => {
                let slices = std::iter::once(&self.out[..]).chain(body.slices());
                write_all(&mut self.stream, slices.map(IoSlice::new).collect()).await?;
            }
            body => {
                for slice in body.into_iter().flat_map(|body| body.slices()) {
                    self.out.extend_from_slice(slice);
                }
                self.stream.write_all(&self.out).await?;
            }
        }
        Ok(stays)
    }

    /// Ends the connection in a way that lets the client read the last answer.
    async fn leave<T>(mut self) -> io::Result<Option<T>> {
        self.stream.shutdown().await?;
        let mut left = MAX_DISCARDED;
        let listen = async {
            loop {
                self.arrived.clear();
                match self.stream.read_buf(&mut self.arrived).await? {
                    0 => return Ok(()),
                    read if read >= left => return Ok(()),
                    read => left -= read,
                }
            }
        };
        // Whoever does not come to an end in time has seen enough.
        let ended: io::Result<()> = tokio::time::timeout(DISCARD_LIMIT, listen).await.unwrap_or(Ok(()));
        ended.map(|()| None)
    }

    /// Gives memory back that an unusual request has needed.
    fn give_back_room(&mut self) {
        if self.arrived.capacity() > KEPT_ROOM && self.arrived.len() < ROOM {
            let mut arrived = BytesMut::with_capacity(ROOM);
            arrived.extend_from_slice(&self.arrived);
            self.arrived = arrived;
        }
        if self.out.capacity() > KEPT_ROOM {
            self.out = Vec::new();
        }
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

async fn write_all(stream: &mut TcpStream, mut slices: Vec<IoSlice<'_>>) -> io::Result<()> {
    let mut left = slices.as_mut_slice();
    while !left.is_empty() {
        let written = stream.write_vectored(left).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        IoSlice::advance_slices(&mut left, written);
    }
    Ok(())
}

fn refuse_head(bad: BadRequest) -> Response {
    let (status, text) = match bad {
        BadRequest::NotHttp => (StatusCode::BAD_REQUEST, r#"{"message":"Not an HTTP/1.1 request"}"#),
        BadRequest::LongHead => {
            (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, r#"{"message":"Request headers too large"}"#)
        }
        BadRequest::Framing(_) => {
            (StatusCode::BAD_REQUEST, r#"{"message":"Unclear length of the request body"}"#)
        }
    };
    Response::new(status, text).with("content-type", "application/json").last()
}
