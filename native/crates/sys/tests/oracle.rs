//! E2E-01: the kernel as the judge of splitter and merger.
//!
//! A private namespace has a header-mode TUN and a plain TUN, and forwards. What goes into the first comes out of the
//! second in the kernel's own cut, and must equal what our code makes of it.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

mod common;

use std::collections::BTreeMap;
use std::io::{ErrorKind, IoSlice};
use std::net::{SocketAddrV4, SocketAddrV6};
use std::os::fd::AsFd;
use std::time::Duration;

use common::in_namespace;
use offload::{
    ByteOrder, Checksum, MergeLimits, Merger, PushOutcome, SplitCursor, SplitLimits, VIRTIO_LEN,
    VirtioHeader,
};
use ports::TunQueue;
use sys::netlink::add_route;
use sys::{Interest, Poller, Tun, TunFd, TunOffload, TunOptions};
use testkit::{Random, Segment, checksum_is_good, tcp_v4, tcp_v6, udp_v4, udp_v6};

/// E2E-01: the kernel cuts a super-frame as our splitter does.
#[test]
fn e2e_01_the_kernel_cuts_a_super_frame_as_our_splitter_does() {
    in_namespace(|| {
        let mut router = Router::new();
        let mut random = Random::new(1);
        let mut pieces_total = 0;
        for number in 0..10_000 {
            let (header, packet) = super_frame(&mut random);
            let mut expected = split(&header, &packet);
            assert!(expected.len() > 1, "frame {number} is a super-frame");
            for piece in &mut expected {
                hop(piece);
            }
            pieces_total += expected.len();

            let cut = router.forward(&header, &packet, expected.len());

            assert_eq!(cut.len(), expected.len(), "frame {number}: {header:?}");
            for (at, (ours, kernels)) in expected.iter().zip(&cut).enumerate() {
                let (ours, kernels) = (normal(ours), normal(kernels));
                assert!(
                    ours == kernels,
                    "frame {number}, piece {at}, {header:?}\nours    {}\nkernel's {}",
                    hex(&ours),
                    hex(&kernels)
                );
            }
        }
        assert!(pieces_total > 50_000, "{pieces_total}");
    });
}

/// E2E-01: what the merger writes leaves the kernel as the packets it was made of.
#[test]
fn e2e_01_what_the_merger_writes_leaves_the_kernel_as_the_packets_it_was_made_of() {
    in_namespace(|| {
        let mut router = Router::new();
        let mut random = Random::new(2);
        let mut flows = Flows::default();
        let limits = MergeLimits {
            inner_mtu: 1_500,
            ..MergeLimits::default()
        };
        let mut merger = Merger::new(limits);
        let (mut packets_total, mut frames_total) = (0, 0);
        for number in 0..500 {
            let burst: Vec<Vec<u8>> = (0..=random.below(80))
                .map(|_| flows.packet(&mut random))
                .collect();
            let mut arena = Vec::new();
            for packet in &burst {
                let start = u32::try_from(arena.len()).unwrap();
                arena.extend(packet);
                let len = u32::try_from(packet.len()).unwrap();
                assert_eq!(
                    merger.push(&arena, start, len, 1, Checksum::Unverified),
                    PushOutcome::Queued
                );
            }
            merger.flush(&mut arena, ByteOrder::Little, |arena, frame| {
                let mut parts = vec![IoSlice::new(&frame.header)];
                parts.extend(frame.parts.iter().map(|part| {
                    let start = usize::try_from(part.start).unwrap();
                    IoSlice::new(&arena[start..start + usize::try_from(part.len).unwrap()])
                }));
                router.input.write(&parts).unwrap();
                frames_total += 1;
            });
            packets_total += burst.len();

            let forwarded = router.output(burst.len());

            assert_eq!(forwarded.len(), burst.len(), "burst {number}");
            let expected = burst.into_iter().map(|mut packet| {
                hop(&mut packet);
                packet
            });
            assert_eq!(by_flow(expected), by_flow(forwarded), "burst {number}");
        }
        assert!(
            frames_total * 2 < packets_total,
            "{packets_total} packets became {frames_total} frames"
        );
    });
}

