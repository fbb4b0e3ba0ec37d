//! The four kinds of messages.

use wire::{COOKIE_REPLY_LEN, DATA_OVERHEAD, INITIATION_LEN, RESPONSE_LEN};

/// What a message is, whatever number stands in its type field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// First message of a handshake.
    Initiation,
    /// Second message of a handshake.
    Response,
    /// Answer to a handshake message while under load.
    CookieReply,
    /// An encrypted packet; without one it is a keepalive.
    Transport,
}

impl Kind {
    /// All four, in the order of their keys: `s1` to `s4`, `h1` to `h4`.
    pub const ALL: [Kind; 4] = [
        Kind::Initiation,
        Kind::Response,
        Kind::CookieReply,
        Kind::Transport,
    ];

    /// Bytes of the message; of the shortest one for transport.
    #[must_use]
    pub const fn message_len(self) -> usize {
        match self {
            Kind::Initiation => INITIATION_LEN,
            Kind::Response => RESPONSE_LEN,
            Kind::CookieReply => COOKIE_REPLY_LEN,
            Kind::Transport => DATA_OVERHEAD,
        }
    }

    /// Place in [`Kind::ALL`].
    #[must_use]
    pub const fn place(self) -> usize {
        match self {
            Kind::Initiation => 0,
            Kind::Response => 1,
            Kind::CookieReply => 2,
            Kind::Transport => 3,
        }
    }
}
