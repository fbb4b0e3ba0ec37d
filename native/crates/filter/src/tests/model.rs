//! The whole filter against a slow model that knows packets by their description.

use core::net::IpAddr;

use proptest::prelude::*;
use tables::Prefix;

use super::packets::{
    ACK, Body, Described, Extension, FIN, ICMP, ICMPV6, RST, SYN, Shape, TCP, UDP,
};
use crate::chain::ChainLimits;
use crate::{
    Action, Bench, Detail, Direction, Directions, Filter, FlowTable, Judge, Passage, PeerId,
    PortRange, Replies, Rule, Verdict,
};

/// What rules can see, from the description.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Ports(u16, u16),
    Icmp(u8, u8, u16),
    Nothing,
}

fn seen(packet: &Described) -> Seen {
    if packet.shape != Shape::Whole {
        return Seen::Nothing;
    }
    match (&packet.body, packet.protocol) {
        (
            Body::Ports {
                source,
                destination,
                ..
            },
            TCP | UDP,
        ) => Seen::Ports(*source, *destination),
        (Body::Icmp { kind, code, id }, ICMP | ICMPV6) => Seen::Icmp(*kind, *code, *id),
        (Body::Error { kind, code, .. }, ICMP | ICMPV6) => Seen::Icmp(*kind, *code, 0),
        _ => Seen::Nothing,
    }
}

type Policy = (Vec<Vec<Prefix>>, Vec<Rule>);

fn naive(policy: &Policy, direction: Direction, packet: &Described) -> Option<Rule> {
    let (sets, rules) = policy;
    let within = |set: Option<u32>, address: IpAddr| {
        set.is_none_or(|set| {
            sets.get(set as usize)
                .is_some_and(|set| set.iter().any(|it| it.contains(address)))
        })
    };
    rules
        .iter()
        .find(|rule| {
            rule.directions.include(direction)
                && rule.protocol.is_none_or(|it| it == packet.protocol)
                && within(rule.source, packet.source)
                && within(rule.destination, packet.destination)
                && match (&rule.detail, seen(packet)) {
                    (Detail::Any, _) => true,
                    (Detail::Ports(list), Seen::Ports(_, to)) => {
                        list.iter().any(|range| range.low <= to && to <= range.high)
                    }
                    (Detail::Icmp { kind, code }, Seen::Icmp(is, its, _)) => {
                        *kind == is && code.is_none_or(|code| code == its)
                    }
                    (Detail::Ports(list), Seen::Nothing) => {
                        rule.action == Action::Deny
                            && [TCP, UDP].contains(&packet.protocol)
                            && !list.is_empty()
                    }
                    (Detail::Icmp { .. }, Seen::Nothing) => {
                        rule.action == Action::Deny && [ICMP, ICMPV6].contains(&packet.protocol)
                    }
                    (Detail::Ports(_) | Detail::Icmp { .. }, _) => false,
                }
        })
        .cloned()
}

/// What a way of a flow was allowed by, and a packet of it to ask again with.
type Opened = Option<(Rule, Described)>;

#[derive(Clone, Debug)]
struct ModelFlow {
    name: String,
    peer: u32,
    version: usize,
    ways: [Opened; 2],
}

#[derive(Default)]
struct Model {
    flows: Vec<ModelFlow>,
    version: usize,
}

fn number(direction: Direction) -> usize {
    usize::from(direction == Direction::Out)
}

/// The same for a packet and what answers it.
fn name(direction: Direction, packet: &Described) -> String {
    let (local, remote) = match direction {
        Direction::In => (packet.destination, packet.source),
        Direction::Out => (packet.source, packet.destination),
    };
    let rest = match seen(packet) {
        Seen::Ports(from, to) => match direction {
            Direction::In => format!("{to} {from}"),
            Direction::Out => format!("{from} {to}"),
        },
        Seen::Icmp(kind, 0, id) if [8, 13, 15, 17].contains(&kind) && packet.protocol == ICMP => {
            format!("query {kind} {id} {direction:?}")
        }
        Seen::Icmp(kind @ (0 | 14 | 16 | 18), 0, id) if packet.protocol == ICMP => {
            let query = if kind == 0 { 8 } else { kind - 1 };
            format!("query {query} {id} {:?}", direction.opposite())
        }
        Seen::Icmp(128, 0, id) if packet.protocol == ICMPV6 => {
            format!("query 128 {id} {direction:?}")
        }
        Seen::Icmp(129, 0, id) if packet.protocol == ICMPV6 => {
            format!("query 128 {id} {:?}", direction.opposite())
        }
        Seen::Icmp(kind, code, _) => format!("message {kind} {code} {direction:?}"),
        Seen::Nothing => String::new(),
    };
    format!("{local} {remote} {} {rest}", packet.protocol)
}

