//! What every packet or batch asks: whose address, what policy, seen before.

#![allow(missing_docs, reason = "the macro makes a public function")]

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};

use criterion::{Criterion, criterion_group, criterion_main};
use filter::{Action, Direction, Directions, Filter, PortRange, Rule};
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

fn policies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("filter");
    let open = Rule {
        id: 1,
        action: Action::Allow,
        directions: Directions::Both,
        protocol: None,
        source: None,
        destination: None,
        ports: PortRange::ALL,
    };
    let other = Rule {
        protocol: Some(132),
        ..open
    };
    let packet = testkit::t4(1, 1368);
    for rules in [vec![open], [vec![other; 100], vec![open]].concat()] {
        let filter = Filter::compile(&rules);
        group.bench_function(format!("{} rules", rules.len()), |bencher| {
            bencher.iter(|| filter.judge(Direction::In, black_box(&packet)));
        });
    }
    group.finish();
}

criterion_group!(benches, lookups, policies);
criterion_main!(benches);
