//! Congestion marks between the inner and the outer header, and the tails of segmented sends.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

mod support;

use core::sync::atomic::Ordering;

use support::socket::{Sent, Wire};
use support::{Pair, commands};
use testkit::{Segment, tcp_v4};

/// A segment from the first host with this congestion mark.
fn marked(number: usize, mark: u8, payload: usize) -> Vec<u8> {
    let segment = Segment {
        sequence: u32::try_from(number * payload).unwrap(),
        traffic_class: 0xb8 | mark,
        ..Segment::default()
    };
    tcp_v4(
        "10.9.0.2:40000".parse().unwrap(),
        "10.9.0.1:5201".parse().unwrap(),
        &segment,
        &vec![7; payload],
    )
}

fn take_sends(pair: &Pair) -> Vec<Sent> {
    std::mem::take(&mut *pair.nodes[0].wire.sends.lock().unwrap())
}

/// SEG-14, P-80: the mark of each inner packet is on its datagram, packets of different marks never share a send, and
/// nothing is reordered for it.
#[test]
fn seg_14_inner_marks_are_on_the_datagrams_and_never_share_a_send() {
    let mut pair = Pair::with_session();
    // The first packet after a quiet time goes by itself.
    let marks = [2, 2, 2, 0, 0, 3, 1, 2];
    for (number, mark) in marks.into_iter().enumerate() {
        pair.nodes[0].host.send_packet(&marked(number, mark, 100));
    }
    take_sends(&pair);

    pair.exchange();

    let sends: Vec<(u8, usize)> = take_sends(&pair)
        .iter()
        .map(|sent| (sent.mark, sent.len / sent.segment_size))
        .collect();
    assert_eq!(sends, [(2, 1), (2, 2), (0, 2), (3, 1), (1, 1), (2, 1)]);
    let received: Vec<Vec<u8>> = pair.nodes[1].packets();
    let seen: Vec<u8> = received.iter().map(|packet| packet[1]).collect();
    assert!(received.iter().all(|packet| packet[1] & 0xfc == 0xb8));
    assert_eq!(
        seen.iter().map(|class| class & 3).collect::<Vec<_>>(),
        [2, 0, 3, 1, 2],
        "merged per mark, in order"
    );
}

/// SEG-14, P-80: congestion met outside reaches the inner packets, also when the datagrams came merged, and their
/// checksums stay right.
#[test]
fn p_80_congestion_on_the_way_reaches_the_inner_packets() {
    let mut pair = Pair::with_session();
    pair.nodes[1].wire.mark_received.store(3, Ordering::Relaxed);
    for number in 0..3 {
        pair.nodes[0].host.send_packet(&marked(number, 2, 100));
    }

    pair.exchange();

    let packets = pair.nodes[1].packets();
    assert_eq!(packets.len(), 1, "equal marks still merge");
    assert_eq!(packets[0][1], 0xb8 | 3);
    assert!(
        packet::Ipv4::try_from(&packets[0][..])
            .unwrap()
            .header_checksum_valid()
    );
}

/// SEG-14, P-80: a packet whose sender cannot hear of congestion is dropped and counted, as RFC 6040 demands.
#[test]
fn p_80_congestion_on_a_packet_that_is_not_capable_is_a_loss() {
    let mut pair = Pair::with_session();
    pair.nodes[1].wire.mark_received.store(3, Ordering::Relaxed);
    pair.nodes[0].host.send_packet(&marked(0, 0, 100));
    pair.nodes[0].host.send_packet(&marked(1, 2, 100));

    pair.exchange();

    let packets = pair.nodes[1].packets();
    assert_eq!(packets.len(), 1);
    assert_eq!(packets[0][1] & 3, 3);
    assert_eq!(pair.nodes[1].peer("dropCongestion"), 1);
    assert_eq!(pair.nodes[1].total("dropCongestion"), 1);
}

