//! The integration suite: the product as its users meet it.

mod architecture;
mod contracts;
mod differential;
mod docs;
