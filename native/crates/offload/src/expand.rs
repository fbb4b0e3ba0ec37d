//! Taking a merged frame apart again, for devices that refuse it and for tests.

use core::fmt;

use crate::{ByteOrder, Frame, SplitCursor, SplitError, SplitLimits, VirtioHeader};

/// Why a frame could not be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpandError {
    /// A part of the frame lies outside the arena.
    OutsideArena,
    /// A scratch buffer is shorter than the frame or the piece.
    ScratchTooShort {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        got: usize,
    },
    /// The frame is not one that the merger built.
    Split(SplitError),
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideArena => f.write_str("a part lies outside the arena"),
            Self::ScratchTooShort { needed, got } => {
                write!(f, "{got} bytes of scratch where {needed} are needed")
            }
            Self::Split(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ExpandError {}

/// Buffers that [`expand`] works in.
#[derive(Debug)]
pub struct ExpandScratch<'a> {
    /// Holds the whole frame: 65,535 bytes are always enough.
    pub frame: &'a mut [u8],
    /// Holds one packet: the inner MTU is enough for merged frames, 65,535 bytes for all.
    pub piece: &'a mut [u8],
}

/// Hands out the packets of a frame one by one, finished as a plain device needs them, and returns their number.
///
/// # Errors
/// Says which buffer is too short, or that the frame did not come from the merger.
pub fn expand(
    arena: &[u8],
    frame: &Frame<'_>,
    order: ByteOrder,
    scratch: &mut ExpandScratch<'_>,
    mut each: impl FnMut(&[u8]),
) -> Result<usize, ExpandError> {
    let needed: usize = frame.parts.iter().map(|part| part.len as usize).sum();
    let got = scratch.frame.len();
    let gathered = scratch
        .frame
        .get_mut(..needed)
        .ok_or(ExpandError::ScratchTooShort { needed, got })?;
    let mut rest = &mut *gathered;
    for part in frame.parts {
        let bytes = part.of(arena).ok_or(ExpandError::OutsideArena)?;
        let (to, after) = rest
            .split_at_mut_checked(bytes.len())
            .ok_or(ExpandError::OutsideArena)?;
        to.copy_from_slice(bytes);
        rest = after;
    }
    let header = VirtioHeader::read(&frame.header, order).unwrap_or_default();
    let limits = SplitLimits {
        inner_mtu: usize::MAX,
    };
    let mut cursor = SplitCursor::start(&header, gathered, &limits).map_err(ExpandError::Split)?;
    let needed = cursor.piece_len_max();
    let got = scratch.piece.len();
    let mut packets = 0;
    while let Some(len) = cursor.write_next(gathered, scratch.piece) {
        each(scratch.piece.get(..len).unwrap_or_default());
        packets += 1;
    }
    if cursor.pieces_left() > 0 {
        Err(ExpandError::ScratchTooShort { needed, got })
    } else {
        Ok(packets)
    }
}
