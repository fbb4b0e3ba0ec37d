//! WireGuard on the wire: message views, replay window, AEAD trait and MACs.
//!
//! Nothing here allocates after construction, reads a clock or talks to a socket.

mod aead;
mod extension;
mod mac;
mod message;
mod replay;

pub use aead::{Aead, Cipher, KEY_LEN, OpenError, TAG_LEN, TransportKey};
pub use extension::{Extension, is_extension};
pub use mac::{COOKIE_LEN, COOKIE_NONCE_LEN, Cookie, CookieKey, CookieSecrets, Mac1Key};
pub use message::{
    COOKIE_REPLY_LEN, DATA_HEADER_LEN, DATA_OVERHEAD, DataHeader, INITIATION_LEN, Message,
    MessageError, RESPONSE_LEN, padded_len,
};
pub use replay::{REPLAY_WINDOW, ReplayVerdict, ReplayWindow};
