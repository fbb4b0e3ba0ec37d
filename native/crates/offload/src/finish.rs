//! Finishing the checksum of a packet that is not split.

use packet::{IpVersion, Ipv4, Ipv6, Tcp, Udp, checksum, protocol};

use crate::{SplitError, VirtioHeader};

/// Where the checksum of one packet is finished, and how a zero is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finish {
    start: usize,
    field: usize,
    zero: u16,
    of: Of,
}

/// Whose checksum it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// That of the packet's own TCP or UDP header.
    Transport,
    /// Another protocol's, or one of a packet inside the packet.
    Other,
}

impl Finish {
    /// Checks the header's checksum position against the parsed packet; `packet` is already cut to its declared length.
    pub(crate) fn plan(header: &VirtioHeader, packet: &[u8]) -> Result<Self, SplitError> {
        let start = usize::from(header.checksum_start);
        let offset = usize::from(header.checksum_offset);
        let bad_position = SplitError::ChecksumPosition {
            start,
            offset,
            packet_len: packet.len(),
        };
        let upper = upper_layer(packet).ok_or(bad_position)?;
        if upper.protocol == protocol::SCTP {
            return Err(SplitError::ChecksumKind {
                protocol: upper.protocol,
            });
        }
        if start < upper.offset || start + offset + 2 > packet.len() {
            return Err(bad_position);
        }
        let own = start == upper.offset && !upper.is_later_fragment;
        let wanted = match upper.protocol {
            protocol::TCP => Some(Tcp::CHECKSUM_OFFSET),
            protocol::UDP => Some(Udp::CHECKSUM_OFFSET),
            protocol::ICMPV6 => Some(ICMPV6_CHECKSUM_OFFSET),
            _ => None,
        };
        if own && wanted.is_some_and(|wanted| wanted != offset) {
            return Err(bad_position);
        }
        let zero = if own && upper.protocol == protocol::TCP {
            0
        } else {
            0xffff
        };
        let of = match upper.protocol {
            protocol::TCP | protocol::UDP if own && !upper.is_fragment => Of::Transport,
            _ => Of::Other,
        };
        Ok(Self {
            start,
            field: start + offset,
            zero,
            of,
        })
    }

    /// Whether the checksum is that of the packet's own TCP or UDP header, and the packet is no fragment.
    pub(crate) fn is_of_transport(self) -> bool {
        self.of == Of::Transport
    }

    /// Replaces the seed by the finished checksum; nothing happens if the packet is shorter than it was when planned.
    pub(crate) fn apply(self, packet: &mut [u8]) {
        let Some(summed) = packet.get(self.start..) else {
            return;
        };
        let value = match checksum::finish(checksum::add(summed, 0)) {
            0 => self.zero,
            value => value,
        };
        if let Some(field) = packet
            .get_mut(self.field..)
            .and_then(<[u8]>::first_chunk_mut)
        {
            *field = value.to_be_bytes();
        }
    }
}

/// The upper layer of a packet of either version; `None` if a header is cut off.
pub(crate) fn upper_layer(packet: &[u8]) -> Option<packet::UpperLayer> {
    match IpVersion::of(packet)? {
        IpVersion::V4 => {
            let ip = Ipv4::try_from(packet).ok()?;
            Some(packet::UpperLayer {
                protocol: ip.protocol(),
                offset: ip.header().len(),
                is_fragment: ip.is_fragment(),
                is_later_fragment: ip.is_later_fragment(),
            })
        }
        IpVersion::V6 => Ipv6::try_from(packet).ok()?.upper_layer(),
    }
}

const ICMPV6_CHECKSUM_OFFSET: usize = 2;
