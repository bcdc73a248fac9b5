//! The faucet: claims that are paid exactly once