/// E2E-01: the published super-frames pass the kernel.
#[test]
fn e2e_01_the_published_super_frames_pass_the_kernel() {
    let merged_tcp = "01013400080014001000\
        4500004812344000400614680a0900020a0900019c40145100000000000003e8801801f4144f00000101080a0000006f000000de\
        000102030405060708090a0b0c0d0e0f10111213";
    let merged_udp = "01053000080028000600\
        60012345001b1140fd090000000000000000000000000002fd09000000000000000000000000000117701771001bfa42\
        00010203040506071112131415161718222324";
    let marked_tcp = "01813400080014001000\
        4500004812344000400614680a0900020a0900019c40145100000100000003e8809901f4144f00000101080a0000006f000000de\
        05060708090a0b0c0d0e0f101112131415161718";
    let stream = |sequence: u32, len: u32| -> Vec<u8> {
        (sequence..sequence + len)
            .map(|at| u8::try_from(at % 251).unwrap())
            .collect()
    };
    let tcp = |sequence: u32, len: u32, flags: u8, identification: u16| {
        let segment = Segment {
            sequence,
            flags,
            identification,
            ..Segment::default()
        };
        tcp_v4(
            v4(FROM_V4, 40_000),
            v4(TO_V4, 5_201),
            &segment,
            &stream(sequence, len),
        )
    };
    let cases = [
        (
            merged_tcp,
            vec![
                tcp(0, 8, 0x10, 0x1234),
                tcp(8, 8, 0x10, 0x1235),
                tcp(16, 4, 0x18, 0x1236),
            ],
        ),
        (
            merged_udp,
            vec![testkit::u6(0, 8), testkit::u6(1, 8), testkit::u6(2, 3)],
        ),
        (
            marked_tcp,
            vec![
                tcp(0x100, 8, 0x90, 0x1234),
                tcp(0x108, 8, 0x10, 0x1235),
                tcp(0x110, 4, 0x19, 0x1236),
            ],
        ),
    ];
    in_namespace(|| {
        let mut router = Router::new();
        for (vector, mut expected) in cases {
            let frame = bytes(vector);
            router.input.write(&[IoSlice::new(&frame)]).unwrap();

            let cut = router.output(expected.len());

            for packet in &mut expected {
                hop(packet);
            }
            let texts = |packets: &[Vec<u8>]| {
                packets
                    .iter()
                    .map(|packet| hex(&normal(packet)))
                    .collect::<Vec<_>>()
            };
            assert_eq!(texts(&cut), texts(&expected), "{vector}");
        }
    });
}

/// A namespace that forwards from a header-mode TUN to a plain one.
struct Router {
    input: TunFd,
    output: TunFd,
    poller: Poller,
}

impl Router {
    fn new() -> Self {
        // Long enough for all pieces of a frame.
        let options = |name: &str, offload| TunOptions {
            name: name.to_owned(),
            offload,
            transmit_queue_len: 10_000,
            ..TunOptions::default()
        };
        for setting in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            sysctl(setting, "1");
        }
        let mut input = Tun::open(&options("in0", TunOffload::Auto)).unwrap();
        let mut output = Tun::open(&options("out0", TunOffload::Off)).unwrap();
        for link in ["all", "in0", "out0"] {
            sysctl(&format!("ipv4/conf/{link}/rp_filter"), "0");
        }
        for (link, destination) in [
            ("out0", TO_V4),
            ("in0", FROM_V4),
            ("out0", TO_V6),
            ("in0", FROM_V6),
        ] {
            add_route(link, destination.parse().unwrap()).unwrap();
        }
        let (input, output) = (
            input.take_queues().pop().unwrap(),
            output.take_queues().pop().unwrap(),
        );
        let poller = Poller::new(1).unwrap();
        poller.add(output.as_fd(), 0, Interest::Readable).unwrap();
        Self {
            input,
            output,
            poller,
        }
    }

    fn forward(&mut self, header: &VirtioHeader, packet: &[u8], count: usize) -> Vec<Vec<u8>> {
        let mut encoded = [0; VIRTIO_LEN];
        header.write(&mut encoded, ByteOrder::Little);
        self.input
            .write(&[IoSlice::new(&encoded), IoSlice::new(packet)])
            .unwrap();
        self.output(count)
    }

    /// The next `count` packets and whatever else came out by then; less when no more come.
    fn output(&mut self, count: usize) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        let mut buffer = vec![0; 65_535];
        loop {
            match self.output.read(&mut buffer) {
                Ok(len) if is_ours(&buffer[..len]) => packets.push(buffer[..len].to_vec()),
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    let patience = Some(Duration::from_millis(500));
                    if packets.len() >= count
                        || self.poller.wait(patience).unwrap().next().is_none()
                    {
                        return packets;
                    }
                }
            }
        }
    }
}

/// Not something the kernel says by itself.
fn is_ours(packet: &[u8]) -> bool {
    let protocol = if packet[0] >> 4 == 4 {
        packet[9]
    } else {
        packet[6]
    };
    matches!(protocol, 6 | 17 | DESTINATION_OPTIONS)
}

