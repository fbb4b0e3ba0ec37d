//! What every packet or batch asks: whose address, seen before.

#![allow(missing_docs, reason = "the macro makes a public function")]

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};

use criterion::{Criterion, criterion_group, criterion_main};
use tables::{Prefix, PrefixTable};
use wire::ReplayWindow;

fn lookups(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tables");
    for peers in [2_u32, 1_000, 10_000] {
        let mut table = PrefixTable::new();
        for peer in 0..peers {
            let address = IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + peer));
            table.insert(&Prefix::new(address, 32).expect("32 bits fit"), peer);
        }
        let mut next = 0;
        group.bench_function(format!("allowed address of {peers} peers"), |bencher| {
            bencher.iter(|| {
                next = (next + 7919) % peers;
                table.lookup(black_box(IpAddr::V4(Ipv4Addr::from_bits(
                    0x0a00_0000 + next,
                ))))
            });
        });
    }
    let mut window = ReplayWindow::new();
    let mut counter = 0;
    group.bench_function("replay window", |bencher| {
        bencher.iter(|| {
            counter += 1;
            window.accept(black_box(counter))
        });
    });
    group.finish();
}

criterion_group!(benches, lookups);
criterion_main!(benches);
