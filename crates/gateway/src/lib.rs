//! The JSON-RPC gateway in front of the nodes.
//!
//! [`Gateway`] is who asks in, an answer out: `caller` finds who it is, `answer` answers the message, over HTTP and
//! WebSocket alike; [`serve`] puts it on a listener. `method` is the one table of what may be asked, `read` the way of a read through
//! pinning, caches and nodes, `warm` what is known of each new block before anybody asks, `feed` what is told of it to those who
//! listen, `socket` and `filters` how they listen or poll, `server` the transport. Who may ask and how often is decided by `access`, which node
//! is asked by `chain`.

mod answer;
mod cache;
mod caller;
mod config;
mod feed;
mod filters;
mod gateway;
mod head;
mod local;
mod logs;
mod method;
mod metrics;
mod pin;
mod read;
mod refusal;
mod reply;
mod send;
mod server;
mod socket;
mod warm;

pub use config::{Cors, Door, GatewayConfig, Limits};
pub use filters::{RedisFilters, RedisFiltersError};
pub use gateway::{AccessParts, Gateway};
pub use method::{MethodEntry, method_entries, method_table};
pub use server::serve;
