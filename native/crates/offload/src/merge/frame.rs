//! One frame of the output list and the run it may hold.

use packet::{IpVersion, Ipv4, Ipv6, Tcp, Udp, checksum, flags, protocol};

use super::candidate::{self, Candidate, Shape};
use super::{Checksum, Family};
use crate::finish::upper_layer;
use crate::{L3_LEN_MAX, NEEDS_CHECKSUM, VIRTIO_LEN, VirtioHeader, gso};

/// One write for the TUN device: the header, then the parts in order.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The virtio header; left out on a plain device.
    pub header: [u8; VIRTIO_LEN],
    /// First packet, then the payloads of the others; at most 1,023.
    pub parts: &'a [Part],
    /// Packets inside.
    pub packets: usize,
    /// Protocol of a merged frame; `None` for a single packet.
    pub family: Option<Family>,
}

impl<'a> Frame<'a> {
    pub(super) const fn single(header: [u8; VIRTIO_LEN], parts: &'a [Part]) -> Self {
        Self {
            header,
            parts,
            packets: 1,
            family: None,
        }
    }
}

/// A piece of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Offset in the arena.
    pub start: u32,
    /// Bytes.
    pub len: u32,
}

impl Part {
    /// The bytes of this part.
    #[must_use]
    pub fn of(self, arena: &[u8]) -> Option<&[u8]> {
        let start = self.start as usize;
        arena.get(start..start.checked_add(self.len as usize)?)
    }
}

/// A frame being collected.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutFrame {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) packets: u32,
    pub(super) run: Option<Run>,
}

impl OutFrame {
    /// Bytes that later packets leave out.
    pub(super) fn headers_len(&self) -> u32 {
        self.run.map_or(0, |run| u32::from(run.headers_len))
    }
}

/// What the next packet of a run is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    shape: Shape,
    family: Family,
    headers_len: u16,
    segment_size: u16,
    /// L3 length of the merged packet.
    total_len: usize,
    next_sequence: u32,
    next_id: u16,
    ids: Ids,
    flags: u8,
    first: Verified,
}

/// Whether another packet may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    Open,
    Closed,
}

/// Whether IPv4 identifications must count up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    Consecutive,
    Arbitrary,
}

/// Whether the checksums of the run's first packet are known to be right; looked at only when a second packet comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verified {
    NotYet,
    HeaderOnlyNeeded,
    Yes,
}

impl Run {
    pub(super) fn open(candidate: &Candidate, checksum: Checksum) -> Self {
        Self {
            shape: candidate.shape,
            family: candidate.family,
            headers_len: candidate.headers_len,
            segment_size: candidate.payload_len,
            total_len: usize::from(candidate.headers_len) + usize::from(candidate.payload_len),
            next_sequence: candidate
                .sequence
                .wrapping_add(candidate.payload_len.into()),
            next_id: candidate.id.wrapping_add(1),
            ids: if candidate.counts_ids() {
                Ids::Consecutive
            } else {
                Ids::Arbitrary
            },
            flags: candidate.flags,
            first: match checksum {
                Checksum::Unverified => Verified::NotYet,
                Checksum::Elided => Verified::HeaderOnlyNeeded,
            },
        }
    }

    /// Whether the headers let the candidate follow; its checksum is a later question.
    pub(super) fn accepts(
        &self,
        candidate: &Candidate,
        first_packet: &[u8],
        packet: &[u8],
    ) -> bool {
        let in_order = match self.family {
            Family::Tcp => candidate.sequence == self.next_sequence,
            Family::Udp => true,
        };
        let id_fits = self.ids == Ids::Arbitrary || candidate.id == self.next_id;
        in_order
            && id_fits
            && candidate.shape == self.shape
            && candidate.payload_len <= self.segment_size
            && self.total_len + usize::from(candidate.payload_len) <= L3_LEN_MAX
            && (self.family == Family::Udp || self.options(first_packet) == self.options(packet))
    }

    /// Verifies the run's first packet the first time it matters.
    pub(super) fn verify_first(&mut self, first_packet: &[u8]) -> bool {
        let valid = match self.first {
            Verified::Yes => true,
            Verified::NotYet => candidate::verify(first_packet),
            Verified::HeaderOnlyNeeded => candidate::network_header_valid(first_packet),
        };
        if valid {
            self.first = Verified::Yes;
        }
        valid
    }

    /// Takes the candidate in.
    pub(super) fn append(&mut self, candidate: &Candidate) -> RunState {
        self.total_len += usize::from(candidate.payload_len);
        self.next_sequence = self
            .next_sequence
            .wrapping_add(candidate.payload_len.into());
        self.next_id = self.next_id.wrapping_add(1);
        self.flags |= candidate.flags;
        if candidate.payload_len < self.segment_size || candidate.pushes() {
            RunState::Closed
        } else {
            RunState::Open
        }
    }

    pub(super) const fn family(&self) -> Family {
        self.family
    }

    /// Whether this is UDP and every datagram, the last one too, has full size.
    pub(super) fn has_equal_udp_tail(&self) -> bool {
        let payload = self.total_len - usize::from(self.headers_len);
        self.family == Family::Udp && payload.is_multiple_of(self.segment_size.into())
    }

