//! Section 5: splitting what was read.

use offload::{NEEDS_CHECKSUM, SplitCursor, SplitError, SplitLimits, VirtioHeader, gso};

use crate::common::fixture::{
    ACK, CWR, ECE, FIN, Field, MF, PSH, Packet, URG, fragment_extension, padding_extension, t4, t6,
    u4, u6,
};
use crate::common::judge::{assert_all_well_formed, assert_well_formed, reference_checksum};
use crate::common::split;

const MTU: usize = 1420;

/// Splits a super-frame with its seed in place and checks that every piece is well formed.
fn pieces(packet: &Packet, segment_size: u16) -> Vec<Vec<u8>> {
    let bytes = packet.clone().field(Field::Seed).bytes();
    let pieces = split(&packet.virtio(segment_size), &bytes, MTU).unwrap();
    for piece in &pieces {
        assert_well_formed(piece);
    }
    let joined: Vec<u8> = pieces
        .iter()
        .flat_map(|piece| piece[packet.header_len()..].to_vec())
        .collect();
    assert_eq!(joined, packet.payload, "every byte, in order");
    pieces
}

fn payload_lens(packet: &Packet, pieces: &[Vec<u8>]) -> Vec<usize> {
    pieces
        .iter()
        .map(|piece| piece.len() - packet.header_len())
        .collect()
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn reason(header: &VirtioHeader, packet: &[u8]) -> &'static str {
    split(header, packet, MTU).unwrap_err().reason()
}

/// SPL-01
#[test]
fn spl_01_tcp4_splits_at_the_segment_size() {
    let packet = t4(0, 3000);

    let pieces = pieces(&packet, 1360);

    assert_eq!(payload_lens(&packet, &pieces), [1360, 1360, 280]);
}

/// SPL-02, SPL-03
#[test]
fn spl_02_03_total_length_and_identification_are_those_of_the_piece() {
    let packet = t4(0, 3000).with(|packet| packet.id = 0xffff);

    let pieces = pieces(&packet, 1360);

    assert_eq!(
        pieces
            .iter()
            .map(|piece| word(piece, 2))
            .collect::<Vec<_>>(),
        [1412, 1412, 332]
    );
    assert_eq!(
        pieces
            .iter()
            .map(|piece| word(piece, 4))
            .collect::<Vec<_>>(),
        [0xffff, 0, 1]
    );
    assert!(
        pieces
            .iter()
            .all(|piece| reference_checksum(&piece[..20]) == 0)
    );
}

/// SPL-04, P-38: the sequence number wraps.
#[test]
fn spl_04_sequence_counts_modulo_two_to_the_32() {
    let pieces = pieces(&t4(0xffff_ff00, 3000), 1360);

    let sequences: Vec<u32> = pieces
        .iter()
        .map(|piece| u32::from_be_bytes(piece[24..28].try_into().unwrap()))
        .collect();
    assert_eq!(sequences, [0xffff_ff00, 0x450, 0x9a0]);
}

/// SPL-05
#[test]
fn spl_05_everything_else_is_copied_to_each_piece() {
    for packet in [t4(7, 3000), t6(7, 3000)] {
        let packet = packet.with(|packet| {
            packet.tos = 0x2d;
            packet.ttl = 17;
            packet.window = 0xabcd;
            packet.acknowledgement = 0x0102_0304;
        });
        let whole = packet.bytes();
        let (l3, end) = (packet.l3_len(), packet.header_len());

        for piece in pieces(&packet, 1000) {
            if packet.version == 4 {
                assert_eq!(piece[..2], whole[..2]);
                assert_eq!(piece[6..10], whole[6..10]);
                assert_eq!(piece[12..20], whole[12..20]);
            } else {
                assert_eq!(piece[..4], whole[..4]);
                assert_eq!(piece[6..40], whole[6..40]);
            }
            assert_eq!(piece[l3..l3 + 4], whole[l3..l3 + 4]);
            assert_eq!(piece[l3 + 8..l3 + 13], whole[l3 + 8..l3 + 13]);
            assert_eq!(piece[l3 + 14..l3 + 16], whole[l3 + 14..l3 + 16]);
            assert_eq!(piece[l3 + 18..end], whole[l3 + 18..end]);
        }
    }
}

