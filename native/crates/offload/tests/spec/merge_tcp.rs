//! Section 7: merging TCP.

use offload::{ByteOrder, Checksum, MergeLimits, Merger, PushOutcome, VirtioHeader};

use crate::common::fixture::{
    ACK, CWR, ECE, FIN, Field, MF, PSH, Packet, RST, SYN, URG, padding_extension, t4, t6,
    timestamps,
};
use crate::common::judge::{assert_all_well_formed, assert_well_formed, normalised, reference_sum};
use crate::common::{Out, Pushed, counts, merge, merge_with, run_burst, wide_limits};

fn bytes(packets: &[Packet]) -> Vec<Vec<u8>> {
    packets.iter().map(Packet::bytes).collect()
}

/// Merges and returns the packets per frame.
fn merged(packets: &[Packet]) -> Vec<usize> {
    counts(&merge(&bytes(packets)))
}

/// Two packets of one stream, the second bent by `change`.
fn pair(change: impl Fn(&mut Packet)) -> Vec<usize> {
    let both = [t4, t6].map(|build| merged(&[build(0, 1360), build(1360, 1360).with(&change)]));
    assert_eq!(both[0], both[1], "IPv4 and IPv6 agree");
    both[0].clone()
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// COT-01, WRH-01
#[test]
fn cot_01_three_segments_become_one_frame() {
    let outs = merge(&bytes(&[t4(0, 1360), t4(1360, 1360), t4(2720, 500)]));

    assert_eq!(counts(&outs), [3]);
    assert_eq!(outs[0].header.segment_size, 1360);
    assert_eq!(outs[0].bytes.len(), 52 + 3220);
    assert_eq!(outs[0].bytes[33], ACK);
    assert_eq!(outs[0].bytes[52..], t4(0, 3220).payload);
}

/// COT-02
#[test]
fn cot_02_the_same_over_ipv6() {
    let outs = merge(&bytes(&[t6(0, 1360), t6(1360, 1360), t6(2720, 500)]));

    assert_eq!(counts(&outs), [3]);
    assert_eq!(outs[0].header.gso_type, 4);
    assert_eq!(word(&outs[0].bytes, 4), 32 + 3220);
}

/// COT-03, WRH-02, WRH-05, P-02, P-33: the written form, with the seed of the total length.
#[test]
fn cot_03_headers_of_a_merged_frame_are_exact() {
    for build in [t4, t6] {
        let packets = [build(0, 1360), build(1360, 1360), build(2720, 500)];
        let outs = merge(&bytes(&packets));
        let whole = build(0, 3220).field(Field::Seed);

        assert_eq!(outs[0].header, whole.virtio(1360));
        assert_eq!(
            outs[0].header.header_len,
            if whole.version == 4 { 52 } else { 72 }
        );
        assert_eq!(
            outs[0].bytes,
            whole.bytes(),
            "lengths, IP checksum and seed"
        );
        let at = whole.l3_len() + 16;
        assert_eq!(
            word(&outs[0].bytes, at),
            reference_sum(&whole.pseudo_header(3252))
        );
    }
}

/// COT-04, WRH-07
#[test]
fn cot_04_a_lone_candidate_is_unchanged() {
    for packet in [t4(0, 1360), t6(0, 1360), t4(5, 1).flags(PSH | ACK)] {
        let outs = merge(&[packet.bytes()]);

        assert_eq!(outs[0].raw_header, [0; 10]);
        assert_eq!(outs[0].bytes, packet.bytes());
        assert_eq!(outs[0].family, None);
    }
}

/// COT-05
#[test]
fn cot_05_a_gap_makes_two_frames() {
    assert_eq!(merged(&[t4(0, 1360), t4(2720, 1360)]), [1, 1]);
}

/// COT-06
#[test]
fn cot_06_a_retransmission_is_a_frame_of_its_own() {
    let outs = merge(&bytes(&[t4(0, 1360), t4(1360, 1360), t4(0, 1360)]));

    assert_eq!(counts(&outs), [2, 1]);
    assert_eq!(outs[1].bytes, t4(0, 1360).bytes());
}

/// COT-07
#[test]
fn cot_07_swapped_segments_stay_swapped() {
    let outs = merge(&bytes(&[t4(1360, 1360), t4(0, 1360)]));

    assert_eq!(counts(&outs), [1, 1]);
    assert_eq!(outs[0].bytes, t4(1360, 1360).bytes());
}

/// COT-08, P-38
#[test]
fn cot_08_a_run_crosses_the_end_of_sequence_space() {
    assert_eq!(
        merged(&[t4(0xffff_ff00, 1360), t4(0x450, 1360), t4(0x9a0, 1360)]),
        [3]
    );
}

/// COT-09, P-05
#[test]
fn cot_09_a_short_segment_closes_the_run() {
    assert_eq!(
        merged(&[t4(0, 1360), t4(1360, 500), t4(1860, 1360)]),
        [2, 1]
    );
}

/// COT-10, WRH-08
#[test]
fn cot_10_growing_segments_do_not_merge() {
    assert_eq!(merged(&[t4(0, 500), t4(500, 1360)]), [1, 1]);
}

/// COT-11, WRH-08
#[test]
fn cot_11_a_short_first_packet_never_sets_the_segment_size() {
    for first in [1_u32, 2, 100, 1359] {
        let outs = merge(&bytes(&[
            t4(0, first as usize),
            t4(first, 1360),
            t4(first + 1360, 1360),
        ]));

        assert_eq!(counts(&outs), [1, 2]);
        assert_eq!(outs[1].header.segment_size, 1360);
    }
}

/// COT-12, P-10
#[test]
fn cot_12_a_push_joins_and_closes_the_run() {
    let packets = [
        t4(0, 1360),
        t4(1360, 1360),
        t4(2720, 1360).flags(PSH | ACK),
        t4(4080, 1360),
    ];

    let outs = merge(&bytes(&packets));

    assert_eq!(counts(&outs), [3, 1]);
    assert_eq!(outs[0].bytes[33], PSH | ACK);
    assert_eq!(
        outs[0]
            .expanded
            .iter()
            .map(|piece| piece[33])
            .collect::<Vec<_>>(),
        [ACK, ACK, PSH | ACK]
    );
}

/// COT-13
#[test]
fn cot_13_a_push_first_stands_alone() {
    assert_eq!(
        merged(&[t4(0, 1360).flags(PSH | ACK), t4(1360, 1360), t4(2720, 1360)]),
        [1, 2]
    );
}

/// COT-14, WRH-18
#[test]
fn cot_14_a_special_flag_stands_alone_and_unchanged() {
    for flags in [FIN, SYN, RST, URG, ECE, CWR] {
        for build in [t4, t6] {
            let special = build(2720, 1360).flags(flags | ACK);
            let packets = [
                build(0, 1360),
                build(1360, 1360),
                special.clone(),
                build(4080, 1360),
                build(5440, 1360),
            ];

            let outs = merge(&bytes(&packets));

            assert_eq!(counts(&outs), [2, 1, 2], "flags {flags:#x}");
            assert_eq!(outs[1].bytes, special.bytes());
            assert!(outs.iter().all(|out| out.header.gso_type & 0x80 == 0));
        }
    }
}

/// COT-14: AE and the reserved bits of byte 12; and a segment without ACK.
#[test]
fn cot_14_reserved_bits_stand_alone() {
    for reserved in [1, 2, 4, 8] {
        let odd = t4(1360, 1360).with(|packet| packet.reserved = reserved);
        assert_eq!(merged(&[t4(0, 1360), odd, t4(2720, 1360)]), [1, 1, 1]);
    }
    assert_eq!(
        merged(&[t4(0, 1360), t4(1360, 1360).flags(0), t4(2720, 1360)]),
        [1, 1, 1]
    );
}

/// COT-15, P-50
#[test]
fn cot_15_a_pure_ack_keeps_its_place() {
    let ack = t4(1360, 0).with(|packet| packet.acknowledgement = 2000);
    let outs = merge(&bytes(&[t4(0, 1360), ack.clone(), t4(1360, 1360)]));

    assert_eq!(counts(&outs), [1, 1, 1]);
    assert_eq!(outs[1].bytes, ack.bytes());
}

/// COT-16, P-05
#[test]
fn cot_16_another_acknowledgement_makes_two_frames() {
    assert_eq!(pair(|_| ()), [2], "nothing differs");
    assert_eq!(pair(|packet| packet.acknowledgement += 1), [1, 1]);
}

/// COT-17
#[test]
fn cot_17_another_window_makes_two_frames() {
    assert_eq!(pair(|packet| packet.window += 1), [1, 1]);
}

/// COT-18
#[test]
fn cot_18_other_options_make_two_frames() {
    assert_eq!(pair(|packet| packet.options = timestamps(112, 222)), [1, 1]);
    assert_eq!(pair(|packet| packet.options = timestamps(111, 223)), [1, 1]);
    assert_eq!(pair(|packet| packet.options.rotate_left(1)), [1, 1]);
    assert_eq!(
        pair(|packet| packet.options[11] ^= 1),
        [1, 1],
        "the last option byte counts"
    );
    assert_eq!(pair(|packet| packet.options = timestamps(111, 222)), [2]);
}

/// COT-19, P-40
#[test]
fn cot_19_another_header_length_makes_two_frames() {
    assert_eq!(pair(|packet| packet.options.extend([1, 1, 1, 0])), [1, 1]);
    assert_eq!(pair(|packet| packet.options.clear()), [1, 1]);
}

/// COT-20: any bit of DSCP or ECN.
#[test]
fn cot_20_another_traffic_class_makes_two_frames() {
    for bit in 0..8 {
        assert_eq!(pair(|packet| packet.tos ^= 1 << bit), [1, 1], "bit {bit}");
    }
}

/// COT-21, P-22
#[test]
fn cot_21_another_hop_limit_makes_two_frames() {
    assert_eq!(pair(|packet| packet.ttl = 63), [1, 1]);
}

/// COT-22
#[test]
fn cot_22_df_must_agree_and_the_reserved_bit_is_no_candidate() {
    let next =
        |fragment| t4(1360, 1360).with(|packet| (packet.fragment, packet.id) = (fragment, 0x1235));
    let evil = |sequence| t4(sequence, 1360).with(|packet| packet.fragment = 0xc000);

    assert_eq!(merged(&[t4(0, 1360), next(0)]), [1, 1]);
    assert_eq!(merged(&[t4(0, 1360), next(0x4000)]), [2]);
    assert_eq!(merged(&[evil(0), evil(1360)]), [1, 1]);
}

/// COT-23
#[test]
fn cot_23_identifications_count_up_only_without_df() {
    let with = |sequence, fragment, id| {
        t4(sequence, 100).with(|packet| (packet.fragment, packet.id) = (fragment, id))
    };

    assert_eq!(
        merged(&[
            with(0, 0x4000, 7),
            with(100, 0x4000, 7),
            with(200, 0x4000, 1)
        ]),
        [3]
    );
    assert_eq!(
        merged(&[with(0, 0, 0xffff), with(100, 0, 0), with(200, 0, 1)]),
        [3]
    );
    assert_eq!(merged(&[with(0, 0, 7), with(100, 0, 7)]), [1, 1]);
    assert_eq!(merged(&[with(0, 0, 7), with(100, 0, 9)]), [1, 1]);
    assert_eq!(
        merged(&[with(0, 0, 7), with(100, 0, 8), with(200, 0, 8)]),
        [2, 1]
    );
}

/// COT-24, P-23, P-37
#[test]
fn cot_24_options_and_extension_headers_stand_alone_and_flow_labels_differ() {
    let option = |sequence| t4(sequence, 1000).with(|packet| packet.ip_options = vec![1, 1, 1, 0]);
    let extension = |sequence| {
        t6(sequence, 1000).with(|packet| packet.extensions = vec![(60, padding_extension())])
    };
    let label = t6(1000, 1000).with(|packet| packet.flow_label += 1);

    assert_eq!(merged(&[option(0), option(1000)]), [1, 1]);
    assert_eq!(merged(&[extension(0), extension(1000)]), [1, 1]);
    assert_eq!(merged(&[t6(0, 1000), label]), [1, 1]);
}

/// COT-25, P-22: both masks.
#[test]
fn cot_25_fragments_stand_alone() {
    let fragment = |sequence, word| t4(sequence, 1000).with(|packet| packet.fragment = word);
    for word in [MF, MF | 0x4000, 1, 0x1fff, 0x0100, MF | 1] {
        assert_eq!(
            merged(&[fragment(0, word), fragment(1000, word)]),
            [1, 1],
            "{word:#x}"
        );
        assert_eq!(
            merged(&[t4(0, 1000), fragment(1000, word), t4(2000, 1000)]),
            [1, 1, 1],
            "{word:#x}"
        );
    }
}

/// COT-26, P-07, P-34, P-46
#[test]
fn cot_26_a_corrupt_segment_stays_corrupt_and_alone() {
    for build in [t4, t6] {
        let bad = build(2720, 1360).field(Field::Wrong);
        let packets = [
            build(0, 1360),
            build(1360, 1360),
            bad.clone(),
            build(4080, 1360),
            build(5440, 1360),
        ];

        let outs = merge(&bytes(&packets));

        assert_eq!(counts(&outs), [2, 1, 2]);
        assert_eq!(outs[1].raw_header, [0; 10]);
        assert_eq!(outs[1].bytes, bad.bytes());
    }
}

/// COT-26: the first packet of a run is verified too, although only when a second one comes.
#[test]
fn cot_26_a_corrupt_first_segment_is_found() {
    let bad = t4(0, 1360).field(Field::Wrong);

    let outs = merge(&bytes(&[bad.clone(), t4(1360, 1360), t4(2720, 1360)]));

    assert_eq!(counts(&outs), [1, 2]);
    assert_eq!(outs[0].bytes, bad.bytes());
}

/// COT-27
#[test]
fn cot_27_a_bad_ip_checksum_passes_unchanged() {
    let spoil = |mut packet: Vec<u8>| {
        packet[10] ^= 1;
        packet
    };
    let bad = spoil(t4(1360, 1360).bytes());

    let middle = merge(&[t4(0, 1360).bytes(), bad.clone(), t4(2720, 1360).bytes()]);
    let first = merge(&[
        spoil(t4(0, 1360).bytes()),
        t4(1360, 1360).bytes(),
        t4(2720, 1360).bytes(),
    ]);

    assert_eq!(counts(&middle), [1, 1, 1]);
    assert_eq!((middle[1].raw_header, &middle[1].bytes), ([0; 10], &bad));
    assert_eq!(counts(&first), [1, 2]);
}

/// COT-28
#[test]
fn cot_28_interleaved_flows_merge_each() {
    let other = |sequence| t4(sequence, 1360).with(|packet| packet.source_port = 40_001);
    let packets = [
        t4(0, 1360),
        other(0),
        t4(1360, 1360),
        other(1360),
        t4(2720, 1360),
        other(2720),
    ];

    let outs = merge(&bytes(&packets));

    assert_eq!(counts(&outs), [3, 3]);
    assert_eq!(outs[0].bytes, t4(0, 4080).field(Field::Seed).bytes());
}

/// COT-29
#[test]
fn cot_29_flows_beyond_the_table_pass_as_singles() {
    let flow = |port: u16, sequence| t4(sequence, 100).with(|packet| packet.source_port = port);
    let packets: Vec<Packet> = (0..3)
        .flat_map(|round| (1..=200).map(move |port| (port, round * 100)))
        .map(|(p, s)| flow(p, s))
        .collect();
    let limits = MergeLimits {
        flows_max: 128,
        ..wide_limits()
    };

    let outs = merge_with(limits, &bytes(&packets));

    assert_eq!(outs.iter().filter(|out| out.packets == 3).count(), 128);
    assert_eq!(outs.iter().filter(|out| out.packets == 1).count(), 72 * 3);
    assert_eq!(outs.len(), 128 + 72 * 3);
}

/// COT-30: flows that differ in one bit each of addresses, ports, protocol or version never mix.
#[test]
fn cot_30_every_part_of_the_flow_key_is_compared() {
    for byte in 0..16 {
        assert_eq!(
            merged(&[
                t6(0, 100),
                t6(100, 100).with(|packet| packet.source[byte] ^= 0x10)
            ]),
            [1, 1]
        );
        assert_eq!(
            merged(&[
                t6(0, 100),
                t6(100, 100).with(|packet| packet.destination[byte] ^= 0x10)
            ]),
            [1, 1]
        );
    }
    for byte in 0..4 {
        assert_eq!(
            merged(&[
                t4(0, 100),
                t4(100, 100).with(|packet| packet.source[byte] ^= 0x10)
            ]),
            [1, 1]
        );
        assert_eq!(
            merged(&[
                t4(0, 100),
                t4(100, 100).with(|packet| packet.destination[byte] ^= 0x10)
            ]),
            [1, 1]
        );
    }
    assert_eq!(pair(|packet| packet.source_port ^= 1), [1, 1]);
    assert_eq!(pair(|packet| packet.destination_port ^= 0x100), [1, 1]);
    assert_eq!(
        pair(|packet| std::mem::swap(&mut packet.source_port, &mut packet.destination_port)),
        [1, 1]
    );
}

/// COT-30, P-22: IPv4 and IPv6 flows with equal address bytes.
#[test]
fn cot_30_versions_with_equal_address_bytes_never_mix() {
    let six = t6(100, 100).with(|packet| {
        packet.source = [0; 16];
        packet.source[12..].copy_from_slice(&[10, 9, 0, 2]);
        packet.destination = [0; 16];
        packet.destination[12..].copy_from_slice(&[10, 9, 0, 1]);
    });

    assert_eq!(merged(&[t4(0, 100), six]), [1, 1]);
}

/// COT-31
#[test]
fn cot_31_padding_behind_the_declared_length_is_cut_off() {
    for build in [t4, t6] {
        let pad = |packet: Packet| [&packet.bytes()[..], &[0; 12]].concat();

        let outs = merge(&[
            pad(build(0, 1360)),
            pad(build(1360, 1360)),
            pad(build(2720, 500)),
        ]);

        assert_eq!(counts(&outs), [3]);
        assert_eq!(outs[0].bytes, build(0, 3220).field(Field::Seed).bytes());
    }
}

/// COT-32
#[test]
fn cot_32_a_packet_shorter_than_it_declares_is_refused() {
    let mut merger = Merger::new(wide_limits());
    for packet in [t4(0, 100).bytes(), t6(0, 100).bytes()] {
        for len in [0, 1, 19, 39, packet.len() - 1] {
            let len = u32::try_from(len).unwrap();
            assert_eq!(
                merger.push(&packet, 0, len, 1, Checksum::Unverified),
                PushOutcome::Malformed
            );
        }
        let outside = u32::try_from(packet.len()).unwrap();
        assert_eq!(
            merger.push(&packet, 1, outside, 1, Checksum::Unverified),
            PushOutcome::Malformed
        );
        assert_eq!(
            merger.push(&packet, u32::MAX, u32::MAX, 1, Checksum::Unverified),
            PushOutcome::Malformed
        );
    }
    assert!(merger.is_empty());
}

/// COT-32: a packet that declares less than its own header can never be written.
#[test]
fn cot_32_a_packet_that_declares_less_than_its_header_is_refused() {
    let mut merger = Merger::new(wide_limits());
    for (at, value) in [(3, 2), (3, 19), (0, 0x44), (0, 0x4f)] {
        let mut packet = t4(0, 8).with(|packet| packet.options.clear()).bytes();
        packet[at] = value;
        let len = u32::try_from(packet.len()).unwrap();
        assert_eq!(
            merger.push(&packet, 0, len, 1, Checksum::Unverified),
            PushOutcome::Malformed,
            "byte {at} = {value}"
        );
    }
    assert!(merger.is_empty());
}

/// COT-33
#[test]
fn cot_33_segments_of_two_peers_never_merge() {
    let mut merger = Merger::new(wide_limits());
    let from = |peer, packet: Packet| Pushed {
        bytes: packet.bytes(),
        peer,
        checksum: Checksum::Unverified,
    };

    let outs = run_burst(
        &mut merger,
        &[
            from(1, t4(0, 1360)),
            from(2, t4(1360, 1360)),
            from(1, t4(1360, 1360)),
        ],
    );

    assert_eq!(counts(&outs), [2, 1]);
}

/// COT-34, P-52: whatever forwards the frame sends packets with right checksums.
#[test]
fn cot_34_pieces_of_a_merged_frame_have_right_checksums() {
    for build in [t4, t6] {
        let packets = [build(0, 1360), build(1360, 1360), build(2720, 500)];

        let outs = merge(&bytes(&packets));

        for (piece, packet) in outs[0].expanded.iter().zip(&packets) {
            assert_well_formed(piece);
            assert_eq!(normalised(piece), normalised(&packet.bytes()));
        }
    }
}

/// COT-16: the urgent pointer of segments without URG is compared as well, since pieces copy it.
#[test]
fn cot_16_another_urgent_pointer_makes_two_frames() {
    assert_eq!(pair(|packet| packet.urgent = 5), [1, 1]);
}

/// P-29: nothing of an earlier burst is left in a later one.
#[test]
fn p_29_a_merger_forgets_its_last_burst() {
    let mut merger = Merger::new(wide_limits());
    let push = |packet: Packet| Pushed::plain(packet.bytes());

    let first = run_burst(&mut merger, &[push(t4(0, 1360)), push(t4(1360, 1360))]);
    let second = run_burst(&mut merger, &[push(t4(2720, 1360)), push(t4(5440, 1360))]);
    let third: Vec<Out> = run_burst(&mut merger, &[]);

    assert_eq!(counts(&first), [2]);
    assert_eq!(counts(&second), [1, 1]);
    assert!(second.iter().all(|out| out.raw_header == [0; 10]));
    assert!(third.is_empty());
}

/// ELI-07, ELI-08: elided segments merge with verified ones; alone they leave with their seed.
#[test]
fn eli_08_elided_and_verified_segments_share_a_run() {
    let elided = |packet: Packet| Pushed {
        bytes: packet.field(Field::Seed).bytes(),
        peer: 1,
        checksum: Checksum::Elided,
    };
    for build in [t4, t6] {
        let burst = [
            elided(build(0, 100)),
            Pushed::plain(build(100, 100).bytes()),
            elided(build(200, 100)),
        ];

        let outs = run_burst(&mut Merger::new(wide_limits()), &burst);
        let alone = run_burst(&mut Merger::new(wide_limits()), &burst[..1]);

        assert_eq!(counts(&outs), [3]);
        assert_all_well_formed(&outs[0].expanded);
        assert_eq!(alone[0].header, build(0, 100).virtio_single());
        assert_well_formed(&alone[0].expanded[0]);
    }
}

/// ELI-10: what cannot carry an elided checksum is refused.
#[test]
fn eli_10_fragments_and_other_protocols_are_never_elided() {
    let mut merger = Merger::new(wide_limits());
    let fragment = t4(0, 100).with(|packet| packet.fragment = MF).bytes();
    let gre = t4(0, 100).with(|packet| packet.protocol = 47).bytes();

    let mut cut = t4(0, 100).bytes()[..60].to_vec();
    cut[0] = 0x4f;
    cut[2..4].copy_from_slice(&[0, 60]);

    for packet in [fragment, gre, cut] {
        let len = u32::try_from(packet.len()).unwrap();
        assert_eq!(
            merger.push(&packet, 0, len, 1, Checksum::Elided),
            PushOutcome::Malformed
        );
    }
    let mut calls = 0;
    merger.flush(&mut [], ByteOrder::Little, |_, _| calls += 1);
    assert_eq!(calls, 0);
}

/// WRH-09: the type follows from the packet.
#[test]
fn wrh_09_the_type_follows_from_the_packet() {
    let types: Vec<u8> = [t4 as fn(u32, usize) -> Packet, t6]
        .iter()
        .map(|build| {
            merge(&bytes(&[build(0, 100), build(100, 100)]))[0]
                .header
                .gso_type
        })
        .collect();

    assert_eq!(types, [1, 4]);
    assert_eq!(VirtioHeader::default().gso_type, 0);
}