    /// Rewrites the first packet's headers for the whole run and returns the virtio header.
    pub(super) fn seal(&self, arena: &mut [u8], first: Part) -> VirtioHeader {
        let single = VirtioHeader::default();
        let start = first.start as usize;
        let headers = start
            .checked_add(self.headers_len.into())
            .and_then(|end| arena.get_mut(start..end));
        let Some(headers) = headers else {
            return single;
        };
        let Some(l3) = seal_network(headers, self.total_len) else {
            return single;
        };
        let seed = checksum::fold(l3.pseudo).to_be_bytes();
        let Some(l4) = headers.get_mut(usize::from(l3.len)..) else {
            return single;
        };
        let sealed = match self.family {
            Family::Tcp => l4.first_chunk_mut::<{ Tcp::FIXED_LEN }>().map(|tcp| {
                tcp[13] |= self.flags & flags::PSH;
                [tcp[16], tcp[17]] = seed;
            }),
            Family::Udp => l4.first_chunk_mut::<{ Udp::HEADER_LEN }>().map(|udp| {
                [udp[4], udp[5]] = l3.l4_len.to_be_bytes();
                [udp[6], udp[7]] = seed;
            }),
        };
        if sealed.is_none() {
            return single;
        }
        let (gso_type, checksum_offset) = match (self.family, l3.version) {
            (Family::Tcp, IpVersion::V4) => (gso::TCP4, TCP_CHECKSUM_OFFSET),
            (Family::Tcp, IpVersion::V6) => (gso::TCP6, TCP_CHECKSUM_OFFSET),
            (Family::Udp, _) => (gso::UDP, UDP_CHECKSUM_OFFSET),
        };
        VirtioHeader {
            flags: NEEDS_CHECKSUM,
            gso_type,
            header_len: self.headers_len,
            segment_size: self.segment_size,
            checksum_start: l3.len,
            checksum_offset,
        }
    }

    /// The TCP options of one of the run's packets.
    fn options<'a>(&self, packet: &'a [u8]) -> Option<&'a [u8]> {
        let l3_len = match IpVersion::of(packet)? {
            IpVersion::V4 => Ipv4::FIXED_LEN,
            IpVersion::V6 => Ipv6::FIXED_LEN,
        };
        packet.get(l3_len + Tcp::FIXED_LEN..usize::from(self.headers_len))
    }
}

/// The network header of a merged packet.
struct SealedNetwork {
    version: IpVersion,
    len: u16,
    l4_len: u16,
    pseudo: u64,
}

/// Sets the length fields and the IPv4 header checksum.
fn seal_network(headers: &mut [u8], total_len: usize) -> Option<SealedNetwork> {
    match IpVersion::of(headers)? {
        IpVersion::V4 => {
            let ip = headers.first_chunk_mut::<{ Ipv4::FIXED_LEN }>()?;
            let total_len = u16::try_from(total_len).ok()?;
            let l4_len = total_len.checked_sub(V4_LEN)?;
            [ip[2], ip[3]] = total_len.to_be_bytes();
            [ip[10], ip[11]] = [0, 0];
            [ip[10], ip[11]] = checksum::finish(checksum::add(ip, 0)).to_be_bytes();
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
                protocol,
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
            ] = *ip;
            let pseudo = checksum::pseudo_header_v4(
                [s0, s1, s2, s3],
                [d0, d1, d2, d3],
                protocol,
                l4_len.into(),
            );
            Some(SealedNetwork {
                version: IpVersion::V4,
                len: V4_LEN,
                l4_len,
                pseudo,
            })
        }
        IpVersion::V6 => {
            let ip = headers.first_chunk_mut::<{ Ipv6::FIXED_LEN }>()?;
            let l4_len = u16::try_from(total_len.checked_sub(Ipv6::FIXED_LEN)?).ok()?;
            [ip[4], ip[5]] = l4_len.to_be_bytes();
            let protocol = u64::from(ip[6]);
            let (_, addresses) = ip.split_first_chunk::<8>()?;
            let pseudo = checksum::add(addresses, protocol + u64::from(l4_len));
            Some(SealedNetwork {
                version: IpVersion::V6,
                len: V6_LEN,
                l4_len,
                pseudo,
            })
        }
    }
}

/// The header of a single packet whose checksum field holds the seed.
pub(super) fn elided_header(arena: &[u8], packet: Part) -> VirtioHeader {
    let Some(upper) = packet.of(arena).and_then(upper_layer) else {
        return VirtioHeader::default();
    };
    let checksum_offset = match upper.protocol {
        protocol::TCP => TCP_CHECKSUM_OFFSET,
        protocol::UDP => UDP_CHECKSUM_OFFSET,
        _ => return VirtioHeader::default(),
    };
    let Ok(checksum_start) = u16::try_from(upper.offset) else {
        return VirtioHeader::default();
    };
    VirtioHeader {
        flags: NEEDS_CHECKSUM,
        checksum_start,
        checksum_offset,
        ..VirtioHeader::default()
    }
}

const V4_LEN: u16 = 20;
const V6_LEN: u16 = 40;
const TCP_CHECKSUM_OFFSET: u16 = 16;
const UDP_CHECKSUM_OFFSET: u16 = 6;

#[cfg(test)]
mod tests {
    use super::super::MergeLimits;
    use super::super::candidate::{Class, classify};
    use super::*;

    /// P-24: the first packet of a run is summed once, however many packets join; only a second sum could notice that its
    /// bytes changed meanwhile.
    #[test]
    fn p_24_the_first_packet_of_a_run_is_verified_once() {
        let mut packet = testkit::t4(0, 100);
        let limits = MergeLimits::default();
        let Class::Candidate(candidate) = classify(&packet, 1, &limits, Checksum::Unverified)
        else {
            panic!("the fixture is a candidate");
        };
        let mut run = Run::open(&candidate, Checksum::Unverified);
        let mut other = Run::open(&candidate, Checksum::Unverified);

        assert!(run.verify_first(&packet));
        packet[60] ^= 1;

        assert!(run.verify_first(&packet), "not summed again");
        assert!(!other.verify_first(&packet), "summed the first time");
    }
}
