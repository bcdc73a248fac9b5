//! Who a portal caller is: wallet sessions (EIP-4361) and developer keys.
