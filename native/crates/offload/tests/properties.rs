//! Properties over random bursts, super-frames and bytes (E2E-03, E2E-04, ORD-01).
//!
//! The number of cases follows `PROPTEST_CASES`; a long run is `PROPTEST_CASES=1000000 cargo test --release`.
#![cfg(test)]

#[path = "spec/common/mod.rs"]
#[expect(dead_code, reason = "the cases use more of it")]
mod common;

use common::fixture::{ACK, FIN, Field, PSH, Packet, t4, t6, u4, u6};
use common::judge::{assert_same_per_flow, assert_well_formed, normalised};
use common::{Pushed, run_burst, split, wide_limits};
use offload::{
    ByteOrder, Checksum, MergeLimits, Merger, PushOutcome, SplitCursor, SplitLimits, VirtioHeader,
};
use proptest::prelude::*;

/// One step of a stream: which flow, how long, and what is odd about the packet.
#[derive(Clone, Debug)]
struct Step {
    flow: usize,
    len: usize,
    oddity: u8,
    bits: u8,
}

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![4 => Just(100_usize), 2 => Just(60), 1 => 0_usize..130];
    let oddity = prop_oneof![6 => Just(0_u8), 2 => 1_u8..16];
    (0_usize..5, len, oddity, any::<u8>()).prop_map(|(flow, len, oddity, bits)| Step {
        flow,
        len,
        oddity,
        bits,
    })
}

/// Turns steps into packets: in-order streams with gaps, odd flags, odd headers and wrong checksums between.
fn packets(steps: &[Step]) -> Vec<Packet> {
    let mut sequences = [0xffff_ff00_u32; 5];
    let mut ids = [0_u16; 5];
    steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            let sequence = sequences[step.flow];
            let mut packet = match step.flow {
                0 | 1 => t4(sequence, step.len),
                2 => t6(sequence, step.len),
                3 => u4(number, step.len),
                _ => u6(number, step.len),
            };
            if step.flow == 1 {
                packet.source_port = 40_001;
                packet.fragment = 0;
                packet.id = ids[1];
            }
            ids[step.flow] = ids[step.flow].wrapping_add(1);
            sequences[step.flow] = sequence.wrapping_add(u32::try_from(step.len).unwrap());
            bend(&mut packet, step);
            packet
        })
        .collect()
}

fn bend(packet: &mut Packet, step: &Step) {
    match step.oddity {
        1 => packet.flags = PSH | ACK,
        2 => packet.flags = FIN | ACK,
        3 => packet.flags = step.bits,
        4 => packet.acknowledgement += u32::from(step.bits % 2),
        5 => packet.window += 1,
        6 => packet.tos = step.bits,
        7 => packet.ttl -= 1,
        8 => packet.field = Field::Wrong,
        9 => packet.sequence = packet.sequence.wrapping_sub(100),
        10 => packet.id = packet.id.wrapping_add(1),
        11 => packet.fragment ^= 0x4000,
        12 => packet.options.clear(),
        13 => packet.flow_label = step.bits.into(),
        14 => packet.urgent = step.bits.into(),
        15 => packet.reserved = step.bits & 15,
        _ => {}
    }
}

