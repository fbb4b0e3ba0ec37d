//! Which packets may be merged, and what has to be equal for it.

use packet::{IpVersion, Ipv4, Ipv6, Tcp, Udp, checksum, flags, protocol};

use super::table::{AddressPair, FlowKey};
use super::{Checksum, Family, MergeLimits};
use crate::finish::upper_layer;

/// What a packet means for the runs of its burst.
#[derive(Debug)]
pub(super) enum Class {
    /// May open or join a run.
    Candidate(Candidate),
    /// Stands alone and ends the run of its flow.
    Flow(FlowKey),
    /// Stands alone and ends every run between its addresses.
    Addresses(AddressPair),
    /// Stands alone; no run can be affected.
    Other,
}

/// A packet that may be merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) key: FlowKey,
    pub(super) shape: Shape,
    pub(super) family: Family,
    /// L3 and L4 header together.
    pub(super) headers_len: u16,
    pub(super) payload_len: u16,
    /// TCP sequence number; 0 for UDP.
    pub(super) sequence: u32,
    /// IPv4 identification; 0 for IPv6.
    pub(super) id: u16,
    /// TCP flags; 0 for UDP.
    pub(super) flags: u8,
}

/// Header fields, besides the flow key, that all packets of a run have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// TOS and fragment word, or traffic class and flow label.
    network: u32,
    /// TTL or hop limit.
    hops: u8,
    acknowledgement: u32,
    window: u16,
    urgent_pointer: u16,
    headers_len: u16,
}

impl Candidate {
    /// Whether this segment ends its run.
    pub(super) const fn pushes(&self) -> bool {
        self.flags & flags::PSH != 0
    }

    /// Whether consecutive packets must have consecutive identifications (IPv4 without DF).
    pub(super) const fn counts_ids(&self) -> bool {
        matches!(self.key.version, IpVersion::V4) && self.shape.network & DF_IN_NETWORK == 0
    }
}

/// Whether the IPv4 header checksum and the TCP or UDP checksum of a candidate's bytes are right.
pub(super) fn verify(packet: &[u8]) -> bool {
    let (protocol_sum, l4) = match IpVersion::of(packet) {
        Some(IpVersion::V4) => {
            let Ok(ip) = Ipv4::try_from(packet) else {
                return false;
            };
            if !ip.header_checksum_valid() {
                return false;
            }
            (ip.pseudo_header(ip.payload().len()), ip.payload())
        }
        Some(IpVersion::V6) => {
            let Ok(ip) = Ipv6::try_from(packet) else {
                return false;
            };
            (
                ip.pseudo_header(ip.next_header(), ip.payload().len()),
                ip.payload(),
            )
        }
        None => return false,
    };
    checksum::finish(checksum::add(l4, protocol_sum)) == 0
}

/// Whether the IPv4 header checksum is right; IPv6 has none.
pub(super) fn network_header_valid(packet: &[u8]) -> bool {
    match IpVersion::of(packet) {
        Some(IpVersion::V4) => Ipv4::try_from(packet).is_ok_and(|ip| ip.header_checksum_valid()),
        Some(IpVersion::V6) => true,
        None => false,
    }
}

/// Whether a packet can carry an elided checksum: whole, TCP or UDP, and with a complete header of theirs.
pub(super) fn may_be_elided(packet: &[u8]) -> bool {
    let Some(upper) = upper_layer(packet).filter(|upper| !upper.is_fragment) else {
        return false;
    };
    let Some(l4) = packet.get(upper.offset..) else {
        return false;
    };
    match upper.protocol {
        protocol::TCP => Tcp::try_from(l4).is_ok(),
        protocol::UDP => Udp::try_from(l4).is_ok(),
        _ => false,
    }
}

/// Looks at the headers only; checksums are verified when a packet is about to be merged.
pub(super) fn classify(
    packet: &[u8],
    peer: u32,
    limits: &MergeLimits,
    checksum: Checksum,
) -> Class {
    match IpVersion::of(packet) {
        Some(IpVersion::V4) => classify_v4(packet, peer, limits, checksum),
        Some(IpVersion::V6) => classify_v6(packet, peer, limits, checksum),
        None => Class::Other,
    }
}

/// The network header's share in the decision.
struct Ground {
    pair: AddressPair,
    protocol: u8,
    network: u32,
    hops: u8,
    id: u16,
    header_len: usize,
    /// Whether the network header allows merging.
    mergeable: bool,
}

