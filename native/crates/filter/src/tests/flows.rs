//! Flows: answers, errors, expiry, bounds.

use super::packets::{ACK, Body, Described, FIN, ICMP, ICMPV6, RST, SYN, Shape, TCP, UDP};
use super::rules::{any, port};
use crate::flows::FlowTable;
use crate::{
    Action, Bench, Direction, Directions, Filter, FlowPage, FlowPorts, FlowRow, Judge, Passage,
    PeerId, Replies, Rule, Verdict,
};

pub(crate) const DENIED: Verdict = Verdict::Deny { rule: None };

/// A policy, flows and a clock.
pub(crate) struct Host {
    pub(crate) filter: Filter,
    pub(crate) flows: FlowTable,
    pub(crate) judge: Judge,
    pub(crate) now_ms: u64,
}

impl Host {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        Host {
            filter: Filter::compile(&[], rules),
            flows: FlowTable::new(1_000),
            judge: Judge::default(),
            now_ms: 5_000,
        }
    }

    pub(crate) fn change(&mut self, rules: &[Rule]) {
        let mut next = Filter::compile(&[], rules);
        next.succeed(&self.filter);
        self.filter = next;
    }

    pub(crate) fn pass(&mut self, direction: Direction, packet: &Described) -> Verdict {
        self.pass_from(PeerId::default(), direction, packet)
    }

    pub(crate) fn pass_from(
        &mut self,
        peer: PeerId,
        direction: Direction,
        packet: &Described,
    ) -> Verdict {
        let bytes = packet.bytes();
        let bench = Bench {
            filter: &self.filter,
            flows: &self.flows,
            now_ms: self.now_ms,
        };
        let verdict = self.judge.judge(
            &bench,
            &Passage {
                direction,
                peer,
                packet: &bytes,
            },
        );
        self.judge.settle(&bench);
        verdict
    }

    fn page(&self, from: u64, rows_max: usize) -> FlowPage<'_> {
        FlowPage {
            filter: &self.filter,
            now_ms: self.now_ms,
            from,
            rows_max,
        }
    }

    pub(crate) fn rows(&self) -> Vec<FlowRow> {
        let mut rows = Vec::new();
        self.flows
            .read(&self.page(0, usize::MAX), |_| true, |row| rows.push(row));
        rows
    }
}

const HERE: &str = "10.0.0.1";
const THERE: &str = "10.0.0.2";

/// One-way: we may begin.
pub(crate) fn outgoing(protocol: u8) -> Rule {
    Rule {
        directions: Directions::Out,
        protocol: Some(protocol),
        ..any(1, Action::Allow)
    }
}

pub(crate) fn there(protocol: u8, body: Body) -> Described {
    Described::whole(HERE, THERE, protocol, body)
}

pub(crate) fn back(protocol: u8, body: Body) -> Described {
    Described::whole(THERE, HERE, protocol, body)
}

pub(crate) fn peer(slot: u32, serial: u32) -> PeerId {
    PeerId { slot, serial }
}

pub(crate) fn tcp(source: u16, destination: u16, flags: u8) -> Body {
    Body::Ports {
        source,
        destination,
        flags,
    }
}

#[test]
fn cp_8_answers_of_a_one_way_rule_pass_and_nothing_else_comes_in() {
    let mut host = Host::new(&[outgoing(TCP)]);
    assert_eq!(
        host.pass(Direction::In, &back(TCP, tcp(80, 1000, ACK))),
        DENIED
    );
    assert_eq!(
        host.pass(Direction::Out, &there(TCP, tcp(1000, 80, SYN))),
        Verdict::Allow
    );
    assert_eq!(
        host.pass(Direction::In, &back(TCP, tcp(80, 1000, SYN | ACK))),
        Verdict::Allow
    );
    for other in [tcp(80, 1001, ACK), tcp(81, 1000, ACK), tcp(1000, 80, SYN)] {
        assert_eq!(host.pass(Direction::In, &back(TCP, other)), DENIED);
    }
    assert_eq!(
        host.rows()[0].began,
        Direction::Out,
        "what was dropped before began nothing"
    );
    let stranger = Described::whole("10.0.0.3", HERE, TCP, tcp(80, 1000, ACK));
    assert_eq!(host.pass(Direction::In, &stranger), DENIED);
    assert_eq!(
        host.pass(Direction::In, &back(UDP, Body::ports(80, 1000))),
        DENIED
    );
}

