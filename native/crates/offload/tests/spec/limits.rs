//! Section 10: limits.

use offload::{ByteOrder, Checksum, MergeLimits, Merger, PushOutcome};

use crate::common::fixture::{Field, Packet, t4, t6, u4, u6};
use crate::common::judge::assert_all_well_formed;
use crate::common::{counts, merge, merge_with, split, wide_limits};

fn stream(build: fn(u32, usize) -> Packet, count: u32, len: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|i| build(i * u32::try_from(len).unwrap(), len).bytes())
        .collect()
}

/// LIM-01, P-06: headers count; the packet that would cross the limit opens a new frame.
#[test]
fn lim_01_a_merged_packet_never_exceeds_65535_bytes() {
    for build in [t4, t6] {
        let header_len = build(0, 0).header_len();
        for len in [1000, 1360, 1448, 7, 9000] {
            let fits = (65_535 - header_len) / len;
            let count = u32::try_from(fits.min(1022) + 1).unwrap();
            let limits = MergeLimits {
                packets_max: 2000,
                ..wide_limits()
            };

            let outs = merge_with(limits, &stream(build, count, len));

            assert!(outs.iter().all(|out| out.bytes.len() <= 65_535));
            if fits < 1023 {
                assert_eq!(counts(&outs), [fits, 1], "segments of {len}");
            }
        }
    }
}

/// LIM-01: exactly at the limit.
#[test]
fn lim_01_exactly_65535_bytes_fit() {
    for build in [t4, t6] {
        let room = 65_535 - build(0, 0).header_len();
        let first = room.div_ceil(2);
        let at = u32::try_from(first).unwrap();

        let full = merge(&[build(0, first).bytes(), build(at, room - first).bytes()]);
        let above = merge(&[build(0, first).bytes(), build(at, room - first + 1).bytes()]);

        assert_eq!((counts(&full), full[0].bytes.len()), (vec![2], 65_535));
        assert_eq!(counts(&above), [1, 1]);
    }
}

/// LIM-01: one vectored write has at most 1,024 parts, the header included.
#[test]
fn lim_01_parts_fit_one_vectored_write() {
    let limits = MergeLimits {
        packets_max: 3000,
        ..wide_limits()
    };

    assert_eq!(
        counts(&merge_with(limits, &stream(t4, 1500, 8))),
        [1023, 477]
    );
}

/// LIM-02 (UDP caps are COU-11): TCP has only the byte limit.
#[test]
fn lim_02_tcp_has_no_segment_cap() {
    let limits = MergeLimits {
        segments_max: 2,
        ..wide_limits()
    };

    assert_eq!(
        counts(&merge_with(limits.clone(), &stream(t4, 300, 100))),
        [300]
    );
    let datagrams: Vec<Vec<u8>> = (0..5).map(|d| u4(d, 100).bytes()).collect();
    assert_eq!(counts(&merge_with(limits, &datagrams)), [2, 2, 1]);
}

/// LIM-06: large MTUs; merging counts bytes.
#[test]
fn lim_06_jumbo_packets_merge_by_bytes() {
    for mtu in [8_900, 9_000, 32_000, 65_535] {
        for build in [t4, t6] {
            let payload = mtu - build(0, 0).header_len();
            let limits = MergeLimits {
                inner_mtu: mtu,
                ..wide_limits()
            };

            let outs = merge_with(limits, &stream(build, 5, payload));

            let fits = (65_535 - build(0, 0).header_len()) / payload;
            assert_eq!(outs[0].packets, fits.min(5), "MTU {mtu}");
        }
    }
}

/// LIM-07: small MTUs.
#[test]
fn lim_07_small_mtus_give_many_pieces() {
    for (mtu, least) in [(1280, 50), (576, 120)] {
        for packet in [t4(0, 64_000), t6(0, 64_000)] {
            let segment_size = u16::try_from(mtu - packet.header_len()).unwrap();
            let bytes = packet.clone().field(Field::Seed).bytes();

            let pieces = split(&packet.virtio(segment_size), &bytes, mtu).unwrap();

            assert!(pieces.len() >= least);
            assert!(pieces.iter().all(|piece| piece.len() <= mtu));
            assert_all_well_formed(&pieces);
        }
    }
}

/// LIM-08, P-35: every length from 0 to 70,000, as bytes read and as bytes pushed.
#[test]
fn lim_08_no_length_is_narrowed() {
    let template = [
        t4(0, 60_000).bytes(),
        t6(0, 60_000).bytes(),
        u4(0, 60_000).bytes(),
        u6(0, 60_000).bytes(),
    ];
    let headers = [
        t4(0, 0).virtio(1000),
        t6(0, 0).virtio(1000),
        u4(0, 0).virtio(1000),
        u6(0, 0).virtio(1000),
    ];
    let mut merger = Merger::new(wide_limits());
    for (bytes, header) in template.iter().zip(&headers) {
        let declared = bytes.len();
        let mut bytes = bytes.clone();
        bytes.resize(70_000, 0);
        for len in (0..=70_000_usize).filter(|len| {
            len % 97 == 0 || len.abs_diff(declared) < 3 || *len < 100 || *len > 65_500
        }) {
            let result = split(header, &bytes[..len], 1420);
            assert_eq!(
                result.is_ok(),
                len == declared,
                "{len} bytes, {declared} declared"
            );

            let pushed = merger.push(
                &bytes,
                0,
                u32::try_from(len).unwrap(),
                1,
                Checksum::Unverified,
            );
            assert_eq!(pushed == PushOutcome::Queued, len >= declared);
            merger.flush(&mut bytes.clone(), ByteOrder::Little, |_, frame| {
                assert_eq!(frame.parts[0].len as usize, declared);
            });
        }
    }
}
