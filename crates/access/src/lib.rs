//! Who may ask, and how often: client addresses, gateway keys, limits