/// SPL-06, P-03: copied to every piece, they would end the stream early.
#[test]
fn spl_06_fin_and_psh_stay_on_the_last_piece() {
    let pieces = pieces(&t4(0, 3000).flags(FIN | PSH | ACK), 1360);

    assert_eq!(
        pieces.iter().map(|piece| piece[33]).collect::<Vec<_>>(),
        [ACK, ACK, FIN | PSH | ACK]
    );
}

/// SPL-07, P-26, P-41, P-46: types 0x81 and 0x84.
#[test]
fn spl_07_cwr_stays_on_the_first_piece_and_ece_on_all() {
    for packet in [t4(0, 3000), t6(0, 3000)] {
        let packet = packet.flags(CWR | ECE | ACK);
        let plain = packet.virtio(1360);
        let bytes = packet.clone().field(Field::Seed).bytes();

        for gso_type in [plain.gso_type, plain.gso_type | 0x80] {
            let pieces = split(&VirtioHeader { gso_type, ..plain }, &bytes, MTU).unwrap();

            let at = packet.l3_len() + 13;
            assert_eq!(
                pieces.iter().map(|p| p[at]).collect::<Vec<_>>(),
                [CWR | ECE | ACK, ECE | ACK, ECE | ACK]
            );
            assert_all_well_formed(&pieces);
        }
    }
}

/// SPL-08, P-45: the header length field is a hint that nobody may trust.
#[test]
fn spl_08_the_header_length_field_changes_nothing() {
    let packet = t4(0, 3000);
    let bytes = packet.clone().field(Field::Seed).bytes();
    let expected = pieces(&packet, 1360);

    for header_len in [0, 1, 40, 52, 53, 1500, 3052] {
        let header = VirtioHeader {
            header_len,
            ..packet.virtio(1360)
        };
        assert_eq!(
            split(&header, &bytes, MTU).unwrap(),
            expected,
            "header length {header_len}"
        );
    }
}

/// SPL-09
#[test]
fn spl_09_tcp6_sets_the_payload_length() {
    let packet = t6(0, 3000);

    let pieces = pieces(&packet, 1348);

    assert_eq!(
        pieces
            .iter()
            .map(|piece| word(piece, 4))
            .collect::<Vec<_>>(),
        [1380, 1380, 336]
    );
}

/// SPL-10, P-26, P-37
#[test]
fn spl_10_extension_headers_are_copied_to_each_piece() {
    let routing = vec![0, 4, 0, 0, 0, 0, 0];
    for extensions in [
        vec![(0, padding_extension())],
        vec![(60, padding_extension())],
        vec![(43, routing.clone())],
        vec![
            (0, padding_extension()),
            (43, routing),
            (60, padding_extension()),
        ],
    ] {
        let packet = t6(0, 3000).with(|packet| packet.extensions.clone_from(&extensions));
        let whole = packet.bytes();

        let pieces = pieces(&packet, 1300);

        assert_eq!(payload_lens(&packet, &pieces), [1300, 1300, 400]);
        assert!(
            pieces
                .iter()
                .all(|piece| piece[40..packet.l3_len()] == whole[40..packet.l3_len()])
        );
    }
}

/// SPL-11
#[test]
fn spl_11_udp4_splits_into_datagrams() {
    let packet = u4(0, 3000);

    let pieces = pieces(&packet, 1200);

    assert_eq!(payload_lens(&packet, &pieces), [1200, 1200, 600]);
    assert_eq!(
        pieces
            .iter()
            .map(|piece| word(piece, 24))
            .collect::<Vec<_>>(),
        [1208, 1208, 608]
    );
    assert_eq!(
        pieces
            .iter()
            .map(|piece| word(piece, 4))
            .collect::<Vec<_>>(),
        [0x1234, 0x1235, 0x1236]
    );
}

