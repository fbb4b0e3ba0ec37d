//! Messages between weft agents inside the AEAD, where plain WireGuard has IP packets.
//!
//! The first byte is 0xF1: the nibble of no IP version, and the version of this layout. Agents that do not know it drop
//! it as they drop every packet that is not IP.

/// An extension message with the fields of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// Asks for a [`Extension::MtuAnswer`]; zeros follow up to the size that is probed.
    MtuProbe {
        /// Comes back in the answer.
        id: u32,
    },
    /// A probe arrived.
    MtuAnswer {
        /// That of the probe.
        id: u32,
        /// Bytes of the whole datagram that arrived, header and tag included.
        size: u32,
    },
    /// Asks for a [`Extension::LaneAnswer`]; sent by the lane that it asks about.
    LaneProbe {
        /// Comes back in the answer.
        id: u32,
    },
    /// A lane probe arrived.
    LaneAnswer {
        /// That of the probe.
        id: u32,
        /// The lane whose packet number the probe had.
        lane: u32,
    },
}

impl Extension {
    /// Reads the plaintext of a data message. `None` for everything that is not a whole message of a known kind; what
    /// follows the declared body is padding and ignored.
    #[must_use]
    pub fn read(plaintext: &[u8]) -> Option<Self> {
        let ([MARK, kind, len_low, len_high], rest) =
            plaintext.split_first_chunk::<HEADER_LEN>()?
        else {
            return None;
        };
        let body = rest.get(..usize::from(u16::from_le_bytes([*len_low, *len_high])))?;
        match *kind {
            KIND_MTU_PROBE => Some(Self::MtuProbe {
                id: u32::from_le_bytes(*body.first_chunk()?),
            }),
            KIND_MTU_ANSWER => {
                let (id, rest) = body.split_first_chunk()?;
                Some(Self::MtuAnswer {
                    id: u32::from_le_bytes(*id),
                    size: u32::from_le_bytes(*rest.first_chunk()?),
                })
            }
            KIND_LANE_PROBE => Some(Self::LaneProbe {
                id: u32::from_le_bytes(*body.first_chunk()?),
            }),
            KIND_LANE_ANSWER => {
                let (id, rest) = body.split_first_chunk()?;
                Some(Self::LaneAnswer {
                    id: u32::from_le_bytes(*id),
                    lane: u32::from_le_bytes(*rest.first_chunk()?),
                })
            }
            _ => None,
        }
    }

    /// Fills `out` with the message and zeros behind it. `None`, with nothing written, when `out` is shorter than
    /// [`Extension::LEN_MAX`] or longer than a length field can say.
    pub fn write(&self, out: &mut [u8]) -> Option<()> {
        if out.len() < Self::LEN_MAX {
            return None;
        }
        let body_len = match self {
            Self::MtuProbe { .. } => u16::try_from(out.len() - HEADER_LEN).ok()?,
            Self::LaneProbe { .. } => 4,
            Self::MtuAnswer { .. } | Self::LaneAnswer { .. } => 8,
        };
        let [len_low, len_high] = body_len.to_le_bytes();
        let (kind, id, value) = match self {
            Self::MtuProbe { id } => (KIND_MTU_PROBE, *id, 0),
            Self::MtuAnswer { id, size } => (KIND_MTU_ANSWER, *id, *size),
            Self::LaneProbe { id } => (KIND_LANE_PROBE, *id, 0),
            Self::LaneAnswer { id, lane } => (KIND_LANE_ANSWER, *id, *lane),
        };
        let head = [MARK, kind, len_low, len_high].into_iter();
        let fields = head.chain(id.to_le_bytes()).chain(value.to_le_bytes());
        out.fill(0);
        out.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        Some(())
    }

    /// Bytes every message fits in.
    pub const LEN_MAX: usize = 12;
}

/// Whether a plaintext is an extension message, of a known kind or not.
#[must_use]
pub fn is_extension(plaintext: &[u8]) -> bool {
    plaintext.first() == Some(&MARK)
}

const MARK: u8 = 0xf1;
const HEADER_LEN: usize = 4;
const KIND_MTU_PROBE: u8 = 16;
const KIND_MTU_ANSWER: u8 = 17;
const KIND_LANE_PROBE: u8 = 20;
const KIND_LANE_ANSWER: u8 = 21;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_whatever_padding_follows() {
        for message in [
            Extension::MtuProbe { id: 7 },
            Extension::MtuAnswer { id: 9, size: 1452 },
            Extension::LaneProbe { id: 7 },
            Extension::LaneAnswer { id: 9, lane: 7 },
        ] {
            for len in [12, 16, 1420, 65_535] {
                let mut bytes = vec![0xff; len];
                assert_eq!(message.write(&mut bytes), Some(()));
                assert!(is_extension(&bytes));
                assert_eq!(Extension::read(&bytes), Some(message), "{len}");
            }
        }
    }

    #[test]
    fn a_probe_longer_than_its_length_field_is_not_written() {
        let message = Extension::MtuProbe { id: 7 };
        assert_eq!(message.write(&mut vec![0; 65_540]), None);
        assert_eq!(message.write(&mut [0; 11]), None);
    }

    #[test]
    fn bad_messages_are_nothing() {
        let mut good = vec![0; 12];
        Extension::MtuAnswer { id: 1, size: 2 }.write(&mut good);
        for (at, value) in [(0, 0xf2), (0, 0x45), (1, 18), (2, 200), (2, 7)] {
            let mut bad = good.clone();
            bad[at] = value;
            assert_eq!(Extension::read(&bad), None, "byte {at} = {value}");
        }
        for len in 0..good.len() {
            assert_eq!(Extension::read(&good[..len]), None, "{len} bytes");
        }
    }
}
