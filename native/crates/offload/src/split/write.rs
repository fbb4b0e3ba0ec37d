//! Writing one piece after the other.

use packet::{Tcp, Udp, checksum, flags};

/// A checked super-frame and how far it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SuperFrame {
    packet_len: usize,
    l3_len: usize,
    header_len: usize,
    segment_size: usize,
    network: Network,
    l4: L4,
    /// Sum of the pseudo-header without the length.
    pseudo: u64,
    pieces: usize,
    written: usize,
}

/// Lengths of a super-frame and its parts in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub(super) packet: usize,
    pub(super) l3: usize,
    /// L3 and L4 header together.
    pub(super) header: usize,
    /// L4 payload of a full piece.
    pub(super) segment: usize,
}

/// What changes in the network header from piece to piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// Identification of the first piece; sum of the header without length, identification and checksum.
    V4 { id: u16, constant: u64 },
    /// Only the payload length.
    V6,
}

/// What changes in the transport header from piece to piece. `constant` is the sum of everything that does not: the
/// pseudo-header without the length and the unchanged header words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum L4 {
    /// Sequence and the word of data offset and flags, as read.
    Tcp {
        sequence: u32,
        offset_flags: u16,
        constant: u64,
    },
    /// UDP with a checksum.
    Udp { constant: u64 },
    /// UDP over IPv4 whose sender switched the checksum off.
    UdpUnchecked,
    /// TCP whose pieces carry the seed.
    TcpElided { sequence: u32, offset_flags: u16 },
    /// UDP whose pieces carry the seed.
    UdpElided,
}

impl SuperFrame {
    pub(super) fn new(lengths: Lengths, network: Network, l4: L4, pseudo: u64) -> Self {
        let Lengths {
            packet: packet_len,
            l3: l3_len,
            header: header_len,
            segment: segment_size,
        } = lengths;
        let pieces = (packet_len - header_len).div_ceil(segment_size).max(1);
        Self {
            packet_len,
            l3_len,
            header_len,
            segment_size,
            network,
            l4,
            pseudo,
            pieces,
            written: 0,
        }
    }

    /// Leaves seeds in the pieces instead of checksums. Returns whether the frame allows it.
    pub(super) const fn elide(&mut self) -> bool {
        self.l4 = match self.l4 {
            L4::Tcp {
                sequence,
                offset_flags,
                ..
            } => L4::TcpElided {
                sequence,
                offset_flags,
            },
            L4::Udp { .. } => L4::UdpElided,
            L4::UdpUnchecked => return false,
            elided @ (L4::TcpElided { .. } | L4::UdpElided) => elided,
        };
        true
    }

    pub(super) const fn piece_len_max(&self) -> usize {
        let payload_len = self.packet_len - self.header_len;
        self.header_len
            + if payload_len < self.segment_size {
                payload_len
            } else {
                self.segment_size
            }
    }

    pub(super) const fn pieces_left(&self) -> usize {
        self.pieces - self.written
    }

    pub(super) fn write_next(&mut self, packet: &[u8], out: &mut [u8]) -> Option<usize> {
        if self.pieces_left() == 0 {
            return None;
        }
        let header = packet.get(..self.header_len)?;
        let from = self.header_len + self.written * self.segment_size;
        let payload = packet.get(from..self.packet_len.min(from + self.segment_size))?;
        let len = self.header_len + payload.len();
        let (l3, rest) = out.get_mut(..len)?.split_at_mut_checked(self.l3_len)?;
        let (l4, target) = rest.split_at_mut_checked(self.header_len - self.l3_len)?;
        let (l3_from, l4_from) = header.split_at_checked(self.l3_len)?;
        l3.copy_from_slice(l3_from);
        l4.copy_from_slice(l4_from);
        self.patch_network(l3, len)?;
        self.write_transport(l4, payload, target)?;
        self.written += 1;
        Some(len)
    }

