//! Tables the data path looks things up in: longest prefix by address, slots by index.
//!
//! Lookups never allocate; changes cost what they change, whatever the table holds.

mod prefix;
mod slots;
mod trie;

pub use prefix::{Prefix, PrefixError};
pub use slots::Slots;
pub use trie::PrefixTable;
