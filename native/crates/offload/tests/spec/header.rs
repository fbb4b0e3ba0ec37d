//! Section 4: the virtio header, read and written.

use offload::{ByteOrder, VIRTIO_LEN, VirtioHeader};

use crate::common::fixture::{Field, Packet, t4, t6, u4, u6};
use crate::common::judge::assert_all_well_formed;
use crate::common::{merge, split};

const ODD: VirtioHeader = VirtioHeader {
    flags: 1,
    gso_type: 0x81,
    header_len: 0x0102,
    segment_size: 0x0304,
    checksum_start: 0x0506,
    checksum_offset: 0x0708,
};

/// OPN-15: both orders.
#[test]
fn opn_15_the_codec_knows_both_byte_orders() {
    for (order, bytes) in [
        (ByteOrder::Little, [1, 0x81, 2, 1, 4, 3, 6, 5, 8, 7]),
        (ByteOrder::Big, [1, 0x81, 1, 2, 3, 4, 5, 6, 7, 8]),
        (
            ByteOrder::Native,
            if cfg!(target_endian = "big") {
                [1, 0x81, 1, 2, 3, 4, 5, 6, 7, 8]
            } else {
                [1, 0x81, 2, 1, 4, 3, 6, 5, 8, 7]
            },
        ),
    ] {
        let mut written = [0xee; VIRTIO_LEN];
        ODD.write(&mut written, order);
        assert_eq!(written, bytes);
        assert_eq!(VirtioHeader::read(&bytes, order), Some(ODD));
    }
    assert_eq!(VirtioHeader::read(&[0; 9], ByteOrder::Little), None);
    assert!(
        VirtioHeader::read(&[0; 12], ByteOrder::Little).is_some(),
        "OPN-09: a longer header's rest is ignored"
    );
}

/// HDR-01: a pure ACK with a partial checksum.
#[test]
fn hdr_01_single_packets_are_finished_too() {
    for packet in [t4(5, 0), t6(5, 0)] {
        let pieces = split(
            &packet.virtio_single(),
            &packet.clone().field(Field::Seed).bytes(),
            1420,
        )
        .unwrap();

        assert_eq!(pieces, [packet.bytes()]);
    }
}

/// HDR-02: with a header length that means something else.
#[test]
fn hdr_02_the_header_length_is_recomputed() {
    let packet = t6(0, 4000);
    let bytes = packet.clone().field(Field::Seed).bytes();
    let forwarded = VirtioHeader {
        header_len: 0x0101,
        ..packet.virtio(1348)
    };

    assert_eq!(
        split(&forwarded, &bytes, 1420),
        split(&packet.virtio(1348), &bytes, 1420)
    );
}

/// HDR-03: the largest frames the kernel gave.
#[test]
fn hdr_03_the_largest_frames_split_completely() {
    for (packet, segment_size, count) in [
        (t4(0, 64_348 - 52), 1368, 47),
        (t6(0, 64_776 - 72), 1348, 48),
        (u4(0, 64_000), 500, 128),
    ] {
        let bytes = packet.clone().field(Field::Seed).bytes();
        assert_eq!(
            split(&packet.virtio(segment_size), &bytes, 1420)
                .unwrap()
                .len(),
            count
        );
    }
    let largest = t6(0, 65_535 - 32);
    assert_eq!(largest.bytes().len(), 65_575);
    assert_eq!(
        split(&largest.virtio(1348), &largest.bytes(), 1420)
            .unwrap()
            .len(),
        49
    );
}

/// HDR-04 (see SPL-06), HDR-05: what an application's own segmented send looks like.
#[test]
fn hdr_05_type_five_is_split_in_both_families() {
    for packet in [u4(0, 5000), u6(0, 5000)] {
        let bytes = packet.clone().field(Field::Seed).bytes();
        let pieces = split(&packet.virtio(1000), &bytes, 1420).unwrap();

        assert_eq!(pieces.len(), 5);
        assert_all_well_formed(&pieces);
    }
}

/// What the kernel demands of every header that is written: WRH-04, WRH-05, WRH-06, WRH-10, WRH-13, WRH-14, WRH-15, WRH-18.
#[test]
fn wrh_04_to_18_every_written_header_is_one_the_kernel_takes() {
    for outs in [
        merge(&bytes(&[t4(0, 1000), t4(1000, 1000), t4(2000, 0)])),
        merge(&bytes(&[t6(0, 1000), t6(1000, 1), t6(1001, 1000)])),
        merge(&bytes(&[u4(0, 1000), u4(1, 1000), u4(2, 1)])),
        merge(&bytes(&[u6(0, 1000), u6(1, 1000), u6(2, 2000)])),
    ] {
        for out in outs {
            let (header, len) = (out.header, out.bytes.len());
            if out.packets == 1 {
                assert_eq!(out.raw_header, [0; 10]);
                continue;
            }
            assert_eq!(header.flags, 1);
            assert!(
                [1, 4, 5].contains(&header.gso_type),
                "never the ECN bit, never an unknown type"
            );
            assert_eq!(
                usize::from(header.checksum_start),
                if out.bytes[0] >> 4 == 4 { 20 } else { 40 }
            );
            assert_eq!(
                header.checksum_offset,
                if header.gso_type == 5 { 6 } else { 16 }
            );
            assert!(usize::from(header.header_len) < len);
            assert!(
                header.segment_size > 0
                    && usize::from(header.segment_size) < len - usize::from(header.header_len)
            );
            assert_eq!(
                packet::declared_len(&out.bytes),
                Some(len),
                "length fields are exact"
            );
        }
    }
}

/// WRH-16: a packet above our own inner MTU is never part of a merged frame.
#[test]
fn wrh_16_nothing_above_the_inner_mtu_is_merged() {
    let limits = |inner_mtu| offload::MergeLimits {
        inner_mtu,
        ..crate::common::wide_limits()
    };
    let packets = bytes(&[t4(0, 1368), t4(1368, 1368)]);

    assert_eq!(
        crate::common::counts(&crate::common::merge_with(limits(1420), &packets)),
        [2]
    );
    assert_eq!(
        crate::common::counts(&crate::common::merge_with(limits(1419), &packets)),
        [1, 1]
    );
}

/// WRH-17: super-frames over IPv6 are read with extension headers, but never written with them (COT-24).
#[test]
fn wrh_17_tcp6_frames_are_written_and_read() {
    let outs = merge(&bytes(&[t6(0, 1000), t6(1000, 1000)]));

    assert_eq!(
        split(&outs[0].header, &outs[0].bytes, 1420).unwrap(),
        [t6(0, 1000).bytes(), t6(1000, 1000).bytes()]
    );
}

/// WRH-03: a type without the flag is still split with right checksums.
#[test]
fn wrh_03_a_super_frame_without_the_flag_is_split() {
    for packet in [t4(0, 3000), t6(0, 3000), u4(0, 3000), u6(0, 3000)] {
        let header = VirtioHeader {
            flags: 0,
            checksum_start: 0,
            checksum_offset: 0,
            ..packet.virtio(1000)
        };

        let pieces = split(&header, &packet.bytes(), 1420).unwrap();

        assert_eq!(pieces.len(), 3);
        assert_all_well_formed(&pieces);
    }
}

fn bytes(packets: &[Packet]) -> Vec<Vec<u8>> {
    packets.iter().map(Packet::bytes).collect()
}
