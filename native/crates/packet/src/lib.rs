//! Checked views of IPv4, IPv6, TCP, UDP and ICMP packets, and their checksums.
//!
//! A view is made with `TryFrom<&[u8]>`; after that every accessor is infallible. Nothing here allocates, does input or
//! output, or panics, whatever the bytes are.

pub mod checksum;
pub mod ecn;
mod error;
mod flow;
pub mod icmp;
mod ipv4;
mod ipv6;
mod tcp;
mod udp;

pub use error::PacketError;
pub use flow::{Flow, IpVersion, addresses, declared_len, flow};
pub use ipv4::Ipv4;
pub use ipv6::{CHAIN_MAX, Ipv6, UpperLayer, last_header};
pub use tcp::{Tcp, flags};
pub use udp::Udp;

/// IANA protocol numbers that the data plane looks at.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// SCTP, whose checksum is a CRC and not a ones'-complement sum.
    pub const SCTP: u8 = 132;
}
