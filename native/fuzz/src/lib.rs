//! What the fuzz targets do with their bytes.
//!
//! The same functions are replayed over the seeds by `crates/offload/tests/seeds.rs`, so they use nothing but the crates
//! under test.

mod merge;
mod parse;
mod split;

pub use merge::merge;
pub use parse::parse;
pub use split::split;
