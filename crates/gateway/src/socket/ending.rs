//! Why a WebSocket ends, and what its peer is told.

use listen::Exhausted;
use tokio_tungstenite::tungstenite::{
    self, Utf8Bytes,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

/// Why a WebSocket ends. The words go to the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Ending {
    /// It was closed or lost.
    #[error("the peer is gone")]
    Gone,
    /// A message is longer than allowed.
    #[error("message too large")]
    TooLarge,
    /// What was sent is no WebSocket protocol.
    #[error("protocol error")]
    Protocol,
    /// A long message did not arrive in time.
    #[error("too slow: a message did not arrive in time")]
    Unfinished,
    /// The caller has too many bytes under way for more of a message.
    #[error("too much at once: ask again later")]
    NoRoom,
    /// Events queued up that the peer did not take.
    #[error("too slow: events were not read in time, some are lost")]
    TooSlow,
    /// The gateway had to leave blocks out.
    #[error("some events are lost: subscribe again")]
    Gap,
    /// The key does not hold any more.
    #[error("the API key is no longer valid")]
    Revoked,
    /// Nothing was asked and nothing is subscribed to.
    #[error("idle for too long")]
    Idle,
    /// The gateway stops.
    #[error("the gateway is restarting")]
    Stopping,
}

impl Ending {
    /// The name under which it is counted.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::TooLarge => "too_large",
            Self::Protocol => "protocol",
            Self::Unfinished => "unfinished",
            Self::NoRoom => "no_room",
            Self::TooSlow => "too_slow",
            Self::Gap => "gap",
            Self::Revoked => "revoked",
            Self::Idle => "idle",
            Self::Stopping => "stopping",
        }
    }

    /// What the peer is told, if it is still there.
    pub(super) fn frame(self) -> Option<CloseFrame> {
        let code = match self {
            Self::Gone => return None,
            Self::TooLarge => CloseCode::Size,
            Self::Protocol => CloseCode::Protocol,
            Self::TooSlow | Self::Unfinished | Self::NoRoom | Self::Gap => CloseCode::Again,
            Self::Revoked => CloseCode::Policy,
            Self::Idle => CloseCode::Away,
            Self::Stopping => CloseCode::Restart,
        };
        Some(CloseFrame { code, reason: Utf8Bytes::from(self.to_string()) })
    }
}

impl From<tungstenite::Error> for Ending {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Capacity(_) => Self::TooLarge,
            tungstenite::Error::Protocol(_) | tungstenite::Error::Utf8(_) => Self::Protocol,
            tungstenite::Error::Io(error) if error.get_ref().is_some_and(|cause| cause.is::<Exhausted>()) => {
                Self::NoRoom
            }
            _ => Self::Gone,
        }
    }
}
