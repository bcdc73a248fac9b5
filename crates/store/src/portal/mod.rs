//! The developer and merchant portal: wallets and everything that belongs to them.
