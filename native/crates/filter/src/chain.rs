//! The rules of one direction, compiled.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tables::Prefix;

use crate::classes::Classes;
use crate::layers::Layers;
use crate::rule::{Direction, Rule};
use crate::subject::Subject;

/// First match over the rules of one direction; rules are named by their place in the whole list.
#[derive(Clone, Debug)]
pub(crate) enum Chain {
    /// No rule, or one that speaks for every packet.
    Constant(Option<u32>),
    /// Tables by the classes of both addresses.
    Compiled(Box<Compiled>),
    /// Rules whose address sets overlap so much that tables would not stay small: asked one after the other.
    Searched(Box<[(u32, Searched)]>),
}

/// What bounds the tables of one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainLimits {
    /// Memberships of classes in sets, and numbers of rules in all lists together.
    pub(crate) entries_max: usize,
}

impl ChainLimits {
    pub(crate) const DEFAULT: ChainLimits = ChainLimits {
        entries_max: 2_000_000,
    };
}

#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    sources: Classes,
    destinations: Classes,
    /// Rules that ask for neither address, for one of them, for both; values are places in `lists`.
    unbound: Option<u32>,
    by_source: HashMap<u32, u32>,
    by_destination: HashMap<u32, u32>,
    by_both: HashMap<(u32, u32), u32>,
    lists: Vec<Layers>,
}

/// A rule with the ranges of its sets.
#[derive(Clone, Debug)]
pub(crate) struct Searched {
    source: Option<Box<[Prefix]>>,
    destination: Option<Box<[Prefix]>>,
    layers: Layers,
}

impl Chain {
    pub(crate) fn compile(
        sets: &[Box<[Prefix]>],
        rules: &[Rule],
        direction: Direction,
        limits: ChainLimits,
    ) -> Self {
        let mut kept: Vec<u32> = Vec::new();
        for (place, rule) in (0_u32..).zip(rules) {
            if !rule.directions.include(direction) {
                continue;
            }
            kept.push(place);
            if rule.is_unconditional() {
                break; // nothing behind it can speak
            }
        }
        let rule = |place: &u32| rules.get(*place as usize);
        match kept.first() {
            None => Chain::Constant(None),
            Some(first) if rule(first).is_some_and(Rule::is_unconditional) => {
                Chain::Constant(Some(*first))
            }
            Some(_) => Compiled::of(sets, rules, &kept, limits).map_or_else(
                || Chain::Searched(searched(sets, rules, &kept)),
                |compiled| Chain::Compiled(Box::new(compiled)),
            ),
        }
    }

    /// Place of the first rule that matches.
    pub(crate) fn first(&self, subject: &Subject) -> Option<u32> {
        match self {
            Chain::Constant(rule) => *rule,
            Chain::Compiled(compiled) => compiled.first(subject),
            Chain::Searched(rules) => rules
                .iter()
                .find(|(_, rule)| rule.matches(subject))
                .map(|(place, _)| *place),
        }
    }
}

impl Compiled {
    /// `None` when the tables would be larger than the limits.
    fn of(
        sets: &[Box<[Prefix]>],
        rules: &[Rule],
        kept: &[u32],
        limits: ChainLimits,
    ) -> Option<Self> {
        let listed = || {
            kept.iter()
                .filter_map(|place| Some((*place, rules.get(*place as usize)?)))
        };
        let wanted_sources: BTreeSet<u32> = listed().filter_map(|(_, rule)| rule.source).collect();
        let wanted_destinations: BTreeSet<u32> =
            listed().filter_map(|(_, rule)| rule.destination).collect();
        let sources = Classes::compile(sets, &wanted_sources, limits.entries_max)?;
        let destinations = Classes::compile(sets, &wanted_destinations, limits.entries_max)?;
        let mut unbound = Vec::new();
        let mut of_source: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut of_destination: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut of_both: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (place, rule) in listed() {
            match (rule.source, rule.destination) {
                (None, None) => unbound.push(place),
                (Some(source), None) => of_source.entry(source).or_default().push(place),
                (None, Some(to)) => of_destination.entry(to).or_default().push(place),
                (Some(from), Some(to)) => of_both.entry((from, to)).or_default().push(place),
            }
        }
        let mut lists = Lists::new(rules, limits.entries_max);
        let unbound = match unbound.as_slice() {
            [] => None,
            [_, ..] => Some(lists.number(unbound)?),
        };
        let by_source = by_class(&sources, &of_source, &mut lists)?;
        let by_destination = by_class(&destinations, &of_destination, &mut lists)?;
        let mut pairs: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        let (source_holders, destination_holders) = (holders(&sources), holders(&destinations));
        let mut entries = 0;
        for ((from, to), places) in of_both {
            for source in source_holders.get(&from).into_iter().flatten() {
                for destination in destination_holders.get(&to).into_iter().flatten() {
                    entries += places.len();
                    if entries > limits.entries_max {
                        return None;
                    }
                    let list = pairs.entry((*source, *destination)).or_default();
                    list.extend(&places);
                }
            }
        }
        let mut by_both = HashMap::with_capacity(pairs.len());
        for (pair, places) in pairs {
            by_both.insert(pair, lists.number(places)?);
        }
        Some(Compiled {
            sources,
            destinations,
            unbound,
            by_source,
            by_destination,
            by_both,
            lists: lists.compiled,
        })
    }

