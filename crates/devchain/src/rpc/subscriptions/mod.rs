//! `eth_subscribe`: what connections want to hear, and the events that are rendered once and shared by all of
//! them.

mod event;
mod feed;
mod session;

pub(crate) use event::{HeadEvent, PendingEvent};
pub(crate) use feed::Feed;
pub(crate) use session::{Behind, Session, Topic};
