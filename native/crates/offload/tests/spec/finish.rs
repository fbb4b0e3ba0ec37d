//! Section 6: finishing partial checksums.

use offload::{NEEDS_CHECKSUM, SplitError, VirtioHeader};

use crate::common::fixture::{Field, Packet, padding_extension, t4, t6, u4, u6};
use crate::common::judge::{assert_well_formed, reference_checksum, reference_sum};
use crate::common::split;

fn finish(packet: &Packet) -> Vec<u8> {
    finish_at(
        &packet.virtio_single(),
        &packet.clone().field(Field::Seed).bytes(),
    )
    .unwrap()
}

fn finish_at(header: &VirtioHeader, packet: &[u8]) -> Result<Vec<u8>, SplitError> {
    split(header, packet, 9000).map(|pieces| pieces.concat())
}

fn flagged(checksum_start: u16, checksum_offset: u16) -> VirtioHeader {
    VirtioHeader {
        flags: NEEDS_CHECKSUM,
        checksum_start,
        checksum_offset,
        ..VirtioHeader::default()
    }
}

/// CSM-01, P-01
#[test]
fn csm_01_the_seed_becomes_the_full_checksum() {
    for packet in [
        t4(0, 1360),
        t6(0, 1348),
        u4(0, 1200),
        u6(0, 1200),
        t4(0, 0),
        t6(0, 0),
    ] {
        let finished = finish(&packet);

        assert_eq!(finished, packet.bytes());
        assert_well_formed(&finished);
    }
}

/// A payload that makes the checksum come out as 0.
fn zero_sum(packet: &Packet) -> Packet {
    let blank = packet
        .clone()
        .with(|packet| packet.payload[..2].fill(0))
        .field(Field::Zero)
        .bytes();
    let l4 = blank[packet.l3_len()..].to_vec();
    let wanted = reference_checksum(&[packet.pseudo_header(l4.len()), l4].concat());
    packet
        .clone()
        .with(|packet| packet.payload[..2].copy_from_slice(&wanted.to_be_bytes()))
}

/// CSM-02, P-09, P-43, P-46: the protocol is parsed, also behind extension headers.
#[test]
fn csm_02_a_udp_zero_is_written_as_all_ones() {
    let extended = u6(0, 100).with(|packet| packet.extensions = vec![(60, padding_extension())]);
    for packet in [u4(0, 100), u6(0, 100), extended] {
        let packet = zero_sum(&packet);
        let at = packet.l3_len() + 6;

        assert_eq!(finish(&packet)[at..at + 2], [0xff, 0xff]);
    }
}

/// CSM-02: TCP keeps its zero (the note under the table of section 6).
#[test]
fn csm_02_a_tcp_zero_is_written_as_zero() {
    for packet in [t4(0, 100), t6(0, 100)] {
        let packet = zero_sum(&packet);
        let at = packet.l3_len() + 16;

        assert_eq!(finish(&packet)[at..at + 2], [0, 0]);
    }
}

/// CSM-03
#[test]
fn csm_03_an_odd_last_byte_is_the_high_half_of_a_word() {
    for packet in [t4(0, 1), t6(0, 7), u4(0, 5), u6(0, 1199)] {
        assert_eq!(finish(&packet), packet.bytes());
    }
}

/// CSM-04: no position outside the packet, inside the IP header, or wrong for the protocol.
#[test]
fn csm_04_bad_positions_are_refused() {
    let tcp = t4(0, 10).bytes();
    let udp6 = u6(0, 10).bytes();
    let extended = u6(0, 10)
        .with(|packet| packet.extensions = vec![(0, padding_extension())])
        .bytes();
    let icmp6 = icmpv6();
    for (start, offset, packet) in [
        (20, 61, &tcp),
        (61, 0, &tcp),
        (20, 0xffff, &tcp),
        (0xffff, 0xffff, &tcp),
        (19, 16, &tcp),
        (0, 10, &tcp),
        (20, 6, &tcp),
        (20, 17, &tcp),
        (40, 16, &udp6),
        (40, 2, &udp6),
        (39, 6, &udp6),
        (40, 6, &extended),
        (47, 6, &extended),
        (40, 16, &icmp6),
        (40, 6, &icmp6),
    ] {
        let error = finish_at(&flagged(start, offset), packet).unwrap_err();

        assert_eq!(error.reason(), "csum", "{start} + {offset}");
        assert!(matches!(error, SplitError::ChecksumPosition { .. }));
    }
}

/// CSM-04: the position is checked against the declared length, not against surplus bytes.
#[test]
fn csm_04_surplus_bytes_do_not_hold_a_checksum_field() {
    let bytes = [&t4(0, 10).bytes()[..], &[0; 100]].concat();

    assert_eq!(
        finish_at(&flagged(70, 0), &bytes).unwrap_err().reason(),
        "csum"
    );
}

