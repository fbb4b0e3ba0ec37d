//! Splitting one frame read from the TUN device into packets.

mod plan;
mod resegment;
mod write;

pub(crate) use plan::cut_to_declared;

use crate::elide::{ELISION_MARK, holds_seed};
use crate::finish::Finish;
use crate::{SplitError, VirtioHeader, gso};

/// What the packets that leave the splitter must respect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitLimits {
    /// MTU of the TUN device: no piece of a super-frame is longer.
    pub inner_mtu: usize,
}

/// State of one frame being split; owns no bytes, so it can be continued in a later batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitCursor {
    work: Work,
    mark: u8,
}

impl SplitCursor {
    /// Checks one frame completely. `packet` is what followed the virtio header in one read.
    ///
    /// A frame of type 0 yields one piece: the packet, cut to its declared length, whatever that length is.
    ///
    /// # Errors
    /// Says why the frame has to be dropped and counted; the reader goes on with the next frame.
    pub fn start(
        header: &VirtioHeader,
        packet: &[u8],
        limits: &SplitLimits,
    ) -> Result<Self, SplitError> {
        let work = if header.gso_type == gso::NONE {
            let packet = cut_to_declared(packet)?;
            let finish = if header.needs_checksum() {
                Some(Finish::plan(header, packet)?)
            } else {
                None
            };
            Work::Single {
                len: packet.len(),
                finish,
                done: Done::No,
            }
        } else {
            Work::Super(plan::plan_super(header, packet, *limits)?)
        };
        Ok(Self { work, mark: 0 })
    }

    /// Leaves the checksums to the tunnel's tag where the frame allows it: every piece gets the seed for its own length
    /// and the mark. Frames without `NEEDS_CSUM`, fragments and other protocols than TCP and UDP stay as they were.
    ///
    /// `header` and `packet` are those given to [`Self::start`], before the first piece is written.
    #[must_use]
    pub fn elided(mut self, header: &VirtioHeader, packet: &[u8]) -> Self {
        if !header.needs_checksum() {
            return self;
        }
        let elided = match &mut self.work {
            Work::Single { len, finish, .. } => {
                let own = finish.is_some_and(Finish::is_of_transport);
                if own && packet.get(..*len).is_some_and(holds_seed) {
                    *finish = None;
                    true
                } else {
                    false
                }
            }
            Work::Super(work) => work.elide(),
        };
        self.mark = if elided { ELISION_MARK } else { 0 };
        self
    }

    /// Whether the pieces carry the mark of elision.
    #[must_use]
    pub const fn is_elided(&self) -> bool {
        self.mark != 0
    }

    /// Length of the longest piece; every piece but the last has it.
    #[must_use]
    pub const fn piece_len_max(&self) -> usize {
        match &self.work {
            Work::Single { len, .. } => *len,
            Work::Super(work) => work.piece_len_max(),
        }
    }

    /// Pieces not yet written.
    #[must_use]
    pub const fn pieces_left(&self) -> usize {
        match &self.work {
            Work::Single { done: Done::No, .. } => 1,
            Work::Single {
                done: Done::Yes, ..
            } => 0,
            Work::Super(work) => work.pieces_left(),
        }
    }

    /// Writes the next piece to the start of `out` and returns its length.
    ///
    /// `packet` is the one given to [`Self::start`]. `None`, with nothing changed, when no piece is left or `out` is too
    /// short for the next one.
    pub fn write_next(&mut self, packet: &[u8], out: &mut [u8]) -> Option<usize> {
        let len = match &mut self.work {
            Work::Single {
                done: Done::Yes, ..
            } => None,
            Work::Single { len, finish, done } => {
                let out = out.get_mut(..*len)?;
                out.copy_from_slice(packet.get(..*len)?);
                if let Some(finish) = finish {
                    finish.apply(out);
                }
                *done = Done::Yes;
                Some(*len)
            }
            Work::Super(work) => work.write_next(packet, out),
        }?;
        if let Some(first) = out.first_mut() {
            *first |= self.mark;
        }
        Some(len)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Single {
        len: usize,
        finish: Option<Finish>,
        done: Done,
    },
    Super(write::SuperFrame),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    No,
    Yes,
}
