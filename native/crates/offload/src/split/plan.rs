//! Everything that is checked before the first piece is written.

use packet::{IpVersion, Ipv4, Ipv6, Tcp, Udp, checksum, declared_len, protocol};

use super::SplitLimits;
use super::write::{L4, Lengths, Network, SuperFrame};
use crate::{ECN, SplitError, VirtioHeader, gso};

/// Cuts a packet to its declared length, which must hold at least its header.
pub(crate) fn cut_to_declared(packet: &[u8]) -> Result<&[u8], SplitError> {
    let version = version_of(packet)?;
    let declared = declared_len(packet).ok_or_else(|| short(version, packet))?;
    let bad_length = SplitError::Length {
        declared,
        got: packet.len(),
    };
    let packet = packet.get(..declared).ok_or(bad_length)?;
    match version {
        IpVersion::V4 => Ipv4::try_from(packet).map(drop),
        IpVersion::V6 => Ipv6::try_from(packet).map(drop),
    }
    .map_err(|_| bad_length)?;
    Ok(packet)
}

/// Checks a super-frame and prepares the template of its pieces.
pub(super) fn plan_super(
    header: &VirtioHeader,
    packet: &[u8],
    limits: SplitLimits,
) -> Result<SuperFrame, SplitError> {
    let kind = known_kind(header)?;
    let version = version_of(packet)?;
    let declared = declared_len(packet).ok_or_else(|| short(version, packet))?;
    let bad_length = SplitError::Length {
        declared,
        got: packet.len(),
    };
    if declared != packet.len() {
        return Err(bad_length);
    }
    let (network, l4) = match version {
        IpVersion::V4 => plan_v4(
            header,
            Ipv4::try_from(packet).map_err(|_| bad_length)?,
            kind,
        )?,
        IpVersion::V6 => plan_v6(
            header,
            Ipv6::try_from(packet).map_err(|_| bad_length)?,
            kind,
        )?,
    };
    let l3_len = packet.len() - l4.bytes.len();
    check_position(header, l3_len, kind, packet.len())?;
    let (l4_header_len, transport) = match kind {
        Kind::Tcp => plan_tcp(l4)?,
        Kind::Udp => plan_udp(header, version, l4)?,
    };
    let header_len = l3_len + l4_header_len;
    let segment_size = fit_segment(header, header_len, packet.len() - header_len, kind, limits)?;
    let lengths = Lengths {
        packet: packet.len(),
        l3: l3_len,
        header: header_len,
        segment: segment_size,
    };
    Ok(SuperFrame::new(lengths, network, transport, l4.pseudo))
}

/// TCP or UDP, named by the GSO type and checked against the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tcp,
    Udp,
}

/// The upper layer's bytes and the sum of its pseudo-header without the length.
#[derive(Clone, Copy)]
struct UpperBytes<'a> {
    bytes: &'a [u8],
    pseudo: u64,
}

fn known_kind(header: &VirtioHeader) -> Result<Kind, SplitError> {
    match header.gso_kind() {
        gso::TCP4 | gso::TCP6 => Ok(Kind::Tcp),
        gso::UDP if header.gso_type & ECN == 0 => Ok(Kind::Udp),
        _ => Err(SplitError::GsoType {
            gso_type: header.gso_type,
        }),
    }
}

fn plan_v4<'a>(
    header: &VirtioHeader,
    ip: Ipv4<'a>,
    kind: Kind,
) -> Result<(Network, UpperBytes<'a>), SplitError> {
    let wrong = SplitError::Protocol {
        gso_type: header.gso_type,
        protocol: ip.protocol(),
    };
    if header.gso_kind() == gso::TCP6 || ip.protocol() != kind.protocol() || ip.is_fragment() {
        return Err(wrong);
    }
    // Total length, identification and checksum change per piece; everything else of the header is summed once.
    let own = [
        ip.total_len(),
        usize::from(ip.id()),
        usize::from(header_checksum(ip)),
    ];
    let varying: u64 = own
        .iter()
        .map(|word| 0xffff - (*word as u64 & 0xffff))
        .sum();
    let constant = checksum::add(ip.header(), varying);
    Ok((
        Network::V4 {
            id: ip.id(),
            constant,
        },
        UpperBytes {
            bytes: ip.payload(),
            pseudo: ip.pseudo_header(0),
        },
    ))
}

fn plan_v6<'a>(
    header: &VirtioHeader,
    ip: Ipv6<'a>,
    kind: Kind,
) -> Result<(Network, UpperBytes<'a>), SplitError> {
    let cut_off = SplitError::Short {
        needed: ip.total_len() + 1,
        got: ip.total_len(),
    };
    let upper = ip.upper_layer().ok_or(cut_off)?;
    let wrong = SplitError::Protocol {
        gso_type: header.gso_type,
        protocol: upper.protocol,
    };
    if header.gso_kind() == gso::TCP4 || upper.protocol != kind.protocol() || upper.is_fragment {
        return Err(wrong);
    }
    let bytes = ip
        .payload()
        .get(upper.offset - Ipv6::FIXED_LEN..)
        .ok_or(cut_off)?;
    Ok((
        Network::V6,
        UpperBytes {
            bytes,
            pseudo: ip.pseudo_header(upper.protocol, 0),
        },
    ))
}