#[test]
fn a_flow_belongs_to_the_peer_it_began_with() {
    let mut host = Host::new(&[outgoing(UDP)]);
    assert_eq!(
        host.pass_from(peer(7, 1), Direction::Out, &there(UDP, Body::ports(1, 2))),
        Verdict::Allow
    );
    assert_eq!(
        host.pass_from(peer(8, 2), Direction::In, &back(UDP, Body::ports(2, 1))),
        DENIED
    );
}

#[test]
fn a_flow_does_not_outlive_its_peer_though_another_gets_its_slot() {
    let mut host = Host::new(&[outgoing(UDP)]);
    let (before, after) = (peer(7, 1), peer(7, 2));
    let (sent, answer) = (there(UDP, Body::ports(1, 2)), back(UDP, Body::ports(2, 1)));
    assert_eq!(
        host.pass_from(before, Direction::Out, &sent),
        Verdict::Allow
    );
    let mut rows = 0;
    let page = host.page(0, 10);
    host.flows.read(&page, |it| it == after, |_| rows += 1);
    assert_eq!(rows, 0, "not shown as a flow of the new peer");
    assert_eq!(host.pass_from(after, Direction::In, &answer), DENIED);
    assert_eq!(host.pass_from(after, Direction::Out, &sent), Verdict::Allow);
    assert_eq!(
        host.pass_from(after, Direction::In, &answer),
        Verdict::Allow
    );
}

#[test]
fn a_peer_that_opens_many_flows_pushes_out_only_its_own() {
    let both = Rule {
        directions: Directions::Both,
        ..outgoing(UDP)
    };
    for honest_first in [true, false] {
        let mut host = Host::new(std::slice::from_ref(&both));
        host.flows = FlowTable::new(64);
        let (honest, greedy) = (peer(1, 1), peer(2, 2));
        let flood = |host: &mut Host, ports: core::ops::Range<u16>| {
            for port in ports {
                host.now_ms += 1;
                for (direction, packet) in [
                    (Direction::In, back(UDP, Body::ports(9, port))),
                    (Direction::Out, there(UDP, Body::ports(port, 9))),
                ] {
                    assert_eq!(host.pass_from(greedy, direction, &packet), Verdict::Allow);
                }
            }
        };
        if !honest_first {
            flood(&mut host, 1_000..1_100);
        }
        // One way only: what would go first if it belonged to everybody.
        for port in 0..16 {
            host.pass_from(honest, Direction::Out, &there(UDP, Body::ports(port, 53)));
        }
        flood(&mut host, 2_000..3_000);

        host.change(&[outgoing(UDP)]);
        let answers = |host: &mut Host, peer, from, ports: core::ops::Range<u16>| {
            ports
                .filter(|port| {
                    let answer = back(UDP, Body::ports(from, *port));
                    host.pass_from(peer, Direction::In, &answer) == Verdict::Allow
                })
                .count()
        };
        assert_eq!(answers(&mut host, honest, 53, 0..16), 16);
        assert_eq!(
            host.flows.len(),
            64,
            "the others are those of the greedy peer"
        );
    }
}

#[test]
fn a_peer_alone_may_fill_the_table_and_its_newest_flows_live() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(64);
    for port in 0..1_000 {
        host.now_ms += 1;
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
        assert_eq!(
            host.pass(Direction::In, &back(UDP, Body::ports(9, port))),
            Verdict::Allow
        );
    }
    assert_eq!(host.rows().len(), 64);
}