proptest! {
    /// E2E-03, ORD-01: expand(merge(burst)) = burst per flow, whatever the limits and batch sizes.
    #[test]
    fn expanding_a_merged_burst_gives_the_burst(
        steps in prop::collection::vec(step(), 0..80),
        batch in 1_usize..90,
        segments_max in 2_usize..70,
        flows_max in 1_usize..6,
        elide in any::<bool>(),
    ) {
        let mut merger = Merger::new(MergeLimits { segments_max, flows_max, ..wide_limits() });
        let packets = packets(&steps);
        let pushed: Vec<Pushed> = packets.iter().enumerate().map(|(number, packet)| {
            let elided = elide && number % 3 == 0 && packet.field == Field::Valid;
            let field = if elided { Field::Seed } else { packet.field };
            let checksum = if elided { Checksum::Elided } else { Checksum::Unverified };
            Pushed { bytes: packet.clone().field(field).bytes(), peer: 1, checksum }
        }).collect();

        let mut found = Vec::new();
        for burst in pushed.chunks(batch) {
            for out in run_burst(&mut merger, burst) {
                prop_assert!(out.bytes.len() <= 65_535);
                prop_assert_eq!(packet::declared_len(&out.bytes), Some(out.bytes.len()));
                found.extend(out.expanded);
            }
        }

        let sent: Vec<Vec<u8>> = packets.iter().map(Packet::bytes).collect();
        assert_same_per_flow(&sent, &found);
    }

    /// Splitting keeps every byte in order, and every piece is well formed and fits the MTU.
    #[test]
    fn splitting_keeps_every_byte(
        kind in 0_usize..4,
        len in 0_usize..20_000,
        segment_size in 1_u16..3000,
        flags: u8,
        sequence: u32,
        id: u16,
        mtu in 200_usize..9000,
    ) {
        let number = sequence as usize;
        let packet = match kind {
            0 => t4(sequence, len),
            1 => t6(sequence, len),
            2 => u4(number % 251, len),
            _ => u6(number % 251, len),
        }
        .flags(flags)
        .with(|packet| packet.id = id)
        .field(Field::Seed);
        let room = mtu - packet.header_len();
        let size = usize::from(segment_size).min(if kind < 2 { room } else { usize::MAX });

        let result = split(&packet.virtio(segment_size), &packet.bytes(), mtu);

        if kind >= 2 && size.min(len) > room {
            prop_assert_eq!(result.map_err(|error| error.reason()), Err("too_big"));
            return Ok(());
        }
        let pieces = result.unwrap();
        prop_assert_eq!(pieces.len(), len.div_ceil(size).max(1));
        let mut joined = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            prop_assert!(piece.len() <= mtu);
            assert_well_formed(piece);
            if kind < 2 {
                let at = packet.l3_len();
                let first = if number == 0 { 0 } else { 0x80 };
                let last = if number + 1 == pieces.len() { 0 } else { FIN | PSH };
                prop_assert_eq!(piece[at + 13], flags & !(first | last));
                let offset = u32::try_from(number * size).unwrap();
                prop_assert_eq!(&piece[at + 4..at + 8], &sequence.wrapping_add(offset).to_be_bytes());
            }
            joined.extend_from_slice(&piece[packet.header_len()..]);
        }
        prop_assert_eq!(joined, packet.payload);
    }

    /// E2E-04: the splitter takes arbitrary bytes behind an arbitrary header.
    #[test]
    fn no_bytes_make_the_splitter_panic(header: [u8; 10], bytes in packet_like(), mtu in 0_usize..3000, room in 0_usize..3000) {
        let header = VirtioHeader::read(&header, ByteOrder::Little).unwrap();
        split_all(&header, &bytes, mtu, room);
    }

    /// E2E-04: valid headers over bytes that were changed in a few places reach deeper.
    #[test]
    fn no_damaged_super_frame_makes_the_splitter_panic(
        kind in 0_usize..4,
        damage in prop::collection::vec((0_usize..120, any::<u8>()), 0..4),
        segment_size in 0_u16..400,
        flip in 0_u8..80,
    ) {
        let packet = [t4, t6][kind % 2](5, 300).with(|packet| if kind > 1 { packet.protocol = 17 });
        let mut bytes = packet.bytes();
        for (at, value) in damage {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        let mut raw = [0; 10];
        packet.virtio(segment_size).write(&mut raw, ByteOrder::Little);
        raw[usize::from(flip / 8)] ^= 1 << (flip % 8);
        split_all(&VirtioHeader::read(&raw, ByteOrder::Little).unwrap(), &bytes, 1420, 500);
    }

    /// E2E-04: the merger takes arbitrary bytes, loses none of them and hands out only frames it can account for.
    #[test]
    fn no_bytes_make_the_merger_panic(burst in prop::collection::vec((packet_like(), 0_u32..3, any::<bool>()), 0..40)) {
        let mut merger = Merger::new(wide_limits());
        let mut arena = Vec::new();
        let mut queued = Vec::new();
        for (bytes, peer, elided) in burst {
            let start = u32::try_from(arena.len()).unwrap();
            arena.extend_from_slice(&bytes);
            let checksum = if elided { Checksum::Elided } else { Checksum::Unverified };
            let len = u32::try_from(bytes.len()).unwrap();
            if merger.push(&arena, start, len, peer, checksum) == PushOutcome::Queued {
                queued.push(bytes);
            }
        }
        let mut packets = 0;
        merger.flush(&mut arena, ByteOrder::Little, |arena, frame| {
            packets += frame.packets;
            assert!(frame.parts.iter().all(|part| part.of(arena).is_some_and(|bytes| !bytes.is_empty())));
        });
        prop_assert_eq!(packets, queued.len());
    }

    /// E2E-03: packets cut and damaged at random still come out as they went in, one for one.
    #[test]
    fn damaged_packets_come_out_unchanged(
        steps in prop::collection::vec(step(), 1..30),
        damage in prop::collection::vec((0_usize..30, 0_usize..100, 1_u8..255), 0..12),
    ) {
        let mut burst: Vec<Vec<u8>> = packets(&steps).iter().map(Packet::bytes).collect();
        for (packet, at, mask) in damage {
            // Lengths and version stay: a packet that lies about them is refused, which is another test.
            let protected = |at| matches!(at, 0 | 2..=5);
            if let Some(byte) = burst.get_mut(packet).and_then(|packet| packet.get_mut(at)).filter(|_| !protected(at)) {
                *byte ^= mask;
            }
        }
        let mut merger = Merger::new(wide_limits());
        let pushed: Vec<Pushed> = burst.iter().map(|bytes| Pushed::plain(bytes.clone())).collect();

        let mut found: Vec<Vec<u8>> =
            run_burst(&mut merger, &pushed).into_iter().flat_map(|out| out.expanded).map(|p| normalised(&p)).collect();

        let mut sent: Vec<Vec<u8>> = burst.iter().map(|packet| normalised(packet)).collect();
        sent.sort();
        found.sort();
        prop_assert_eq!(found, sent);
    }
}

