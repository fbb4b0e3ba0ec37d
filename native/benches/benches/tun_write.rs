//! Writing TCP segments to a real TUN device: one by one, and merged into one frame of 44 segments.
//!
//! Needs root, best in a network namespace of its own. The frames are for an address that is nowhere, so the kernel takes
//! them in, looks for a route and drops them. Without the right to open a device it says so and measures nothing.

#![allow(missing_docs, reason = "the macro makes a public function")]

use std::hint::black_box;
use std::io::IoSlice;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use offload::{ByteOrder, NEEDS_CHECKSUM, VIRTIO_LEN, VirtioHeader, gso};
use ports::TunQueue;
use sys::{Tun, TunOptions, netlink};

const SEGMENT: usize = 1368;
const SEGMENTS: usize = 44;
const HEADERS: usize = 52;

fn tun_write(criterion: &mut Criterion) {
    let name = format!("wb{}", std::process::id());
    let opened = Tun::open(&TunOptions {
        name: name.clone(),
        ..TunOptions::default()
    });
    let mut tun = match opened {
        Ok(tun) => tun,
        Err(error) => {
            eprintln!("no TUN device, nothing measured: {error}");
            return;
        }
    };
    let up = netlink::set_link(
        &name,
        &netlink::LinkChange {
            up: Some(true),
            ..netlink::LinkChange::default()
        },
    );
    if let Err(error) = up {
        eprintln!("the TUN device does not go up, nothing measured: {error}");
        return;
    }
    let Some(mut queue) = tun.take_queues().into_iter().next() else {
        return;
    };
    let mut group = criterion.benchmark_group("tun write");
    let single = frame(1);
    group.throughput(Throughput::Elements(1));
    group.bench_function("one segment a frame", |bencher| {
        bencher.iter(|| queue.write(&[IoSlice::new(black_box(&single))]));
    });
    let merged = frame(SEGMENTS);
    group.throughput(Throughput::Elements(SEGMENTS as u64));
    group.bench_function("44 segments a frame", |bencher| {
        bencher.iter(|| queue.write(&[IoSlice::new(black_box(&merged))]));
    });
    group.finish();
    assert!(
        queue.write(&[IoSlice::new(&merged)]).is_ok(),
        "the kernel must have taken the frames"
    );
}

/// A frame of so many segments behind its header.
fn frame(segments: usize) -> Vec<u8> {
    let mut packet = testkit::t4(1, SEGMENT * segments);
    packet.truncate(HEADERS + SEGMENT * segments);
    let gso_type = if segments > 1 { gso::TCP4 } else { gso::NONE };
    let segment_size = if segments > 1 { SEGMENT } else { 0 };
    let header = VirtioHeader {
        flags: NEEDS_CHECKSUM,
        gso_type,
        header_len: u16::try_from(HEADERS).unwrap_or(0),
        segment_size: u16::try_from(segment_size).unwrap_or(0),
        checksum_start: 20,
        checksum_offset: 16,
    };
    let mut bytes = [0; VIRTIO_LEN];
    header.write(&mut bytes, ByteOrder::Little);
    [bytes.to_vec(), packet].concat()
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = tun_write
}
criterion_main!(benches);
