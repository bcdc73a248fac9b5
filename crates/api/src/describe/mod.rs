//! The interface described: the OpenAPI document from the handlers, and a page to read it.

pub(crate) mod markup;
