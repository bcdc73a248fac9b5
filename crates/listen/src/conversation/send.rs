//! Answers on their way out: short ones in one write behind their head, long ones as they are, within a time.

use std::io::{self, IoSlice};

use http::StatusCode;
use http1::BadRequest;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::{Conversation, KEPT_ROOM, Terms};
use crate::{Handler, Pieces, Response, watch::Watch};

/// Longer answers are not copied behind their head.
const COPIED_ANSWER: usize = 16 * 1024;

impl<H: Handler> Conversation<'_, H> {
    /// Sends an answer; whether the connection stays.
    pub(super) async fn send(&mut self, response: &Response, terms: Terms) -> io::Result<bool> {
        self.watch.awaits_caller();
        let switches = response.status == StatusCode::SWITCHING_PROTOCOLS;
        let stays = terms.is_kept && !response.is_last && !self.stop.is_cancelled();
        let keeps = (!switches && (!stays || terms.is_old)).then_some(stays);
        self.out.clear();
        response.write_head(&mut self.out, keeps);
        let body = if terms.is_head { None } else { Some(&response.body) };
        match body {
            Some(body) if body.len() > COPIED_ANSWER => self.send_long(body).await?,
            body => {
                for slice in body.into_iter().flat_map(|body| body.slices()) {
                    self.out.extend_from_slice(slice);
                }
                self.stream.write_all(&self.out).await?;
            }
        }
        if self.out.capacity() > 2 * KEPT_ROOM {
            self.out = Vec::new();
        }
        Ok(stays)
    }

    /// Sends a head that is written already, and a body behind it. Whoever takes nothing of it for a while is given up, and so is
    /// whoever does not come to its end.
    async fn send_long(&mut self, body: &Pieces) -> io::Result<()> {
        let slices = std::iter::once(&self.out[..]).chain(body.slices()).map(IoSlice::new).collect();
        let sending = write_all(&mut self.stream, slices, self.watch);
        let sent = tokio::time::timeout(self.manners.idle_timeout, sending).await;
        sent.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        self.watch.awaits_caller();
        Ok(())
    }
}

async fn write_all(stream: &mut TcpStream, mut slices: Vec<IoSlice<'_>>, watch: &Watch) -> io::Result<()> {
    let mut left = slices.as_mut_slice();
    while !left.is_empty() {
        watch.sends();
        let written = stream.write_vectored(left).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        IoSlice::advance_slices(&mut left, written);
    }
    Ok(())
}

/// The answer to what is no request.
pub(super) fn refuse_head(bad: BadRequest) -> Response {
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
