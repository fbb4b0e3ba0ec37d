use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use packet::{IpVersion, Ipv4, Ipv6, protocol};

use crate::layers::{has_ports, is_icmp};

/// What rules and flows look at in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol behind the IP header and its extensions.
    pub protocol: u8,
    /// What its header says.
    pub layer4: Layer4,
}

/// What the header behind IP says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer4 {
    /// Ports of an unfragmented TCP or UDP packet.
    Ports {
        /// Source port.
        source: u16,
        /// Destination port.
        destination: u16,
    },
    /// An unfragmented ICMP or `ICMPv6` message.
    Icmp {
        /// The type.
        kind: u8,
        /// The code.
        code: u8,
        /// Bytes 4 and 5: the identifier of queries.
        id: u16,
    },
    /// A fragment, another protocol, or a header that is cut off.
    Opaque,
}

/// A packet, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parsed<'a> {
    pub(crate) subject: Subject,
    /// The TCP flags byte; 0 for everything else.
    pub(crate) tcp_flags: u8,
    /// The packet that an ICMP error quotes.
    pub(crate) quoted: Option<&'a [u8]>,
}

impl Subject {
    /// Reads a packet; `None` if it is not IP or its headers are cut off.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Subject> {
        Parsed::of(bytes).map(|parsed| parsed.subject)
    }

    /// Reads the start of a packet as an ICMP error quotes it.
    #[must_use]
    pub fn of_quoted(bytes: &[u8]) -> Option<Subject> {
        let (source, destination) = packet::addresses(bytes)?;
        let (protocol, l4) = match IpVersion::of(bytes)? {
            IpVersion::V4 => {
                let fixed = bytes.first_chunk::<{ Ipv4::FIXED_LEN }>()?;
                let header_len = usize::from(fixed[0] & 0x0f) * 4;
                let word = u16::from_be_bytes([fixed[6], fixed[7]]);
                let whole = word & (Ipv4::MORE_FRAGMENTS | Ipv4::OFFSET_MASK) == 0;
                (fixed[9], bytes.get(header_len..).filter(|_| whole))
            }
            IpVersion::V6 => {
                let payload = bytes.get(Ipv6::FIXED_LEN..)?;
                let upper = packet::last_header(*bytes.get(6)?, payload)?;
                let l4 = bytes.get(upper.offset..);
                (upper.protocol, l4.filter(|_| !upper.is_fragment))
            }
        };
        Some(Subject {
            source,
            destination,
            protocol,
            layer4: l4.map_or(Layer4::Opaque, |l4| Layer4::of(protocol, l4)),
        })
    }
}

impl<'a> Parsed<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        let (source, destination, protocol, l4): (IpAddr, IpAddr, u8, Option<&[u8]>) =
            match IpVersion::of(bytes)? {
                IpVersion::V4 => {
                    let ip = Ipv4::try_from(bytes).ok()?;
                    let l4 = Some(ip.payload()).filter(|_| !ip.is_fragment());
                    let (source, destination): (Ipv4Addr, Ipv4Addr) =
                        (ip.source(), ip.destination());
                    (source.into(), destination.into(), ip.protocol(), l4)
                }
                IpVersion::V6 => {
                    let ip = Ipv6::try_from(bytes).ok()?;
                    let upper = ip.last_header()?;
                    let l4 = ip.payload().get(upper.offset - Ipv6::FIXED_LEN..)?;
                    let (source, destination): (Ipv6Addr, Ipv6Addr) =
                        (ip.source(), ip.destination());
                    let l4 = Some(l4).filter(|_| !upper.is_fragment);
                    (source.into(), destination.into(), upper.protocol, l4)
                }
            };
        let l4 = l4.unwrap_or_default();
        let layer4 = Layer4::of(protocol, l4);
        let subject = Subject {
            source,
            destination,
            protocol,
            layer4,
        };
        let is_tcp = protocol == protocol::TCP && layer4 != Layer4::Opaque;
        Some(Parsed {
            subject,
            tcp_flags: if is_tcp {
                l4.get(TCP_FLAGS_AT).copied().unwrap_or(0)
            } else {
                0
            },
            quoted: match layer4 {
                Layer4::Icmp { kind, .. } if is_error(protocol, kind) => l4.get(ICMP_HEADER_LEN..),
                Layer4::Icmp { .. } | Layer4::Ports { .. } | Layer4::Opaque => None,
            },
        })
    }
}

impl Layer4 {
    /// Reads the header of an unfragmented packet.
    fn of(protocol: u8, l4: &[u8]) -> Layer4 {
        if has_ports(protocol) {
            return l4
                .first_chunk::<4>()
                .map_or(Layer4::Opaque, |[s0, s1, d0, d1]| Layer4::Ports {
                    source: u16::from_be_bytes([*s0, *s1]),
                    destination: u16::from_be_bytes([*d0, *d1]),
                });
        }
        if is_icmp(protocol) {
            return l4.first_chunk::<ICMP_HEADER_LEN>().map_or(
                Layer4::Opaque,
                |[kind, code, _, _, high, low, _, _]| Layer4::Icmp {
                    kind: *kind,
                    code: *code,
                    id: u16::from_be_bytes([*high, *low]),
                },
            );
        }
        Layer4::Opaque
    }
}

/// ICMP errors that speak about a packet: unreachable, too big, time exceeded, parameter problem. A redirect is none,
/// it would change routes.
fn is_error(protocol: u8, kind: u8) -> bool {
    match protocol {
        protocol::ICMP => matches!(kind, 3 | 11 | 12),
        _ => (1..=4).contains(&kind),
    }
}

const ICMP_HEADER_LEN: usize = 8;
const TCP_FLAGS_AT: usize = 13;
