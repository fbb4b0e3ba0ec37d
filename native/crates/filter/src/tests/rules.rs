//! Rules against single packets.

use tables::Prefix;

use super::packets::{Body, Described, Extension, ICMP, ICMPV6, Shape, TCP, UDP};
use crate::{
    Action, Detail, Direction, Directions, Filter, PortRange, Replies, Rule, Subject, Verdict,
};

pub(crate) fn any(id: u32, action: Action) -> Rule {
    Rule {
        id,
        action,
        directions: Directions::Both,
        replies: Replies::Pass,
        protocol: None,
        source: None,
        destination: None,
        detail: Detail::Any,
    }
}

pub(crate) fn port(low: u16, high: u16) -> Detail {
    Detail::Ports([PortRange { low, high }].into())
}

pub(crate) fn set(list: &[&str]) -> Box<[Prefix]> {
    list.iter()
        .map(|text| {
            let (address, bits) = text.split_once('/').unwrap();
            Prefix::new(address.parse().unwrap(), bits.parse().unwrap()).unwrap()
        })
        .collect()
}

fn judge(filter: &Filter, direction: Direction, packet: &Described) -> Verdict {
    filter.judge(direction, &Subject::of(&packet.bytes()).unwrap())
}

const DENIED: Verdict = Verdict::Deny { rule: None };

fn v4(protocol: u8, body: Body) -> Described {
    Described::whole("10.0.0.1", "10.0.0.2", protocol, body)
}

fn v6(protocol: u8, body: Body) -> Described {
    Described::whole("fd00::1", "fd00::2", protocol, body)
}

#[test]
fn nothing_told_means_deny_and_one_open_rule_means_allow() {
    let packet = v4(TCP, Body::ports(1, 80));
    assert_eq!(judge(&Filter::deny_all(), Direction::In, &packet), DENIED);
    let open = Filter::compile(&[], &[any(1, Action::Allow)]);
    assert_eq!(judge(&open, Direction::Out, &packet), Verdict::Allow);
}

#[test]
fn the_first_matching_rule_decides() {
    let no_ssh = Rule {
        protocol: Some(TCP),
        detail: port(22, 22),
        ..any(7, Action::Deny)
    };
    let filter = Filter::compile(&[], &[no_ssh, any(8, Action::Allow)]);
    let cases = [
        (v4(TCP, Body::ports(1, 22)), Verdict::Deny { rule: Some(7) }),
        (v4(TCP, Body::ports(22, 23)), Verdict::Allow),
        (v4(UDP, Body::ports(1, 22)), Verdict::Allow),
    ];
    for (packet, expected) in cases {
        assert_eq!(
            judge(&filter, Direction::In, &packet),
            expected,
            "{packet:?}"
        );
    }
}

#[test]
fn directions_and_address_sets_are_told_apart() {
    let rule = Rule {
        directions: Directions::In,
        source: Some(1),
        destination: Some(0),
        ..any(1, Action::Allow)
    };
    let sets = [set(&["10.0.0.2/32", "fd00::/16"]), set(&["10.0.0.0/31"])];
    let filter = Filter::compile(&sets, &[rule]);
    let packet = v4(TCP, Body::ports(1, 80));

    assert_eq!(judge(&filter, Direction::In, &packet), Verdict::Allow);
    assert_eq!(judge(&filter, Direction::Out, &packet), DENIED);
    let back = Described::whole("10.0.0.2", "10.0.0.1", TCP, Body::ports(1, 80));
    assert_eq!(judge(&filter, Direction::In, &back), DENIED);
    let other = v6(TCP, Body::ports(1, 80));
    assert_eq!(judge(&filter, Direction::In, &other), DENIED);
}

#[test]
fn ap_28_a_rule_whose_set_is_empty_or_missing_allows_nothing() {
    for place in [0, 5] {
        let rule = Rule {
            source: Some(place),
            ..any(1, Action::Allow)
        };
        let filter = Filter::compile(&[Box::default()], &[rule]);
        let packet = v4(TCP, Body::ports(1, 80));
        assert_eq!(judge(&filter, Direction::In, &packet), DENIED);
    }
}

#[test]
fn a_fragment_is_never_allowed_by_a_rule_with_ports() {
    let ports = Rule {
        protocol: Some(UDP),
        detail: port(0, u16::MAX),
        ..any(1, Action::Allow)
    };
    let plain = Rule {
        protocol: Some(UDP),
        ..any(2, Action::Allow)
    };
    for packet in [v4(UDP, Body::ports(1, 80)), v6(UDP, Body::ports(1, 80))] {
        for (shape, by_ports) in [
            (Shape::Whole, Verdict::Allow),
            (Shape::FirstFragment, DENIED),
            (Shape::LaterFragment, DENIED),
        ] {
            let packet = Described {
                shape,
                ..packet.clone()
            };
            let filter = Filter::compile(&[], std::slice::from_ref(&ports));
            assert_eq!(
                judge(&filter, Direction::In, &packet),
                by_ports,
                "{packet:?}"
            );
            let filter = Filter::compile(&[], std::slice::from_ref(&plain));
            assert_eq!(judge(&filter, Direction::In, &packet), Verdict::Allow);
        }
    }
}

