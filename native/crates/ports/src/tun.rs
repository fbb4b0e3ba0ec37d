use std::io::{self, IoSlice};

/// One queue of a TUN device.
pub trait TunQueue {
    /// What precedes each packet in a frame.
    fn framing(&self) -> Framing;

    /// Reads one frame without waiting and returns its length, header included.
    ///
    /// A frame longer than `frame` is cut off silently by the kernel; give at least header length + 65,535 bytes.
    ///
    /// # Errors
    /// `WouldBlock` when no frame is waiting; otherwise what the kernel says. The queue stays usable after an error.
    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize>;

    /// Writes one frame, whose bytes are `parts` in order, without waiting. In [`Framing::Header`] the first bytes are
    /// the header.
    ///
    /// # Errors
    /// The kernel's refusal: `EINVAL` for a frame it cannot understand or carry (FBK-01), `EIO` while the link is down,
    /// `ENOBUFS` or `ENOMEM` when short of memory (FBK-02). Nothing of the frame was written, and the queue stays usable.
    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Whether frames were taken from the kernel that the next reads return. Who waits for the kernel misses them.
    fn holds_frames(&self) -> bool {
        false
    }
}

/// What a frame of a TUN queue looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A frame is one IP packet.
    Plain,
    /// A frame is a virtio network header, then one IP packet.
    Header {
        /// Bytes before the packet, at least 10. Bytes past the tenth are ignored on read and must be zero on write.
        len: usize,
        /// Byte order of the 16-bit fields.
        order: ByteOrderTag,
    },
}

impl Framing {
    /// Bytes that precede the packet.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Plain => 0,
            Self::Header { len, .. } => len,
        }
    }
}

/// Byte order of the fields of a virtio header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrderTag {
    /// Little-endian, whatever the machine.
    Little,
    /// The machine's own.
    Native,
    /// Big-endian, whatever the machine.
    Big,
}
