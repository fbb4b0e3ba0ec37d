//! The TCP view.

use crate::error::{PacketError, check_header_len};

/// A TCP segment whose data offset agrees with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Tcp<'a> {
    fixed: &'a [u8; FIXED_LEN],
    header: &'a [u8],
    payload: &'a [u8],
}

/// Flag bits of TCP byte 13.
pub mod flags {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Connection set-up.
    pub const SYN: u8 = 0x02;
    /// Connection reset.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement field counts.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer counts.
    pub const URG: u8 = 0x20;
    /// Congestion was seen.
    pub const ECE: u8 = 0x40;
    /// Congestion window was reduced.
    pub const CWR: u8 = 0x80;
}

impl<'a> Tcp<'a> {
    /// Bytes of the header without options.
    pub const FIXED_LEN: usize = FIXED_LEN;
    /// Offset of the checksum field.
    pub const CHECKSUM_OFFSET: usize = 16;

    /// The header with its options.
    #[must_use]
    pub const fn header(&self) -> &'a [u8] {
        self.header
    }

    /// What follows the header.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
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

    /// The sequence number.
    #[must_use]
    pub const fn sequence(&self) -> u32 {
        u32::from_be_bytes([self.fixed[4], self.fixed[5], self.fixed[6], self.fixed[7]])
    }

    /// The acknowledgement number.
    #[must_use]
    pub const fn acknowledgement(&self) -> u32 {
        u32::from_be_bytes([self.fixed[8], self.fixed[9], self.fixed[10], self.fixed[11]])
    }

    /// The low nibble of byte 12: reserved bits and AE.
    #[must_use]
    pub const fn reserved_bits(&self) -> u8 {
        self.fixed[12] & 0x0f
    }

    /// Flags of byte 13, see [`flags`].
    #[must_use]
    pub const fn flags(&self) -> u8 {
        self.fixed[13]
    }

    /// The window field.
    #[must_use]
    pub const fn window(&self) -> u16 {
        u16::from_be_bytes([self.fixed[14], self.fixed[15]])
    }

    /// The checksum field.
    #[must_use]
    pub const fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.fixed[16], self.fixed[17]])
    }

    /// The urgent pointer.
    #[must_use]
    pub const fn urgent_pointer(&self) -> u16 {
        u16::from_be_bytes([self.fixed[18], self.fixed[19]])
    }
}

impl<'a> TryFrom<&'a [u8]> for Tcp<'a> {
    type Error = PacketError;

    fn try_from(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let too_short = PacketError::TooShort {
            needed: Self::FIXED_LEN,
            got: bytes.len(),
        };
        let fixed = bytes.first_chunk::<FIXED_LEN>().ok_or(too_short)?;
        let header_len = usize::from(fixed[12] >> 4) * 4;
        check_header_len(header_len, Self::FIXED_LEN, bytes.len())?;
        let (header, payload) = bytes.split_at_checked(header_len).ok_or(too_short)?;
        Ok(Self {
            fixed,
            header,
            payload,
        })
    }
}

const FIXED_LEN: usize = 20;
