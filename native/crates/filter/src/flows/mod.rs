//! Flows that the policy let pass or dropped, shared by all shards.

mod entry;
mod key;
mod records;
mod stripe;

use core::net::IpAddr;
use std::hash::RandomState;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use entry::{Sample, TcpNote};
pub(crate) use key::FlowKey;
pub use records::{RecordsTaken, RecordsWanted, Sampling};

use crate::filter::{Decision, Filter, RuleRef, Verdict};
use crate::rule::Direction;
use entry::{Entry, Follow, Told};
use stripe::{Stored, Stripe};

/// Flows by their ends. The two directions of a flow may be seen by different shards, so all share one table; it is
/// striped, each stripe behind a lock that is held for a few dozen nanoseconds. Nothing is allocated after it was made.
#[derive(Debug)]
pub struct FlowTable {
    stripes: Box<[Mutex<Stripe>]>,
    secret: RandomState,
    /// Position at which the search for flows to record goes on.
    recorded_to: AtomicU64,
}

/// A peer, told apart from those that had its slot before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerId {
    /// Number that the control plane names it by; may be given again.
    pub slot: u32,
    /// Number that no other peer had or will have.
    pub serial: u32,
}

/// Which flows to look at.
#[derive(Clone, Copy, Debug)]
pub struct FlowPage<'a> {
    /// The policy of now, which they are judged by.
    pub filter: &'a Filter,
    /// Milliseconds since any fixed point of time.
    pub now_ms: u64,
    /// Position to begin at: 0, or the one behind [`FlowRow::position`].
    pub from: u64,
    /// The most rows wanted.
    pub rows_max: usize,
}

/// What happened to flows, for counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowNews {
    /// Flows that began to pass.
    pub started: u32,
    /// Flows whose time was over.
    pub expired: u32,
    /// Flows that were forgotten to make room.
    pub evicted: u32,
    /// Flows that a change of the policy ended.
    pub cut: u32,
}

/// One flow, for people to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// Where the row is in the table, see [`FlowTable::read`].
    pub position: u64,
    /// Number that no other flow of the table had or will have.
    pub id: u64,
    /// Whether it goes on.
    pub life: FlowLife,
    /// Number of the peer at the other end; `None` when that peer is gone.
    pub peer: Option<u32>,
    /// Our end.
    pub local: IpAddr,
    /// The other end.
    pub remote: IpAddr,
    /// IP protocol number.
    pub protocol: u8,
    /// What the two port fields hold.
    pub ports: FlowPorts,
    /// Which end began.
    pub began: Direction,
    /// Whether packets pass.
    pub verdict: Verdict,
    /// The rule behind the verdict; `None` when no rule matched.
    pub rule: Option<u32>,
    /// Packets and bytes that came from the other end.
    pub incoming: (u64, u64),
    /// Packets and bytes that went there.
    pub outgoing: (u64, u64),
    /// Packets that were dropped.
    pub drops: u64,
    /// Milliseconds since its first packet.
    pub age_ms: u64,
    /// Milliseconds since the last packet that passed.
    pub idle_ms: u64,
}

/// Whether a flow goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowLife {
    /// Its packets still meet what was decided before.
    Open,
    /// It was closed, silent for too long, or made room for another.
    Ended,
}

/// What distinguishes flows between the same addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowPorts {
    /// Ports of both ends.
    Ports {
        /// Our port.
        local: u16,
        /// The other end's port.
        remote: u16,
    },
    /// Type of the ICMP message that began it.
    Icmp {
        /// The type.
        kind: u8,
    },
    /// Nothing that could be read.
    None,
}

/// The flow a packet belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) key: FlowKey,
    pub(crate) direction: Direction,
    pub(crate) peer: PeerId,
    pub(crate) now_ms: u64,
}

impl FlowTable {
    /// Room for about `flows_max` flows; at least one.
    #[must_use]
    pub fn new(flows_max: usize) -> Self {
        let stripes = (flows_max / STRIPE_LEN_MIN).clamp(1, STRIPES_MAX);
        let slots = flows_max.div_ceil(stripes).max(1);
        FlowTable {
            stripes: (0..stripes)
                .map(|_| Mutex::new(Stripe::new(slots)))
                .collect(),
            secret: RandomState::new(),
            recorded_to: AtomicU64::new(0),
        }
    }

