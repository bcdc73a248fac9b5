//! The gateway as its callers see it: real sockets in front, a real chain behind.

mod dev;
mod feed;
mod filters;
mod filters_shared;
mod front;
mod peer;
mod redis;
mod socket;
mod socket_access;
mod socket_crowd;
