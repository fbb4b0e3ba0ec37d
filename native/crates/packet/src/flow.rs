//! Questions about a packet that need no view.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::ipv6::address_at;
use crate::{Ipv4, Ipv6, protocol};

/// IP version 4 or 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl IpVersion {
    /// The version that the first nibble names.
    #[must_use]
    pub const fn of(packet: &[u8]) -> Option<Self> {
        match packet.first() {
            Some(first) => match *first >> 4 {
                4 => Some(Self::V4),
                6 => Some(Self::V6),
                _ => None,
            },
            None => None,
        }
    }
}

/// Protocol and ports of an unfragmented TCP or UDP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Protocol number.
    pub protocol: u8,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// Source and destination address; `None` if the version is unknown or the fixed header is cut off.
#[must_use]
pub fn addresses(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    match IpVersion::of(packet)? {
        IpVersion::V4 => {
            let [.., s0, s1, s2, s3, d0, d1, d2, d3] =
                *packet.first_chunk::<{ Ipv4::FIXED_LEN }>()?;
            Some((
                Ipv4Addr::new(s0, s1, s2, s3).into(),
                Ipv4Addr::new(d0, d1, d2, d3).into(),
            ))
        }
        IpVersion::V6 => {
            let fixed = packet.first_chunk::<{ Ipv6::FIXED_LEN }>()?;
            let source = Ipv6Addr::from(address_at::<8>(fixed));
            Some((
                source.into(),
                Ipv6Addr::from(address_at::<24>(fixed)).into(),
            ))
        }
    }
}

/// Length the packet states: IPv4 total length, or 40 plus the IPv6 payload length. It may exceed the bytes.
#[must_use]
pub fn declared_len(packet: &[u8]) -> Option<usize> {
    let field = |high: u8, low: u8| usize::from(u16::from_be_bytes([high, low]));
    match IpVersion::of(packet)? {
        IpVersion::V4 => {
            let [_, _, high, low, ..] = *packet.first_chunk::<{ Ipv4::FIXED_LEN }>()?;
            Some(field(high, low))
        }
        IpVersion::V6 => {
            let [_, _, _, _, high, low, ..] = *packet.first_chunk::<{ Ipv6::FIXED_LEN }>()?;
            Some(Ipv6::FIXED_LEN + field(high, low))
        }
    }
}

/// Protocol and ports; `None` for fragments, for other protocols and for packets too short to have ports.
#[must_use]
pub fn flow(packet: &[u8]) -> Option<Flow> {
    let (protocol, l4) = match IpVersion::of(packet)? {
        IpVersion::V4 => {
            let ip = Ipv4::try_from(packet).ok().filter(|ip| !ip.is_fragment())?;
            (ip.protocol(), ip.payload())
        }
        IpVersion::V6 => {
            let ip = Ipv6::try_from(packet).ok()?;
            let upper = ip.upper_layer().filter(|upper| !upper.is_fragment)?;
            (
                upper.protocol,
                ip.payload().get(upper.offset - Ipv6::FIXED_LEN..)?,
            )
        }
    };
    if !matches!(protocol, protocol::TCP | protocol::UDP) {
        return None;
    }
    let [s0, s1, d0, d1] = *l4.first_chunk::<4>()?;
    Some(Flow {
        protocol,
        source_port: u16::from_be_bytes([s0, s1]),
        destination_port: u16::from_be_bytes([d0, d1]),
    })
}