#[test]
fn a_rule_whose_replies_are_judged_opens_one_way_only() {
    let rule = Rule {
        replies: Replies::Judged,
        ..outgoing(UDP)
    };
    let mut host = Host::new(std::slice::from_ref(&rule));
    assert_eq!(
        host.pass(Direction::Out, &there(UDP, Body::ports(1, 2))),
        Verdict::Allow
    );
    assert_eq!(
        host.pass(Direction::In, &back(UDP, Body::ports(2, 1))),
        DENIED
    );
    assert_eq!(
        host.pass(Direction::Out, &there(UDP, Body::ports(1, 2))),
        Verdict::Allow
    );
    host.change(&[
        rule,
        Rule {
            directions: Directions::In,
            ..any(2, Action::Allow)
        },
    ]);
    assert_eq!(
        host.pass(Direction::In, &back(UDP, Body::ports(2, 1))),
        Verdict::Allow
    );
}

#[test]
fn answers_to_a_ping_pass_and_pings_of_the_other_end_do_not() {
    for (protocol, ask, answer) in [(ICMP, 8, 0), (ICMPV6, 128, 129)] {
        let (here, far) = if protocol == ICMP {
            (HERE, THERE)
        } else {
            ("fd00::1", "fd00::2")
        };
        let mut host = Host::new(&[outgoing(protocol)]);
        let message = |kind, id| Body::Icmp { kind, code: 0, id };
        let asked = Described::whole(here, far, protocol, message(ask, 5));
        assert_eq!(host.pass(Direction::Out, &asked), Verdict::Allow);
        for (kind, id, expected) in [
            (answer, 5, Verdict::Allow),
            (answer, 6, DENIED),
            (ask, 5, DENIED),
        ] {
            let packet = Described::whole(far, here, protocol, message(kind, id));
            assert_eq!(
                host.pass(Direction::In, &packet),
                expected,
                "type {kind} id {id}"
            );
        }
    }
}

#[test]
fn icmp_errors_about_a_flow_pass_and_others_do_not() {
    for (here, far, protocol, kinds) in [
        (HERE, THERE, ICMP, [3, 11, 12]),
        ("fd00::1", "fd00::2", ICMPV6, [1, 2, 3]),
    ] {
        let mut host = Host::new(&[outgoing(UDP)]);
        let sent = Described::whole(here, far, UDP, Body::ports(1000, 53));
        let never_sent = Described::whole(here, far, UDP, Body::ports(1000, 54));
        assert_eq!(host.pass(Direction::Out, &sent), Verdict::Allow);
        let error = |kind, about: &Described| Body::Error {
            kind,
            code: 0,
            about: Box::new(about.clone()),
        };
        let router = if protocol == ICMP {
            "10.9.9.9"
        } else {
            "fd09::9"
        };
        for kind in kinds {
            let packet = |about| Described::whole(router, here, protocol, error(kind, about));
            assert_eq!(host.pass(Direction::In, &packet(&sent)), Verdict::Allow);
            assert_eq!(host.pass(Direction::In, &packet(&never_sent)), DENIED);
        }
        let elsewhere = if protocol == ICMP {
            "10.0.0.7"
        } else {
            "fd00::7"
        };
        let astray = Described::whole(router, elsewhere, protocol, error(kinds[0], &sent));
        assert_eq!(
            host.pass(Direction::In, &astray),
            DENIED,
            "not sent to whom it is about"
        );
        let redirect = Described::whole(
            router,
            here,
            protocol,
            error(if protocol == ICMP { 5 } else { 137 }, &sent),
        );
        assert_eq!(
            host.pass(Direction::In, &redirect),
            DENIED,
            "would change routes"
        );
    }
}