    fn first(&self, subject: &Subject) -> Option<u32> {
        let source = self.sources.of(subject.source);
        let destination = self.destinations.of(subject.destination);
        [
            self.unbound,
            self.by_source.get(&source).copied(),
            self.by_destination.get(&destination).copied(),
            self.by_both.get(&(source, destination)).copied(),
        ]
        .into_iter()
        .flatten()
        .filter_map(|list| {
            let list = self.lists.get(list as usize)?;
            list.first(subject.protocol, subject.layer4)
        })
        .min()
    }
}

/// The rules of each class: those of all its sets.
fn by_class(
    classes: &Classes,
    of_set: &BTreeMap<u32, Vec<u32>>,
    lists: &mut Lists<'_>,
) -> Option<HashMap<u32, u32>> {
    let mut by_class = HashMap::new();
    for (class, sets) in classes.iter() {
        let places: Vec<u32> = sets
            .iter()
            .filter_map(|set| of_set.get(set))
            .flatten()
            .copied()
            .collect();
        if !places.is_empty() {
            by_class.insert(class, lists.number(places)?);
        }
    }
    Some(by_class)
}

/// The classes whose addresses lie in each set.
fn holders(classes: &Classes) -> HashMap<u32, Vec<u32>> {
    let mut holders: HashMap<u32, Vec<u32>> = HashMap::new();
    for (class, sets) in classes.iter() {
        for set in sets {
            holders.entry(*set).or_default().push(class);
        }
    }
    holders
}

/// Compiles each list of rules once.
struct Lists<'a> {
    rules: &'a [Rule],
    numbers: HashMap<Box<[u32]>, u32>,
    compiled: Vec<Layers>,
    entries_left: usize,
}

impl<'a> Lists<'a> {
    fn new(rules: &'a [Rule], entries_max: usize) -> Self {
        Lists {
            rules,
            numbers: HashMap::new(),
            compiled: Vec::new(),
            entries_left: entries_max,
        }
    }

    /// `None` when there are more entries than the limit.
    fn number(&mut self, mut places: Vec<u32>) -> Option<u32> {
        places.sort_unstable();
        let decided = places.iter().position(|place| {
            let rule = self.rules.get(*place as usize);
            rule.is_some_and(Rule::matches_all_layers)
        });
        if let Some(last) = decided {
            places.truncate(last + 1); // nothing behind it can speak
        }
        if let Some(number) = self.numbers.get(places.as_slice()) {
            return Some(*number);
        }
        self.entries_left = self.entries_left.checked_sub(places.len())?;
        let number = u32::try_from(self.compiled.len()).ok()?;
        self.compiled.push(Layers::compile(self.rules, &places));
        self.numbers.insert(places.into_boxed_slice(), number);
        Some(number)
    }
}

fn searched(sets: &[Box<[Prefix]>], rules: &[Rule], kept: &[u32]) -> Box<[(u32, Searched)]> {
    let set = |number: u32| sets.get(number as usize).cloned().unwrap_or_default();
    kept.iter()
        .filter_map(|place| {
            let rule = rules.get(*place as usize)?;
            let searched = Searched {
                source: rule.source.map(set),
                destination: rule.destination.map(set),
                layers: Layers::compile(rules, &[*place]),
            };
            Some((*place, searched))
        })
        .collect()
}

impl Searched {
    fn matches(&self, subject: &Subject) -> bool {
        let lies_in = |set: &Option<Box<[Prefix]>>, address| {
            set.as_ref()
                .is_none_or(|set| set.iter().any(|range| range.contains(address)))
        };
        lies_in(&self.source, subject.source)
            && lies_in(&self.destination, subject.destination)
            && self
                .layers
                .first(subject.protocol, subject.layer4)
                .is_some()
    }
}