impl Model {
    /// The rule that speaks and what it says.
    fn judge(
        &mut self,
        policy: &Policy,
        peer: u32,
        direction: Direction,
        packet: &Described,
    ) -> (Action, Option<Rule>) {
        if let Some(rule) = self.related(policy, peer, direction, packet) {
            return (Action::Allow, Some(rule));
        }
        let wanted = name(direction, packet);
        let at = self.flows.iter().position(|flow| flow.name == wanted);
        let flow = match at {
            Some(at) if self.flows[at].peer == peer => &mut self.flows[at],
            _ => {
                if let Some(at) = at {
                    self.flows.remove(at);
                }
                self.flows.push(ModelFlow {
                    name: wanted,
                    peer,
                    version: self.version,
                    ways: [None, None],
                });
                self.flows.last_mut().unwrap()
            }
        };
        follow(flow, policy, self.version);
        let (own, other) = (number(direction), number(direction.opposite()));
        if let Some((rule, _)) = &flow.ways[own] {
            return (Action::Allow, Some(rule.clone()));
        }
        let is_named =
            seen(packet) != Seen::Nothing || ![TCP, UDP, ICMP, ICMPV6].contains(&packet.protocol);
        if let Some((rule, _)) = &flow.ways[other]
            && is_named
            && rule.replies == Replies::Pass
        {
            return (Action::Allow, Some(rule.clone()));
        }
        match naive(policy, direction, packet) {
            Some(rule) if rule.action == Action::Allow => {
                flow.ways[own] = Some((rule.clone(), packet.clone()));
                (Action::Allow, Some(rule))
            }
            rule => (Action::Deny, rule),
        }
    }

    fn related(
        &mut self,
        policy: &Policy,
        peer: u32,
        direction: Direction,
        packet: &Described,
    ) -> Option<Rule> {
        let Body::Error { kind, about, .. } = &packet.body else {
            return None;
        };
        let is_error = match packet.protocol {
            ICMP => [3, 11, 12].contains(kind),
            _ => (1..=4).contains(kind),
        };
        if packet.shape != Shape::Whole || !is_error || about.source != packet.destination {
            return None;
        }
        let wanted = name(direction.opposite(), about);
        let version = self.version;
        let flow = self
            .flows
            .iter_mut()
            .find(|flow| flow.name == wanted && flow.peer == peer)?;
        follow(flow, policy, version);
        let way = |direction| flow.ways[number(direction)].as_ref().map(|(rule, _)| rule);
        way(direction)
            .or_else(|| way(direction.opposite()).filter(|rule| rule.replies == Replies::Pass))
            .cloned()
    }
}

fn follow(flow: &mut ModelFlow, policy: &Policy, version: usize) {
    if flow.version == version {
        return;
    }
    flow.version = version;
    for direction in [Direction::In, Direction::Out] {
        let way = &mut flow.ways[number(direction)];
        *way = way.take().and_then(|(_, packet)| {
            let rule = naive(policy, direction, &packet)?;
            (rule.action == Action::Allow).then_some((rule, packet))
        });
    }
}

#[derive(Clone, Debug)]
enum Step {
    Packet {
        direction: Direction,
        peer: u32,
        packet: Described,
        times: usize,
    },
    Policy(Vec<Rule>),
    Settle,
}

fn address((v6, last): (bool, u8)) -> IpAddr {
    if v6 {
        format!("fd00::{last:x}").parse().unwrap()
    } else {
        format!("10.0.0.{last}").parse().unwrap()
    }
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::In), Just(Direction::Out)]
}

fn sets() -> impl Strategy<Value = Vec<Vec<Prefix>>> {
    let prefix = (any::<bool>(), 0_u8..8, 0_u8..4).prop_map(|(v6, last, cut)| {
        Prefix::new(address((v6, last)), if v6 { 128 - cut } else { 32 - cut }).unwrap()
    });
    proptest::collection::vec(proptest::collection::vec(prefix, 0..4), 4)
}

fn port() -> impl Strategy<Value = u16> {
    prop_oneof![4 => 0_u16..6, 1 => Just(u16::MAX)]
}

