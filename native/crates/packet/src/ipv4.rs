//! The IPv4 view.

use core::net::Ipv4Addr;

use crate::checksum;
use crate::error::{PacketError, check_declared_len, check_header_len};

/// An IPv4 packet whose version, header length and total length agree with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4<'a> {
    fixed: &'a [u8; FIXED_LEN],
    header: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Ipv4<'a> {
    /// Bytes of the header without options.
    pub const FIXED_LEN: usize = FIXED_LEN;

    /// The header with its options.
    #[must_use]
    pub const fn header(&self) -> &'a [u8] {
        self.header
    }

    /// What follows the header, cut to the total length.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The total length field.
    #[must_use]
    pub const fn total_len(&self) -> usize {
        self.header.len() + self.payload.len()
    }

    /// Type of service: DSCP and ECN.
    #[must_use]
    pub const fn tos(&self) -> u8 {
        self.fixed[1]
    }

    /// Identification.
    #[must_use]
    pub const fn id(&self) -> u16 {
        u16::from_be_bytes([self.fixed[4], self.fixed[5]])
    }

    /// Reserved bit, DF, MF and fragment offset as one word.
    #[must_use]
    pub const fn fragment_word(&self) -> u16 {
        u16::from_be_bytes([self.fixed[6], self.fixed[7]])
    }

    /// Whether this is one of several fragments (MF set or offset above 0).
    #[must_use]
    pub const fn is_fragment(&self) -> bool {
        self.fragment_word() & (Self::MORE_FRAGMENTS | Self::OFFSET_MASK) != 0
    }

    /// Whether this is a fragment that does not start at offset 0, so it has no L4 header.
    #[must_use]
    pub const fn is_later_fragment(&self) -> bool {
        self.fragment_word() & Self::OFFSET_MASK != 0
    }

    /// Time to live.
    #[must_use]
    pub const fn ttl(&self) -> u8 {
        self.fixed[8]
    }

    /// Protocol of the payload.
    #[must_use]
    pub const fn protocol(&self) -> u8 {
        self.fixed[9]
    }

    /// The source address.
    #[must_use]
    pub const fn source(&self) -> Ipv4Addr {
        Ipv4Addr::new(
            self.fixed[12],
            self.fixed[13],
            self.fixed[14],
            self.fixed[15],
        )
    }

    /// The destination address.
    #[must_use]
    pub const fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::new(
            self.fixed[16],
            self.fixed[17],
            self.fixed[18],
            self.fixed[19],
        )
    }

    /// Whether the header checksum is right.
    #[must_use]
    pub fn header_checksum_valid(&self) -> bool {
        // The length of a header without options is known when this is compiled.
        let sum = if self.header.len() == FIXED_LEN {
            checksum::add(self.fixed, 0)
        } else {
            checksum::add(self.header, 0)
        };
        checksum::finish(sum) == 0
    }

    /// Sum of the pseudo-header for an L4 part of `l4_len` bytes.
    #[must_use]
    pub fn pseudo_header(&self, l4_len: usize) -> u64 {
        let [
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            s0,
            s1,
            s2,
            s3,
            d0,
            d1,
            d2,
            d3,
        ] = *self.fixed;
        checksum::pseudo_header_v4([s0, s1, s2, s3], [d0, d1, d2, d3], self.protocol(), l4_len)
    }

    /// Reserved bit of [`Self::fragment_word`].
    pub const RESERVED: u16 = 0x8000;
    /// "Don't fragment" of [`Self::fragment_word`].
    pub const DONT_FRAGMENT: u16 = 0x4000;
    /// "More fragments" of [`Self::fragment_word`].
    pub const MORE_FRAGMENTS: u16 = 0x2000;
    /// Fragment offset of [`Self::fragment_word`].
    pub const OFFSET_MASK: u16 = 0x1fff;
}

impl<'a> TryFrom<&'a [u8]> for Ipv4<'a> {
    type Error = PacketError;

    fn try_from(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let too_short = PacketError::TooShort {
            needed: Self::FIXED_LEN,
            got: bytes.len(),
        };
        let fixed = bytes.first_chunk::<FIXED_LEN>().ok_or(too_short)?;
        let version = fixed[0] >> 4;
        if version != 4 {
            return Err(PacketError::WrongVersion {
                expected: 4,
                got: version,
            });
        }
        let header_len = usize::from(fixed[0] & 0x0f) * 4;
        check_header_len(header_len, Self::FIXED_LEN, bytes.len())?;
        let total_len = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        check_declared_len(total_len, header_len, bytes.len())?;
        let (header, rest) = bytes.split_at_checked(header_len).ok_or(too_short)?;
        let payload = rest.get(..total_len - header_len).ok_or(too_short)?;
        Ok(Self {
            fixed,
            header,
            payload,
        })
    }
}

const FIXED_LEN: usize = 20;