/// Two bytes that make the checksum of the first piece come out as 0.
fn zero_sum_payload(packet: &Packet, segment_size: usize) -> Packet {
    let piece = packet.clone().with(|packet| {
        packet.payload.truncate(segment_size);
        packet.payload[..2].fill(0);
    });
    let wanted = {
        let l4_len = 8 + segment_size;
        let l4 = piece.clone().field(Field::Zero).bytes()[piece.l3_len()..].to_vec();
        reference_checksum(&[piece.pseudo_header(l4_len), l4].concat())
    };
    packet
        .clone()
        .with(|packet| packet.payload[..2].copy_from_slice(&wanted.to_be_bytes()))
}

/// SPL-12, P-26, P-32
#[test]
fn spl_12_udp6_checksum_zero_is_sent_as_all_ones() {
    let packet = zero_sum_payload(&u6(0, 3000), 1200);

    let pieces = pieces(&packet, 1200);

    assert_eq!(payload_lens(&packet, &pieces), [1200, 1200, 600]);
    assert_eq!(word(&pieces[0], 46), 0xffff);
}

/// SPL-13
#[test]
fn spl_13_udp4_checksum_zero_is_sent_as_all_ones() {
    let packet = zero_sum_payload(&u4(0, 3000), 1200);

    let pieces = pieces(&packet, 1200);

    assert_eq!(word(&pieces[0], 26), 0xffff);
}

/// SPL-14
#[test]
fn spl_14_a_whole_multiple_leaves_no_empty_piece() {
    for packet in [t4(0, 4000), t6(0, 4000), u4(0, 4000), u6(0, 4000)] {
        let pieces = pieces(&packet, 1000);

        assert_eq!(payload_lens(&packet, &pieces), [1000; 4]);
    }
}

/// SPL-15
#[test]
fn spl_15_a_short_super_frame_is_one_finished_packet() {
    for packet in [t4(0, 100), t6(0, 100), u4(0, 100), u6(0, 100)] {
        for segment_size in [100, 101, 0xffff] {
            assert_eq!(pieces(&packet, segment_size), [packet.bytes()]);
        }
    }
}

/// SPL-16, P-42
#[test]
fn spl_16_all_128_datagrams_come_out() {
    for packet in [u4(0, 128 * 500), u6(0, 128 * 500)] {
        assert_eq!(pieces(&packet, 500).len(), 128);
    }
}

/// SPL-17: each malformed super-frame has its reason.
#[test]
fn spl_17_malformed_super_frames_are_refused_with_a_reason() {
    let tcp = t4(0, 3000);
    let udp = u4(0, 3000);
    let (tcp_bytes, udp_bytes) = (tcp.bytes(), udp.bytes());
    let good = tcp.virtio(1360);
    let typed = |gso_type| VirtioHeader { gso_type, ..good };
    let bent = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = tcp_bytes.clone();
        change(&mut bytes);
        bytes
    };

    assert_eq!(reason(&tcp.virtio(0), &tcp_bytes), "size");
    for gso_type in [2, 3, 6, 7, 0x80, 0x83, 0xff] {
        assert_eq!(
            reason(&typed(gso_type), &tcp_bytes),
            "type",
            "{gso_type:#x}"
        );
    }
    assert_eq!(
        reason(
            &VirtioHeader {
                gso_type: gso::UDP | 0x80,
                ..udp.virtio(1200)
            },
            &udp_bytes
        ),
        "type"
    );
    assert_eq!(reason(&typed(gso::TCP6), &tcp_bytes), "proto");
    assert_eq!(reason(&typed(gso::UDP), &tcp_bytes), "proto");
    assert_eq!(reason(&typed(gso::TCP4), &t6(0, 3000).bytes()), "proto");
    assert_eq!(reason(&typed(gso::TCP4), &udp_bytes), "proto");
    assert_eq!(
        reason(&t6(0, 9).virtio(1360), &u6(0, 3000).bytes()),
        "proto"
    );
    assert_eq!(reason(&good, &bent(&|bytes| bytes[0] = 0x44)), "length");
    assert_eq!(reason(&good, &bent(&|bytes| bytes[32] = 0x40)), "length");
    assert_eq!(
        reason(&good, &bent(&|bytes| bytes.truncate(2000))),
        "length"
    );
    assert_eq!(reason(&good, &bent(&|bytes| bytes.push(0))), "length");
    assert_eq!(
        reason(
            &t6(0, 3000).virtio(1348),
            &[&t6(0, 3000).bytes()[..], &[0]].concat()
        ),
        "length"
    );
    assert_eq!(
        reason(
            &udp.virtio(1200),
            &udp.clone().with(|udp| udp.udp_len_error = -1).bytes()
        ),
        "length"
    );
    assert_eq!(
        reason(&good, &tcp.clone().with(|tcp| tcp.fragment = MF).bytes()),
        "proto"
    );
    let fragment = t6(0, 3000).with(|tcp| tcp.extensions = vec![(44, fragment_extension(1))]);
    assert_eq!(reason(&fragment.virtio(1300), &fragment.bytes()), "proto");
    assert_eq!(reason(&good, &[]), "short");
    assert_eq!(reason(&good, &[0x45; 19]), "short");
    assert_eq!(reason(&good, &[0x60; 39]), "short");
}

