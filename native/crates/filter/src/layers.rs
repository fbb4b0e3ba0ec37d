//! The part of rules behind the addresses, as one sorted list per protocol.

use std::collections::BTreeSet;

use packet::protocol;

use crate::rule::{Action, Detail, Rule};
use crate::subject::Layer4;

/// Rules between the same addresses: which of them is the first to match a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layers {
    protocols: Box<[(u8, Protocol)]>,
    /// First rule that speaks about every protocol.
    rest: Option<u32>,
}

/// Rules that can match packets of one protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Protocol {
    /// Where a value (port, or ICMP type and code) starts to meet another rule; starts at 0.
    steps: Box<[(u16, Option<u32>)]>,
    /// First rule that speaks about fragments, and where there is no value: one without a condition on the header, or
    /// one that denies some of the protocol, since what is hidden may be just that.
    plain: Option<u32>,
}

impl Layers {
    /// `places` are numbers of rules, the first to be asked first.
    pub(crate) fn compile(rules: &[Rule], places: &[u32]) -> Self {
        let listed = || {
            places
                .iter()
                .filter_map(|place| Some((*place, rules.get(*place as usize)?)))
        };
        let mut mentioned = BTreeSet::new();
        for (_, rule) in listed() {
            match (&rule.detail, rule.protocol) {
                (_, Some(protocol)) => drop(mentioned.insert(protocol)),
                (Detail::Any, None) => {}
                (Detail::Ports(_), None) => mentioned.extend([protocol::TCP, protocol::UDP]),
                (Detail::Icmp { .. }, None) => {
                    mentioned.extend([protocol::ICMP, protocol::ICMPV6]);
                }
            }
        }
        let protocols = mentioned
            .into_iter()
            .map(|protocol| {
                let of = listed().filter(|(_, rule)| rule.protocol.is_none_or(|it| it == protocol));
                (protocol, Protocol::compile(protocol, of))
            })
            .collect();
        let rest = listed()
            .find(|(_, rule)| rule.matches_all_layers())
            .map(|(place, _)| place);
        Layers { protocols, rest }
    }

    /// Number of the first rule that matches.
    pub(crate) fn first(&self, protocol: u8, layer4: Layer4) -> Option<u32> {
        let found = self
            .protocols
            .binary_search_by_key(&protocol, |(number, _)| *number);
        match found.ok().and_then(|at| self.protocols.get(at)) {
            Some((_, protocol)) => protocol.first(layer4),
            None => self.rest,
        }
    }
}

impl Protocol {
    fn compile<'a>(number: u8, rules: impl Iterator<Item = (u32, &'a Rule)>) -> Self {
        let mut edges: Vec<(u32, Edge, u32)> = Vec::new();
        let mut plain = None;
        for (place, rule) in rules {
            let edges_before = edges.len();
            let mut cover = |low: u16, high: u16| {
                edges.push((low.into(), Edge::Begins, place));
                edges.push((u32::from(high) + 1, Edge::Ends, place));
            };
            match &rule.detail {
                Detail::Any => cover(0, u16::MAX),
                Detail::Ports(ranges) if has_ports(number) => ranges
                    .iter()
                    .filter(|range| range.low <= range.high)
                    .for_each(|range| cover(range.low, range.high)),
                Detail::Icmp { kind, code } if is_icmp(number) => match code {
                    Some(code) => cover(icmp_value(*kind, *code), icmp_value(*kind, *code)),
                    None => cover(icmp_value(*kind, 0), icmp_value(*kind, u8::MAX)),
                },
                Detail::Ports(_) | Detail::Icmp { .. } => {}
            }
            let may_match = edges.len() > edges_before;
            if rule.detail == Detail::Any || rule.action == Action::Deny && may_match {
                plain = plain.or(Some(place));
            }
        }
        Protocol {
            steps: sweep(edges),
            plain,
        }
    }

    fn first(&self, layer4: Layer4) -> Option<u32> {
        let value = match layer4 {
            Layer4::Ports { destination, .. } => destination,
            Layer4::Icmp { kind, code, .. } => icmp_value(kind, code),
            Layer4::Opaque => return self.plain,
        };
        let behind = self.steps.partition_point(|(start, _)| *start <= value);
        self.steps.get(behind.checked_sub(1)?)?.1
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Begins,
    Ends,
}

