//! Suites every implementation of a port must pass. They panic, like any test, when a promise is broken.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "these are tests, compiled only for tests"
)]

mod datagrams;
mod tun;

pub use datagrams::{DatagramPair, datagram_contract};
pub use tun::{TunHost, tun_contract};
