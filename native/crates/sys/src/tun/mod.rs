//! TUN devices: opening, negotiating offloads, reading and writing frames.

mod control;
mod error;
mod negotiate;
mod open;
mod probe;
mod queue;

pub use error::OpenError;
pub use negotiate::Granted;
pub use open::{Tun, TunOffload, TunOptions};
pub use queue::TunFd;
