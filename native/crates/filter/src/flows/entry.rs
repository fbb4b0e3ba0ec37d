use packet::protocol;

use super::PeerId;
use super::key::FlowKey;
use crate::filter::{Decision, Filter, RuleRef};
use crate::rule::{Direction, Replies};

/// One flow.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: FlowKey,
    /// Number that no other flow of the table had or will have; given when it is stored.
    pub(crate) id: u64,
    /// What who records flows has heard of it.
    pub(crate) told: Told,
    pub(crate) peer: PeerId,
    pub(crate) started_ms: u64,
    pub(crate) last_ms: u64,
    pub(crate) incoming: Way,
    pub(crate) outgoing: Way,
    pub(crate) drops: u64,
    /// Direction of the first packet that passed, or of the first one while none did.
    pub(crate) first: Direction,
    /// Policy that the judgements are of.
    generation: u32,
    tcp: TcpState,
}

/// What who records flows has heard of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Told {
    #[default]
    Nothing,
    /// How it stood at that time.
    At(u64),
    /// That it ended.
    End,
}

/// One direction of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way {
    judgement: Judgement,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// What the rules say about one direction.
#[derive(Clone, Copy, Debug, Default)]
enum Judgement {
    /// Not asked yet: answers of an allowed flow need no rule.
    #[default]
    Open,
    Made(Decision),
}

/// Packets to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) tcp: TcpNote,
}

/// What TCP flags of one direction said, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpNote(u8);

impl TcpNote {
    pub(crate) fn of(flags: u8) -> Self {
        TcpNote(0).then(flags)
    }

    pub(crate) fn then(self, flags: u8) -> Self {
        if flags & (FIN | SYN | RST) == 0 {
            return self;
        }
        if flags & SYN != 0 && flags & ACK == 0 {
            return TcpNote(SYN);
        }
        TcpNote(self.0 | flags & (FIN | RST))
    }
}

/// How far the ends of a TCP connection have closed it.
#[derive(Clone, Copy, Debug, Default)]
struct TcpState {
    ended_in: bool,
    ended_out: bool,
}

impl TcpState {
    fn note(&mut self, direction: Direction, note: TcpNote) {
        if note.0 & SYN != 0 {
            *self = TcpState::default();
        }
        let reset = note.0 & RST != 0;
        let ended = reset || note.0 & FIN != 0;
        self.ended_in |= reset || ended && direction == Direction::In;
        self.ended_out |= reset || ended && direction == Direction::Out;
    }
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

impl Entry {
    pub(crate) fn new(
        key: FlowKey,
        peer: PeerId,
        direction: Direction,
        decision: Decision,
        filter: &Filter,
        now_ms: u64,
    ) -> Self {
        let mut entry = Entry {
            key,
            id: 0,
            told: Told::Nothing,
            peer,
            started_ms: now_ms,
            last_ms: now_ms,
            incoming: Way::default(),
            outgoing: Way::default(),
            drops: 0,
            first: direction,
            generation: filter.generation(),
            tcp: TcpState::default(),
        };
        entry.way_mut(direction).judgement = Judgement::Made(decision);
        entry
    }

    /// Judges both directions anew if the policy is another one. Returns whether a flow that was allowed no longer is.
    pub(crate) fn follow(&mut self, filter: &Filter) -> Follow {
        if self.generation == filter.generation() {
            return Follow::Kept;
        }
        self.generation = filter.generation();
        let was_allowed = self.allowed().is_some();
        for direction in [Direction::In, Direction::Out] {
            let anew = match self.way(direction).judgement {
                Judgement::Made(Decision::Allow { .. }) => {
                    match filter.decide(direction, &self.key.subject(direction)) {
                        allow @ Decision::Allow { .. } => Judgement::Made(allow),
                        Decision::Deny { .. } => Judgement::Open,
                    }
                }
                Judgement::Made(Decision::Deny { .. }) | Judgement::Open => Judgement::Open,
            };
            self.way_mut(direction).judgement = anew;
        }
        if was_allowed && self.allowed().is_none() {
            self.tcp = TcpState::default();
            return Follow::Cut;
        }
        Follow::Kept
    }

    /// What holds for a packet of this direction; asks the rules where they have not spoken yet.
    pub(crate) fn decide(&mut self, direction: Direction, filter: &Filter) -> Decision {
        if let Judgement::Made(decision @ Decision::Allow { .. }) = self.way(direction).judgement {
            return decision;
        }
        if self.key.names_answers()
            && let Judgement::Made(
                decision @ Decision::Allow {
                    replies: Replies::Pass,
                    ..
                },
            ) = self.way(direction.opposite()).judgement
        {
            return decision;
        }
        match self.way(direction).judgement {
            Judgement::Made(decision) => decision,
            Judgement::Open => {
                let decision = filter.decide(direction, &self.key.subject(direction));
                if matches!(decision, Decision::Allow { .. }) && self.allowed().is_none() {
                    self.first = direction;
                }
                self.way_mut(direction).judgement = Judgement::Made(decision);
                decision
            }
        }
    }

