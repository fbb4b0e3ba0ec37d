use core::hash::{BuildHasher, Hasher};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use packet::protocol;

use crate::layers::{has_ports, is_icmp};
use crate::rule::Direction;
use crate::subject::{Layer4, Subject};

/// Names a flow the same way in both directions: by its local and its remote end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowKey {
    local: [u64; 2],
    remote: [u64; 2],
    /// Local port in the high half, remote port in the low one; ICMP: see [`Kind`].
    ports: u32,
    protocol: u8,
    family: Family,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

/// What the port fields hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Ports.
    Ports,
    /// An ICMP query and its answers: the identifier, and the type of the query. Asked by the local end.
    AskedHere,
    /// The same, asked by the remote end.
    AskedThere,
    /// Other ICMP messages: type and code, and the way they go. They have no answers.
    MessageIn,
    MessageOut,
    /// Nothing: fragments and other protocols.
    Opaque,
}

impl FlowKey {
    pub(crate) fn of(subject: &Subject, direction: Direction) -> FlowKey {
        let (local, remote) = match direction {
            Direction::In => (subject.destination, subject.source),
            Direction::Out => (subject.source, subject.destination),
        };
        let (ports, kind) = ports_of(subject, direction);
        FlowKey {
            local: words(local),
            remote: words(remote),
            ports,
            protocol: subject.protocol,
            family: match local {
                IpAddr::V4(_) => Family::V4,
                IpAddr::V6(_) => Family::V6,
            },
            kind,
        }
    }

    /// A packet of the flow in one direction, as rules see it.
    pub(crate) fn subject(&self, direction: Direction) -> Subject {
        let (local, remote) = (self.local(), self.remote());
        let (source, destination) = match direction {
            Direction::In => (remote, local),
            Direction::Out => (local, remote),
        };
        let [high, low] = [self.local_port(), self.remote_port()];
        let query = |by: Direction| {
            let [kind, _] = low.to_be_bytes();
            let kind = if by == direction {
                kind
            } else {
                answer_to(self.protocol, kind)
            };
            Layer4::Icmp {
                kind,
                code: 0,
                id: high,
            }
        };
        let layer4 = match self.kind {
            Kind::Ports => match direction {
                Direction::In => Layer4::Ports {
                    source: low,
                    destination: high,
                },
                Direction::Out => Layer4::Ports {
                    source: high,
                    destination: low,
                },
            },
            Kind::AskedHere => query(Direction::Out),
            Kind::AskedThere => query(Direction::In),
            Kind::MessageIn | Kind::MessageOut => {
                let [kind, code] = high.to_be_bytes();
                Layer4::Icmp { kind, code, id: 0 }
            }
            Kind::Opaque => Layer4::Opaque,
        };
        Subject {
            source,
            destination,
            protocol: self.protocol,
            layer4,
        }
    }

    pub(crate) fn local(&self) -> IpAddr {
        self.address(self.local)
    }

    pub(crate) fn remote(&self) -> IpAddr {
        self.address(self.remote)
    }

    pub(crate) fn protocol(&self) -> u8 {
        self.protocol
    }

    /// The local port, the identifier of an ICMP query, or type and code of another ICMP message.
    pub(crate) fn local_port(&self) -> u16 {
        u16::try_from(self.ports >> 16).unwrap_or(0)
    }

    /// The remote port; for an ICMP query its type in the high byte.
    pub(crate) fn remote_port(&self) -> u16 {
        u16::try_from(self.ports & 0xffff).unwrap_or(0)
    }

    /// Whether the port fields hold ports.
    pub(crate) fn has_ports(&self) -> bool {
        self.kind == Kind::Ports
    }

    /// Whether a packet of this key that goes the other way is an answer. Fragments do not say what they answer: all
    /// of one protocol between two ends have the same key.
    pub(crate) fn names_answers(&self) -> bool {
        self.kind != Kind::Opaque || !(has_ports(self.protocol) || is_icmp(self.protocol))
    }

    pub(crate) fn is_icmp_message(&self) -> bool {
        match self.kind {
            Kind::AskedHere | Kind::AskedThere | Kind::MessageIn | Kind::MessageOut => true,
            Kind::Ports | Kind::Opaque => false,
        }
    }

    /// `SipHash` of the key under a secret, so that nobody outside can choose keys that meet.
    pub(crate) fn hash(&self, secret: &impl BuildHasher) -> u64 {
        let tail = u64::from(self.ports) << 32
            | u64::from(self.protocol) << 16
            | (self.family as u64) << 8
            | self.kind as u64;
        let [l0, l1] = self.local;
        let [r0, r1] = self.remote;
        let mut bytes = [0; 5 * 8];
        for (to, word) in bytes.chunks_exact_mut(8).zip([l0, l1, r0, r1, tail]) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        let mut hasher = secret.build_hasher();
        hasher.write(&bytes);
        hasher.finish()
    }

    fn address(&self, [high, low]: [u64; 2]) -> IpAddr {
        match self.family {
            Family::V4 => Ipv4Addr::from_bits(u32::try_from(low).unwrap_or(0)).into(),
            Family::V6 => Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)).into(),
        }
    }
}

