//! Why a frame read from the TUN device is dropped.

use core::fmt;

/// Why a frame read from the TUN device is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SplitError {
    /// Fewer bytes than a fixed header needs.
    Short {
        /// Bytes needed.
        needed: usize,
        /// Bytes there are.
        got: usize,
    },
    /// A GSO type we never asked for, or the ECN bit on a type that has none.
    GsoType {
        /// The type byte.
        gso_type: u8,
    },
    /// A super-frame without a segment size, or with one that leaves no room inside the MTU.
    SegmentSize {
        /// The segment size field.
        segment_size: u16,
        /// Length of the L3 and L4 headers.
        header_len: usize,
        /// Our inner MTU.
        inner_mtu: usize,
    },
    /// The GSO type does not fit the packet's IP version or protocol, or the packet is a fragment.
    Protocol {
        /// The type byte.
        gso_type: u8,
        /// The packet's upper-layer protocol.
        protocol: u8,
    },
    /// A length field disagrees with the bytes.
    Length {
        /// Length that the field states.
        declared: usize,
        /// Bytes there are.
        got: usize,
    },
    /// The checksum position is outside the packet, inside the IP header, or wrong for the protocol.
    ChecksumPosition {
        /// Where summing starts.
        start: usize,
        /// Offset of the field from `start`.
        offset: usize,
        /// Bytes of the packet.
        packet_len: usize,
    },
    /// The checksum is not a ones'-complement sum (SCTP).
    ChecksumKind {
        /// The packet's upper-layer protocol.
        protocol: u8,
    },
    /// The first nibble is neither 4 nor 6.
    NotIp {
        /// The first nibble.
        version: u8,
    },
    /// UDP pieces would exceed our inner MTU; the source should get an ICMP error with `inner_mtu`.
    UdpTooBig {
        /// Length of the L3 packet of a full piece.
        piece_len: usize,
        /// Our inner MTU, the value for the ICMP error.
        inner_mtu: usize,
    },
}

impl SplitError {
    /// The label of the counter `tun_read_bad`.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Short { .. } => "short",
            Self::GsoType { .. } => "type",
            Self::SegmentSize { .. } => "size",
            Self::Protocol { .. } => "proto",
            Self::Length { .. } => "length",
            Self::ChecksumPosition { .. } | Self::ChecksumKind { .. } => "csum",
            Self::NotIp { .. } => "not_ip",
            Self::UdpTooBig { .. } => "too_big",
        }
    }
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { needed, got } => write!(f, "{got} bytes where {needed} are needed"),
            Self::GsoType { gso_type } => {
                write!(f, "GSO type {gso_type:#04x} was never negotiated")
            }
            Self::SegmentSize {
                segment_size,
                header_len,
                inner_mtu,
            } => {
                write!(
                    f,
                    "segment size {segment_size} with {header_len} header bytes and MTU {inner_mtu}"
                )
            }
            Self::Protocol { gso_type, protocol } => {
                write!(
                    f,
                    "GSO type {gso_type:#04x} on a packet of protocol {protocol}"
                )
            }
            Self::Length { declared, got } => {
                write!(f, "length field says {declared}, {got} bytes there")
            }
            Self::ChecksumPosition {
                start,
                offset,
                packet_len,
            } => {
                write!(
                    f,
                    "checksum field at {start} + {offset} in a packet of {packet_len} bytes"
                )
            }
            Self::ChecksumKind { protocol } => {
                write!(f, "protocol {protocol} has no ones'-complement checksum")
            }
            Self::NotIp { version } => write!(f, "IP version {version}"),
            Self::UdpTooBig {
                piece_len,
                inner_mtu,
            } => {
                write!(
                    f,
                    "UDP pieces of {piece_len} bytes exceed the inner MTU {inner_mtu}"
                )
            }
        }
    }
}

impl core::error::Error for SplitError {}
