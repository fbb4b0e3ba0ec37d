//! Section 9: order and flushing.

use offload::{Checksum, MergeLimits, Merger, PushOutcome};

use crate::common::fixture::{
    ACK, FIN, MF, PSH, Packet, fragment_extension, padding_extension, t4, t6, u4, u6,
};
use crate::common::judge::{assert_same_per_flow, normalised};
use crate::common::{Pushed, counts, flush, merge, run_burst, wide_limits};

fn bytes(packets: &[Packet]) -> Vec<Vec<u8>> {
    packets.iter().map(Packet::bytes).collect()
}

const PORTS: [u16; 3] = [100, 101, 102];

/// A mixed stream of several flows, with acknowledgements, pushes and FINs, made from a small counter.
fn mixed(count: u32) -> Vec<Vec<u8>> {
    let mut sequences = [0_u32; 3];
    (0..count)
        .map(|i| {
            let pick = i.wrapping_mul(2_654_435_761) >> 16;
            let flow = (pick % 3) as usize;
            let len: u32 = if pick % 7 == 0 { 300 } else { 1000 };
            let n = len as usize;
            let build = [t4, t6][flow % 2];
            match pick % 11 {
                0 => u4(i as usize, n).bytes(),
                1 => u6(i as usize, n).bytes(),
                2 => build(sequences[flow], 0)
                    .with(|packet| packet.source_port = PORTS[flow])
                    .bytes(),
                other => {
                    let flags = if other == 3 { PSH | ACK } else { ACK };
                    let packet = build(sequences[flow], n)
                        .flags(flags)
                        .with(|packet| packet.source_port = PORTS[flow]);
                    sequences[flow] = sequences[flow].wrapping_add(len);
                    packet.bytes()
                }
            }
        })
        .collect()
}

/// ORD-01 (random bursts are in the properties)
#[test]
fn ord_01_each_flow_leaves_in_arrival_order() {
    let outs = merge(&mixed(900));

    assert!(outs.len() < 700, "something was merged: {}", outs.len());
}

/// ORD-02
#[test]
fn ord_02_a_non_candidate_closes_its_own_flow_only() {
    let other = |sequence| t4(sequence, 100).with(|packet| packet.source_port = 9);
    let packets = [
        t4(0, 100),
        other(0),
        t4(100, 100).flags(FIN | ACK),
        other(100),
        t4(201, 100),
    ];

    assert_eq!(counts(&merge(&bytes(&packets))), [1, 2, 1, 1]);
}

/// ORD-02: a packet without readable ports closes every open frame of its address pair and protocol.
#[test]
fn ord_02_a_packet_without_ports_closes_its_address_pair() {
    let later = u4(1, 100).with(|packet| packet.fragment = 5);
    let elsewhere = |d| u4(d, 100).with(|packet| packet.destination[3] = 77);
    let packets = [
        u4(0, 100),
        elsewhere(0),
        t4(0, 100),
        later,
        u4(2, 100),
        elsewhere(1),
        t4(100, 100),
    ];

    assert_eq!(
        counts(&merge(&bytes(&packets))),
        [1, 2, 2, 1, 1],
        "TCP and the other destination go on"
    );
}

/// ORD-02: extension headers and fragment headers of IPv6.
#[test]
fn ord_02_extension_headers_close_the_address_pair() {
    let option = t6(100, 100).with(|packet| packet.extensions = vec![(0, padding_extension())]);
    let fragment =
        t6(100, 100).with(|packet| packet.extensions = vec![(44, fragment_extension(0x100))]);
    let cut = option.bytes();
    let mut broken = cut[..44].to_vec();
    broken[4..6].copy_from_slice(&[0, 4]);

    for between in [option.bytes(), fragment.bytes(), broken] {
        let burst = [
            t6(0, 100).bytes(),
            u6(0, 100).bytes(),
            between,
            t6(100, 100).bytes(),
            u6(1, 100).bytes(),
        ];
        let frames = counts(&merge(&burst));
        assert!(
            frames == [1, 2, 1, 1] || frames == [1, 1, 1, 1, 1],
            "{frames:?}"
        );
    }
}

