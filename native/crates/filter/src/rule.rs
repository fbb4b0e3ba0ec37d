use tables::Prefix;

use crate::Subject;

/// One line of the policy, as the control plane wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Number that counters and reports name the rule by.
    pub id: u32,
    /// What happens to packets that match.
    pub action: Action,
    /// Which way packets go.
    pub directions: Directions,
    /// IP protocol number; `None` matches all.
    pub protocol: Option<u8>,
    /// Where packets come from; `None` matches all.
    pub source: Option<Prefix>,
    /// Where packets go to; `None` matches all.
    pub destination: Option<Prefix>,
    /// Destination ports; [`PortRange::ALL`] also matches packets without ports.
    pub ports: PortRange,
}

impl Rule {
    /// Says whether every packet matches, whatever it is.
    #[must_use]
    pub fn is_unconditional(&self) -> bool {
        self.protocol.is_none()
            && self.source.is_none()
            && self.destination.is_none()
            && self.ports == PortRange::ALL
    }

    /// Says whether a packet matches, its direction apart.
    #[must_use]
    pub fn matches(&self, subject: &Subject) -> bool {
        self.protocol
            .is_none_or(|wanted| wanted == subject.protocol)
            && self
                .source
                .is_none_or(|range| range.contains(subject.source))
            && self
                .destination
                .is_none_or(|range| range.contains(subject.destination))
            && self.ports.matches(subject.destination_port)
    }
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Let the packet pass.
    Allow,
    /// Drop the packet.
    Deny,
}

/// Which way a packet goes, seen from this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the network to this host.
    In,
    /// From this host to the network.
    Out,
}

/// Which ways a rule speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    /// Arriving packets only.
    In,
    /// Leaving packets only.
    Out,
    /// Both.
    Both,
}

impl Directions {
    pub(crate) fn include(self, direction: Direction) -> bool {
        match self {
            Directions::In => direction == Direction::In,
            Directions::Out => direction == Direction::Out,
            Directions::Both => true,
        }
    }
}

/// An inclusive range of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// First port.
    pub low: u16,
    /// Last port.
    pub high: u16,
}

impl PortRange {
    /// Every port, and packets without ports.
    pub const ALL: PortRange = PortRange {
        low: 0,
        high: u16::MAX,
    };

    fn matches(self, port: Option<u16>) -> bool {
        self == PortRange::ALL || port.is_some_and(|port| (self.low..=self.high).contains(&port))
    }
}
