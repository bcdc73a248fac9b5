//! The JSON-RPC gateway in front of the nodes