/// ORD-02: a first fragment has ports, so it closes its flow.
#[test]
fn ord_02_a_first_fragment_closes_its_flow() {
    let first = u4(1, 96).with(|packet| packet.fragment = MF);

    assert_eq!(
        counts(&merge(&bytes(&[u4(0, 100), first, u4(2, 100)]))),
        [1, 1, 1]
    );
}

/// ORD-03: a flush writes everything; a lone packet needs one write.
#[test]
fn ord_03_nothing_is_held_over_a_flush() {
    let mut merger = Merger::new(wide_limits());

    for sequence in [0, 100, 200] {
        let outs = run_burst(&mut merger, &[Pushed::plain(t4(sequence, 100).bytes())]);
        assert_eq!(counts(&outs), [1]);
        assert!(merger.is_empty());
    }
}

/// ORD-04
#[test]
fn ord_04_icmp_and_unknown_packets_are_never_dropped() {
    let icmp = t4(0, 60).with(|packet| packet.protocol = 1).bytes();
    let gre = t6(0, 60).with(|packet| packet.protocol = 47).bytes();
    let tiny = t4(0, 0).with(|packet| packet.protocol = 6).bytes()[..20].to_vec();
    let tiny = [&tiny[..2], &[0, 20], &tiny[4..]].concat();
    let burst = [
        t4(0, 100).bytes(),
        icmp.clone(),
        u6(0, 9).bytes(),
        gre.clone(),
        t4(100, 100).bytes(),
        tiny.clone(),
    ];

    let outs = merge(&burst);

    assert_eq!(counts(&outs), [2, 1, 1, 1, 1]);
    assert_eq!(
        (&outs[1].bytes, &outs[3].bytes, &outs[4].bytes),
        (&icmp, &gre, &tiny)
    );
}

/// ORD-05
#[test]
fn ord_05_batch_boundaries_do_not_matter() {
    let stream = mixed(600);
    let expected: Vec<Vec<u8>> = stream.iter().map(|packet| normalised(packet)).collect();

    for size in [1, 2, 7, 64, 128] {
        let mut merger = Merger::new(wide_limits());
        let mut found = Vec::new();
        for batch in stream.chunks(size) {
            let pushed: Vec<Pushed> = batch
                .iter()
                .map(|packet| Pushed::plain(packet.clone()))
                .collect();
            found.extend(
                run_burst(&mut merger, &pushed)
                    .into_iter()
                    .flat_map(|out| out.expanded),
            );
        }
        assert_same_per_flow(&expected, &found);
    }
}

/// ORD-06: every frame is handed out exactly once, so an error with one cannot touch another.
#[test]
fn ord_06_every_frame_is_handed_out_once() {
    let burst = [t4(0, 100), u4(0, 50), t4(100, 100), u4(1, 50), t4(200, 0)];

    let outs = merge(&bytes(&burst));

    assert_eq!(counts(&outs), [2, 2, 1]);
    assert_eq!(
        outs.iter().map(|out| out.packets).sum::<usize>(),
        burst.len()
    );
}

/// LIM-10: a full merger asks for a flush and loses nothing.
#[test]
fn lim_10_a_full_merger_asks_for_a_flush() {
    let mut merger = Merger::new(MergeLimits {
        packets_max: 2,
        ..wide_limits()
    });
    let mut arena = [t4(0, 100).bytes(), t4(100, 100).bytes()].concat();
    let len = u32::try_from(arena.len() / 2).unwrap();
    let mut push = |start| merger.push(&arena, start, len, 1, Checksum::Unverified);

    assert_eq!(
        [push(0), push(len), push(0)],
        [PushOutcome::Queued, PushOutcome::Queued, PushOutcome::Full]
    );
    assert_eq!(merger.len(), 2);
    assert_eq!(counts(&flush(&mut merger, &mut arena)), [2]);
    assert_eq!(
        merger.push(&arena, len, len, 1, Checksum::Unverified),
        PushOutcome::Queued
    );
}
