//! What is told of flows to who writes them down, and what rules count.

use super::flows::{DENIED, Host, back, outgoing, peer, tcp, there};
use super::packets::{ACK, Body, FIN, SYN, TCP, UDP};
use super::rules::{any, port};
use crate::flows::FlowTable;
use crate::{
    Action, Direction, FlowLife, FlowPorts, FlowRow, RecordsTaken, RecordsWanted, Rule, Sampling,
    Verdict,
};

impl Host {
    fn look(&self, one_of: u32, rows_max: usize) -> (Vec<FlowRow>, RecordsTaken) {
        let wanted = RecordsWanted {
            sampling: Sampling::one_of(one_of),
            now_ms: self.now_ms,
            rows_max,
        };
        let mut rows = Vec::new();
        let taken = self
            .flows
            .take_records(&wanted, |_| true, |row| rows.push(row));
        assert_eq!(taken.rows, rows.len());
        (rows, taken)
    }

    fn records(&self) -> Vec<FlowRow> {
        self.look(1, 10_000).0
    }
}

fn no_ports(low: u16, high: u16) -> Rule {
    Rule {
        protocol: Some(UDP),
        detail: port(low, high),
        ..any(9, Action::Deny)
    }
}

#[test]
fn ap_65_a_flow_is_told_once_it_is_some_seconds_old_then_by_the_half_minute_and_at_its_end() {
    let mut host = Host::new(&[outgoing(TCP)]);
    host.records();
    host.pass(Direction::Out, &there(TCP, tcp(1000, 80, SYN)));
    assert_eq!(host.records(), [], "too young");
    host.now_ms += 2_000;
    let first = host.records();
    assert_eq!(first.len(), 1);
    assert_eq!((first[0].life, first[0].rule), (FlowLife::Open, Some(1)));
    assert_eq!(first[0].verdict, Verdict::Allow);
    assert_eq!(
        first[0].ports,
        FlowPorts::Ports {
            local: 1000,
            remote: 80
        }
    );
    host.now_ms += 1_000;
    host.pass(Direction::In, &back(TCP, tcp(80, 1000, SYN | ACK)));
    assert_eq!(host.records(), [], "told a second ago");
    host.now_ms += 30_000;
    let next = host.records();
    assert_eq!((next[0].id, next[0].incoming.0), (first[0].id, 1));
    host.now_ms += 60_000;
    assert_eq!(host.records(), [], "nothing happened since");
    for (direction, packet) in [
        (Direction::Out, there(TCP, tcp(1000, 80, FIN | ACK))),
        (Direction::In, back(TCP, tcp(80, 1000, FIN | ACK))),
    ] {
        host.pass(direction, &packet);
    }
    host.now_ms += 10_001;
    let last = host.records();
    assert_eq!((last[0].id, last[0].life), (first[0].id, FlowLife::Ended));
    assert_eq!((last[0].outgoing.0, last[0].incoming.0), (2, 2));
    assert_eq!(last[0].idle_ms, 10_001);
    assert_eq!(host.records(), [], "an end is told once");
    host.pass(Direction::Out, &there(TCP, tcp(1000, 80, SYN)));
    host.now_ms += 2_000;
    let again = host.records();
    assert_eq!(again.len(), 1, "the old one's end is not told again");
    assert_ne!(again[0].id, first[0].id, "the same ends, another flow");
}

#[test]
fn ap_65_dropped_flows_are_told_with_their_rule_and_drops() {
    let mut host = Host::new(&[no_ports(53, 53), outgoing(UDP)]);
    host.records();
    for _ in 0..3 {
        host.pass(Direction::Out, &there(UDP, Body::ports(7, 53)));
    }
    host.pass(Direction::In, &back(UDP, Body::ports(7, 99)));
    host.now_ms += 2_000;
    let mut rows = host.records();
    rows.sort_by_key(|row| row.drops);
    let told: Vec<_> = rows.iter().map(|row| (row.rule, row.drops)).collect();
    assert_eq!(told, [(None, 1), (Some(9), 3)]);
    assert!(rows.iter().all(|row| row.verdict != Verdict::Allow));
}