fn detail() -> impl Strategy<Value = Detail> {
    let range = (port(), port()).prop_map(|(a, b)| PortRange {
        low: a.min(b),
        high: a.max(b),
    });
    prop_oneof![
        3 => Just(Detail::Any),
        3 => proptest::collection::vec(range, 0..3).prop_map(|list| Detail::Ports(list.into())),
        2 => (icmp_kind(), proptest::option::of(0_u8..2)).prop_map(|(kind, code)| Detail::Icmp { kind, code }),
    ]
}

fn icmp_kind() -> impl Strategy<Value = u8> {
    proptest::sample::select(vec![0_u8, 8, 13, 14, 128, 129, 3, 1, 5, 11])
}

fn protocol() -> impl Strategy<Value = u8> {
    proptest::sample::select(vec![TCP, UDP, ICMP, ICMPV6, 132, 50])
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let directions = prop_oneof![
        Just(Directions::In),
        Just(Directions::Out),
        Just(Directions::Both)
    ];
    let rule = (
        prop_oneof![3 => Just(Action::Allow), 1 => Just(Action::Deny)],
        directions,
        prop_oneof![4 => Just(Replies::Pass), 1 => Just(Replies::Judged)],
        proptest::option::of(protocol()),
        proptest::option::of(0_u32..5),
        proptest::option::of(0_u32..5),
        detail(),
    );
    proptest::collection::vec(rule, 0..8).prop_map(|list| {
        (1..)
            .zip(list)
            .map(
                |(id, (action, directions, replies, protocol, source, destination, detail))| Rule {
                    id,
                    action,
                    directions,
                    replies,
                    protocol,
                    source,
                    destination,
                    detail,
                },
            )
            .collect()
    })
}

fn plain_packet() -> impl Strategy<Value = Described> {
    let flags = proptest::sample::select(vec![ACK, SYN, SYN | ACK, FIN | ACK, RST, 0]);
    let shape = prop_oneof![6 => Just(Shape::Whole), 1 => Just(Shape::FirstFragment), 1 => Just(Shape::LaterFragment)];
    let extension = proptest::sample::select(vec![
        Extension::HopByHop,
        Extension::Routing,
        Extension::Destination,
        Extension::Authentication,
        Extension::Mobility,
    ]);
    let numbers = (
        port(),
        port(),
        icmp_kind(),
        prop_oneof![5 => Just(0_u8), 1 => Just(1)],
        0_u16..3,
    );
    (
        any::<bool>(),
        (0_u8..8, 0_u8..8),
        protocol(),
        numbers,
        flags,
        shape,
        proptest::collection::vec(extension, 0..3),
    )
        .prop_map(
            |(
                v6,
                (from, to),
                protocol,
                (source, destination, kind, code, id),
                flags,
                shape,
                extensions,
            )| {
                let body = match protocol {
                    ICMP | ICMPV6 => Body::Icmp { kind, code, id },
                    _ => Body::Ports {
                        source,
                        destination,
                        flags,
                    },
                };
                // Errors without a quotation are made as such by `packet`; here the types would say that one follows.
                let body = if let Body::Icmp {
                    kind: 1 | 3 | 11,
                    code,
                    id,
                } = body
                {
                    Body::Icmp { kind: 9, code, id }
                } else {
                    body
                };
                Described {
                    source: address((v6, from)),
                    destination: address((v6, to)),
                    protocol,
                    body,
                    shape,
                    extensions: if v6 { extensions } else { Vec::new() },
                }
            },
        )
}

fn packet() -> impl Strategy<Value = Described> {
    let error = (
        plain_packet(),
        proptest::sample::select(vec![1_u8, 3, 5, 11]),
        0_u8..8,
        any::<bool>(),
    )
        .prop_map(|(about, kind, router, astray)| {
            let v6 = about.source.is_ipv6();
            Described {
                source: address((v6, router)),
                destination: if astray {
                    address((v6, router ^ 1))
                } else {
                    about.source
                },
                protocol: if v6 { ICMPV6 } else { ICMP },
                body: Body::Error {
                    kind,
                    code: 0,
                    about: Box::new(about),
                },
                shape: Shape::Whole,
                extensions: Vec::new(),
            }
        });
    prop_oneof![5 => plain_packet(), 1 => error]
}

