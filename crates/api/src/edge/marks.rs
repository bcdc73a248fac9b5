//! Headers that an answer gets whatever becomes of it: known before its handler is done, and also if that refuses.

use std::sync::Arc;

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use parking_lot::Mutex;

/// What the answer to a request will be marked with. It rides in the request's extensions.
#[derive(Clone, Default)]
pub(crate) struct Marks(Arc<Mutex<Vec<(HeaderName, HeaderValue)>>>);

impl Marks {
    /// Adds a header.
    pub(crate) fn add(&self, name: HeaderName, value: HeaderValue) {
        self.0.lock().push((name, value));
    }

    pub(super) fn put(&self, headers: &mut HeaderMap) {
        for (name, value) in self.0.lock().iter() {
            headers.insert(name.clone(), value.clone());
        }
    }
}
