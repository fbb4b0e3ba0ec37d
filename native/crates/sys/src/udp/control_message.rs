use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ports::Ecn;

/// Control data of one message, written or received.
///
/// The layout is the kernel's: a header of a machine word (the length of header and value), level and type, then the
/// value, padded to a machine word.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(super) struct ControlBuffer {
    pub(super) bytes: [u8; Self::CAPACITY],
}

impl ControlBuffer {
    /// Room for all we ask for at once: packet information, traffic class, segment size (P-67).
    pub(super) const CAPACITY: usize = 128;

    pub(super) const EMPTY: Self = Self {
        bytes: [0; Self::CAPACITY],
    };
}

const _: () = assert!(
    space(20) + space(4) + space(4) <= ControlBuffer::CAPACITY,
    "the sum of all control messages must fit"
);

/// Builds the control data of a send.
pub(super) struct ControlWriter {
    buffer: ControlBuffer,
    len: usize,
}

impl ControlWriter {
    pub(super) const fn new() -> Self {
        Self {
            buffer: ControlBuffer::EMPTY,
            len: 0,
        }
    }

    /// The bytes so far; empty when nothing was added.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.buffer.bytes.get(..self.len).unwrap_or_default()
    }

    /// Pins source address and interface; unspecified and 0 leave the choice to routing.
    pub(super) fn pin(&mut self, source: IpAddr, interface: u32) {
        match source {
            IpAddr::V4(source) => {
                let mut value = [0; 12];
                fill(&mut value, &[&interface.to_ne_bytes(), &source.octets()]);
                self.push(libc::IPPROTO_IP, libc::IP_PKTINFO, &value);
            }
            IpAddr::V6(source) => {
                let mut value = [0; 20];
                fill(&mut value, &[&source.octets(), &interface.to_ne_bytes()]);
                self.push(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &value);
            }
        }
    }

    /// Marks an IPv4 datagram.
    pub(super) fn mark_v4(&mut self, ecn: Ecn) {
        self.push(
            libc::IPPROTO_IP,
            libc::IP_TOS,
            &i32::from(ecn as u8).to_ne_bytes(),
        );
    }

    /// Marks an IPv6 datagram.
    pub(super) fn mark_v6(&mut self, ecn: Ecn) {
        self.push(
            libc::IPPROTO_IPV6,
            libc::IPV6_TCLASS,
            &i32::from(ecn as u8).to_ne_bytes(),
        );
    }

    /// Has the kernel cut the payload into datagrams of this size.
    pub(super) fn segment(&mut self, size: u16) {
        self.push(libc::SOL_UDP, libc::UDP_SEGMENT, &size.to_ne_bytes());
    }

    /// The length field counts header and value exactly; the padding stays zero (SEG-01, P-68).
    fn push(&mut self, level: i32, kind: i32, value: &[u8]) {
        let Some(room) = self
            .buffer
            .bytes
            .get_mut(self.len..self.len + space(value.len()))
        else {
            return;
        };
        let length = (HEADER_LEN + value.len()).to_ne_bytes();
        fill(
            room,
            &[&length, &level.to_ne_bytes(), &kind.to_ne_bytes(), value],
        );
        self.len += space(value.len());
    }
}

/// What the control data of a receive says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ControlValues {
    /// Our address the datagram was sent to.
    pub(super) local: Option<IpAddr>,
    /// The interface it came in by; 0 = unknown.
    pub(super) interface: u32,
    /// The low two bits of its traffic class.
    pub(super) ecn: u8,
    /// Size of each of several merged datagrams.
    pub(super) segment_size: Option<i32>,
}

impl ControlValues {
    /// Reads control data. Every step consumes at least a header, so any bytes end it (P-69); what is malformed or
    /// unknown is left out.
    pub(super) fn read(mut bytes: &[u8]) -> Self {
        let mut values = Self::default();
        while let Some((header, _)) = bytes.split_first_chunk::<HEADER_LEN>() {
            let (length, kind) = header.split_at(size_of::<usize>());
            let length = length.try_into().map_or(0, usize::from_ne_bytes);
            let Some(value) = bytes.get(HEADER_LEN..length) else {
                break;
            };
            let (level, kind) = kind.split_at(4);
            values.note(number(level), number(kind), value);
            bytes = bytes
                .get(length.next_multiple_of(ALIGNMENT)..)
                .unwrap_or_default();
        }
        values
    }

    fn note(&mut self, level: i32, kind: i32, value: &[u8]) {
        match (level, kind) {
            // The interface, the address to answer from, and the destination of the header, which differs for broadcasts.
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                let Some((interface, rest)) = value.split_first_chunk::<4>() else {
                    return;
                };
                let Some((source, _)) = rest.split_first_chunk::<4>() else {
                    return;
                };
                self.interface = u32::from_ne_bytes(*interface);
                self.local = Some(IpAddr::V4(Ipv4Addr::from(*source)));
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                let Some((source, rest)) = value.split_first_chunk::<16>() else {
                    return;
                };
                let Some((interface, _)) = rest.split_first_chunk::<4>() else {
                    return;
                };
                self.interface = u32::from_ne_bytes(*interface);
                self.local = Some(IpAddr::V6(Ipv6Addr::from(*source)));
            }
            // One byte for IPv4, an int for IPv6.
            (libc::IPPROTO_IP, libc::IP_TOS) => {
                self.ecn = value.first().map_or(0, |class| class & 3);
            }
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                self.ecn = u8::try_from(number(value) & 3).unwrap_or(0);
            }
            (libc::SOL_UDP, libc::UDP_GRO) if value.len() >= 4 => {
                self.segment_size = Some(number(value));
            }
            _ => {}
        }
    }
}

/// An int at the start of `bytes`; 0 when there are fewer than four.
fn number(bytes: &[u8]) -> i32 {
    bytes
        .first_chunk::<4>()
        .map_or(0, |bytes| i32::from_ne_bytes(*bytes))
}

fn fill(target: &mut [u8], pieces: &[&[u8]]) {
    for (slot, byte) in target.iter_mut().zip(pieces.iter().copied().flatten()) {
        *slot = *byte;
    }
}

const fn space(value_len: usize) -> usize {
    HEADER_LEN + value_len.next_multiple_of(ALIGNMENT)
}

const ALIGNMENT: usize = size_of::<usize>();
const HEADER_LEN: usize = (ALIGNMENT + 8).next_multiple_of(ALIGNMENT);

#[cfg(test)]
#[path = "control_message_tests.rs"]
mod tests;