fn plan_tcp(l4: UpperBytes<'_>) -> Result<(usize, L4), SplitError> {
    let tcp = Tcp::try_from(l4.bytes).map_err(|_| SplitError::Length {
        declared: l4
            .bytes
            .get(12)
            .map_or(Tcp::FIXED_LEN, |byte| usize::from(*byte >> 4) * 4),
        got: l4.bytes.len(),
    })?;
    // Sequence, flags and checksum change per piece: their own words are taken out of the sum.
    let sequence = tcp.sequence();
    let offset_flags =
        u16::from_be_bytes([tcp.header().get(12).copied().unwrap_or(0), tcp.flags()]);
    let varying = [
        (sequence >> 16) & 0xffff,
        sequence & 0xffff,
        offset_flags.into(),
        tcp.checksum().into(),
    ];
    let without: u64 = varying.iter().map(|word| u64::from(0xffff - word)).sum();
    let constant = checksum::add(tcp.header(), l4.pseudo + without);
    Ok((
        tcp.header().len(),
        L4::Tcp {
            sequence,
            offset_flags,
            constant,
        },
    ))
}

fn plan_udp(
    header: &VirtioHeader,
    version: IpVersion,
    l4: UpperBytes<'_>,
) -> Result<(usize, L4), SplitError> {
    let bad_length = |declared| SplitError::Length {
        declared,
        got: l4.bytes.len(),
    };
    let udp = Udp::try_from(l4.bytes).map_err(|_| bad_length(Udp::HEADER_LEN))?;
    if udp.len() != l4.bytes.len() {
        return Err(bad_length(udp.len()));
    }
    if version == IpVersion::V4 && !header.needs_checksum() && udp.checksum() == 0 {
        return Ok((Udp::HEADER_LEN, L4::UdpUnchecked));
    }
    let constant = l4.pseudo + u64::from(udp.source_port()) + u64::from(udp.destination_port());
    Ok((Udp::HEADER_LEN, L4::Udp { constant }))
}

/// A flagged super-frame must name its own L4 checksum field.
fn check_position(
    header: &VirtioHeader,
    l3_len: usize,
    kind: Kind,
    packet_len: usize,
) -> Result<(), SplitError> {
    let start = usize::from(header.checksum_start);
    let offset = usize::from(header.checksum_offset);
    if header.needs_checksum() && (start != l3_len || offset != kind.checksum_offset()) {
        return Err(SplitError::ChecksumPosition {
            start,
            offset,
            packet_len,
        });
    }
    Ok(())
}

/// The segment size that keeps every piece inside our MTU: smaller for TCP, an error for UDP.
fn fit_segment(
    header: &VirtioHeader,
    header_len: usize,
    payload_len: usize,
    kind: Kind,
    limits: SplitLimits,
) -> Result<usize, SplitError> {
    let wanted = usize::from(header.segment_size);
    let inner_mtu = limits.inner_mtu;
    let bad_size = SplitError::SegmentSize {
        segment_size: header.segment_size,
        header_len,
        inner_mtu,
    };
    if wanted == 0 {
        return Err(bad_size);
    }
    let piece_len = header_len + wanted.min(payload_len);
    match kind {
        Kind::Udp if piece_len > inner_mtu => Err(SplitError::UdpTooBig {
            piece_len,
            inner_mtu,
        }),
        Kind::Udp => Ok(wanted),
        Kind::Tcp if piece_len <= inner_mtu => Ok(wanted),
        Kind::Tcp => inner_mtu
            .checked_sub(header_len)
            .filter(|room| *room > 0)
            .ok_or(bad_size),
    }
}

impl Kind {
    const fn protocol(self) -> u8 {
        match self {
            Self::Tcp => protocol::TCP,
            Self::Udp => protocol::UDP,
        }
    }

    const fn checksum_offset(self) -> usize {
        match self {
            Self::Tcp => Tcp::CHECKSUM_OFFSET,
            Self::Udp => Udp::CHECKSUM_OFFSET,
        }
    }
}

fn version_of(packet: &[u8]) -> Result<IpVersion, SplitError> {
    let Some(first) = packet.first() else {
        return Err(SplitError::Short { needed: 1, got: 0 });
    };
    IpVersion::of(packet).ok_or(SplitError::NotIp {
        version: *first >> 4,
    })
}

fn short(version: IpVersion, packet: &[u8]) -> SplitError {
    let needed = match version {
        IpVersion::V4 => Ipv4::FIXED_LEN,
        IpVersion::V6 => Ipv6::FIXED_LEN,
    };
    SplitError::Short {
        needed,
        got: packet.len(),
    }
}

fn header_checksum(ip: Ipv4<'_>) -> u16 {
    match ip.header() {
        [_, _, _, _, _, _, _, _, _, _, high, low, ..] => u16::from_be_bytes([*high, *low]),
        _ => 0,
    }
}