#[test]
fn icmp_errors_about_a_flow_whose_replies_are_judged_are_judged_too() {
    let rule = Rule {
        replies: Replies::Judged,
        ..outgoing(UDP)
    };
    let mut host = Host::new(std::slice::from_ref(&rule));
    let sent = there(UDP, Body::ports(1, 2));
    let error = back(
        ICMP,
        Body::Error {
            kind: 3,
            code: 4,
            about: Box::new(sent.clone()),
        },
    );
    assert_eq!(host.pass(Direction::Out, &sent), Verdict::Allow);
    assert_eq!(host.pass(Direction::In, &error), DENIED);
    let errors = Rule {
        directions: Directions::In,
        protocol: Some(ICMP),
        ..any(2, Action::Allow)
    };
    host.change(&[rule, errors]);
    assert_eq!(host.pass(Direction::In, &error), Verdict::Allow);
    assert_eq!(host.filter.rows().nth(1).unwrap().packets, 1);
}

#[test]
fn flows_end_when_they_were_idle_for_their_time() {
    // Per protocol: packets that make the state, then the time that is still in and the one that is not.
    let syn = (Direction::Out, TCP, tcp(1, 2, SYN));
    let answer = (Direction::In, TCP, tcp(2, 1, SYN | ACK));
    let reset = (Direction::In, TCP, tcp(2, 1, RST));
    let ends = [
        (Direction::Out, TCP, tcp(1, 2, FIN | ACK)),
        (Direction::In, TCP, tcp(2, 1, FIN | ACK)),
    ];
    let [our_end, their_end] = ends.clone();
    let cases = [
        (vec![syn.clone()], 60_000),
        (vec![syn.clone(), answer.clone()], 7_440_000),
        (vec![syn.clone(), answer.clone(), our_end.clone()], 240_000),
        (
            vec![
                syn.clone(),
                answer.clone(),
                our_end.clone(),
                their_end.clone(),
            ],
            10_000,
        ),
        (vec![syn.clone(), answer.clone(), reset], 10_000),
        (
            vec![syn.clone(), answer.clone(), our_end, their_end, syn, answer],
            7_440_000,
        ),
        (vec![(Direction::Out, UDP, Body::ports(1, 2))], 180_000),
        (
            vec![(
                Direction::Out,
                ICMP,
                Body::Icmp {
                    kind: 8,
                    code: 0,
                    id: 1,
                },
            )],
            30_000,
        ),
        (vec![(Direction::Out, 47, Body::Raw(vec![0; 8]))], 600_000),
    ];
    for (packets, idle_max_ms) in cases {
        let protocol = packets[0].1;
        for (wait, expected) in [(idle_max_ms, Verdict::Allow), (idle_max_ms + 1, DENIED)] {
            let mut host = Host::new(&[outgoing(protocol)]);
            for (direction, protocol, body) in &packets {
                let packet = match direction {
                    Direction::Out => there(*protocol, body.clone()),
                    Direction::In => back(*protocol, body.clone()),
                };
                assert_eq!(host.pass(*direction, &packet), Verdict::Allow);
            }
            host.now_ms += wait;
            let answer = match protocol {
                ICMP => Body::Icmp {
                    kind: 0,
                    code: 0,
                    id: 1,
                },
                47 => Body::Raw(vec![0; 8]),
                _ => tcp(2, 1, ACK),
            };
            assert_eq!(
                host.pass(Direction::In, &back(protocol, answer)),
                expected,
                "{packets:?} after {wait} ms"
            );
        }
    }
}

#[test]
fn an_expired_flow_is_not_shown_and_its_place_is_used_again() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(4);
    for port in 0..4 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    }
    host.now_ms += 180_001;
    assert_eq!(host.rows(), []);
    for port in 10..14 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    }
    assert_eq!(host.rows().len(), 4);
    let news = host.judge.take_news();
    assert_eq!((news.started, news.expired, news.evicted), (8, 4, 0));
}