/// Cuts with our splitter.
fn split(header: &VirtioHeader, packet: &[u8]) -> Vec<Vec<u8>> {
    let mut cursor = SplitCursor::start(header, packet, &SplitLimits { inner_mtu: 1_500 }).unwrap();
    let mut buffer = vec![0; 1_500];
    let mut pieces = Vec::new();
    while let Some(len) = cursor.write_next(packet, &mut buffer) {
        pieces.push(buffer[..len].to_vec());
    }
    pieces
}

/// A valid super-frame of any kind.
fn super_frame(random: &mut Random) -> (VirtioHeader, Vec<u8>) {
    let (tcp, ipv4) = (random.happens(600), random.happens(500));
    let segment = Segment {
        sequence: u32::try_from(random.bits() >> 32).unwrap(),
        acknowledgement: u32::try_from(random.bits() >> 32).unwrap(),
        // ACK with any of FIN, PSH, ECE, CWR.
        flags: 0x10 | (u8::try_from(random.below(256)).unwrap() & 0xC9),
        window: u16::try_from(random.below(65_536)).unwrap(),
        options: [
            vec![],
            vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8],
            vec![1; 40],
        ][random.below(3)]
        .clone(),
        identification: u16::try_from(random.below(65_536)).unwrap(),
        traffic_class: u8::try_from(random.below(256)).unwrap(),
        hops: u8::try_from(2 + random.below(254)).unwrap(),
    };
    let extension = if tcp && !ipv4 && random.happens(200) {
        8
    } else {
        0
    };
    let ip_len = if ipv4 { 20 } else { 40 + extension };
    let l4_len = if tcp { 20 + segment.options.len() } else { 8 };
    // Behind an extension header the kernel's MTU check takes the TCP header length from the wrong place and may believe
    // in 60 bytes; such frames keep that distance.
    let headers_len = if extension > 0 {
        48 + 60
    } else {
        ip_len + l4_len
    };
    let size = 100 + random.below(1_500 - headers_len - 100 + 1);
    let room = 65_535 - ip_len - l4_len;
    // Mostly few pieces; now and then as many as go.
    let count_max = if random.happens(100) { 64 } else { 8 };
    let count = 2 + random.below((room / size).min(count_max) - 1);
    let payload_len = ((count - 1) * size + 1 + random.below(size)).min(room);
    let payload = noise(random, payload_len);
    let mut packet = match (tcp, ipv4) {
        (true, true) => tcp_v4(v4(FROM_V4, 40_000), v4(TO_V4, 5_201), &segment, &payload),
        (true, false) => tcp_v6(v6(FROM_V6, 40_000), v6(TO_V6, 5_201), &segment, &payload),
        (false, true) => udp_v4(v4(FROM_V4, 6_000), v4(TO_V4, 6_001), &payload),
        (false, false) => udp_v6(v6(FROM_V6, 6_000), v6(TO_V6, 6_001), &payload),
    };
    if extension > 0 {
        insert_destination_options(&mut packet);
    }
    let checksum_offset = if tcp { 16 } else { 6 };
    seed(&mut packet, ip_len, checksum_offset);
    let kind = match (tcp, ipv4) {
        (true, true) => offload::gso::TCP4,
        (true, false) => offload::gso::TCP6,
        (false, _) => offload::gso::UDP,
    };
    // The bit goes with CWR; the kernel takes CWR without it too.
    let ecn = if tcp && segment.flags & 0x80 != 0 && random.happens(500) {
        offload::ECN
    } else {
        0
    };
    let number = |value: usize| u16::try_from(value).unwrap();
    let header = VirtioHeader {
        flags: offload::NEEDS_CHECKSUM,
        gso_type: kind | ecn,
        header_len: number(ip_len + l4_len),
        segment_size: number(size),
        checksum_start: number(ip_len),
        checksum_offset: number(checksum_offset),
    };
    (header, packet)
}

