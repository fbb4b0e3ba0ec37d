//! What the policy costs: per packet of a flow that goes on, per packet among 100,000 flows, per flow start, per change.

#![allow(missing_docs, reason = "the macro makes a public function")]

use std::hint::black_box;
use std::net::Ipv4Addr;

use criterion::{Criterion, criterion_group, criterion_main};
use filter::{
    Action, Bench, Detail, Direction, Directions, Filter, FlowTable, Judge, Passage, PeerId,
    PortRange, Replies, Rule, Subject,
};
use tables::Prefix;

type Sets = Vec<Box<[Prefix]>>;

/// As many rules as asked for, each between two of 100 groups of 100 addresses, with a port range of its own.
fn policy(rules: u32) -> (Sets, Vec<Rule>) {
    let address = |group: u32, member: u32| Ipv4Addr::from_bits(0x0a00_0000 + group * 256 + member);
    let sets = (0..100)
        .map(|group| {
            let host = |member| Prefix::new(address(group, member).into(), 32).expect("fits");
            (0..100).map(host).collect()
        })
        .collect();
    let rule = |number: u32| {
        let low = u16::try_from(number % 60_000).unwrap_or(0);
        Rule {
            id: number,
            action: Action::Allow,
            directions: Directions::Both,
            replies: Replies::Pass,
            protocol: Some(if number.is_multiple_of(2) { 6 } else { 17 }),
            source: (rules > 1).then_some(number % 100),
            destination: (rules > 1).then_some(number / 100 % 100),
            detail: if rules > 1 {
                Detail::Ports(
                    [PortRange {
                        low,
                        high: low.saturating_add(9),
                    }]
                    .into(),
                )
            } else {
                Detail::Any
            },
        }
    };
    (sets, (0..rules).map(rule).collect())
}

/// An IPv4 packet of UDP between members of two groups.
fn packet(source: u32, destination: u32, ports: [u16; 2], len: u16) -> Vec<u8> {
    let [high, low] = len.to_be_bytes();
    let mut bytes = vec![0x45, 0, high, low, 0, 1, 0x40, 0, 64, 17, 0, 0];
    bytes.extend((0x0a00_0000 + source).to_be_bytes());
    bytes.extend((0x0a00_0000 + destination).to_be_bytes());
    bytes.extend(ports.map(u16::to_be_bytes).concat());
    bytes.resize(len.into(), 0);
    bytes
}

fn open() -> Filter {
    let rule = Rule {
        protocol: None,
        ..policy(1).1.remove(0)
    };
    Filter::compile(&[], &[rule])
}

fn flow_starts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flow start");
    for rules in [1, 100, 10_000] {
        let (sets, rules_list) = policy(rules);
        let filter = Filter::compile(&sets, &rules_list);
        let mut next = 0_u32;
        let subjects: Vec<Subject> = (0..1_000)
            .map(|number| {
                let ends = (
                    number * 37 % 100 * 256 + number % 100,
                    number * 91 % 100 * 256,
                );
                let port = u16::try_from(number * 61 % 60_000).unwrap_or(0);
                Subject::of(&packet(ends.0, ends.1, [9, port], 1_400)).expect("a packet")
            })
            .collect();
        group.bench_function(format!("{rules} rules"), |bencher| {
            bencher.iter(|| {
                next = (next + 7) % 1_000;
                let subject = subjects.get(next as usize).expect("below 1,000");
                filter.judge(Direction::In, black_box(subject))
            });
        });
    }
    group.finish();
}

fn packets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packet");
    let filter = open();
    let flows = FlowTable::new(1 << 17);
    let bench = Bench {
        filter: &filter,
        flows: &flows,
        now_ms: 1,
    };
    let one = packet(1, 2, [1, 2], 1_400);
    let passage = |packet| Passage {
        direction: Direction::In,
        peer: PeerId::default(),
        packet,
    };
    let mut judge = Judge::default();
    group.bench_function("of the flow before it", |bencher| {
        bencher.iter(|| judge.judge(&bench, &passage(black_box(&one))));
    });
    group.bench_function("a batch of one", |bencher| {
        bencher.iter(|| {
            let verdict = judge.judge(&bench, &passage(black_box(&one)));
            judge.settle(&bench);
            verdict
        });
    });
    let many: Vec<Vec<u8>> = (0..100_000_u32)
        .map(|number| {
            let port = u16::try_from(number % 50_000).unwrap_or(0);
            packet(1, 2 + number / 50_000, [port, 80], 28)
        })
        .collect();
    for bytes in &many {
        judge.judge(&bench, &passage(bytes));
    }
    let mut next = 0_usize;
    group.bench_function("of another of 100,000 flows each time", |bencher| {
        bencher.iter(|| {
            next = (next + 7_919) % many.len();
            judge.judge(
                &bench,
                &passage(black_box(many.get(next).expect("below the length"))),
            )
        });
    });
    group.bench_function("of the flow before it, with 100,000 others", |bencher| {
        bencher.iter(|| judge.judge(&bench, &passage(black_box(&one))));
    });
    group.finish();
}

fn changes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    group.sample_size(10);
    for rules in [1, 100, 10_000] {
        let (sets, list) = policy(rules);
        group.bench_function(format!("{rules} rules"), |bencher| {
            bencher.iter(|| Filter::compile(black_box(&sets), black_box(&list)));
        });
    }
    group.finish();
}

criterion_group!(benches, flow_starts, packets, changes);
criterion_main!(benches);