#[test]
fn a_full_table_forgets_denied_flows_first_then_young_ones() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(8);
    for port in 0..4 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
        host.pass(Direction::In, &back(UDP, Body::ports(9, port)));
    }
    for port in 100..104 {
        assert_eq!(
            host.pass(Direction::In, &back(UDP, Body::ports(9, port))),
            DENIED
        );
    }
    for port in 200..230 {
        host.now_ms += 1;
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
        assert_eq!(
            host.pass(Direction::In, &back(UDP, Body::ports(port, 777))),
            DENIED
        );
    }
    assert_eq!(host.flows.len(), 8);
    for port in 0..4 {
        assert_eq!(
            host.pass(Direction::In, &back(UDP, Body::ports(9, port))),
            Verdict::Allow,
            "port {port}"
        );
    }
    // Each young flow took a place; records of drops took three from each other before the last was gone.
    assert_eq!(host.judge.take_news().evicted, 33);
}

#[test]
fn a_flood_of_denied_packets_takes_no_place_from_flows() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(16);
    for port in 0..16 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    }
    for port in 0..1_000 {
        assert_eq!(
            host.pass(Direction::In, &back(UDP, Body::ports(port, 5_000))),
            DENIED
        );
    }
    assert!(host.rows().iter().all(|row| row.verdict == Verdict::Allow));
    assert_eq!(host.rows().len(), 16);
}

#[test]
fn flows_whose_hashes_meet_stay_apart() {
    // One chain for all: a table of one slot per stripe cannot be asked for, so many share few chains.
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(64);
    for port in 0..64 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    }
    for port in (0..64).rev() {
        assert_eq!(
            host.pass(Direction::In, &back(UDP, Body::ports(9, port))),
            Verdict::Allow
        );
    }
    let mut rows = host.rows();
    rows.sort_by_key(|row| match row.ports {
        FlowPorts::Ports { local, .. } => local,
        FlowPorts::Icmp { .. } | FlowPorts::None => u16::MAX,
    });
    assert_eq!(rows.len(), 64);
    assert!(
        rows.iter()
            .all(|row| (row.incoming, row.outgoing) == ((1, 40), (1, 40)))
    );
}

#[test]
fn packets_and_bytes_of_a_batch_are_counted_once_at_the_flow_and_at_its_rule() {
    let mut host = Host::new(&[Rule {
        protocol: Some(TCP),
        detail: port(80, 80),
        ..outgoing(TCP)
    }]);
    let packet = there(TCP, tcp(1000, 80, ACK)).bytes();
    let answer = back(TCP, tcp(80, 1000, ACK)).bytes();
    let bench = Bench {
        filter: &host.filter,
        flows: &host.flows,
        now_ms: 5_000,
    };
    for _ in 0..10 {
        host.judge.judge(
            &bench,
            &Passage {
                direction: Direction::Out,
                peer: peer(3, 30),
                packet: &packet,
            },
        );
    }
    host.judge.add_pieces(4, 160);
    for _ in 0..5 {
        host.judge.judge(
            &bench,
            &Passage {
                direction: Direction::In,
                peer: peer(3, 30),
                packet: &answer,
            },
        );
    }
    host.judge.settle(&bench);

    let rows = host.rows();
    let row = rows.first().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (row.outgoing, row.incoming, row.drops),
        ((14, 560), (5, 200), 0)
    );
    assert_eq!(
        (row.peer, row.rule, row.began),
        (Some(3), Some(1), Direction::Out)
    );
    let counts = host.filter.rows().next().unwrap();
    assert_eq!(
        (counts.id, counts.packets, counts.bytes, counts.drops),
        (1, 19, 760, 0)
    );
}

