use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;

use tables::Prefix;

use crate::chain::{Chain, ChainLimits};
use crate::rule::{Action, Direction, Replies, Rule};
use crate::subject::Subject;

/// The compiled policy of one host, with a count per rule.
#[derive(Debug)]
pub struct Filter {
    incoming: Chain,
    outgoing: Chain,
    outcomes: Box<[Outcome]>,
    counts: Box<[RuleCounts]>,
    generation: u32,
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

/// A verdict with its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allow { rule: RuleRef, replies: Replies },
    Deny { rule: Option<RuleRef> },
}

/// A rule of the policy of one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleRef {
    pub(crate) place: u32,
    pub(crate) id: u32,
}

#[derive(Clone, Copy, Debug)]
struct Outcome {
    id: u32,
    action: Action,
    replies: Replies,
}

/// What met one rule. Several shards write.
#[derive(Debug, Default)]
struct RuleCounts {
    packets: AtomicU64,
    bytes: AtomicU64,
    drops: AtomicU64,
    flows: AtomicU64,
    /// When a packet met it last, plus one; 0 = never.
    last_ms_plus_one: AtomicU64,
}

/// Counts of one rule since its number appeared in the policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleRow {
    /// Number of the rule.
    pub id: u32,
    /// Packets that passed, both ways.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Flows that it let begin, or dropped from their first packet on.
    pub flows: u64,
    /// When a packet met it last.
    pub last_ms: Option<u64>,
}

/// Packets that met a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) now_ms: u64,
}

impl Filter {
    /// The policy of a host that was told nothing: deny.
    #[must_use]
    pub fn deny_all() -> Self {
        Filter::compile(&[], &[])
    }

    /// Compiles rules; the first that matches a packet decides. Rules name sets by their place; a place without a set
    /// is an empty set.
    #[must_use]
    pub fn compile(sets: &[Box<[Prefix]>], rules: &[Rule]) -> Self {
        Filter::compile_within(sets, rules, ChainLimits::DEFAULT)
    }

    pub(crate) fn compile_within(
        sets: &[Box<[Prefix]>],
        rules: &[Rule],
        limits: ChainLimits,
    ) -> Self {
        let chain = |direction| Chain::compile(sets, rules, direction, limits);
        let outcome = |rule: &Rule| Outcome {
            id: rule.id,
            action: rule.action,
            replies: rule.replies,
        };
        Filter {
            incoming: chain(Direction::In),
            outgoing: chain(Direction::Out),
            outcomes: rules.iter().map(outcome).collect(),
            counts: rules.iter().map(|_| RuleCounts::default()).collect(),
            generation: 0,
        }
    }

    /// Follows another policy: rules whose numbers it had too go on with its counts.
    pub fn succeed(&mut self, before: &Filter) {
        self.generation = before.generation.wrapping_add(1);
        let places: HashMap<u32, usize> = (0..)
            .zip(&self.outcomes)
            .map(|(place, outcome)| (outcome.id, place))
            .collect();
        for row in before.rows() {
            let counts = places
                .get(&row.id)
                .and_then(|place| self.counts.get(*place));
            if let Some(counts) = counts {
                counts.packets.fetch_add(row.packets, Ordering::Relaxed);
                counts.bytes.fetch_add(row.bytes, Ordering::Relaxed);
                counts.drops.fetch_add(row.drops, Ordering::Relaxed);
                counts.flows.fetch_add(row.flows, Ordering::Relaxed);
                let last = row.last_ms.map_or(0, |ms| ms + 1);
                counts.last_ms_plus_one.store(last, Ordering::Relaxed);
            }
        }
    }

    /// Judges one packet by the rules alone, whatever came before.
    #[must_use]
    pub fn judge(&self, direction: Direction, subject: &Subject) -> Verdict {
        self.decide(direction, subject).verdict()
    }

    /// Counts of all rules, in their order.
    pub fn rows(&self) -> impl Iterator<Item = RuleRow> + '_ {
        self.outcomes
            .iter()
            .zip(&self.counts)
            .map(|(rule, counts)| RuleRow {
                id: rule.id,
                packets: counts.packets.load(Ordering::Relaxed),
                bytes: counts.bytes.load(Ordering::Relaxed),
                drops: counts.drops.load(Ordering::Relaxed),
                flows: counts.flows.load(Ordering::Relaxed),
                last_ms: counts
                    .last_ms_plus_one
                    .load(Ordering::Relaxed)
                    .checked_sub(1),
            })
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    pub(crate) fn decide(&self, direction: Direction, subject: &Subject) -> Decision {
        self.decision(self.chain(direction).first(subject))
    }

    /// What is said about packets that cannot be read: only a rule for everything speaks about them.
    pub(crate) fn decide_unreadable(&self, direction: Direction) -> Decision {
        match self.chain(direction) {
            Chain::Constant(place) => self.decision(*place),
            Chain::Compiled(_) | Chain::Searched(_) => Decision::Deny { rule: None },
        }
    }

    pub(crate) fn count_passed(&self, rule: RuleRef, met: Met) {
        if let Some(counts) = self.counts.get(rule.place as usize) {
            counts.packets.fetch_add(met.packets, Ordering::Relaxed);
            counts.bytes.fetch_add(met.bytes, Ordering::Relaxed);
            counts.note_time(met.now_ms);
        }
    }

    pub(crate) fn count_dropped(&self, rule: RuleRef, met: Met) {
        if let Some(counts) = self.counts.get(rule.place as usize) {
            counts.drops.fetch_add(met.packets, Ordering::Relaxed);
            counts.note_time(met.now_ms);
        }
    }

    pub(crate) fn count_flow(&self, rule: RuleRef) {
        if let Some(counts) = self.counts.get(rule.place as usize) {
            counts.flows.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn chain(&self, direction: Direction) -> &Chain {
        match direction {
            Direction::In => &self.incoming,
            Direction::Out => &self.outgoing,
        }
    }

    fn decision(&self, place: Option<u32>) -> Decision {
        let found = place.and_then(|place| Some((place, self.outcomes.get(place as usize)?)));
        let Some((place, outcome)) = found else {
            return Decision::Deny { rule: None };
        };
        let rule = RuleRef {
            place,
            id: outcome.id,
        };
        match outcome.action {
            Action::Allow => Decision::Allow {
                rule,
                replies: outcome.replies,
            },
            Action::Deny => Decision::Deny { rule: Some(rule) },
        }
    }
}

impl RuleCounts {
    fn note_time(&self, now_ms: u64) {
        self.last_ms_plus_one.store(now_ms + 1, Ordering::Relaxed);
    }
}

impl Decision {
    /// The rule that spoke.
    pub(crate) fn rule(self) -> Option<RuleRef> {
        match self {
            Decision::Allow { rule, .. } => Some(rule),
            Decision::Deny { rule } => rule,
        }
    }

    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Decision::Allow { .. } => Verdict::Allow,
            Decision::Deny { rule } => Verdict::Deny {
                rule: rule.map(|rule| rule.id),
            },
        }
    }
}
