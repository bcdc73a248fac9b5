//! The integration suite: the product as its users meet it.

mod architecture;
mod bad_input;
mod contracts;
mod crash;
mod differential;
mod docs;
mod rig;
mod start;
mod transfer;
mod validators;
