//! What a server does with the requests of a connection, and what connections may do.

use std::time::Duration;

use http1::Request;
use tokio::net::TcpStream;

use crate::{Budget, Exhausted, Party, Response};

/// What a connection may do.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// Bytes of a request's body.
    pub max_body_bytes: usize,
    /// How long a body may take to arrive, and how long a connection may take nothing of a long answer.
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
    /// There is no room for it at the moment.
    NoRoom(Exhausted),
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
    /// Who is charged for long bodies.
    type Party: Party;

    /// Looks at a request's head.
    fn receive(&self, request: &Request<'_, '_>) -> Step<Self::Caller, Self::Socket>;

    /// Whom the bytes of a request are charged to, and out of which budget.
    fn account(&self, caller: &Self::Caller) -> (&Budget<Self::Party>, Self::Party);

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
