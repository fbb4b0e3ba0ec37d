use core::net::IpAddr;

use packet::{IpVersion, Ipv4, Ipv6};

/// What rules look at in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol behind the IP header and its extensions.
    pub protocol: u8,
    /// Destination port of an unfragmented TCP or UDP packet.
    pub destination_port: Option<u16>,
}

impl Subject {
    /// Reads a packet; `None` if it is not IP or its headers are cut off.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Subject> {
        let (source, destination) = packet::addresses(bytes)?;
        let protocol = match IpVersion::of(bytes)? {
            IpVersion::V4 => Ipv4::try_from(bytes).ok()?.protocol(),
            IpVersion::V6 => Ipv6::try_from(bytes).ok()?.upper_layer()?.protocol,
        };
        Some(Subject {
            source,
            destination,
            protocol,
            destination_port: packet::flow(bytes).map(|flow| flow.destination_port),
        })
    }
}
