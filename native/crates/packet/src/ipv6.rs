//! The IPv6 view and the walk over extension headers.

use core::net::Ipv6Addr;

use crate::checksum;
use crate::error::{PacketError, check_declared_len};

/// An IPv6 packet whose version and payload length agree with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6<'a> {
    fixed: &'a [u8; FIXED_LEN],
    payload: &'a [u8],
}

/// Where the upper layer of an IPv6 packet starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpperLayer {
    /// Next-header value of the upper layer.
    pub protocol: u8,
    /// Offset from the start of the IPv6 header.
    pub offset: usize,
    /// Whether a fragment header states that this is one of several fragments.
    pub is_fragment: bool,
    /// Whether it is a fragment without an L4 header (offset above 0).
    pub is_later_fragment: bool,
}

impl<'a> Ipv6<'a> {
    /// Bytes of the fixed header.
    pub const FIXED_LEN: usize = FIXED_LEN;

    /// Everything behind the fixed header, cut to the payload length; extension headers are part of it.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Fixed header and payload length.
    #[must_use]
    pub const fn total_len(&self) -> usize {
        Self::FIXED_LEN + self.payload.len()
    }

    /// Version, traffic class and flow label as one word.
    #[must_use]
    pub const fn version_class_flow(&self) -> u32 {
        u32::from_be_bytes([self.fixed[0], self.fixed[1], self.fixed[2], self.fixed[3]])
    }

    /// The first next-header value.
    #[must_use]
    pub const fn next_header(&self) -> u8 {
        self.fixed[6]
    }

    /// Hop limit.
    #[must_use]
    pub const fn hop_limit(&self) -> u8 {
        self.fixed[7]
    }

    /// The source address.
    #[must_use]
    pub fn source(&self) -> Ipv6Addr {
        Ipv6Addr::from(self.source_bytes())
    }

    /// The destination address.
    #[must_use]
    pub fn destination(&self) -> Ipv6Addr {
        Ipv6Addr::from(self.destination_bytes())
    }

    /// Sum of the pseudo-header for an upper layer of `l4_len` bytes and next-header value `protocol`.
    #[must_use]
    pub fn pseudo_header(&self, protocol: u8, l4_len: usize) -> u64 {
        checksum::pseudo_header_v6(
            self.source_bytes(),
            self.destination_bytes(),
            protocol,
            l4_len,
        )
    }

    /// Walks hop-by-hop, routing, destination-options and fragment headers.
    ///
    /// `None` if an extension header is cut off. A header it does not know ends the walk as the upper layer, and so
    /// does a fragment that does not start at offset 0.
    #[must_use]
    pub fn upper_layer(&self) -> Option<UpperLayer> {
        let mut upper = UpperLayer {
            protocol: self.next_header(),
            offset: Self::FIXED_LEN,
            is_fragment: false,
            is_later_fragment: false,
        };
        let mut rest = self.payload;
        loop {
            match upper.protocol {
                HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                    let [next, units] = *rest.first_chunk::<2>()?;
                    let len = (usize::from(units) + 1) * 8;
                    rest = rest.get(len..)?;
                    upper.protocol = next;
                    upper.offset += len;
                }
                FRAGMENT => {
                    let [next, _, high, low, ..] = *rest.first_chunk::<FRAGMENT_LEN>()?;
                    let word = u16::from_be_bytes([high, low]);
                    rest = rest.get(FRAGMENT_LEN..)?;
                    upper.protocol = next;
                    upper.offset += FRAGMENT_LEN;
                    upper.is_later_fragment = word & 0xfff8 != 0;
                    upper.is_fragment = word & 0xfff9 != 0;
                    if upper.is_later_fragment {
                        return Some(upper);
                    }
                }
                _ => return Some(upper),
            }
        }
    }

    /// Walks every extension header, authentication, mobility and host-identity ones included, to the real protocol.
    ///
    /// `None` if one is cut off or there are more than [`CHAIN_MAX`]. Data behind these headers may be protected by
    /// them, so this is for judging a packet, not for changing it.
    #[must_use]
    pub fn last_header(&self) -> Option<UpperLayer> {
        last_header(self.next_header(), self.payload)
    }

    fn source_bytes(&self) -> [u8; 16] {
        address_at::<8>(self.fixed)
    }

    fn destination_bytes(&self) -> [u8; 16] {
        address_at::<24>(self.fixed)
    }
}

impl<'a> TryFrom<&'a [u8]> for Ipv6<'a> {
    type Error = PacketError;

    fn try_from(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let too_short = PacketError::TooShort {
            needed: Self::FIXED_LEN,
            got: bytes.len(),
        };
        let (fixed, rest) = bytes.split_first_chunk::<FIXED_LEN>().ok_or(too_short)?;
        let version = fixed[0] >> 4;
        if version != 6 {
            return Err(PacketError::WrongVersion {
                expected: 6,
                got: version,
            });
        }
        let payload_len = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        let declared = Self::FIXED_LEN + payload_len;
        check_declared_len(declared, Self::FIXED_LEN, bytes.len())?;
        let payload = rest.get(..payload_len).ok_or(too_short)?;
        Ok(Self { fixed, payload })
    }
}

/// [`Ipv6::last_header`] of a packet whose end may be missing, as ICMP errors quote them: `payload` is what there is
/// behind the fixed header.
#[must_use]
pub fn last_header(next_header: u8, payload: &[u8]) -> Option<UpperLayer> {
    let mut upper = UpperLayer {
        protocol: next_header,
        offset: FIXED_LEN,
        is_fragment: false,
        is_later_fragment: false,
    };
    let mut rest = payload;
    for _ in 0..=CHAIN_MAX {
        let stated = rest.first_chunk::<2>();
        let units = stated.map_or(0, |[_, units]| usize::from(*units));
        let len = match upper.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | HOST_IDENTITY | SHIM6 => {
                (units + 1) * 8
            }
            AUTHENTICATION => (units + 2) * 4,
            FRAGMENT => FRAGMENT_LEN,
            _ => return Some(upper),
        };
        let [next, _] = *stated?;
        if upper.protocol == FRAGMENT {
            let [_, _, high, low, ..] = *rest.first_chunk::<FRAGMENT_LEN>()?;
            let word = u16::from_be_bytes([high, low]);
            upper.is_later_fragment |= word & 0xfff8 != 0;
            upper.is_fragment |= word & 0xfff9 != 0;
        }
        rest = rest.get(len..)?;
        upper.protocol = next;
        upper.offset += len;
        if upper.is_later_fragment {
            return Some(upper);
        }
    }
    None
}

/// Extension headers that [`last_header`] walks over at most.
pub const CHAIN_MAX: usize = 16;

/// The 16 bytes at `AT`.
pub(crate) fn address_at<const AT: usize>(fixed: &[u8; Ipv6::FIXED_LEN]) -> [u8; 16] {
    let mut address = [0; 16];
    for (to, from) in address.iter_mut().zip(fixed.iter().skip(AT)) {
        *to = *from;
    }
    address
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const FRAGMENT_LEN: usize = 8;
const DESTINATION_OPTIONS: u8 = 60;
const AUTHENTICATION: u8 = 51;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;
const FIXED_LEN: usize = 40;
