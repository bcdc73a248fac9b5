//! Bodies of requests: read within their length, their time and the budget of whoever sends them.

use bytes::BytesMut;
use http1::{BadFraming, Body, Chunks};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Conversation, ROOM, Terms};
use crate::{BodyError, Budget, Charge, Exhausted, Handler, Party};

/// A body that is being read.
pub(super) struct Reading<'a, K: Party> {
    budget: &'a Budget<K>,
    party: K,
    charge: Option<Charge<K>>,
    /// What has come in chunks.
    pub(super) chunked: BytesMut,
}

impl<'a, K: Party> Reading<'a, K> {
    pub(super) fn new((budget, party): (&'a Budget<K>, K)) -> Self {
        Self { budget, party, charge: None, chunked: BytesMut::new() }
    }

    fn cover(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.budget.cover(self.party, &mut self.charge, bytes)
    }
}

impl<H: Handler> Conversation<'_, H> {
    /// Reads the body that a head has announced.
    pub(super) async fn read_body(
        &mut self,
        reading: &mut Reading<'_, H::Party>,
        terms: Terms,
    ) -> Result<(), BodyError> {
        match terms.body {
            Body::Length(length) => self.read_length(length, reading, terms).await,
            Body::Chunked => self.read_chunks(reading, terms).await,
        }
    }

    async fn read_length(
        &mut self,
        length: usize,
        reading: &mut Reading<'_, H::Party>,
        terms: Terms,
    ) -> Result<(), BodyError> {
        if length > self.manners.max_body_bytes {
            return Err(BodyError::TooLong(self.manners.max_body_bytes));
        }
        reading.cover(length)?;
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

    async fn read_chunks(
        &mut self,
        reading: &mut Reading<'_, H::Party>,
        terms: Terms,
    ) -> Result<(), BodyError> {
        let mut chunks = Chunks::default();
        let most = self.manners.max_body_bytes;
        self.watch.awaits_body();
        if self.arrived.is_empty() {
            self.invite(terms).await?;
        }
        loop {
            let is_whole = chunks.take(&mut self.arrived, &mut reading.chunked, most)?;
            reading.cover(reading.chunked.capacity())?;
            if is_whole {
                return Ok(());
            }
            self.read_on().await?;
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
}

impl From<Exhausted> for BodyError {
    fn from(exhausted: Exhausted) -> Self {
        Self::NoRoom(exhausted)
    }
}

impl From<BadFraming> for BodyError {
    fn from(bad: BadFraming) -> Self {
        match bad {
            BadFraming::TooLong(most) => Self::TooLong(most),
            BadFraming::Chunk | BadFraming::Length => Self::Broken,
        }
    }
}
