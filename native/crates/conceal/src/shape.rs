//! How long a transport message is.

use wire::{DATA_OVERHEAD, padded_len};

use crate::Random;

/// What a profile does to the length of a peer's transport messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Random bytes in front of the message.
    pub front: usize,
    /// Zeros behind the packet, inside the encryption.
    pub padding: Padding,
}

/// Which rule says how many zeros follow a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// Up to a multiple of sixteen (WIR-15).
    #[default]
    Sixteen,
    /// So many, drawn anew for each packet (WIR-13).
    Content {
        /// The least.
        low: u16,
        /// The most.
        high: u16,
    },
    /// Up to the trailer window of the peer (WIR-14).
    Window(usize),
}

impl Shape {
    /// Bytes of the datagram around the padded packet.
    #[must_use]
    pub const fn overhead(&self) -> usize {
        self.front + DATA_OVERHEAD
    }

    /// Bytes of the datagram for a packet of `len` bytes; `mtu` is the longest packet that its path carries.
    pub fn datagram_len(&self, len: usize, mtu: usize, random: &mut Random) -> usize {
        let padded = match self.padding {
            Padding::Sixteen => padded_len(len, mtu),
            Padding::Content { low, high } => {
                let wanted = random.draw(low.into(), high.into());
                let room = mtu.saturating_sub(if len > mtu { len % mtu.max(1) } else { len });
                len + usize::try_from(wanted).unwrap_or(0).min(room)
            }
            Padding::Window(window) => {
                let room = window.saturating_sub(self.overhead() + len);
                let drawn = random.below(u64::try_from(room).unwrap_or(0));
                len + usize::try_from(drawn).unwrap_or(0)
            }
        };
        padded + self.overhead()
    }

    /// Whether chance has a say in the length of a packet of `len` bytes.
    #[must_use]
    pub fn is_random(&self, len: usize) -> bool {
        match self.padding {
            Padding::Sixteen => false,
            Padding::Content { low, high } => low != high,
            Padding::Window(window) => window > self.overhead() + len,
        }
    }
}
