//! The integration suite: the product as its users meet it.

mod architecture;
mod differential;
mod docs;