/// Bytes without a pattern.
fn noise(random: &mut Random, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend(random.bits().to_ne_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Puts eight bytes of padding options between IPv6 and transport header.
fn insert_destination_options(packet: &mut Vec<u8>) {
    let len = u16::from_be_bytes([packet[4], packet[5]]) + 8;
    packet[4..6].copy_from_slice(&len.to_be_bytes());
    let next = core::mem::replace(&mut packet[6], DESTINATION_OPTIONS);
    packet.splice(40..40, [next, 0, 1, 4, 0, 0, 0, 0]);
}

/// Replaces the finished checksum by the sum of the pseudo-header, not inverted.
fn seed(packet: &mut [u8], ip_len: usize, offset: usize) {
    let transport_len = packet.len() - ip_len;
    let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
    let protocol = if packet[0] >> 4 == 4 {
        packet[9]
    } else {
        transport_protocol(packet)
    };
    let field = ip_len + offset;
    let sum = sum(&packet[addresses]) + u64::from(protocol) + transport_len as u64;
    packet[field..field + 2].copy_from_slice(&fold(sum).to_be_bytes());
}

fn transport_protocol(ipv6: &[u8]) -> u8 {
    if ipv6[6] == DESTINATION_OPTIONS {
        ipv6[40]
    } else {
        ipv6[6]
    }
}

/// What a router changes.
fn hop(packet: &mut [u8]) {
    if packet[0] >> 4 == 6 {
        packet[7] -= 1;
        return;
    }
    packet[8] -= 1;
    packet[10..12].copy_from_slice(&[0, 0]);
    let checksum = !fold(sum(&packet[..20]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// The packet with a TCP checksum of 0xFFFF as 0, which is the same.
fn normal(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    let (protocol, start) = match packet[0] >> 4 {
        4 => (packet[9], 20),
        _ if packet[6] == DESTINATION_OPTIONS => (packet[40], 48),
        _ => (packet[6], 40),
    };
    if protocol == 6 && packet[start + 16..start + 18] == [0xFF, 0xFF] {
        packet[start + 16..start + 18].copy_from_slice(&[0, 0]);
    }
    packet
}

/// Flows whose packets make up bursts.
#[derive(Default)]
struct Flows {
    states: BTreeMap<usize, (u32, u16)>,
}

impl Flows {
    /// The next packet of one of six flows, mostly one that continues its run.
    fn packet(&mut self, random: &mut Random) -> Vec<u8> {
        let flow = random.below(6);
        let (sequence, identification) = *self
            .states
            .entry(flow)
            .or_insert((u32::MAX - 30_000, 65_500));
        let len = if random.happens(850) {
            1_200
        } else {
            random.below(1_200)
        };
        let payload = noise(random, len);
        let flags = if random.happens(900) {
            0x10
        } else {
            0x10 | (u8::try_from(random.below(256)).unwrap() & 0xC9)
        };
        let hops = if random.happens(980) { 64 } else { 63 };
        let segment = Segment {
            sequence,
            identification,
            flags,
            hops,
            ..Segment::default()
        };
        self.states.insert(
            flow,
            (
                sequence.wrapping_add(u32::try_from(len).unwrap()),
                identification.wrapping_add(1),
            ),
        );
        let port = 40_000 + u16::try_from(flow).unwrap();
        let mut packet = match flow % 4 {
            0 => tcp_v4(v4(FROM_V4, port), v4(TO_V4, 5_201), &segment, &payload),
            1 => tcp_v6(v6(FROM_V6, port), v6(TO_V6, 5_201), &segment, &payload),
            2 => udp_v4(v4(FROM_V4, port), v4(TO_V4, 6_001), &payload),
            _ => udp_v6(v6(FROM_V6, port), v6(TO_V6, 6_001), &payload),
        };
        assert!(checksum_is_good(&packet));
        if random.happens(10) {
            // What is corrupt must leave corrupt.
            let last = packet.len() - 1;
            packet[last] ^= 0x10;
        }
        packet
    }
}

/// Packets by source port, each list in order. The IPv4 identification of packets that must not be fragmented has no
/// meaning, so it does not count.
fn by_flow(packets: impl IntoIterator<Item = Vec<u8>>) -> BTreeMap<u16, Vec<String>> {
    let mut flows: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for packet in packets {
        let mut packet = normal(&packet);
        let start = if packet[0] >> 4 == 4 { 20 } else { 40 };
        if start == 20 {
            assert_eq!(
                fold(sum(&packet[..20])),
                0xFFFF,
                "the IPv4 header checksum is right"
            );
            packet[4..6].copy_from_slice(&[0, 0]);
            packet[10..12].copy_from_slice(&[0, 0]);
        }
        let port = u16::from_be_bytes([packet[start], packet[start + 1]]);
        flows.entry(port).or_default().push(hex(&packet));
    }
    flows
}

fn sysctl(name: &str, value: &str) {
    std::fs::write(format!("/proc/sys/net/{name}"), value).unwrap();
}

fn sum(bytes: &[u8]) -> u64 {
    bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)))
        .sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    u16::try_from(sum).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}

fn v4(address: &str, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(address.parse().unwrap(), port)
}

fn v6(address: &str, port: u16) -> SocketAddrV6 {
    SocketAddrV6::new(address.parse().unwrap(), port, 0, 0)
}

const FROM_V4: &str = "10.9.0.2";
const TO_V4: &str = "10.9.0.1";
const FROM_V6: &str = "fd09::2";
const TO_V6: &str = "fd09::1";
const DESTINATION_OPTIONS: u8 = 60;
