//! The machines' edge.
