//! Packets with valid checksums, built byte by byte.
#![expect(
    clippy::indexing_slicing,
    reason = "test code that writes headers of known length at fixed places"
)]

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

/// What a TCP segment carries besides its addresses and payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first payload byte.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// The flag byte; 0x10 is ACK.
    pub flags: u8,
    /// Window.
    pub window: u16,
    /// Options; a multiple of four bytes, at most 40.
    pub options: Vec<u8>,
    /// IPv4 identification.
    pub identification: u16,
    /// Traffic class or type of service.
    pub traffic_class: u8,
    /// Time to live or hop limit.
    pub hops: u8,
}

impl Default for Segment {
    /// The fields of the offload fixtures: ACK 1000, window 500, timestamps 111 and 222, ID 0x1234, 64 hops.
    fn default() -> Self {
        let mut options = vec![1, 1, 8, 10];
        options.extend(111_u32.to_be_bytes());
        options.extend(222_u32.to_be_bytes());
        Self {
            sequence: 0,
            acknowledgement: 1_000,
            flags: 0x10,
            window: 500,
            options,
            identification: 0x1234,
            traffic_class: 0,
            hops: 64,
        }
    }
}

/// The fixture T4: a TCP segment 10.9.0.2:40000 → 10.9.0.1:5201 with `len` payload bytes from `sequence` on.
#[must_use]
pub fn t4(sequence: u32, len: usize) -> Vec<u8> {
    let segment = Segment {
        sequence,
        ..Segment::default()
    };
    tcp_v4(
        from_v4(40_000),
        to_v4(5_201),
        &segment,
        &stream(sequence, len),
    )
}

/// The fixture T6: the same over IPv6, `fd09::2` → `fd09::1`.
#[must_use]
pub fn t6(sequence: u32, len: usize) -> Vec<u8> {
    let segment = Segment {
        sequence,
        ..Segment::default()
    };
    tcp_v6(
        from_v6(40_000),
        to_v6(5_201),
        &segment,
        &stream(sequence, len),
    )
}

/// The fixture U4: datagram number `number` with `len` bytes, 10.9.0.2:6000 → 10.9.0.1:6001.
#[must_use]
pub fn u4(number: usize, len: usize) -> Vec<u8> {
    udp_v4(from_v4(6_000), to_v4(6_001), &datagram(number, len))
}

/// The fixture U6: the same over IPv6.
#[must_use]
pub fn u6(number: usize, len: usize) -> Vec<u8> {
    udp_v6(from_v6(6_000), to_v6(6_001), &datagram(number, len))
}

/// A UDP datagram over IPv4.
#[must_use]
pub fn udp_v4(from: SocketAddrV4, to: SocketAddrV4, payload: &[u8]) -> Vec<u8> {
    let udp = udp_header(from.port(), to.port(), payload);
    finish(
        ipv4_header(*from.ip(), *to.ip(), &Ip::udp(udp.len() + payload.len())),
        udp,
        payload,
        6,
    )
}

/// A UDP datagram over IPv6.
#[must_use]
pub fn udp_v6(from: SocketAddrV6, to: SocketAddrV6, payload: &[u8]) -> Vec<u8> {
    let udp = udp_header(from.port(), to.port(), payload);
    finish(
        ipv6_header(*from.ip(), *to.ip(), &Ip::udp(udp.len() + payload.len())),
        udp,
        payload,
        6,
    )
}

/// A TCP segment over IPv4.
#[must_use]
pub fn tcp_v4(from: SocketAddrV4, to: SocketAddrV4, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let tcp = tcp_header(from.port(), to.port(), segment);
    let ip = Ip::tcp(tcp.len() + payload.len(), segment);
    finish(ipv4_header(*from.ip(), *to.ip(), &ip), tcp, payload, 16)
}

/// A TCP segment over IPv6.
#[must_use]
pub fn tcp_v6(from: SocketAddrV6, to: SocketAddrV6, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let tcp = tcp_header(from.port(), to.port(), segment);
    let ip = Ip::tcp(tcp.len() + payload.len(), segment);
    finish(ipv6_header(*from.ip(), *to.ip(), &ip), tcp, payload, 16)
}

/// Whether IPv4 header checksum and TCP or UDP checksum of a whole packet are right. Computed by a plain loop.
///
/// # Panics
/// When the packet is no TCP or UDP packet without IP options or extension headers.
#[must_use]
pub fn checksum_is_good(packet: &[u8]) -> bool {
    let ip_len = if packet[0] >> 4 == 4 { 20 } else { 40 };
    let (ip, transport) = packet.split_at(ip_len);
    let header_is_good = ip_len == 40 || fold(sum(ip)) == 0xFFFF;
    header_is_good && fold(pseudo_header(ip, transport.len()) + sum(transport)) == 0xFFFF
}

/// The fields of an IP header besides addresses.
struct Ip {
    protocol: u8,
    payload_len: usize,
    identification: u16,
    traffic_class: u8,
    hops: u8,
}

impl Ip {
    fn udp(payload_len: usize) -> Self {
        Self {
            protocol: 17,
            payload_len,
            identification: 0x1234,
            traffic_class: 0,
            hops: 64,
        }
    }

    fn tcp(payload_len: usize, segment: &Segment) -> Self {
        Self {
            protocol: 6,
            payload_len,
            identification: segment.identification,
            traffic_class: segment.traffic_class,
            hops: segment.hops,
        }
    }
}

