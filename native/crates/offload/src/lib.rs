//! The virtio-net header, splitting of super-packets and merging of segments.
//!
//! Pure functions over byte slices: no input or output, no clock, no allocation after construction, no panic on any input.
//! [`SplitCursor`] turns one frame read from a TUN device into packets, [`Merger`] turns one burst of packets into frames
//! to write, [`expand()`] takes a merged frame apart again.

mod elide;
mod error;
mod expand;
mod finish;
mod merge;
mod split;
mod virtio;

pub use elide::{ELISION_MARK, ElisionError, finish_elided, is_marked, unmark};
pub use error::SplitError;
pub use expand::{ExpandError, ExpandScratch, expand};
pub use merge::{Checksum, EqualTail, Family, Frame, MergeLimits, Merger, Part, PushOutcome};
pub use split::{SplitCursor, SplitLimits};
pub use virtio::{ByteOrder, ECN, NEEDS_CHECKSUM, VIRTIO_LEN, VirtioHeader, gso};

/// Largest L3 packet that weft builds, headers included, in both families.
pub const L3_LEN_MAX: usize = 65_535;
