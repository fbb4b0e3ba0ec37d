//! LIM-09: nothing is allocated after construction, whatever the traffic.
#![cfg(test)]

#[path = "spec/common/mod.rs"]
#[expect(dead_code, reason = "the cases use more of it")]
mod common;

use common::fixture::{Field, t4, t6, u4, u6};
use common::wide_limits;
use offload::{ByteOrder, Checksum, Merger, PushOutcome, SplitCursor, SplitLimits};

/// LIM-09: a merger at its limits, burst after burst.
#[test]
fn lim_09_merging_allocates_nothing() {
    let mut merger = Merger::new(wide_limits());
    let mut arena = Vec::new();
    let mut places = Vec::new();
    for i in 0..1024_u32 {
        let flow = u16::try_from(i % 300).unwrap();
        let packet =
            [t4, t6][i as usize % 2](i / 300 * 100, 100).with(|packet| packet.source_port = flow);
        let datagram = [u4, u6][i as usize % 2](0, 50).with(|packet| packet.source_port = flow);
        let bytes = if i % 3 == 0 {
            datagram.bytes()
        } else {
            packet.bytes()
        };
        places.push((
            u32::try_from(arena.len()).unwrap(),
            u32::try_from(bytes.len()).unwrap(),
        ));
        arena.extend(bytes);
    }

    let fresh = arena.clone();

    let allocated = allocation_counter::measure(|| {
        for _ in 0..3 {
            arena.copy_from_slice(&fresh);
            for (start, len) in &places {
                assert_eq!(
                    merger.push(&arena, *start, *len, 1, Checksum::Unverified),
                    PushOutcome::Queued
                );
            }
            assert_eq!(
                merger.push(&arena, 0, 100, 1, Checksum::Unverified),
                PushOutcome::Full
            );
            let mut packets = 0;
            merger.flush(&mut arena, ByteOrder::Little, |_, frame| {
                packets += frame.packets;
            });
            assert_eq!(packets, 1024);
        }
    });

    assert_eq!(allocated.count_total, 0);
}

/// LIM-09: one long run.
#[test]
fn lim_09_a_long_run_allocates_nothing() {
    let mut merger = Merger::new(wide_limits());
    let segments: Vec<Vec<u8>> = (0..1023).map(|i| t4(i * 8, 8).bytes()).collect();
    let len = u32::try_from(segments[0].len()).unwrap();
    let mut arena = segments.concat();

    let allocated = allocation_counter::measure(|| {
        for i in 0..1023 {
            assert_eq!(
                merger.push(&arena, i * len, len, 1, Checksum::Unverified),
                PushOutcome::Queued
            );
        }
        merger.flush(&mut arena, ByteOrder::Little, |_, frame| {
            assert_eq!(frame.parts.len(), 1023);
        });
    });

    assert_eq!(allocated.count_total, 0);
}

/// LIM-09: splitting writes into the caller's buffer only.
#[test]
fn lim_09_splitting_allocates_nothing() {
    let packet = t4(0, 60_000).field(Field::Seed);
    let (bytes, header) = (packet.bytes(), packet.virtio(1360));
    let mut out = vec![0; 1420];

    let allocated = allocation_counter::measure(|| {
        let mut cursor =
            SplitCursor::start(&header, &bytes, &SplitLimits { inner_mtu: 1420 }).unwrap();
        while cursor.write_next(&bytes, &mut out).is_some() {}
        assert_eq!(cursor.pieces_left(), 0);
    });

    assert_eq!(allocated.count_total, 0);
}
