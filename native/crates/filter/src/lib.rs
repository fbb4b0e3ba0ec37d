//! Packet rules: first match wins, no match means deny.
//!
//! Verdicts cost one comparison while the first rule of a direction speaks for every packet.

mod filter;
mod rule;
mod subject;

pub use filter::{Filter, Verdict};
pub use rule::{Action, Direction, Directions, PortRange, Rule};
pub use subject::Subject;
