//! AmneziaWG-compatible obfuscation of WireGuard datagrams.
//!
//! A [`Profile`] is checked once. The sender then frames handshake messages ([`Profile::frame`]), precedes initiations with
//! decoys ([`Profile::prelude`]) and finishes sealed transport messages ([`Profile::finish_transport`]); the receiver asks
//! [`Profile::open`] what a datagram is.

mod classify;
mod frame;
mod kind;
mod profile;
mod protect;
mod random;
mod settings;
mod shape;
mod tag;
mod types;
mod window;

pub use classify::Opened;
pub use kind::Kind;
pub use profile::{Cookies, Profile, Trailers};
pub use protect::{HEADER_KEY_LEN, HeaderKey};
pub use random::Random;
pub use settings::{Junk, Problem, ProfileError, Settings};
pub use shape::{Padding, Shape};
pub use tag::{TagError, Template};
pub use types::TypeRange;
pub use window::{TrailerWindow, WINDOW_START};

/// The most one UDP datagram carries over IPv4.
pub const DATAGRAM_MAX: usize = 65_507;
