//! The UDP view.

use crate::error::{PacketError, check_declared_len};

/// A UDP datagram whose length field agrees with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Udp<'a> {
    fixed: &'a [u8; HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> Udp<'a> {
    /// Bytes of the header.
    pub const HEADER_LEN: usize = HEADER_LEN;
    /// Offset of the checksum field.
    pub const CHECKSUM_OFFSET: usize = 6;

    /// What follows the header, cut to the length field.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The length field: header and payload.
    #[must_use]
    pub const fn len(&self) -> usize {
        Self::HEADER_LEN + self.payload.len()
    }

    /// Whether the datagram carries no payload.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.payload.is_empty()
    }

    /// The source port.
    #[must_use]
    pub const fn source_port(&self) -> u16 {
        u16::from_be_bytes([self.fixed[0], self.fixed[1]])
    }

    /// The destination port.
    #[must_use]
    pub const fn destination_port(&self) -> u16 {
        u16::from_be_bytes([self.fixed[2], self.fixed[3]])
    }

    /// The checksum field.
    #[must_use]
    pub const fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.fixed[6], self.fixed[7]])
    }
}

impl<'a> TryFrom<&'a [u8]> for Udp<'a> {
    type Error = PacketError;

    fn try_from(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let too_short = PacketError::TooShort {
            needed: Self::HEADER_LEN,
            got: bytes.len(),
        };
        let (fixed, rest) = bytes.split_first_chunk::<HEADER_LEN>().ok_or(too_short)?;
        let len = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        check_declared_len(len, Self::HEADER_LEN, bytes.len())?;
        let payload = rest.get(..len - Self::HEADER_LEN).ok_or(too_short)?;
        Ok(Self { fixed, payload })
    }
}

const HEADER_LEN: usize = 8;
