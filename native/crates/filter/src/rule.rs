/// One line of the policy, as the control plane wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Number that counters and reports name the rule by.
    pub id: u32,
    /// What happens to packets that match.
    pub action: Action,
    /// Which way packets go.
    pub directions: Directions,
    /// Whether the other way is open for answers.
    pub replies: Replies,
    /// IP protocol number; `None` matches all.
    pub protocol: Option<u8>,
    /// Place of the address set packets come from; `None` matches all.
    pub source: Option<u32>,
    /// Place of the address set packets go to; `None` matches all.
    pub destination: Option<u32>,
    /// What the header behind IP must say.
    pub detail: Detail,
}

impl Rule {
    /// Says whether every packet matches, whatever it is.
    #[must_use]
    pub fn is_unconditional(&self) -> bool {
        self.source.is_none() && self.destination.is_none() && self.matches_all_layers()
    }

    /// Says whether every packet between its addresses matches.
    pub(crate) fn matches_all_layers(&self) -> bool {
        self.protocol.is_none() && self.detail == Detail::Any
    }
}

/// What a rule asks of the header behind IP. A fragment and a header that is cut off hide it: they match what denies any
/// of their protocol, and never what allows only some of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    Any,
    /// One of these destination ports, in TCP or UDP.
    Ports(Box<[PortRange]>),
    /// This ICMP or `ICMPv6` type, and this code where one is given.
    Icmp {
        /// The type.
        kind: u8,
        /// The code; `None` matches all.
        code: Option<u8>,
    },
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Let the packet pass.
    Allow,
    /// Drop the packet.
    Deny,
}

/// Whether a rule that lets a packet pass also lets its answers pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// Answers of a flow pass while the flow lives.
    Pass,
    /// Answers are judged like any other packet.
    Judged,
}

/// Which way a packet goes, seen from this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the network to this host.
    In,
    /// From this host to the network.
    Out,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub fn opposite(self) -> Direction {
        match self {
            Direction::In => Direction::Out,
            Direction::Out => Direction::In,
        }
    }
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
    /// Whether a packet of this direction is meant.
    #[must_use]
    pub fn include(self, direction: Direction) -> bool {
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
    /// Whether a port lies in the range.
    #[must_use]
    pub fn contains(self, port: u16) -> bool {
        (self.low..=self.high).contains(&port)
    }
}
