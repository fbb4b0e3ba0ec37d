//! Checksums beside a plain copy of the same bytes, so that results carry their own scale.
#![expect(
    missing_docs,
    reason = "the macros of the benchmark library write public functions"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use packet::checksum;

fn checksums(criterion: &mut Criterion) {
    for len in [60_usize, 1360, 65_535] {
        let source: Vec<u8> = (0..len)
            .map(|i| u8::try_from(i % 251).unwrap_or(0))
            .collect();
        let mut target = vec![0; len];
        let mut group = criterion.benchmark_group("checksum");
        group.throughput(Throughput::Bytes(len as u64));
        group.bench_function(BenchmarkId::new("copy alone", len), |bencher| {
            bencher.iter(|| black_box(&mut target).copy_from_slice(black_box(&source)));
        });
        group.bench_function(BenchmarkId::new("sum", len), |bencher| {
            bencher.iter(|| checksum::add(black_box(&source), 0));
        });
        group.bench_function(BenchmarkId::new("copy and sum", len), |bencher| {
            bencher.iter(|| checksum::copy_add(black_box(&source), black_box(&mut target), 0));
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(600));
    targets = checksums
}
criterion_main!(benches);