    fn patch_network(&self, l3: &mut [u8], len: usize) -> Option<()> {
        match self.network {
            Network::V4 { id, constant } => {
                let fixed = l3.first_chunk_mut::<20>()?;
                let len = u16::try_from(len).ok()?;
                let id = id.wrapping_add(low_u16(self.written));
                [fixed[2], fixed[3]] = len.to_be_bytes();
                [fixed[4], fixed[5]] = id.to_be_bytes();
                let sum = constant + u64::from(len) + u64::from(id);
                [fixed[10], fixed[11]] = checksum::finish(sum).to_be_bytes();
            }
            Network::V6 => {
                let fixed = l3.first_chunk_mut::<40>()?;
                [fixed[4], fixed[5]] = u16::try_from(len - 40).ok()?.to_be_bytes();
            }
        }
        Some(())
    }

    /// Fills in the transport header and copies the payload, summing it on the way.
    fn write_transport(&self, l4: &mut [u8], payload: &[u8], target: &mut [u8]) -> Option<()> {
        let l4_len = l4.len() + payload.len();
        match self.l4 {
            L4::Tcp {
                sequence,
                offset_flags,
                constant,
            } => {
                let sequence = sequence.wrapping_add(low_u32(self.written * self.segment_size));
                let offset_flags = offset_flags & !u16::from(self.flags_to_clear());
                let words = (sequence >> 16) + (sequence & 0xffff) + u32::from(offset_flags);
                let sum = checksum::copy_add(
                    payload,
                    target,
                    constant + u64::from(words) + l4_len as u64,
                );
                let fixed = l4.first_chunk_mut::<{ Tcp::FIXED_LEN }>()?;
                [fixed[4], fixed[5], fixed[6], fixed[7]] = sequence.to_be_bytes();
                [fixed[12], fixed[13]] = offset_flags.to_be_bytes();
                [fixed[16], fixed[17]] = checksum::finish(sum).to_be_bytes();
            }
            L4::Udp { constant } => {
                // The length counts twice: in the pseudo-header and in the UDP header.
                let sum = checksum::copy_add(payload, target, constant + 2 * l4_len as u64);
                let fixed = l4.first_chunk_mut::<{ Udp::HEADER_LEN }>()?;
                let value = match checksum::finish(sum) {
                    0 => 0xffff,
                    value => value,
                };
                [fixed[4], fixed[5]] = u16::try_from(l4_len).ok()?.to_be_bytes();
                [fixed[6], fixed[7]] = value.to_be_bytes();
            }
            L4::TcpElided {
                sequence,
                offset_flags,
            } => {
                target.copy_from_slice(payload);
                let sequence = sequence.wrapping_add(low_u32(self.written * self.segment_size));
                let offset_flags = offset_flags & !u16::from(self.flags_to_clear());
                let fixed = l4.first_chunk_mut::<{ Tcp::FIXED_LEN }>()?;
                [fixed[4], fixed[5], fixed[6], fixed[7]] = sequence.to_be_bytes();
                [fixed[12], fixed[13]] = offset_flags.to_be_bytes();
                [fixed[16], fixed[17]] = self.seed(l4_len).to_be_bytes();
            }
            L4::UdpElided => {
                target.copy_from_slice(payload);
                let fixed = l4.first_chunk_mut::<{ Udp::HEADER_LEN }>()?;
                [fixed[4], fixed[5]] = u16::try_from(l4_len).ok()?.to_be_bytes();
                [fixed[6], fixed[7]] = self.seed(l4_len).to_be_bytes();
            }
            L4::UdpUnchecked => {
                target.copy_from_slice(payload);
                let fixed = l4.first_chunk_mut::<{ Udp::HEADER_LEN }>()?;
                [fixed[4], fixed[5]] = u16::try_from(l4_len).ok()?.to_be_bytes();
            }
        }
        Some(())
    }

    /// The seed of a piece whose L4 header and payload have this length.
    const fn seed(&self, l4_len: usize) -> u16 {
        checksum::fold(self.pseudo + l4_len as u64)
    }

    /// FIN and PSH stay on the last piece, CWR on the first.
    const fn flags_to_clear(&self) -> u8 {
        let first = if self.written == 0 { 0 } else { flags::CWR };
        let last = if self.written + 1 == self.pieces {
            0
        } else {
            flags::FIN | flags::PSH
        };
        first | last
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "identification counts modulo 2^16"
)]
const fn low_u16(value: usize) -> u16 {
    value as u16
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "sequence numbers count modulo 2^32"
)]
const fn low_u32(value: usize) -> u32 {
    value as u32
}