    pub(crate) fn count(
        &mut self,
        direction: Direction,
        decision: Decision,
        sample: Sample,
        now_ms: u64,
    ) {
        match decision {
            Decision::Allow { .. } => {
                let way = self.way_mut(direction);
                way.packets += sample.packets;
                way.bytes += sample.bytes;
                self.tcp.note(direction, sample.tcp);
                self.last_ms = now_ms;
            }
            Decision::Deny { .. } => {
                self.drops += sample.packets;
                if self.allowed().is_none() {
                    self.last_ms = now_ms;
                }
            }
        }
    }

    /// The rule under which the flow is allowed, the first packet's direction asked first.
    pub(crate) fn allowed(&self) -> Option<RuleRef> {
        [self.first, self.first.opposite()]
            .into_iter()
            .find_map(|direction| match self.way(direction).judgement {
                Judgement::Made(Decision::Allow { rule, .. }) => Some(rule),
                Judgement::Made(Decision::Deny { .. }) | Judgement::Open => None,
            })
    }

    /// The rule under which ICMP errors about the flow may go that way: that of its packets of this way, or of the other
    /// way if answers pass. Rules that judge answers judge errors, too.
    pub(crate) fn hears(&self, direction: Direction) -> Option<RuleRef> {
        if let Judgement::Made(Decision::Allow { rule, .. }) = self.way(direction).judgement {
            return Some(rule);
        }
        match self.way(direction.opposite()).judgement {
            Judgement::Made(Decision::Allow {
                rule,
                replies: Replies::Pass,
            }) => Some(rule),
            Judgement::Made(_) | Judgement::Open => None,
        }
    }

    /// The rule that denied it last; `None` too when no rule matched.
    pub(crate) fn denied(&self) -> Option<RuleRef> {
        [self.first, self.first.opposite()]
            .into_iter()
            .find_map(|direction| match self.way(direction).judgement {
                Judgement::Made(Decision::Deny { rule }) => rule,
                Judgement::Made(Decision::Allow { .. }) | Judgement::Open => None,
            })
    }

    pub(crate) fn is_expired(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.last_ms) > self.idle_max_ms()
    }

    /// Whether there is something new to record of a flow that lives.
    pub(crate) fn is_news(&self, now_ms: u64) -> bool {
        match self.told {
            Told::Nothing => now_ms.saturating_sub(self.started_ms) >= FIRST_RECORD_MS,
            Told::At(ms) => self.last_ms > ms && now_ms.saturating_sub(ms) >= NEXT_RECORD_MS,
            Told::End => false,
        }
    }

    /// What is lost when the flow makes room for another.
    pub(crate) fn worth(&self) -> Worth {
        if self.allowed().is_none() {
            return Worth::Denied;
        }
        let one_way = self.incoming.packets == 0 || self.outgoing.packets == 0;
        if one_way || (self.tcp.ended_in && self.tcp.ended_out) {
            Worth::Young
        } else {
            Worth::Established
        }
    }

    fn idle_max_ms(&self) -> u64 {
        if self.allowed().is_none() {
            return DENIED_MS;
        }
        let one_way = self.incoming.packets == 0 || self.outgoing.packets == 0;
        match self.key.protocol() {
            protocol::TCP if self.key.has_ports() => {
                match (self.tcp.ended_in, self.tcp.ended_out) {
                    (true, true) => TCP_CLOSED_MS,
                    (true, false) | (false, true) => TCP_HALF_CLOSED_MS,
                    (false, false) if one_way => TCP_OPENING_MS,
                    (false, false) => TCP_ESTABLISHED_MS,
                }
            }
            protocol::UDP if self.key.has_ports() => UDP_MS,
            _ if self.key.is_icmp_message() => ICMP_MS,
            _ => OTHER_MS,
        }
    }

    fn way(&self, direction: Direction) -> &Way {
        match direction {
            Direction::In => &self.incoming,
            Direction::Out => &self.outgoing,
        }
    }

    fn way_mut(&mut self, direction: Direction) -> &mut Way {
        match direction {
            Direction::In => &mut self.incoming,
            Direction::Out => &mut self.outgoing,
        }
    }
}

/// What a change of the policy did to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    Kept,
    Cut,
}

/// What a flow loses when it is forgotten, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    /// A record of drops.
    Denied,
    /// One direction seen, or closed.
    Young,
    /// Answers would be dropped.
    Established,
}

/// Age at which a flow is recorded though it goes on.
const FIRST_RECORD_MS: u64 = 2_000;
/// Time from there to the next record of it.
const NEXT_RECORD_MS: u64 = 30_000;
const DENIED_MS: u64 = 30_000;
const TCP_OPENING_MS: u64 = 60_000;
/// RFC 5382 asks for 2 h 4 min at least.
const TCP_ESTABLISHED_MS: u64 = 7_440_000;
const TCP_HALF_CLOSED_MS: u64 = 240_000;
const TCP_CLOSED_MS: u64 = 10_000;
const UDP_MS: u64 = 180_000;
const ICMP_MS: u64 = 30_000;
const OTHER_MS: u64 = 600_000;
