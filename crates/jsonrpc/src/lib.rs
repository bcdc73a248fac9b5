//! The JSON-RPC envelope: foreign requests in, our requests and answers out
