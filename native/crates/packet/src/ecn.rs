//! The congestion mark of a packet that travels inside a tunnel (RFC 6040).

use crate::{IpVersion, Ipv4, Ipv6, checksum};

/// Not capable of congestion marks.
pub const NOT_CAPABLE: u8 = 0;
/// Capable, codepoint 1.
pub const CAPABLE_1: u8 = 1;
/// Capable, codepoint 0.
pub const CAPABLE_0: u8 = 2;
/// Congestion was experienced.
pub const CONGESTION: u8 = 3;

/// What became of an outer mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Carried {
    /// The packet says what both headers say together.
    Yes,
    /// Congestion was met by a packet whose sender cannot hear of it: losing it is the only signal left, so drop it.
    Impossible,
}

/// The mark of a packet: the two low bits of its traffic class. What is no IP packet has none.
#[must_use]
pub fn mark(packet: &[u8]) -> u8 {
    match (IpVersion::of(packet), packet) {
        (Some(IpVersion::V4), [_, class, ..]) => class & MASK,
        (Some(IpVersion::V6), [_, class, ..]) => class >> V6_SHIFT & MASK,
        _ => NOT_CAPABLE,
    }
}

/// Carries the mark of the outer header over to the packet that came out of the tunnel. An IPv4 header checksum that was
/// right stays right, and a wrong one stays wrong.
pub fn carry(outer: u8, packet: &mut [u8]) -> Carried {
    let inner = mark(packet);
    let mark = match (inner, outer) {
        (NOT_CAPABLE, CONGESTION) => return Carried::Impossible,
        (CAPABLE_0 | CAPABLE_1, CONGESTION) => CONGESTION,
        (CAPABLE_0, CAPABLE_1) => CAPABLE_1,
        _ => return Carried::Yes,
    };
    match IpVersion::of(packet) {
        Some(IpVersion::V4) => mark_v4(packet, mark),
        Some(IpVersion::V6) => mark_v6(packet, mark),
        None => {}
    }
    Carried::Yes
}

fn mark_v4(packet: &mut [u8], mark: u8) {
    let Some(header) = packet.first_chunk_mut::<{ Ipv4::FIXED_LEN }>() else {
        return;
    };
    let old = u16::from_be_bytes([header[0], header[1]]);
    header[1] = header[1] & !MASK | mark;
    let new = u16::from_be_bytes([header[0], header[1]]);
    let sum = u16::from_be_bytes([header[10], header[11]]);
    [header[10], header[11]] = checksum::replace(sum, old, new).to_be_bytes();
}

fn mark_v6(packet: &mut [u8], mark: u8) {
    if let Some(header) = packet.first_chunk_mut::<{ Ipv6::FIXED_LEN }>() {
        header[1] = header[1] & !(MASK << V6_SHIFT) | mark << V6_SHIFT;
    }
}

const MASK: u8 = 3;
/// The traffic class of IPv6 lies across two bytes.
const V6_SHIFT: u8 = 4;