/// Walks over the edges of all ranges; between two of them the lowest open number speaks.
fn sweep(mut edges: Vec<(u32, Edge, u32)>) -> Box<[(u16, Option<u32>)]> {
    edges.sort_unstable();
    // A rule may list ranges that overlap, so it is open as often as they say.
    let mut open: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    let mut steps = vec![(0, None)];
    let mut edges = edges.into_iter().peekable();
    while let Some((at, edge, place)) = edges.next() {
        match edge {
            Edge::Begins => *open.entry(place).or_default() += 1,
            Edge::Ends => match open.get_mut(&place) {
                Some(count) if *count > 1 => *count -= 1,
                Some(_) | None => drop(open.remove(&place)),
            },
        }
        if edges.peek().is_some_and(|(next, _, _)| *next == at) {
            continue;
        }
        let Ok(start) = u16::try_from(at) else { break };
        let speaks = open.keys().next().copied();
        match steps.last_mut() {
            Some((last, rule)) if *last == start => *rule = speaks,
            Some((_, rule)) if *rule == speaks => {}
            Some(_) | None => steps.push((start, speaks)),
        }
    }
    steps.into_boxed_slice()
}

/// Protocols whose ports rules can ask for.
pub(crate) fn has_ports(number: u8) -> bool {
    matches!(number, protocol::TCP | protocol::UDP)
}

pub(crate) fn is_icmp(number: u8) -> bool {
    matches!(number, protocol::ICMP | protocol::ICMPV6)
}

fn icmp_value(kind: u8, code: u8) -> u16 {
    u16::from_be_bytes([kind, code])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Directions, PortRange, Replies};

    fn rule(protocol: Option<u8>, detail: Detail) -> Rule {
        Rule {
            id: 1,
            action: Action::Allow,
            directions: Directions::Both,
            replies: Replies::Pass,
            protocol,
            source: None,
            destination: None,
            detail,
        }
    }

    fn ports(list: &[(u16, u16)]) -> Detail {
        Detail::Ports(
            list.iter()
                .map(|(low, high)| PortRange {
                    low: *low,
                    high: *high,
                })
                .collect(),
        )
    }

    fn to(port: u16) -> Layer4 {
        Layer4::Ports {
            source: 9,
            destination: port,
        }
    }

    #[test]
    fn overlapping_ranges_of_one_rule_and_of_several_meet_the_first() {
        let rules = [
            rule(Some(6), ports(&[(10, 20), (15, 30)])),
            rule(None, ports(&[(18, 40), (65535, 65535)])),
            rule(Some(6), Detail::Any),
        ];
        let layers = Layers::compile(&rules, &[0, 1, 2]);

        let cases = [(9, 2), (10, 0), (25, 0), (30, 0), (31, 1), (40, 1), (41, 2)];
        for (port, expected) in cases {
            assert_eq!(layers.first(6, to(port)), Some(expected), "port {port}");
        }
        assert_eq!(layers.first(6, to(65535)), Some(1));
        assert_eq!(layers.first(6, Layer4::Opaque), Some(2));
        assert_eq!(layers.first(17, to(18)), Some(1));
        assert_eq!(layers.first(17, to(10)), None);
        assert_eq!(layers.first(132, Layer4::Opaque), None);
    }

    #[test]
    fn an_icmp_type_is_met_with_every_code_or_with_one() {
        let kind = |kind, code| Detail::Icmp { kind, code };
        let rules = [
            rule(Some(1), kind(3, Some(4))),
            rule(None, kind(128, None)),
            rule(Some(1), kind(3, None)),
        ];
        let layers = Layers::compile(&rules, &[0, 1, 2]);
        let message = |kind, code| Layer4::Icmp { kind, code, id: 0 };

        assert_eq!(layers.first(1, message(3, 4)), Some(0));
        assert_eq!(layers.first(1, message(3, 1)), Some(2));
        assert_eq!(layers.first(58, message(128, 0)), Some(1));
        assert_eq!(layers.first(58, message(3, 4)), None);
        assert_eq!(layers.first(6, to(3 << 8)), None);
    }

    #[test]
    fn a_port_rule_of_a_protocol_without_ports_matches_nothing() {
        let rules = [rule(Some(132), ports(&[(0, u16::MAX)]))];
        let layers = Layers::compile(&rules, &[0]);
        assert_eq!(layers.first(132, Layer4::Opaque), None);
    }
}