#[test]
fn a_fragment_meets_a_rule_that_denies_some_ports_or_types_of_its_protocol() {
    let deny = |protocol, detail| Rule {
        protocol,
        detail,
        ..any(1, Action::Deny)
    };
    let no_redirect = Detail::Icmp {
        kind: 5,
        code: None,
    };
    let icmp = Body::Icmp {
        kind: 5,
        code: 0,
        id: 0,
    };
    let denied = Verdict::Deny { rule: Some(1) };
    let cases = [
        (deny(Some(TCP), port(22, 22)), TCP, denied),
        (deny(None, port(22, 22)), TCP, denied),
        (deny(None, port(22, 22)), UDP, denied),
        (deny(Some(TCP), port(22, 22)), UDP, Verdict::Allow),
        (deny(None, port(22, 22)), ICMP, Verdict::Allow),
        (
            deny(Some(TCP), Detail::Ports(Box::default())),
            TCP,
            Verdict::Allow,
        ),
        (deny(Some(TCP), port(23, 22)), TCP, Verdict::Allow),
        (deny(None, no_redirect.clone()), ICMP, denied),
        (deny(None, no_redirect), TCP, Verdict::Allow),
    ];
    for (rule, protocol, expected) in cases {
        let filter = Filter::compile(&[], &[rule.clone(), any(2, Action::Allow)]);
        for shape in [Shape::FirstFragment, Shape::LaterFragment] {
            let body = if protocol == ICMP {
                icmp.clone()
            } else {
                Body::ports(1, 22)
            };
            let packet = Described {
                shape,
                ..v4(protocol, body)
            };
            assert_eq!(
                judge(&filter, Direction::In, &packet),
                expected,
                "{rule:?} {packet:?}"
            );
        }
    }
}

/// SEC-46, together with the fuzz target `classify`.
#[test]
fn sec_46_an_unknown_protocol_never_matches_a_port_rule() {
    let rule = Rule {
        detail: port(0, u16::MAX),
        ..any(1, Action::Allow)
    };
    let filter = Filter::compile(&[], &[rule]);
    for protocol in (0..=u8::MAX).filter(|it| ![TCP, UDP].contains(it)) {
        let body = Body::Raw(vec![0, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0]);
        let packet = v4(protocol, body);
        assert_eq!(
            judge(&filter, Direction::In, &packet),
            DENIED,
            "protocol {protocol}"
        );
    }
    for header in [50, 59, 253] {
        // ESP, no next header, and one for experiments: what follows is not TCP, whatever it looks like.
        let packet = v6(header, Body::ports(1, 80));
        assert_eq!(
            judge(&filter, Direction::In, &packet),
            DENIED,
            "header {header}"
        );
    }
}

#[test]
fn extension_headers_lead_to_the_real_protocol() {
    let rule = Rule {
        protocol: Some(TCP),
        detail: port(80, 80),
        ..any(1, Action::Allow)
    };
    let filter = Filter::compile(&[], &[rule]);
    let chains = [
        vec![Extension::HopByHop],
        vec![Extension::Routing, Extension::Authentication],
        vec![
            Extension::Destination,
            Extension::Destination,
            Extension::Mobility,
        ],
        vec![
            Extension::HopByHop,
            Extension::Routing,
            Extension::Authentication,
            Extension::Destination,
        ],
    ];
    for extensions in chains {
        let tcp = Described {
            extensions: extensions.clone(),
            ..v6(TCP, Body::ports(1, 80))
        };
        let udp = Described {
            extensions,
            ..v6(UDP, Body::ports(1, 80))
        };
        assert_eq!(
            judge(&filter, Direction::In, &tcp),
            Verdict::Allow,
            "{tcp:?}"
        );
        assert_eq!(judge(&filter, Direction::In, &udp), DENIED, "{udp:?}");
    }
    let long = Described {
        extensions: vec![Extension::Destination; packet::CHAIN_MAX + 1],
        ..v6(TCP, Body::ports(1, 80))
    };
    assert_eq!(
        Subject::of(&long.bytes()),
        None,
        "a chain without end is not walked"
    );
}

#[test]
fn icmp_types_and_codes_are_told_apart_per_family() {
    let echo = |id, protocol, kind| Rule {
        protocol: Some(protocol),
        detail: Detail::Icmp { kind, code: None },
        ..any(id, Action::Allow)
    };
    let filter = Filter::compile(&[], &[echo(1, ICMP, 8), echo(2, ICMPV6, 128)]);
    let message = |kind| Body::Icmp {
        kind,
        code: 0,
        id: 1,
    };
    let cases = [
        (v4(ICMP, message(8)), Verdict::Allow),
        (v4(ICMP, message(0)), DENIED),
        (v6(ICMPV6, message(128)), Verdict::Allow),
        (v6(ICMPV6, message(8)), DENIED),
        (v4(ICMP, Body::Raw(vec![8, 0, 0, 0])), DENIED),
    ];
    for (packet, expected) in cases {
        assert_eq!(
            judge(&filter, Direction::In, &packet),
            expected,
            "{packet:?}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_denied_as_soon_as_a_rule_must_look() {
    for bytes in [&[][..], &[0x45][..], &[0x60; 39][..], &[0xff; 60][..]] {
        assert_eq!(Subject::of(bytes), None);
    }
}
