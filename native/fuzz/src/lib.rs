//! What the fuzz targets do with their bytes.
//!
//! The same functions are replayed over the seeds by a test of the crate that reads such bytes, so they use nothing but
//! crates under test.

mod classify;
mod command;
mod control;
mod datagram;
mod filter;
mod merge;
mod parse;
mod split;
mod tags;

pub use classify::classify;
pub use command::command;
pub use control::control;
pub use datagram::datagram;
pub use filter::filter;
pub use merge::merge;
pub use parse::parse;
pub use split::split;
pub use tags::tags;
