//! Telling merchants: endpoints, signed deliveries, and the guard before foreign addresses.
