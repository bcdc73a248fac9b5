//! The people's edge: the explorer's and the portal's pages, rendered here, readable without JavaScript.
//!
//! A page is a handler in `pages` that reads what it shows from the crates below, a struct with a template beside it, and its
//! words in both languages. [`Explorer`] puts the frame around them: who visits, what they prefer, who may come in, headers,
//! refusals as pages. The API answers under the same origin, so that a page's scripts need no permission of anybody else.
//!
//! Pages decide nothing: scripts go through the API like everybody, and forms do what the API does for the same caller, through
//! the same crates.

#[macro_use]
mod words;

mod assets;
mod charts;
mod decode;
mod door;
mod explorer;
mod failure;
mod fields;
mod format;
mod frame;
mod live;
mod page;
mod pages;
mod parts;
mod segment;
mod site;
mod visit;
mod wallet;

pub use door::Visitors;
pub use explorer::Explorer;
pub use live::Live;
pub use site::Site;