fn ipv4_header(from: Ipv4Addr, to: Ipv4Addr, ip: &Ip) -> Vec<u8> {
    let mut header = vec![0x45, ip.traffic_class];
    header.extend(be(20 + ip.payload_len));
    header.extend(ip.identification.to_be_bytes());
    header.extend([0x40, 0, ip.hops, ip.protocol, 0, 0]);
    header.extend(from.octets());
    header.extend(to.octets());
    let checksum = !fold(sum(&header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

fn ipv6_header(from: Ipv6Addr, to: Ipv6Addr, ip: &Ip) -> Vec<u8> {
    let first = 0x6000_0000 | u32::from(ip.traffic_class) << 20 | FLOW_LABEL;
    let mut header = first.to_be_bytes().to_vec();
    header.extend(be(ip.payload_len));
    header.extend([ip.protocol, ip.hops]);
    header.extend(from.octets());
    header.extend(to.octets());
    header
}

fn udp_header(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let mut header = from.to_be_bytes().to_vec();
    header.extend(to.to_be_bytes());
    header.extend(be(8 + payload.len()));
    header.extend([0, 0]);
    header
}

fn tcp_header(from: u16, to: u16, segment: &Segment) -> Vec<u8> {
    let mut header = from.to_be_bytes().to_vec();
    header.extend(to.to_be_bytes());
    header.extend(segment.sequence.to_be_bytes());
    header.extend(segment.acknowledgement.to_be_bytes());
    let words =
        u8::try_from((20 + segment.options.len()) / 4).expect("at most 40 bytes of options");
    header.extend([words << 4, segment.flags]);
    header.extend(segment.window.to_be_bytes());
    header.extend([0, 0, 0, 0]);
    header.extend(&segment.options);
    header
}

/// Puts the parts together and fills the checksum at `field` of the transport header; UDP never sends 0.
fn finish(ip: Vec<u8>, mut transport: Vec<u8>, payload: &[u8], field: usize) -> Vec<u8> {
    transport.extend(payload);
    let computed = !fold(pseudo_header(&ip, transport.len()) + sum(&transport));
    let checksum = if computed == 0 && field == 6 {
        0xFFFF
    } else {
        computed
    };
    transport[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
    let mut packet = ip;
    packet.extend(transport);
    packet
}

fn pseudo_header(ip: &[u8], transport_len: usize) -> u64 {
    let (addresses, protocol) = if ip.len() == 20 {
        (&ip[12..20], ip[9])
    } else {
        (&ip[8..40], ip[6])
    };
    sum(addresses) + u64::from(protocol) + transport_len as u64
}

fn sum(bytes: &[u8]) -> u64 {
    bytes
        .chunks(2)
        .map(|pair| {
            u64::from(u16::from_be_bytes([
                pair[0],
                pair.get(1).copied().unwrap_or(0),
            ]))
        })
        .sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    u16::try_from(sum).unwrap_or(u16::MAX)
}

/// The byte of sequence number q is q mod 251.
fn stream(sequence: u32, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| byte((sequence as usize + at) % 251))
        .collect()
}

fn datagram(number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| byte((17 * number + at) % 251)).collect()
}

fn byte(value: usize) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

fn be(value: usize) -> [u8; 2] {
    u16::try_from(value)
        .expect("an IP packet has at most 65,535 bytes")
        .to_be_bytes()
}

fn from_v4(port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 2), port)
}

fn to_v4(port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 1), port)
}

fn from_v6(port: u16) -> SocketAddrV6 {
    SocketAddrV6::new(Ipv6Addr::new(0xFD09, 0, 0, 0, 0, 0, 0, 2), port, 0, 0)
}

fn to_v6(port: u16) -> SocketAddrV6 {
    SocketAddrV6::new(Ipv6Addr::new(0xFD09, 0, 0, 0, 0, 0, 0, 1), port, 0, 0)
}

const FLOW_LABEL: u32 = 0x1_2345;

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes
            .iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    /// VEC-01: the fixtures are the published bytes.
    #[test]
    fn vec_01_the_fixtures_are_the_published_bytes() {
        let cases = [
            (
                t4(1, 4),
                "4500003812344000400614780a0900020a0900019c40145100000001000003e8801001f4a6e300000101080a0000006f000000de01020304",
            ),
            (
                t6(1, 4),
                "6001234500240640fd090000000000000000000000000002fd0900000000000000000000000000019c40145100000001000003e8801001f4c0e100000101080a0000006f000000de01020304",
            ),
            (
                u4(0, 5),
                "4500002112344000401114840a0900020a09000117701771000db6da0001020304",
            ),
            (
                u6(0, 5),
                "60012345000d1140fd090000000000000000000000000002fd09000000000000000000000000000117701771000dd0d80001020304",
            ),
        ];

        for (packet, published) in cases {
            assert_eq!(hex(&packet), published);
            assert!(checksum_is_good(&packet));
        }
    }

    #[test]
    fn a_flipped_bit_makes_a_checksum_bad() {
        for packet in [t4(5, 33), t6(5, 33), u4(5, 33), u6(5, 33)] {
            for at in [packet.len() - 1, packet.len() - 20] {
                let mut broken = packet.clone();
                broken[at] ^= 4;
                assert!(!checksum_is_good(&broken));
            }
        }
    }
}