/// What answers a packet, so that flows go both ways often.
fn answer(packet: &Described) -> Described {
    let body = match packet.body.clone() {
        Body::Ports {
            source,
            destination,
            flags,
        } => Body::Ports {
            source: destination,
            destination: source,
            flags,
        },
        Body::Icmp { kind: 8, code, id } => Body::Icmp { kind: 0, code, id },
        Body::Icmp { kind: 13, code, id } => Body::Icmp { kind: 14, code, id },
        Body::Icmp {
            kind: 128,
            code,
            id,
        } => Body::Icmp {
            kind: 129,
            code,
            id,
        },
        same @ (Body::Icmp { .. } | Body::Error { .. } | Body::Raw(_)) => same,
    };
    Described {
        source: packet.destination,
        destination: packet.source,
        body,
        ..packet.clone()
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packets = (
        direction(),
        prop_oneof![9 => Just(0_u32), 1 => Just(1)],
        packet(),
        1_usize..3,
        any::<bool>(),
    )
        .prop_map(|(direction, peer, packet, times, answered)| {
            let back = Step::Packet {
                direction: direction.opposite(),
                peer,
                packet: answer(&packet),
                times: 1,
            };
            let there = Step::Packet {
                direction,
                peer,
                packet,
                times,
            };
            if answered {
                vec![there.clone(), back, there]
            } else {
                vec![there]
            }
        });
    let step = prop_oneof![
        12 => packets,
        1 => rules().prop_map(|rules| vec![Step::Policy(rules)]),
        1 => Just(vec![Step::Settle]),
    ];
    proptest::collection::vec(step, 1..60).prop_map(|steps| steps.concat())
}

fn compiled(policy: &Policy, limits: ChainLimits) -> Filter {
    let sets: Vec<Box<[Prefix]>> = policy.0.iter().map(|set| set.clone().into()).collect();
    Filter::compile_within(&sets, &policy.1, limits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn it_agrees_with_first_match_over_the_list_and_remembers_the_same_flows(
        sets in sets(),
        rules in rules(),
        steps in steps(),
        entries_max in prop_oneof![Just(usize::MAX), Just(3), Just(0)],
    ) {
        let limits = ChainLimits { entries_max };
        let mut policy = (sets, rules);
        let mut filter = compiled(&policy, limits);
        let flows = FlowTable::new(4_096);
        let mut judge = Judge::default();
        let mut model = Model::default();
        let mut counts = std::collections::BTreeMap::new();
        for step in steps {
            let bench = Bench { filter: &filter, flows: &flows, now_ms: 1_000 };
            match step {
                Step::Packet { direction, peer, packet, times } => {
                    let bytes = packet.bytes();
                    for _ in 0..times {
                        let (action, rule) = model.judge(&policy, peer, direction, &packet);
                        let expected = match action {
                            Action::Allow => Verdict::Allow,
                            Action::Deny => Verdict::Deny { rule: rule.as_ref().map(|rule| rule.id) },
                        };
                        if let Some(rule) = rule {
                            let [passed, dropped] = counts.entry(rule.id).or_insert([0_u64; 2]);
                            *(if action == Action::Allow { passed } else { dropped }) += 1;
                        }
                        let verdict = judge.judge(&bench, &Passage { direction, peer: PeerId { slot: 0, serial: peer }, packet: &bytes });
                        prop_assert_eq!(verdict, expected, "{:?} {:?}", direction, packet);
                    }
                }
                Step::Settle => judge.settle(&bench),
                Step::Policy(rules) => {
                    judge.settle(&bench);
                    counts.retain(|id, _| rules.iter().any(|rule| rule.id == *id));
                    policy.1 = rules;
                    let mut next = compiled(&policy, limits);
                    next.succeed(&filter);
                    filter = next;
                    model.version += 1;
                }
            }
        }
        judge.settle(&Bench { filter: &filter, flows: &flows, now_ms: 1_000 });
        for row in filter.rows() {
            let expected = counts.get(&row.id).copied().unwrap_or_default();
            prop_assert_eq!([row.packets, row.drops], expected, "rule {}", row.id);
        }
    }

    #[test]
    fn it_reads_any_bytes_without_harm(
        start in proptest::sample::select(vec![0x45_u8, 0x4f, 0x60, 0x00]),
        next in proptest::sample::select(vec![0_u8, 43, 44, 51, 60, 135, 1, 6, 58]),
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        if let Some(first) = bytes.first_mut() { *first = start; }
        for at in [6, 9] {
            if let Some(place) = bytes.get_mut(at) { *place = next; }
        }
        crate::exercise(&bytes);
    }
}
