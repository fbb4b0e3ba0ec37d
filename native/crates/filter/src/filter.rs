use crate::{Action, Direction, Rule, Subject};

/// The compiled policy of one host.
#[derive(Clone, Debug)]
pub struct Filter {
    incoming: Chain,
    outgoing: Chain,
}

/// What the policy says about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet may pass.
    Allow,
    /// The packet is dropped.
    Deny {
        /// The rule that said so; `None` when no rule matched or the packet could not be read.
        rule: Option<u32>,
    },
}

impl Filter {
    /// The policy of a host that was told nothing: deny.
    #[must_use]
    pub fn deny_all() -> Self {
        Filter::compile(&[])
    }

    /// Compiles rules; the first that matches a packet decides.
    #[must_use]
    pub fn compile(rules: &[Rule]) -> Self {
        Filter {
            incoming: Chain::compile(rules, Direction::In),
            outgoing: Chain::compile(rules, Direction::Out),
        }
    }

    /// Judges one IP packet.
    #[must_use]
    pub fn judge(&self, direction: Direction, packet: &[u8]) -> Verdict {
        let chain = match direction {
            Direction::In => &self.incoming,
            Direction::Out => &self.outgoing,
        };
        match chain {
            Chain::Constant(verdict) => *verdict,
            Chain::Rules(rules) => judge(rules, packet),
        }
    }
}

#[derive(Clone, Debug)]
enum Chain {
    Constant(Verdict),
    Rules(Box<[Rule]>),
}

impl Chain {
    fn compile(rules: &[Rule], direction: Direction) -> Self {
        let mut kept: Vec<Rule> = Vec::new();
        for rule in rules
            .iter()
            .filter(|rule| rule.directions.include(direction))
        {
            kept.push(*rule);
            if rule.is_unconditional() {
                break; // nothing behind it can speak
            }
        }
        match kept.as_slice() {
            [] => Chain::Constant(Verdict::Deny { rule: None }),
            [first, ..] if first.is_unconditional() => Chain::Constant(verdict_of(first)),
            [_, ..] => Chain::Rules(kept.into_boxed_slice()),
        }
    }
}

fn judge(rules: &[Rule], packet: &[u8]) -> Verdict {
    let Some(subject) = Subject::of(packet) else {
        return Verdict::Deny { rule: None };
    };
    rules
        .iter()
        .find(|rule| rule.matches(&subject))
        .map_or(Verdict::Deny { rule: None }, verdict_of)
}

fn verdict_of(rule: &Rule) -> Verdict {
    match rule.action {
        Action::Allow => Verdict::Allow,
        Action::Deny => Verdict::Deny {
            rule: Some(rule.id),
        },
    }
}

#[cfg(test)]
mod tests {
    use tables::Prefix;

    use super::*;
    use crate::{Directions, PortRange};

    fn any(id: u32, action: Action) -> Rule {
        Rule {
            id,
            action,
            directions: Directions::Both,
            protocol: None,
            source: None,
            destination: None,
            ports: PortRange::ALL,
        }
    }

    fn range(text: &str, bits: u8) -> Prefix {
        Prefix::new(text.parse().unwrap(), bits).unwrap()
    }

    /// An IPv4 packet from 10.0.0.1 to 10.0.0.2 with the given protocol and ports 1000 → `port`.
    fn ipv4(protocol: u8, port: u16, fragment_offset: u16) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 40, 0, 1];
        bytes.extend(fragment_offset.to_be_bytes());
        bytes.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(1000_u16.to_be_bytes());
        bytes.extend(port.to_be_bytes());
        bytes.resize(40, 0);
        bytes
    }

    const TCP: u8 = 6;
    const ICMP: u8 = 1;

    #[test]
    fn nothing_told_means_deny_and_one_open_rule_means_allow() {
        let packet = ipv4(TCP, 80, 0);

        assert_eq!(
            Filter::deny_all().judge(Direction::In, &packet),
            Verdict::Deny { rule: None }
        );
        assert_eq!(
            Filter::compile(&[any(1, Action::Allow)]).judge(Direction::Out, &packet),
            Verdict::Allow
        );
    }

    #[test]
    fn the_first_matching_rule_decides() {
        let no_ssh = Rule {
            protocol: Some(TCP),
            ports: PortRange { low: 22, high: 22 },
            ..any(7, Action::Deny)
        };
        let filter = Filter::compile(&[no_ssh, any(8, Action::Allow)]);

        let cases = [
            (ipv4(TCP, 22, 0), Verdict::Deny { rule: Some(7) }),
            (ipv4(TCP, 23, 0), Verdict::Allow),
            (ipv4(ICMP, 22, 0), Verdict::Allow),
        ];
        for (packet, expected) in cases {
            assert_eq!(filter.judge(Direction::In, &packet), expected);
        }
    }

    #[test]
    fn directions_and_addresses_are_told_apart() {
        let rule = Rule {
            directions: Directions::In,
            source: Some(range("10.0.0.1", 32)),
            destination: Some(range("10.0.0.0", 30)),
            ..any(1, Action::Allow)
        };
        let filter = Filter::compile(&[rule]);
        let mut packet = ipv4(TCP, 80, 0);

        assert_eq!(filter.judge(Direction::In, &packet), Verdict::Allow);
        assert_eq!(
            filter.judge(Direction::Out, &packet),
            Verdict::Deny { rule: None }
        );
        packet[15] = 9;
        assert_eq!(
            filter.judge(Direction::In, &packet),
            Verdict::Deny { rule: None }
        );
    }

    #[test]
    fn a_later_fragment_has_no_ports_and_matches_no_port_rule() {
        let rule = Rule {
            ports: PortRange { low: 80, high: 80 },
            ..any(1, Action::Allow)
        };
        let filter = Filter::compile(&[rule]);

        assert_eq!(
            filter.judge(Direction::In, &ipv4(TCP, 80, 0)),
            Verdict::Allow
        );
        assert_eq!(
            filter.judge(Direction::In, &ipv4(TCP, 80, 5)),
            Verdict::Deny { rule: None }
        );
    }

    #[test]
    fn what_is_not_ip_is_denied_as_soon_as_a_rule_must_look() {
        let rule = Rule {
            protocol: Some(TCP),
            ..any(1, Action::Allow)
        };
        let filter = Filter::compile(&[rule]);

        for packet in [&[][..], &[0x45][..], &[0x60; 39][..], &[0xff; 60][..]] {
            assert_eq!(
                filter.judge(Direction::In, packet),
                Verdict::Deny { rule: None }
            );
        }
    }
}