#[test]
fn ap_65_ends_that_nobody_takes_are_bounded_and_counted_and_drops_leave_room_for_the_rest() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(64);
    host.records();
    let passing = |host: &mut Host, port: u16| {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    };
    for port in 0..1_000 {
        assert_eq!(
            host.pass(Direction::In, &back(UDP, Body::ports(9, port))),
            DENIED
        );
        host.now_ms += 31_000;
    }
    for port in 0..100 {
        passing(&mut host, port);
        host.now_ms += 181_000;
    }
    let (rows, taken) = host.look(1, 10_000);
    let allowed = rows.iter().filter(|row| row.verdict == Verdict::Allow);
    let denied = rows.iter().filter(|row| row.verdict != Verdict::Allow);
    assert!(denied.count() <= 64);
    assert!(allowed.count() >= 64);
    assert_eq!(taken.lost, 1_100 - rows.len() as u64);
}

#[test]
fn ap_65_one_flow_of_so_many_is_told_from_its_beginning_to_its_end() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(4_000);
    host.look(10, 10_000);
    for port in 0..2_000 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    }
    host.now_ms += 2_000;
    let mut begun: Vec<u64> = host.look(10, 10_000).0.iter().map(|row| row.id).collect();
    host.now_ms += 200_000;
    let mut ended: Vec<u64> = host.look(10, 10_000).0.iter().map(|row| row.id).collect();
    begun.sort_unstable();
    ended.sort_unstable();
    assert_eq!(begun, ended);
    assert!((120..=280).contains(&begun.len()), "{}", begun.len());
}

#[test]
fn ap_65_without_recording_nothing_is_kept_for_it() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.look(1, 10);
    host.look(0, 10);
    for port in 0..100 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
        host.now_ms += 181_000;
    }
    assert_eq!(host.look(0, 10_000), (Vec::new(), RecordsTaken::default()));
}

#[test]
fn a_look_gives_no_more_than_asked_for_and_the_next_goes_on() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.flows = FlowTable::new(4_000);
    host.records();
    for port in 0..1_000 {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
    }
    host.now_ms += 2_000;
    let mut seen: Vec<u64> = Vec::new();
    for _ in 0..40 {
        let (rows, taken) = host.look(1, 64);
        assert!(rows.len() <= 64);
        assert_eq!(taken.lost, 0);
        seen.extend(rows.iter().map(|row| row.id));
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 1_000);
}

#[test]
fn a_flow_of_a_peer_that_is_gone_ends_and_names_no_peer() {
    let mut host = Host::new(&[outgoing(UDP)]);
    host.records();
    host.pass_from(peer(3, 30), Direction::Out, &there(UDP, Body::ports(1, 9)));
    let wanted = RecordsWanted {
        sampling: Sampling::one_of(1),
        now_ms: host.now_ms,
        rows_max: 100,
    };
    let mut rows = Vec::new();
    host.flows
        .take_records(&wanted, |it| it == peer(3, 31), |row| rows.push(row));
    let told: Vec<_> = rows.iter().map(|row| (row.peer, row.life)).collect();
    assert_eq!(told, [(None, FlowLife::Ended)]);
}

#[test]
fn f_g9_a_rule_counts_its_flows_and_when_it_was_met_last_also_behind_a_change() {
    let mut host = Host::new(&[no_ports(53, 53), outgoing(UDP)]);
    for port in [1, 2, 1] {
        host.pass(Direction::Out, &there(UDP, Body::ports(port, 9)));
        host.pass(Direction::In, &back(UDP, Body::ports(9, port)));
    }
    host.now_ms += 50;
    host.pass(Direction::Out, &there(UDP, Body::ports(4, 53)));
    let (deny, allow) = (no_ports(53, 53), outgoing(UDP));
    host.change(&[any(7, Action::Deny), allow, deny]);
    let rows: Vec<_> = host
        .filter
        .rows()
        .map(|row| (row.id, row.flows, row.packets, row.drops, row.last_ms))
        .collect();
    assert_eq!(
        rows,
        [
            (7, 0, 0, 0, None),
            (1, 2, 6, 0, Some(5_000)),
            (9, 1, 0, 1, Some(5_050))
        ]
    );
}