/// SPL-17: a data offset that points behind the frame.
#[test]
fn spl_17_a_data_offset_beyond_the_frame_is_refused() {
    let packet = t4(0, 4);
    let mut bytes = packet.bytes();
    bytes[32] = 0xf0;

    assert_eq!(
        split(&packet.virtio(2), &bytes, MTU),
        Err(SplitError::Length {
            declared: 60,
            got: 36
        }),
        "the error carries the numbers"
    );
}

/// SPL-18
#[test]
fn spl_18_surplus_bytes_of_a_single_are_cut_off() {
    for packet in [t4(0, 100), t6(0, 100), u4(0, 101), u6(0, 101)] {
        let bytes = [&packet.clone().field(Field::Seed).bytes()[..], &[0xee; 13]].concat();

        assert_eq!(
            split(&packet.virtio_single(), &bytes, MTU).unwrap(),
            [packet.bytes()]
        );
    }
}

/// SPL-19, P-53: TCP pieces shrink to our own MTU.
#[test]
fn spl_19_tcp_pieces_shrink_to_the_inner_mtu() {
    for packet in [t4(0, 3000), t6(0, 3000)] {
        let bytes = packet.clone().field(Field::Seed).bytes();

        let pieces = split(&packet.virtio(1448), &bytes, 1280).unwrap();

        assert!(pieces.iter().all(|piece| piece.len() <= 1280));
        assert_eq!(pieces[0].len(), 1280);
        assert_all_well_formed(&pieces);
        assert_eq!(
            split(&packet.virtio(1448), &bytes, packet.header_len())
                .unwrap_err()
                .reason(),
            "size"
        );
    }
}

/// SPL-19: UDP datagrams cannot shrink, so the source has to learn our MTU.
#[test]
fn spl_19_udp_pieces_above_the_inner_mtu_are_refused_with_the_mtu() {
    let packet = u4(0, 3000);

    let error = split(&packet.virtio(1400), &packet.bytes(), 1280).unwrap_err();

    assert_eq!(
        error,
        SplitError::UdpTooBig {
            piece_len: 1428,
            inner_mtu: 1280
        }
    );
    assert_eq!(error.reason(), "too_big");
    assert_eq!(
        split(&packet.virtio(1252), &packet.bytes(), 1280)
            .unwrap()
            .len(),
        3
    );
}

/// SPL-20
#[test]
fn spl_20_fragments_and_singles_pass() {
    let first = u4(0, 800).with(|udp| udp.fragment = MF).field(Field::Seed);
    let later = u4(0, 800).with(|udp| udp.fragment = 100).bytes();
    let plain = VirtioHeader::default();

    let pieces = split(&first.virtio_single(), &first.bytes(), MTU).unwrap();

    assert_eq!(
        pieces,
        [first.clone().field(Field::Valid).bytes()],
        "finished if flagged"
    );
    assert_eq!(
        split(&plain, &later, MTU).unwrap(),
        std::slice::from_ref(&later)
    );
    assert_eq!(
        split(&plain, &t4(0, 3000).bytes(), MTU).unwrap(),
        [t4(0, 3000).bytes()]
    );
    let flagged = VirtioHeader {
        flags: NEEDS_CHECKSUM,
        checksum_start: 20,
        checksum_offset: 2,
        ..plain
    };
    assert_eq!(
        split(&flagged, &later, MTU).unwrap().len(),
        1,
        "a later fragment has no L4 header of its own"
    );
}