/// CSM-04: a flagged super-frame must name the field of its own L4 header.
#[test]
fn csm_04_super_frames_name_their_own_field() {
    for packet in [t4(0, 3000), t6(0, 3000), u4(0, 3000), u6(0, 3000)] {
        let good = packet.virtio(1000);
        let start = |checksum_start| VirtioHeader {
            checksum_start,
            ..good
        };
        let offset = |checksum_offset| VirtioHeader {
            checksum_offset,
            ..good
        };
        for bad in [
            start(0),
            start(good.checksum_start + 2),
            start(good.checksum_start - 1),
            offset(2),
            offset(18),
        ] {
            assert_eq!(
                split(&bad, &packet.bytes(), 9000).unwrap_err().reason(),
                "csum"
            );
        }
        assert_eq!(split(&good, &packet.bytes(), 9000).unwrap().len(), 3);
    }
}

fn icmpv6() -> Vec<u8> {
    let mut packet = u6(0, 24).with(|packet| packet.protocol = 58).bytes();
    packet[40..44].copy_from_slice(&[128, 0, 0, 0]);
    packet
}

/// CSM-05: an echo request at offset 2, and a checksum inside an inner packet.
#[test]
fn csm_05_other_protocols_and_inner_tunnels_get_a_plain_sum() {
    let mut echo = icmpv6();
    let len = u16::try_from(echo.len() - 40).unwrap().to_be_bytes();
    let seed = reference_sum(&[&echo[8..40], &[0, 58], &len].concat());
    echo[42..44].copy_from_slice(&seed.to_be_bytes());
    let inner = u4(0, 33).field(Field::Seed);
    let vxlan = u4(0, 0)
        .with(|outer| outer.payload = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &inner.bytes()].concat());

    let finished = finish_at(&flagged(40, 2), &echo).unwrap();
    let tunnelled = finish_at(&flagged(20 + 8 + 8 + 20, 6), &vxlan.bytes()).unwrap();

    assert_eq!(
        reference_checksum(&[&finished[8..40], &[0, 58], &len, &finished[40..]].concat()),
        0
    );
    assert_eq!(tunnelled[36..], inner.field(Field::Valid).bytes());
    assert_eq!(
        tunnelled[..36],
        vxlan.bytes()[..36],
        "the outer packet is unchanged"
    );
}

/// CSM-05: a zero behind our own L4 header becomes all ones, because it may be UDP.
#[test]
fn csm_05_an_inner_zero_is_written_as_all_ones() {
    let inner = zero_sum(&u4(0, 34)).field(Field::Seed);
    let outer = t4(0, 0).with(|outer| outer.payload = inner.bytes());

    let finished = finish_at(&flagged(52 + 20, 6), &outer.bytes()).unwrap();

    assert_eq!(finished[52 + 26..52 + 28], [0xff, 0xff]);
}

/// CSM-05: SCTP has a CRC.
#[test]
fn csm_05_sctp_is_refused() {
    let packet = u4(0, 24).with(|packet| packet.protocol = 132);

    let error = finish_at(&flagged(20, 8), &packet.bytes()).unwrap_err();

    assert_eq!(error, SplitError::ChecksumKind { protocol: 132 });
    assert_eq!(error.reason(), "csum");
}

/// CSM-06
#[test]
fn csm_06_without_the_flag_nothing_changes() {
    for field in [Field::Valid, Field::Wrong, Field::Seed, Field::Zero] {
        for packet in [t4(0, 100), t6(0, 100), u4(0, 100), u6(0, 100)] {
            let bytes = packet.clone().field(field).bytes();
            let header = VirtioHeader {
                flags: 0,
                ..packet.virtio_single()
            };

            assert_eq!(finish_at(&header, &bytes).unwrap(), bytes);
        }
    }
}

/// CSM-07, P-51: the flag for valid data says nothing.
#[test]
fn csm_07_data_valid_changes_nothing() {
    let bytes = t4(0, 100).field(Field::Wrong).bytes();
    let header = VirtioHeader {
        flags: 2,
        ..VirtioHeader::default()
    };

    assert_eq!(finish_at(&header, &bytes).unwrap(), bytes);
}

/// CSM-08, P-34: no field survives from the frame before.
#[test]
fn csm_08_every_header_is_parsed_anew() {
    let sequence: Vec<Packet> = vec![
        t4(0, 100),
        u6(1, 1201),
        t6(9, 3),
        u4(2, 40),
        t4(5, 0),
        u6(3, 8),
    ];

    let first: Vec<Vec<u8>> = sequence.iter().map(finish).collect();
    let reversed: Vec<Vec<u8>> = sequence.iter().rev().map(finish).collect();

    assert_eq!(
        first,
        sequence.iter().map(Packet::bytes).collect::<Vec<_>>()
    );
    assert_eq!(first, reversed.into_iter().rev().collect::<Vec<_>>());
}

/// CSM-10: completion happens for every packet, local traffic included; no path of the splitter leaves a seed.
#[test]
fn csm_10_no_packet_leaves_with_a_seed() {
    for packet in [t4(0, 5000), t6(0, 5000), u4(0, 5000), u6(0, 5000)] {
        let packet = packet.field(Field::Seed);
        for header in [
            packet.virtio(1200),
            packet.virtio(5000),
            packet.virtio_single(),
        ] {
            for piece in split(&header, &packet.bytes(), 9000).unwrap() {
                assert_well_formed(&piece);
            }
        }
    }
}
