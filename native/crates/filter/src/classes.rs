//! Addresses that lie in the same sets share a class.

use core::net::IpAddr;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use tables::{Prefix, PrefixTable};

/// Which sets an address lies in. Class 0 is "in none".
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    table: PrefixTable<u32>,
    /// Sets of each class, ascending.
    sets: Vec<Box<[u32]>>,
}

impl Classes {
    /// Sorts the addresses of the wanted sets into classes. `None` when the sets overlap so much that all classes
    /// together would hold more than `members_max` memberships.
    pub(crate) fn compile(
        sets: &[Box<[Prefix]>],
        wanted: &BTreeSet<u32>,
        members_max: usize,
    ) -> Option<Self> {
        // Ordered by address, then length: what encloses a range comes before it.
        let mut direct: BTreeMap<Prefix, BTreeSet<u32>> = BTreeMap::new();
        for set in wanted {
            for prefix in sets.get(*set as usize).into_iter().flatten() {
                direct.entry(*prefix).or_default().insert(*set);
            }
        }
        let mut classes = Classes {
            table: PrefixTable::new(),
            sets: vec![Box::default()],
        };
        let mut known: HashMap<Box<[u32]>, u32> = HashMap::from([(Box::default(), 0)]);
        let mut enclosing: Vec<(Prefix, u32)> = Vec::new();
        let mut members = 0;
        for (prefix, own) in direct {
            while enclosing
                .pop_if(|(outer, _)| !outer.contains(prefix.address()))
                .is_some()
            {}
            let outer = enclosing.last().map_or(0, |(_, class)| *class);
            let inherited = classes.sets_of(outer).iter().copied();
            let all: BTreeSet<u32> = inherited.chain(own).collect();
            let all: Box<[u32]> = all.into_iter().collect();
            let class = if let Some(class) = known.get(&all) {
                *class
            } else {
                members += all.len();
                let class = u32::try_from(classes.sets.len()).ok()?;
                known.insert(all.clone(), class);
                classes.sets.push(all);
                class
            };
            if members > members_max {
                return None;
            }
            classes.table.insert(&prefix, class);
            enclosing.push((prefix, class));
        }
        Some(classes)
    }

    pub(crate) fn of(&self, address: IpAddr) -> u32 {
        self.table.lookup(address).unwrap_or(0)
    }

    pub(crate) fn sets_of(&self, class: u32) -> &[u32] {
        self.sets.get(class as usize).map_or(&[], |sets| sets)
    }

    /// All classes with their sets.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        (0_u32..).zip(self.sets.iter().map(Box::as_ref))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &[&str]) -> Box<[Prefix]> {
        list.iter()
            .map(|text| {
                let (address, bits) = text.split_once('/').unwrap();
                Prefix::new(address.parse().unwrap(), bits.parse().unwrap()).unwrap()
            })
            .collect()
    }

    #[test]
    fn an_address_is_in_all_sets_whose_ranges_enclose_it() {
        let sets = [
            set(&["10.0.0.0/8", "fd00::/8"]),
            set(&["10.1.0.0/16", "10.2.0.1/32"]),
            set(&["10.1.0.7/32", "0.0.0.0/0"]),
        ];
        let classes = Classes::compile(&sets, &BTreeSet::from([0, 1, 2]), 100).unwrap();
        let sets_of = |text: &str| classes.sets_of(classes.of(text.parse().unwrap()));

        assert_eq!(sets_of("10.9.0.1"), [0, 2]);
        assert_eq!(sets_of("10.1.0.1"), [0, 1, 2]);
        assert_eq!(sets_of("10.2.0.1"), [0, 1, 2]);
        assert_eq!(sets_of("10.2.0.2"), [0, 2]);
        assert_eq!(sets_of("11.0.0.1"), [2]);
        assert_eq!(sets_of("fd00::1"), [0]);
        assert_eq!(sets_of("fe00::1"), [0_u32; 0]);
        assert_eq!(classes.sets.len(), 5, "equal memberships share a class");
    }

    #[test]
    fn sets_that_nobody_asks_for_make_no_classes() {
        let sets = [set(&["10.0.0.0/8"]), set(&["10.0.0.0/16"])];
        let classes = Classes::compile(&sets, &BTreeSet::from([1]), 100).unwrap();
        assert_eq!(classes.of("10.9.0.1".parse().unwrap()), 0);
        assert!(Classes::compile(&sets, &BTreeSet::from([0, 1]), 2).is_none());
    }
}