/// SEG-18, P-77: packets of very different sizes and marks, and keepalives between them, leave in the order they came.
#[test]
fn p_77_nothing_overtakes_because_of_its_size() {
    let mut pair = Pair::with_session();
    let sizes = [1_300, 1_300, 8, 1_300, 700, 1_300, 1_300, 8, 8, 1_300];
    for (number, size) in sizes.into_iter().enumerate() {
        // Windows that count make every packet recognisable and keep it from being merged.
        let segment = Segment {
            window: u16::try_from(number).unwrap(),
            ..Segment::default()
        };
        let packet = tcp_v4(
            "10.9.0.2:40000".parse().unwrap(),
            "10.9.0.1:5201".parse().unwrap(),
            &segment,
            &vec![1; size],
        );
        pair.nodes[0].host.send_packet(&packet);
        if number == 4 {
            pair.nodes[0].turn();
            pair.nodes[0].apply(&[commands::set_keepalive(support::PEER, 1)]);
        }
    }
    pair.exchange();

    let windows: Vec<u16> = pair.nodes[1]
        .packets()
        .iter()
        .map(|packet| u16::from_be_bytes([packet[34], packet[35]]))
        .collect();
    assert_eq!(windows, (0..10).collect::<Vec<u16>>());
}

/// FBK-08, P-31, P-91: where the kernel mangles equal tails, a keepalive ends a batch of eight or more; it is a valid
/// message, no filler. A smaller batch and one with a short tail get none.
#[test]
fn fbk_08_a_keepalive_ends_a_batch_whose_tail_would_be_equal() {
    let wire = Wire::default();
    wire.mangles_equal_tails.store(true, Ordering::Relaxed);
    let mut pair = Pair::over([wire, Wire::default()]).confirmed();
    let cases = [
        // Packets, size of the last, whether a tail is expected.
        (9_usize, 200_usize, true),
        (8, 200, true),
        (7, 200, false),
        (9, 60, false),
        (130, 200, true),
    ];
    for (count, last, tail) in cases {
        pair.nodes[0].turn();
        let keepalives = pair.nodes[1].total("keepalivesReceived");
        take_sends(&pair);
        // The first packet after quiet goes alone; it does not count.
        for number in 0..=count {
            let size = if number == count { last } else { 200 };
            pair.nodes[0].host.send_packet(&marked(number, 0, size));
        }

        (0..6).for_each(|_| pair.exchange());

        let sends = take_sends(&pair);
        let batches: Vec<&Sent> = sends
            .iter()
            .filter(|sent| sent.len > sent.segment_size)
            .collect();
        assert!(!batches.is_empty());
        let mut tails = 0;
        for batch in &batches {
            let full = batch.len / batch.segment_size;
            let short = batch.len % batch.segment_size;
            assert!(full + usize::from(short > 0) <= 64, "one send carries it");
            match short {
                0 => assert!(
                    full < 8,
                    "{count} packets: {full} are too many for an equal tail"
                ),
                32 => {
                    assert!(
                        full >= 8,
                        "{count} packets: {full} are too few for a keepalive"
                    );
                    tails += 1;
                }
                _ => assert_eq!(last, 60, "the tail is short already"),
            }
        }
        assert_eq!(tails > 0, tail, "{count} packets");
        let received = pair.nodes[1].total("keepalivesReceived") - keepalives;
        assert_eq!(received, tails);
    }
    assert_eq!(pair.nodes[1].peer("rxPackets"), 9 + 8 + 7 + 9 + 130 + 5);
}

/// P-83: one odd packet inside a bulk stream costs a send or two, not the batching of the others.
#[test]
fn p_83_an_odd_packet_does_not_end_the_batching() {
    let mut pair = Pair::with_session();
    for number in 0..41 {
        let size = if number == 20 { 1 } else { 1_000 };
        pair.nodes[0].host.send_packet(&marked(number, 0, size));
    }
    take_sends(&pair);

    pair.exchange();

    // The first after a quiet time, nineteen and the odd one as their short tail, the other twenty.
    let sends = take_sends(&pair);
    assert_eq!(sends.len(), 3, "{sends:?}");
    assert_eq!(pair.nodes[1].peer("rxPackets"), 41);
}

/// LIM-10, P-79: a device that never runs dry does not keep a shard from its deadlines and its sockets.
#[test]
fn p_79_a_turn_reads_a_bounded_number_of_frames() {
    let mut pair = Pair::with_session();
    for number in 0..1_000 {
        pair.nodes[0].host.send_packet(&marked(number, 0, 100));
    }
    let before = pair.nodes[0].total("tunReadFrames");

    let more = pair.nodes[0].shard.turn(support::EVERYTHING);

    let read = pair.nodes[0].total("tunReadFrames") - before;
    assert_eq!(read, engine::TUN_FRAMES_PER_TURN as u64);
    assert!(more.tun, "it says that there is more");
}
