//! Splitting and merging beside a plain copy of the same bytes, so that results carry their own scale.
#![expect(
    missing_docs,
    reason = "the macros of the benchmark library write public functions"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use offload::{
    ByteOrder, Checksum, MergeLimits, Merger, NEEDS_CHECKSUM, PushOutcome, SplitCursor,
    SplitLimits, VirtioHeader, gso,
};
use packet::checksum;

const SEGMENT: usize = 1368;
const SEGMENTS: usize = 44;
const HEADERS: usize = 52;
const MTU: usize = HEADERS + SEGMENT;

/// One TCP segment with timestamps and a valid checksum.
fn segment(source_port: u16, sequence: u32, payload_len: usize) -> Vec<u8> {
    let len = HEADERS + payload_len;
    let total = u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes();
    let mut packet = vec![
        0x45, 0, total[0], total[1], 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 9, 0, 2, 10, 9, 0, 1,
    ];
    let ip = checksum::finish(checksum::add(&packet, 0)).to_be_bytes();
    packet.splice(10..12, ip);
    packet.extend(source_port.to_be_bytes());
    packet.extend([0x14, 0x51]);
    packet.extend(sequence.to_be_bytes());
    packet.extend([
        0, 0, 3, 0xe8, 0x80, 0x10, 1, 0xf4, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 111, 0, 0, 0, 222,
    ]);
    packet.extend((0..payload_len).map(|i| u8::try_from(i % 251).unwrap_or(0)));
    let pseudo = checksum::pseudo_header_v4([10, 9, 0, 2], [10, 9, 0, 1], 6, len - 20);
    let l4 = checksum::add(packet.get(20..).unwrap_or_default(), pseudo);
    packet.splice(36..38, checksum::finish(l4).to_be_bytes());
    packet
}

fn split(criterion: &mut Criterion) {
    let packet = segment(40_000, 0, SEGMENT * SEGMENTS);
    let header = VirtioHeader {
        flags: NEEDS_CHECKSUM,
        gso_type: gso::TCP4,
        header_len: 52,
        segment_size: 1368,
        checksum_start: 20,
        checksum_offset: 16,
    };
    let mut out = vec![0; SEGMENTS * 1500];
    let mut group = criterion.benchmark_group("split 44 segments");
    group.throughput(Throughput::Bytes((SEGMENTS * SEGMENT) as u64));
    group.bench_function("copy alone", |bencher| {
        bencher.iter(|| {
            for (from, to) in packet.chunks(SEGMENT).zip(out.chunks_mut(1500)) {
                if let Some(to) = to.get_mut(..from.len()) {
                    to.copy_from_slice(black_box(from));
                }
            }
            black_box(&mut out);
        });
    });
    group.bench_function("split", |bencher| {
        bencher.iter(|| {
            let Ok(mut cursor) =
                SplitCursor::start(&header, black_box(&packet), &SplitLimits { inner_mtu: MTU })
            else {
                return 0;
            };
            let mut written = 0;
            for slot in out.chunks_mut(1500) {
                written += cursor.write_next(&packet, slot).unwrap_or(0);
            }
            written
        });
    });
    group.finish();
}

/// A burst in an arena, with the start of each packet.
fn burst(packets: &[Vec<u8>]) -> (Vec<u8>, Vec<(u32, u32)>) {
    let mut arena = Vec::new();
    let mut places = Vec::new();
    for packet in packets {
        places.push((
            u32::try_from(arena.len()).unwrap_or(0),
            u32::try_from(packet.len()).unwrap_or(0),
        ));
        arena.extend_from_slice(packet);
        arena.resize(arena.len().next_multiple_of(2048), 0);
    }
    (arena, places)
}

fn run(merger: &mut Merger, arena: &mut [u8], places: &[(u32, u32)], checksum: Checksum) -> usize {
    for (start, len) in places {
        if merger.push(arena, *start, *len, 1, checksum) != PushOutcome::Queued {
            return 0;
        }
    }
    let mut parts = 0;
    merger.flush(arena, ByteOrder::Little, |_, frame| {
        parts += frame.parts.len();
    });
    parts
}

fn merge(criterion: &mut Criterion) {
    let sequence = |index: usize| u32::try_from(index * SEGMENT).unwrap_or(0);
    let one_flow: Vec<Vec<u8>> = (0..SEGMENTS)
        .map(|i| segment(40_000, sequence(i), SEGMENT))
        .collect();
    let many_flows: Vec<Vec<u8>> = (0..SEGMENTS)
        .map(|i| {
            segment(
                u16::try_from(i % 11).unwrap_or(0),
                sequence(i / 11),
                SEGMENT,
            )
        })
        .collect();
    let acknowledgements: Vec<Vec<u8>> = (0..SEGMENTS).map(|_| segment(40_000, 0, 0)).collect();
    let mut merger = Merger::new(MergeLimits::default());
    let mut group = criterion.benchmark_group("merge 44 segments");
    group.throughput(Throughput::Bytes((SEGMENTS * SEGMENT) as u64));
    let (source, places) = burst(&one_flow);
    let mut target = source.clone();
    group.bench_function("copy alone", |bencher| {
        bencher.iter(|| {
            for (start, len) in &places {
                let range = *start as usize..*start as usize + *len as usize;
                if let (Some(from), Some(to)) = (source.get(range.clone()), target.get_mut(range)) {
                    to.copy_from_slice(black_box(from));
                }
            }
            black_box(&mut target);
        });
    });
    for (name, packets, checksum) in [
        ("one flow", &one_flow, Checksum::Unverified),
        ("one flow, checksums elided", &one_flow, Checksum::Elided),
        ("eleven flows", &many_flows, Checksum::Unverified),
        (
            "acknowledgements, nothing to merge",
            &acknowledgements,
            Checksum::Unverified,
        ),
    ] {
        let (fresh, places) = burst(packets);
        let mut arena = fresh.clone();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                restore_headers(&mut arena, &fresh, &places);
                run(&mut merger, black_box(&mut arena), &places, checksum)
            });
        });
    }
    group.finish();
}

/// Undoes what a flush wrote into the first packets; 44 copies of 52 bytes are part of the result.
fn restore_headers(arena: &mut [u8], fresh: &[u8], places: &[(u32, u32)]) {
    for (start, _) in places {
        let range = *start as usize..*start as usize + HEADERS;
        if let (Some(from), Some(to)) = (fresh.get(range.clone()), arena.get_mut(range)) {
            to.copy_from_slice(from);
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800));
    targets = split, merge
}
criterion_main!(benches);
