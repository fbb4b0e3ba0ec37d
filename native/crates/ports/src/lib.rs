//! The traits the engine drives: TUN queue, datagram socket, clock; and their contract suites.
//!
//! A port is what stands between the engine, which decides, and a driver, which does the input and output. The real
//! drivers live in `sys`, the in-memory ones in `testkit`; both pass the suites of the `contract` module
//! (feature `contract`).

mod clock;
#[cfg(feature = "contract")]
pub mod contract;
mod datagrams;
mod feature;
mod tun;

pub use clock::{Clock, Instant};
pub use datagrams::{
    Carriage, DatagramCounters, DatagramState, Datagrams, Ecn, Endpoint, PathBound, Received,
    SendOutcome,
};
pub use feature::{FeatureState, OffReason};
pub use tun::{ByteOrderTag, Framing, TunQueue};