/// SPL-21
#[test]
fn spl_21_other_versions_are_refused() {
    let mut bytes = t4(0, 100).bytes();
    for version in [0_u8, 1, 5, 7, 0xc, 0xe, 0xf] {
        bytes[0] = version << 4 | 5;
        for header in [VirtioHeader::default(), t4(0, 100).virtio(50)] {
            assert_eq!(
                split(&header, &bytes, MTU),
                Err(SplitError::NotIp { version })
            );
        }
    }
    assert_eq!(SplitError::NotIp { version: 5 }.reason(), "not_ip");
}

/// SPL-22, P-26, P-42: a cursor goes on where the capacity ended.
#[test]
fn spl_22_splitting_continues_in_the_next_batch() {
    let packet = t4(0, 60_000);
    let bytes = packet.clone().field(Field::Seed).bytes();
    let expected = pieces(&packet, 1360);
    let mut cursor = SplitCursor::start(
        &packet.virtio(1360),
        &bytes,
        &SplitLimits { inner_mtu: MTU },
    )
    .unwrap();
    let mut found = Vec::new();

    while cursor.pieces_left() > 0 {
        let mut batch = vec![0; 7 * cursor.piece_len_max() + 3];
        let mut rest = &mut batch[..];
        while let Some(len) = cursor.write_next(&bytes, rest) {
            let (piece, after) = rest.split_at_mut(len);
            found.push(piece.to_vec());
            rest = after;
        }
    }

    assert_eq!(found, expected);
    assert_eq!(cursor.write_next(&bytes, &mut [0; 2000]), None);
}

/// SPL-23
#[test]
fn spl_23_ipv4_options_are_copied() {
    let packet = t4(0, 3000).with(|packet| packet.ip_options = vec![7, 7, 4, 0, 0, 0, 0, 0]);
    let whole = packet.bytes();

    let pieces = pieces(&packet, 1300);

    assert_eq!(payload_lens(&packet, &pieces), [1300, 1300, 400]);
    assert!(pieces.iter().all(|piece| piece[20..28] == whole[20..28]));
}

/// SPL-24
#[test]
fn spl_24_the_urgent_flag_and_pointer_are_on_every_piece() {
    let packet = t4(0, 3000)
        .flags(URG | ACK)
        .with(|packet| packet.urgent = 77);

    for piece in pieces(&packet, 1360) {
        assert_eq!(piece[33], URG | ACK);
        assert_eq!(word(&piece, 38), 77);
    }
}

/// SPL-25: the peer is chosen once per frame, because addresses and ports are the same in every piece.
#[test]
fn spl_25_every_piece_has_the_addresses_of_its_frame() {
    for packet in [t4(0, 5000), t6(0, 5000), u4(0, 5000), u6(0, 5000)] {
        let whole = packet.bytes();
        let expected = (packet::addresses(&whole), packet::flow(&whole));

        for piece in pieces(&packet, 700) {
            assert_eq!((packet::addresses(&piece), packet::flow(&piece)), expected);
        }
    }
}

/// HDR-06: UDP over IPv4 without a checksum keeps none, merged or not.
#[test]
fn hdr_06_an_ipv4_udp_checksum_of_zero_stays_zero() {
    let packet = u4(0, 2000).field(Field::Zero);
    let unflagged = |header: VirtioHeader| VirtioHeader {
        flags: header.flags & !NEEDS_CHECKSUM,
        ..header
    };

    let single = split(&unflagged(packet.virtio_single()), &packet.bytes(), 9000).unwrap();
    let pieces = split(&unflagged(packet.virtio(1200)), &packet.bytes(), 9000).unwrap();

    assert_eq!(single, [packet.bytes()]);
    assert_eq!(
        pieces
            .iter()
            .map(|piece| word(piece, 26))
            .collect::<Vec<_>>(),
        [0, 0]
    );
    assert_eq!(
        pieces
            .iter()
            .map(|piece| word(piece, 24))
            .collect::<Vec<_>>(),
        [1208, 808]
    );
}