fn classify_v4(packet: &[u8], peer: u32, limits: &MergeLimits, checksum: Checksum) -> Class {
    let Ok(ip) = Ipv4::try_from(packet) else {
        return Class::Other;
    };
    let pair = AddressPair {
        peer,
        version: IpVersion::V4,
        source: u32::from(ip.source()).into(),
        destination: u32::from(ip.destination()).into(),
        protocol: Some(ip.protocol()),
    };
    if ip.is_later_fragment() {
        return Class::Addresses(pair);
    }
    let ground = Ground {
        pair,
        protocol: ip.protocol(),
        network: u32::from(ip.tos()) << 16 | u32::from(ip.fragment_word()),
        hops: ip.ttl(),
        id: ip.id(),
        header_len: ip.header().len(),
        mergeable: ip.header().len() == Ipv4::FIXED_LEN
            && ip.fragment_word() & !Ipv4::DONT_FRAGMENT == 0
            && packet.len() <= limits.inner_mtu,
    };
    classify_l4(&ground, ip.payload(), limits, checksum)
}

fn classify_v6(packet: &[u8], peer: u32, limits: &MergeLimits, checksum: Checksum) -> Class {
    let Ok(ip) = Ipv6::try_from(packet) else {
        return Class::Other;
    };
    let direct = matches!(ip.next_header(), protocol::TCP | protocol::UDP);
    let upper = if direct { None } else { ip.upper_layer() };
    let pair = AddressPair {
        peer,
        version: IpVersion::V6,
        source: ip.source().into(),
        destination: ip.destination().into(),
        protocol: if direct {
            Some(ip.next_header())
        } else {
            upper.map(|upper| upper.protocol)
        },
    };
    if !direct {
        return Class::Addresses(pair);
    }
    let ground = Ground {
        pair,
        protocol: ip.next_header(),
        network: ip.version_class_flow(),
        hops: ip.hop_limit(),
        id: 0,
        header_len: Ipv6::FIXED_LEN,
        mergeable: packet.len() <= limits.inner_mtu,
    };
    classify_l4(&ground, ip.payload(), limits, checksum)
}

fn classify_l4(ground: &Ground, l4: &[u8], limits: &MergeLimits, checksum: Checksum) -> Class {
    if !matches!(ground.protocol, protocol::TCP | protocol::UDP) {
        return Class::Other;
    }
    let Some(ports) = l4.first_chunk::<4>() else {
        return Class::Addresses(ground.pair);
    };
    let key = FlowKey {
        source: ground.pair.source,
        destination: ground.pair.destination,
        ports: u32::from_be_bytes(*ports),
        peer: ground.pair.peer,
        version: ground.pair.version,
        protocol: ground.protocol,
    };
    let candidate = if !ground.mergeable {
        None
    } else if ground.protocol == protocol::TCP {
        if limits.tcp {
            tcp_candidate(ground, key, l4)
        } else {
            None
        }
    } else if limits.udp {
        udp_candidate(ground, key, l4, limits, checksum)
    } else {
        None
    };
    candidate.map_or(Class::Flow(key), Class::Candidate)
}

fn tcp_candidate(ground: &Ground, key: FlowKey, l4: &[u8]) -> Option<Candidate> {
    let tcp = Tcp::try_from(l4).ok()?;
    let plain = tcp.flags() & !flags::PSH == flags::ACK && tcp.reserved_bits() == 0;
    if !plain || tcp.payload().is_empty() {
        return None;
    }
    let headers_len = u16::try_from(ground.header_len + tcp.header().len()).ok()?;
    Some(Candidate {
        key,
        shape: Shape {
            network: ground.network,
            hops: ground.hops,
            acknowledgement: tcp.acknowledgement(),
            window: tcp.window(),
            urgent_pointer: tcp.urgent_pointer(),
            headers_len,
        },
        family: Family::Tcp,
        headers_len,
        payload_len: u16::try_from(tcp.payload().len()).ok()?,
        sequence: tcp.sequence(),
        id: ground.id,
        flags: tcp.flags(),
    })
}

fn udp_candidate(
    ground: &Ground,
    key: FlowKey,
    l4: &[u8],
    limits: &MergeLimits,
    checksum: Checksum,
) -> Option<Candidate> {
    let udp = Udp::try_from(l4).ok()?;
    let unchecked = checksum == Checksum::Unverified && udp.checksum() == 0;
    if udp.len() != l4.len() || udp.is_empty() || unchecked {
        return None;
    }
    if limits
        .udp_ports_never_merged
        .contains(&udp.destination_port())
    {
        return None;
    }
    let headers_len = u16::try_from(ground.header_len + Udp::HEADER_LEN).ok()?;
    Some(Candidate {
        key,
        shape: Shape {
            network: ground.network,
            hops: ground.hops,
            acknowledgement: 0,
            window: 0,
            urgent_pointer: 0,
            headers_len,
        },
        family: Family::Udp,
        headers_len,
        payload_len: u16::try_from(udp.payload().len()).ok()?,
        sequence: 0,
        id: ground.id,
        flags: 0,
    })
}

/// DF in [`Shape::network`] of an IPv4 packet.
const DF_IN_NETWORK: u32 = Ipv4::DONT_FRAGMENT as u32;
