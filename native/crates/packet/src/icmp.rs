//! The ICMP errors that a router sends about a packet it cannot forward.

use core::net::IpAddr;

use crate::{IpVersion, addresses, checksum, protocol};

/// Bytes that are always enough for [`write_too_big`].
pub const TOO_BIG_LEN_MAX: usize = 1280;

/// Writes "fragmentation needed" (IPv4) or "packet too big" (IPv6) about `packet` into `out`, and returns its length.
///
/// The answer goes from `router` to the source of `packet`. `None` if `packet` is no IP packet, if `router` is of the
/// other family, if the packet is itself an ICMP error or must not be answered (multicast or unspecified source, later
/// fragment), or if `out` is shorter than the answer (at most [`TOO_BIG_LEN_MAX`]).
#[must_use]
pub fn write_too_big(packet: &[u8], mtu: usize, router: IpAddr, out: &mut [u8]) -> Option<usize> {
    let (source, destination) = addresses(packet)?;
    if source.is_multicast() || source.is_unspecified() || destination.is_multicast() {
        return None;
    }
    match (IpVersion::of(packet)?, router, source) {
        (IpVersion::V4, IpAddr::V4(router), IpAddr::V4(source)) => {
            let quoted = quotable_v4(packet)?;
            let len = V4_HEADERS_LEN + quoted.len();
            let out = out.get_mut(..len)?;
            let (headers, body) = out.split_first_chunk_mut::<V4_HEADERS_LEN>()?;
            let [len_high, len_low] = u16::try_from(len).ok()?.to_be_bytes();
            let [mtu_high, mtu_low] = u16::try_from(mtu).unwrap_or(u16::MAX).to_be_bytes();
            let [r0, r1, r2, r3] = router.octets();
            let [s0, s1, s2, s3] = source.octets();
            *headers = [
                0x45,
                0xc0,
                len_high,
                len_low,
                0,
                0,
                0x40,
                0,
                64,
                protocol::ICMP,
                0,
                0,
                r0,
                r1,
                r2,
                r3,
                s0,
                s1,
                s2,
                s3,
                3,
                4,
                0,
                0,
                0,
                0,
                mtu_high,
                mtu_low,
            ];
            body.copy_from_slice(quoted);
            let (ip, icmp) = out.split_first_chunk_mut::<20>()?;
            [ip[10], ip[11]] = checksum::finish(checksum::add(ip, 0)).to_be_bytes();
            let sum = checksum::finish(checksum::add(icmp, 0));
            icmp.get_mut(2..4)?.copy_from_slice(&sum.to_be_bytes());
            Some(len)
        }
        (IpVersion::V6, IpAddr::V6(router), IpAddr::V6(source)) => {
            let quoted = quotable_v6(packet)?;
            let len = V6_HEADERS_LEN + quoted.len();
            let out = out.get_mut(..len)?;
            let (headers, body) = out.split_first_chunk_mut::<V6_HEADERS_LEN>()?;
            let icmp_len = u16::try_from(len - 40).ok()?;
            let [len_high, len_low] = icmp_len.to_be_bytes();
            *headers = [0; V6_HEADERS_LEN];
            headers[..8].copy_from_slice(&[0x60, 0, 0, 0, len_high, len_low, protocol::ICMPV6, 64]);
            headers[8..24].copy_from_slice(&router.octets());
            headers[24..40].copy_from_slice(&source.octets());
            headers[40] = 2;
            headers[44..].copy_from_slice(&u32::try_from(mtu).unwrap_or(u32::MAX).to_be_bytes());
            body.copy_from_slice(quoted);
            let seed = checksum::pseudo_header_v6(
                router.octets(),
                source.octets(),
                protocol::ICMPV6,
                usize::from(icmp_len),
            );
            let sum = checksum::finish(checksum::add(out.get(40..)?, seed));
            out.get_mut(42..44)?.copy_from_slice(&sum.to_be_bytes());
            Some(len)
        }
        _ => None,
    }
}

/// The start of an IPv4 packet that an error quotes.
fn quotable_v4(packet: &[u8]) -> Option<&[u8]> {
    let fixed = packet.first_chunk::<20>()?;
    let later_fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff != 0;
    let header_len = usize::from(fixed[0] & 0x0f) * 4;
    let icmp_type = packet.get(header_len).copied();
    let is_error = fixed[9] == protocol::ICMP && !matches!(icmp_type, Some(0 | 8 | 13 | 14));
    if later_fragment || is_error {
        return None;
    }
    packet.get(..packet.len().min(V4_LEN_MAX - V4_HEADERS_LEN))
}

/// The start of an IPv6 packet that an error quotes.
fn quotable_v6(packet: &[u8]) -> Option<&[u8]> {
    let fixed = packet.first_chunk::<40>()?;
    let is_error = fixed[6] == protocol::ICMPV6 && packet.get(40).is_none_or(|kind| *kind < 128);
    if is_error {
        return None;
    }
    packet.get(..packet.len().min(TOO_BIG_LEN_MAX - V6_HEADERS_LEN))
}

const V4_HEADERS_LEN: usize = 28;
const V6_HEADERS_LEN: usize = 48;
/// An IPv4 ICMP error stays within what every host must take.
const V4_LEN_MAX: usize = 576;