fn ports_of(subject: &Subject, direction: Direction) -> (u32, Kind) {
    let both = |local: u16, remote: u16| u32::from(local) << 16 | u32::from(remote);
    match subject.layer4 {
        Layer4::Ports {
            source,
            destination,
        } => match direction {
            Direction::In => (both(destination, source), Kind::Ports),
            Direction::Out => (both(source, destination), Kind::Ports),
        },
        Layer4::Icmp { kind, code: 0, id } if role(subject.protocol, kind).is_some() => {
            let (query, asker) = match role(subject.protocol, kind) {
                Some(Role::Query) | None => (kind, direction),
                Some(Role::AnswerTo(query)) => (query, direction.opposite()),
            };
            let kind = match asker {
                Direction::In => Kind::AskedThere,
                Direction::Out => Kind::AskedHere,
            };
            (both(id, u16::from_be_bytes([query, 0])), kind)
        }
        Layer4::Icmp { kind, code, .. } => {
            let way = match direction {
                Direction::In => Kind::MessageIn,
                Direction::Out => Kind::MessageOut,
            };
            (both(u16::from_be_bytes([kind, code]), 0), way)
        }
        Layer4::Opaque => (0, Kind::Opaque),
    }
}

/// The part a query or its answer plays.
#[derive(Clone, Copy)]
enum Role {
    Query,
    AnswerTo(u8),
}

/// `None` for messages that are neither.
fn role(protocol: u8, kind: u8) -> Option<Role> {
    let queries = if protocol == protocol::ICMP {
        V4_QUERIES
    } else {
        V6_QUERIES
    };
    queries.iter().find_map(|(query, answer)| {
        if *query == kind {
            Some(Role::Query)
        } else {
            (*answer == kind).then_some(Role::AnswerTo(*query))
        }
    })
}

fn answer_to(protocol: u8, query: u8) -> u8 {
    let queries = if protocol == protocol::ICMP {
        V4_QUERIES
    } else {
        V6_QUERIES
    };
    let found = queries.iter().find(|(asked, _)| *asked == query);
    found.map_or(query, |(_, answer)| *answer)
}

/// Echo, timestamp, information and address mask, with their answers.
const V4_QUERIES: &[(u8, u8)] = &[(8, 0), (13, 14), (15, 16), (17, 18)];
/// Echo with its answer.
const V6_QUERIES: &[(u8, u8)] = &[(128, 129)];

fn words(address: IpAddr) -> [u64; 2] {
    match address {
        IpAddr::V4(v4) => [0, v4.to_bits().into()],
        IpAddr::V6(v6) => {
            let bits = v6.to_bits();
            let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
            [half(bits >> 64), half(bits)]
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::RandomState;

    use proptest::prelude::*;

    use super::*;

    fn subject(protocol: u8, layer4: Layer4) -> Subject {
        Subject {
            source: "10.0.0.1".parse().unwrap(),
            destination: "10.0.0.2".parse().unwrap(),
            protocol,
            layer4,
        }
    }

    fn swapped(subject: &Subject, layer4: Layer4) -> Subject {
        Subject {
            source: subject.destination,
            destination: subject.source,
            protocol: subject.protocol,
            layer4,
        }
    }

    fn icmp(kind: u8, id: u16) -> Layer4 {
        Layer4::Icmp { kind, code: 0, id }
    }

    #[test]
    fn a_packet_and_its_answer_have_one_key_from_which_both_can_be_told() {
        let ports = |source, destination| Layer4::Ports {
            source,
            destination,
        };
        let cases = [
            (6, ports(1, 2), ports(2, 1)),
            (1, icmp(8, 7), icmp(0, 7)),
            (58, icmp(128, 7), icmp(129, 7)),
            (132, Layer4::Opaque, Layer4::Opaque),
        ];
        for (protocol, asked, answered) in cases {
            let there = subject(protocol, asked);
            let back = swapped(&there, answered);
            for direction in [Direction::In, Direction::Out] {
                let key = FlowKey::of(&there, direction);
                assert_eq!(key, FlowKey::of(&back, direction.opposite()));
                assert_eq!(key.subject(direction), there);
                assert_eq!(key.subject(direction.opposite()), back);
            }
        }
    }

    #[test]
    fn a_query_of_the_other_end_and_other_messages_are_no_answers() {
        let asked = subject(1, icmp(8, 7));
        let unreachable = subject(1, icmp(3, 0));
        for packet in [asked, unreachable] {
            let key = FlowKey::of(&packet, Direction::Out);
            let same_kind_back = swapped(&packet, packet.layer4);
            assert_ne!(key, FlowKey::of(&same_kind_back, Direction::In));
        }
    }

    /// Keys whose words were chosen so that a hash which multiplies by public numbers forgets the other word.
    fn chosen(constant: u64, at: usize, other: u64) -> FlowKey {
        let mut words = [[1, 2], [3, 4]];
        words[at] = [other, constant];
        FlowKey {
            local: words[0],
            remote: words[1],
            ports: 0,
            protocol: 17,
            family: Family::V6,
            kind: Kind::Ports,
        }
    }

    proptest! {
        #[test]
        fn addresses_that_a_peer_chose_spread_over_all_parts_of_the_table(
            constant in prop_oneof![
                Just(0xa076_1d64_78bd_642f_u64),
                Just(0xe703_7ed1_a0b4_28db),
                Just(0x8ebc_6af0_9c88_c6e3),
                Just(0),
                any::<u64>(),
            ],
            at in 0_usize..2,
            start in any::<u64>(),
            shift in 0_u32..48,
        ) {
            let secret = RandomState::new();
            let mut parts = [0_u32; 64];
            let mut chains = [0_u32; 64];
            for step in 0..4_096_u64 {
                let other = start.wrapping_add(step << shift);
                let hash = chosen(constant, at, other).hash(&secret);
                parts[usize::try_from(hash >> 58).unwrap()] += 1;
                chains[usize::try_from(hash & 63).unwrap()] += 1;
            }
            // 64 on the average; twice as many is eight standard deviations off.
            prop_assert!(parts.iter().chain(&chains).all(|count| *count < 128), "{parts:?} {chains:?}");
        }
    }
}