    /// Flows that are stored, expired ones that nobody met since included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stripes.iter().map(|stripe| lock(stripe).len()).sum()
    }

    /// Whether no flow is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` with the flows of a page whose peer `is_there`; fewer rows than asked for mean the end. Changes
    /// nothing, and holds a stripe only to copy a few slots.
    pub fn read(
        &self,
        page: &FlowPage<'_>,
        is_there: impl Fn(PeerId) -> bool,
        mut each: impl FnMut(FlowRow),
    ) {
        let mut rows = 0;
        let mut slot = usize::try_from(page.from & SLOT_MASK).unwrap_or(usize::MAX);
        let first = usize::try_from(page.from >> SLOT_BITS).unwrap_or(usize::MAX);
        for (number, stripe) in (0_u64..).zip(&self.stripes).skip(first) {
            loop {
                let mut copies: [Option<Entry>; COPIED_AT_ONCE] = [const { None }; COPIED_AT_ONCE];
                let more = lock(stripe).copy(slot, &mut copies);
                for (at, mut entry) in (slot..).zip(copies).filter_map(|(at, it)| Some((at, it?))) {
                    if entry.is_expired(page.now_ms) || !is_there(entry.peer) {
                        continue;
                    }
                    if rows == page.rows_max {
                        return;
                    }
                    rows += 1;
                    let _: Follow = entry.follow(page.filter);
                    each(row(number << SLOT_BITS | at as u64, &entry, page.now_ms));
                }
                if !more {
                    break;
                }
                slot += COPIED_AT_ONCE;
            }
            slot = 0;
        }
    }

    /// Judges a packet as part of its flow, and counts it there.
    pub(crate) fn enter(
        &self,
        filter: &Filter,
        place: &Place,
        sample: Sample,
        news: &mut FlowNews,
    ) -> Decision {
        let Place {
            key,
            direction,
            peer,
            now_ms,
        } = *place;
        let hash = key.hash(&self.secret);
        let mut stripe = self.stripe(hash);
        if let Some(entry) = stripe.find(hash, &key) {
            if entry.peer == peer && !entry.is_expired(now_ms) {
                news.cut += u32::from(entry.follow(filter) == Follow::Cut);
                let before = entry.allowed().is_some();
                let decision = entry.decide(direction, filter);
                if let Some(rule) = entry.allowed().filter(|_| !before) {
                    news.started += 1;
                    filter.count_flow(rule);
                }
                entry.count(direction, decision, sample, now_ms);
                return decision;
            }
            stripe.remove(hash, &key);
            news.expired += 1;
        }
        let decision = filter.decide(direction, &key.subject(direction));
        if let Some(rule) = decision.rule() {
            filter.count_flow(rule);
        }
        let mut entry = Entry::new(key, peer, direction, decision, filter, now_ms);
        entry.count(direction, decision, sample, now_ms);
        news.started += u32::from(entry.allowed().is_some());
        let rehash = |key: &FlowKey| key.hash(&self.secret);
        let swept = stripe.sweep(now_ms, rehash);
        news.expired += u32::try_from(swept).unwrap_or(u32::MAX);
        match stripe.insert(hash, entry, rehash) {
            Stored::Evicted => news.evicted += 1,
            Stored::Free | Stored::Refused => {}
        }
        decision
    }

    /// Counts packets that met a decision made before.
    pub(crate) fn add(&self, place: &Place, decision: Decision, sample: Sample) {
        let hash = place.key.hash(&self.secret);
        if let Some(entry) = self.stripe(hash).find(hash, &place.key)
            && entry.peer == place.peer
        {
            entry.count(place.direction, decision, sample, place.now_ms);
        }
    }

    /// The rule under which a flow may be told of an error: `place` is of the packet that the error quotes.
    pub(crate) fn related(
        &self,
        filter: &Filter,
        place: &Place,
        news: &mut FlowNews,
    ) -> Option<RuleRef> {
        let hash = place.key.hash(&self.secret);
        let mut stripe = self.stripe(hash);
        let entry = stripe.find(hash, &place.key)?;
        if entry.peer != place.peer || entry.is_expired(place.now_ms) {
            return None;
        }
        news.cut += u32::from(entry.follow(filter) == Follow::Cut);
        entry.hears(place.direction.opposite())
    }

    fn stripe(&self, hash: u64) -> MutexGuard<'_, Stripe> {
        // The high half chooses the stripe, the low one the chain.
        let at = (usize::try_from(hash >> 32).unwrap_or(0) * self.stripes.len()) >> 32;
        match self.stripes.get(at) {
            Some(stripe) => lock(stripe),
            None => {
                unreachable!("a 32-bit number times the length, over 2^32, is below the length")
            }
        }
    }
}

fn lock(stripe: &Mutex<Stripe>) -> MutexGuard<'_, Stripe> {
    stripe.lock().unwrap_or_else(PoisonError::into_inner)
}

fn row(position: u64, entry: &Entry, now_ms: u64) -> FlowRow {
    let key = &entry.key;
    let ports = if key.has_ports() {
        FlowPorts::Ports {
            local: key.local_port(),
            remote: key.remote_port(),
        }
    } else {
        match key.subject(entry.first).layer4 {
            crate::Layer4::Icmp { kind, .. } => FlowPorts::Icmp { kind },
            crate::Layer4::Ports { .. } | crate::Layer4::Opaque => FlowPorts::None,
        }
    };
    let (verdict, rule) = if let Some(rule) = entry.allowed() {
        (Verdict::Allow, Some(rule.id))
    } else {
        let rule = entry.denied().map(|rule| rule.id);
        (Verdict::Deny { rule }, rule)
    };
    FlowRow {
        position,
        id: (position >> SLOT_BITS) << FLOW_ID_BITS | entry.id,
        life: match entry.told {
            Told::End => FlowLife::Ended,
            Told::Nothing | Told::At(_) => FlowLife::Open,
        },
        peer: Some(entry.peer.slot),
        local: key.local(),
        remote: key.remote(),
        protocol: key.protocol(),
        ports,
        began: entry.first,
        verdict,
        rule,
        incoming: (entry.incoming.packets, entry.incoming.bytes),
        outgoing: (entry.outgoing.packets, entry.outgoing.bytes),
        drops: entry.drops,
        age_ms: now_ms.saturating_sub(entry.started_ms),
        idle_ms: now_ms.saturating_sub(entry.last_ms),
    }
}

const COPIED_AT_ONCE: usize = 16;
const STRIPES_MAX: usize = 64;
const STRIPE_LEN_MIN: usize = 1024;
/// Bits of a flow's number that count inside its stripe; the stripe is above them.
const FLOW_ID_BITS: u32 = 48;
const SLOT_BITS: u32 = 32;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