#[test]
fn drops_are_counted_at_the_flow_and_at_the_rule_that_dropped() {
    let no_ssh = Rule {
        protocol: Some(TCP),
        detail: port(22, 22),
        ..any(7, Action::Deny)
    };
    let mut host = Host::new(&[no_ssh, any(8, Action::Allow)]);
    for _ in 0..3 {
        let verdict = host.pass(Direction::In, &back(TCP, tcp(1000, 22, SYN)));
        assert_eq!(verdict, Verdict::Deny { rule: Some(7) });
    }
    let rows = host.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].drops, rows[0].rule, rows[0].verdict),
        (3, Some(7), Verdict::Deny { rule: Some(7) })
    );
    assert_eq!(host.filter.rows().next().unwrap().drops, 3);
}

#[test]
fn the_table_is_read_in_pages() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(4_096);
    for port in 0..3_000 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut from = 0;
    loop {
        let mut rows = 0;
        host.flows.read(
            &host.page(from, 100),
            |_| true,
            |row| {
                rows += 1;
                from = row.position + 1;
                let FlowPorts::Ports { local, .. } = row.ports else {
                    panic!("a UDP flow")
                };
                assert!(seen.insert(local));
            },
        );
        if rows < 100 {
            break;
        }
    }
    assert_eq!(seen.len(), 3_000);
}

#[test]
fn a_fragment_that_was_sent_opens_nothing_for_fragments_that_come_back() {
    let icmp = Body::Icmp {
        kind: 8,
        code: 0,
        id: 1,
    };
    for (protocol, body) in [
        (UDP, Body::ports(1, 2)),
        (TCP, Body::ports(1, 2)),
        (ICMP, icmp),
    ] {
        for shape in [Shape::FirstFragment, Shape::LaterFragment] {
            let mut host = Host::new(&[outgoing(protocol)]);
            let fragment = |packet: Described| Described { shape, ..packet };
            let whole = there(protocol, body.clone());
            assert_eq!(host.pass(Direction::Out, &whole), Verdict::Allow);
            let sent = fragment(whole);
            let came = fragment(back(protocol, body.clone()));
            for _ in 0..2 {
                assert_eq!(
                    host.pass(Direction::In, &came),
                    DENIED,
                    "it does not say what it answers: {came:?}"
                );
                assert_eq!(host.pass(Direction::Out, &sent), Verdict::Allow);
            }
            let incoming = Rule {
                directions: Directions::In,
                ..any(2, Action::Allow)
            };
            host.change(&[outgoing(protocol), incoming]);
            assert_eq!(host.pass(Direction::In, &came), Verdict::Allow);
        }
    }
}

#[test]
fn answers_of_a_protocol_without_ports_pass_whole_and_in_fragments() {
    let mut host = Host::new(&[outgoing(47)]);
    let body = Body::Raw(vec![0; 8]);
    assert_eq!(
        host.pass(Direction::Out, &there(47, body.clone())),
        Verdict::Allow
    );
    for shape in [Shape::Whole, Shape::LaterFragment] {
        let answer = Described {
            shape,
            ..back(47, body.clone())
        };
        assert_eq!(host.pass(Direction::In, &answer), Verdict::Allow);
    }
}

#[test]
fn nothing_is_allocated_once_the_table_is_made() {
    let mut host = Host::new(&[outgoing(UDP), any(2, Action::Deny)]);
    host.flows = FlowTable::new(128);
    let packets: Vec<Vec<u8>> = (0..1_000)
        .map(|port| there(UDP, Body::ports(port, 9)).bytes())
        .collect();
    let bench = Bench {
        filter: &host.filter,
        flows: &host.flows,
        now_ms: 5_000,
    };
    let judge = &mut host.judge;
    let allocated = allocation_counter::measure(|| {
        for packet in &packets {
            for direction in [Direction::Out, Direction::In] {
                judge.judge(
                    &bench,
                    &Passage {
                        direction,
                        peer: PeerId::default(),
                        packet,
                    },
                );
            }
        }
        judge.settle(&bench);
    });
    assert_eq!(allocated.count_total, 0);
}