/// Random bytes, most of them with a version nibble and lengths that let them through the first checks.
fn packet_like() -> impl Strategy<Value = Vec<u8>> {
    let nibble = prop::sample::select(vec![4_u8, 4, 6, 6, 0, 15]);
    (
        prop::collection::vec(any::<u8>(), 0..200),
        nibble,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(mut bytes, nibble, plain, tcp)| {
            if bytes.len() >= 40 {
                bytes[0] = nibble << 4 | if plain { 5 } else { bytes[0] & 15 };
                let (at, len) = if nibble == 4 {
                    (2, bytes.len())
                } else {
                    (4, bytes.len() - 40)
                };
                bytes[at..at + 2].copy_from_slice(&u16::try_from(len).unwrap().to_be_bytes());
                if plain {
                    bytes[if nibble == 4 { 9 } else { 6 }] = if tcp { 6 } else { 17 };
                    bytes[6] &= if nibble == 4 { 0x40 } else { 0xff };
                }
            }
            bytes
        })
}

fn split_all(header: &VirtioHeader, packet: &[u8], inner_mtu: usize, room: usize) {
    let Ok(mut cursor) = SplitCursor::start(header, packet, &SplitLimits { inner_mtu }) else {
        return;
    };
    let mut out = vec![0; room];
    let mut left = cursor.pieces_left();
    while let Some(len) = cursor.write_next(packet, &mut out) {
        left -= 1;
        assert_eq!(cursor.pieces_left(), left);
        assert!(len <= cursor.piece_len_max() && len <= room);
    }
    assert!(
        left == 0 || cursor.piece_len_max() > room,
        "it stops only when done or for lack of room"
    );
}
