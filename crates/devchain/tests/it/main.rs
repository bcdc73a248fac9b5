//! The embedded chain from the inside: blocks in, state out, without a server in front.

mod production;
mod rig;
mod transfer;
