//! A change of the rules keeps flows that stay allowed and cuts the others.

use super::flows::{DENIED, Host, back, outgoing, there};
use super::packets::{Body, TCP, UDP};
use super::rules::{any, port};
use crate::{Action, Direction, Directions, Rule, Verdict};

fn tcp_to(id: u32, low: u16) -> Rule {
    Rule {
        detail: port(low, low),
        id,
        ..outgoing(TCP)
    }
}

fn begin(host: &mut Host, local: u16, remote: u16) {
    assert_eq!(
        host.pass(Direction::Out, &there(TCP, Body::ports(local, remote))),
        Verdict::Allow
    );
    assert_eq!(
        host.pass(Direction::In, &back(TCP, Body::ports(remote, local))),
        Verdict::Allow
    );
}

#[test]
fn a_flow_that_stays_allowed_goes_on_and_one_that_does_not_is_cut_at_its_next_packet() {
    let mut host = Host::new(&[tcp_to(1, 80), tcp_to(2, 81)]);
    begin(&mut host, 1000, 80);
    begin(&mut host, 1001, 81);

    host.change(&[tcp_to(9, 443), tcp_to(2, 81)]);

    assert_eq!(
        host.pass(Direction::In, &back(TCP, Body::ports(80, 1000))),
        DENIED
    );
    assert_eq!(
        host.pass(Direction::Out, &there(TCP, Body::ports(1000, 80))),
        DENIED
    );
    assert_eq!(
        host.pass(Direction::In, &back(TCP, Body::ports(81, 1001))),
        Verdict::Allow
    );
    assert_eq!(host.judge.take_news().cut, 1);
    let rows = host.rows();
    let kept = rows
        .iter()
        .find(|row| row.verdict == Verdict::Allow)
        .unwrap();
    let cut = rows
        .iter()
        .find(|row| row.verdict != Verdict::Allow)
        .unwrap();
    assert_eq!(
        (kept.rule, kept.incoming, kept.outgoing),
        (Some(2), (2, 80), (1, 40))
    );
    assert_eq!(
        (cut.rule, cut.incoming, cut.outgoing, cut.drops),
        (None, (1, 40), (1, 40), 2)
    );
}

#[test]
fn a_rule_in_front_cuts_and_its_going_away_does_not_bring_the_flow_back_by_itself() {
    let allow = tcp_to(1, 80);
    let deny = Rule {
        action: Action::Deny,
        ..tcp_to(5, 80)
    };
    let mut host = Host::new(std::slice::from_ref(&allow));
    begin(&mut host, 1000, 80);
    host.change(&[deny, allow.clone()]);
    assert_eq!(
        host.pass(Direction::Out, &there(TCP, Body::ports(1000, 80))),
        Verdict::Deny { rule: Some(5) }
    );
    host.change(&[allow]);
    assert_eq!(
        host.pass(Direction::In, &back(TCP, Body::ports(80, 1000))),
        DENIED
    );
    begin(&mut host, 1000, 80);
}

#[test]
fn a_flow_moves_to_the_rule_that_allows_it_now_and_keeps_its_counts() {
    let mut host = Host::new(&[tcp_to(1, 80)]);
    begin(&mut host, 1000, 80);
    host.change(&[any(3, Action::Allow), tcp_to(1, 80)]);
    assert_eq!(
        host.pass(Direction::In, &back(TCP, Body::ports(80, 1000))),
        Verdict::Allow
    );
    let rows = host.rows();
    assert_eq!(
        (rows[0].rule, rows[0].incoming, rows[0].outgoing),
        (Some(3), (2, 80), (1, 40))
    );
    let counts: Vec<(u32, u64)> = host
        .filter
        .rows()
        .map(|row| (row.id, row.packets))
        .collect();
    assert_eq!(counts, [(3, 1), (1, 2)], "rule 1 keeps what it had");
}

#[test]
fn turning_a_both_way_rule_round_cuts_only_flows_of_the_closed_way() {
    let both = Rule {
        protocol: Some(UDP),
        ..any(1, Action::Allow)
    };
    let mut host = Host::new(std::slice::from_ref(&both));
    let (ours, theirs) = (
        there(UDP, Body::ports(1, 53)),
        back(UDP, Body::ports(9, 123)),
    );
    assert_eq!(host.pass(Direction::Out, &ours), Verdict::Allow);
    assert_eq!(host.pass(Direction::In, &theirs), Verdict::Allow);

    host.change(&[Rule {
        directions: Directions::Out,
        ..both
    }]);

    assert_eq!(
        host.pass(Direction::In, &back(UDP, Body::ports(53, 1))),
        Verdict::Allow
    );
    assert_eq!(host.pass(Direction::In, &theirs), DENIED);
}

#[test]
fn flows_that_are_looked_at_are_judged_by_the_policy_of_now() {
    let mut host = Host::new(&[tcp_to(1, 80)]);
    begin(&mut host, 1000, 80);
    host.change(&[]);
    assert_eq!(
        host.rows()[0].verdict,
        DENIED,
        "no packet came since the change"
    );
}

#[test]
fn looking_at_flows_changes_nothing() {
    let mut host = Host::new(&[tcp_to(1, 80)]);
    begin(&mut host, 1000, 80);
    host.change(&[]);
    assert_eq!(host.rows()[0].verdict, DENIED);
    host.change(&[tcp_to(1, 80)]);
    assert_eq!(
        host.pass(Direction::In, &back(TCP, Body::ports(80, 1000))),
        Verdict::Allow,
        "no packet met the rules in between"
    );

    host.change(&[]);
    assert_eq!(host.rows()[0].verdict, DENIED);
    assert_eq!(host.judge.take_news().cut, 0);
    assert_eq!(
        host.pass(Direction::In, &back(TCP, Body::ports(80, 1000))),
        DENIED
    );
    assert_eq!(host.judge.take_news().cut, 1, "counted at its next packet");
}
