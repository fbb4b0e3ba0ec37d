use core::net::IpAddr;

use crate::Prefix;
use crate::prefix::{left_aligned, mask};

/// Values by address range: the longest range that holds an address wins.
///
/// A path-compressed binary trie per family. A lookup visits at most one node per bit where stored ranges differ.
#[derive(Clone, Debug)]
pub struct PrefixTable<V> {
    v4: Trie<V>,
    v6: Trie<V>,
}

impl<V: Copy> PrefixTable<V> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        PrefixTable {
            v4: Trie::new(),
            v6: Trie::new(),
        }
    }

    /// The value of the longest range that holds the address.
    #[must_use]
    pub fn lookup(&self, address: IpAddr) -> Option<V> {
        self.family(address).lookup(left_aligned(address))
    }

    /// The value stored for exactly this range.
    #[must_use]
    pub fn get(&self, prefix: &Prefix) -> Option<V> {
        let trie = self.family(prefix.address());
        trie.find(prefix.key(), prefix.bits())
            .and_then(|node| trie.node(node).value)
    }

    /// Stores a value for a range and returns the one that was there.
    pub fn insert(&mut self, prefix: &Prefix, value: V) -> Option<V> {
        self.family_mut(prefix.address())
            .insert(prefix.key(), prefix.bits(), value)
    }

    /// Forgets a range and returns its value.
    pub fn remove(&mut self, prefix: &Prefix) -> Option<V> {
        self.family_mut(prefix.address())
            .remove(prefix.key(), prefix.bits())
    }

    /// How many ranges are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.v4.stored + self.v6.stored
    }

    /// Says whether no range is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn family(&self, address: IpAddr) -> &Trie<V> {
        match address {
            IpAddr::V4(_) => &self.v4,
            IpAddr::V6(_) => &self.v6,
        }
    }

    fn family_mut(&mut self, address: IpAddr) -> &mut Trie<V> {
        match address {
            IpAddr::V4(_) => &mut self.v4,
            IpAddr::V6(_) => &mut self.v6,
        }
    }
}

impl<V: Copy> Default for PrefixTable<V> {
    fn default() -> Self {
        PrefixTable::new()
    }
}

#[derive(Clone, Debug)]
struct Trie<V> {
    nodes: Vec<Node<V>>,
    free: Vec<u32>,
    stored: usize,
}

/// A range on the way to stored ranges; node 0 is the whole family.
#[derive(Clone, Debug)]
struct Node<V> {
    key: u128,
    bits: u8,
    children: [u32; 2],
    value: Option<V>,
}

/// Node 0 is nobody's child, so its number says "no child".
const NONE: u32 = 0;
const ROOT: u32 = 0;

impl<V: Copy> Trie<V> {
    fn new() -> Self {
        Trie {
            nodes: vec![Node::new(0, 0)],
            free: Vec::new(),
            stored: 0,
        }
    }

    fn lookup(&self, key: u128) -> Option<V> {
        let mut best = None;
        let mut at = ROOT;
        loop {
            let node = self.node(at);
            if (node.key ^ key) & mask(node.bits) != 0 {
                return best;
            }
            best = node.value.or(best);
            if node.bits == 128 {
                return best;
            }
            at = node.child(bit(key, node.bits));
            if at == NONE {
                return best;
            }
        }
    }

    fn find(&self, key: u128, bits: u8) -> Option<u32> {
        let mut at = ROOT;
        loop {
            let node = self.node(at);
            if node.bits > bits || (node.key ^ key) & mask(node.bits) != 0 {
                return None;
            }
            if node.bits == bits {
                return Some(at);
            }
            at = node.child(bit(key, node.bits));
            if at == NONE {
                return None;
            }
        }
    }

    fn insert(&mut self, key: u128, bits: u8, value: V) -> Option<V> {
        let at = self.make(key, bits);
        let old = self.node_mut(at).value.replace(value);
        self.stored += usize::from(old.is_none());
        old
    }

    /// Walks to the node of a range and makes it where it is missing.
    fn make(&mut self, key: u128, bits: u8) -> u32 {
        let mut parent = ROOT;
        loop {
            if self.node(parent).bits == bits {
                return parent;
            }
            let side = bit(key, self.node(parent).bits);
            let child = self.node(parent).child(side);
            if child == NONE {
                let leaf = self.allocate(key, bits);
                self.node_mut(parent).set_child(side, leaf);
                return leaf;
            }
            let shared = shared_bits(self.node(child).key, key)
                .min(bits)
                .min(self.node(child).bits);
            if shared == self.node(child).bits {
                parent = child;
                continue;
            }
            // The child lies beside or below the new range: a node for what they share goes between.
            let between = self.allocate(key & mask(shared), shared);
            let child_side = bit(self.node(child).key, shared);
            self.node_mut(between).set_child(child_side, child);
            self.node_mut(parent).set_child(side, between);
            parent = between;
        }
    }

    fn remove(&mut self, key: u128, bits: u8) -> Option<V> {
        let mut above = [ROOT, ROOT];
        let mut at = ROOT;
        while self.node(at).bits != bits || self.node(at).key != key {
            let node = self.node(at);
            if node.bits >= bits || (node.key ^ key) & mask(node.bits) != 0 {
                return None;
            }
            let next = node.child(bit(key, node.bits));
            if next == NONE {
                return None;
            }
            above = [above[1], at];
            at = next;
        }
        let old = self.node_mut(at).value.take()?;
        self.stored -= 1;
        let [grandparent, parent] = above;
        self.collapse(parent, at);
        self.collapse(grandparent, parent);
        Some(old)
    }

    /// Takes out a node that holds nothing and joins fewer than two others.
    fn collapse(&mut self, parent: u32, at: u32) {
        if at == ROOT || self.node(at).value.is_some() {
            return;
        }
        let heir = match self.node(at).children {
            [left, NONE] => left,
            [NONE, right] => right,
            [_, _] => return,
        };
        let side = bit(self.node(at).key, self.node(parent).bits);
        self.node_mut(parent).set_child(side, heir);
        self.free.push(at);
    }

    fn allocate(&mut self, key: u128, bits: u8) -> u32 {
        let node = Node::new(key, bits);
        if let Some(at) = self.free.pop() {
            *self.node_mut(at) = node;
            return at;
        }
        let at = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes fit in memory");
        self.nodes.push(node);
        at
    }

    fn node(&self, at: u32) -> &Node<V> {
        self.nodes
            .get(at as usize)
            .expect("node numbers come from this trie")
    }

    fn node_mut(&mut self, at: u32) -> &mut Node<V> {
        self.nodes
            .get_mut(at as usize)
            .expect("node numbers come from this trie")
    }
}

impl<V> Node<V> {
    fn new(key: u128, bits: u8) -> Self {
        Node {
            key,
            bits,
            children: [NONE; 2],
            value: None,
        }
    }

    fn child(&self, side: Side) -> u32 {
        let [zero, one] = self.children;
        match side {
            Side::Zero => zero,
            Side::One => one,
        }
    }

    fn set_child(&mut self, side: Side, to: u32) {
        let [zero, one] = &mut self.children;
        match side {
            Side::Zero => *zero = to,
            Side::One => *one = to,
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Zero,
    One,
}

/// The bit behind the first `bits` ones, which must be fewer than 128.
fn bit(key: u128, bits: u8) -> Side {
    if (key << bits) >> 127 == 0 {
        Side::Zero
    } else {
        Side::One
    }
}

fn shared_bits(one: u128, other: u128) -> u8 {
    u8::try_from((one ^ other).leading_zeros()).unwrap_or(128)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn prefix(text: &str) -> Prefix {
        let (address, bits) = text.split_once('/').unwrap();
        Prefix::new(address.parse().unwrap(), bits.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_longest_range_wins_and_families_do_not_mix() {
        let mut table = PrefixTable::new();
        table.insert(&prefix("10.0.0.0/8"), 1);
        table.insert(&prefix("10.1.0.0/16"), 2);
        table.insert(&prefix("10.1.2.3/32"), 3);
        table.insert(&prefix("::/0"), 9);

        let cases = [
            ("10.9.9.9", Some(1)),
            ("10.1.9.9", Some(2)),
            ("10.1.2.3", Some(3)),
            ("11.0.0.1", None),
            ("2001:db8::1", Some(9)),
        ];
        for (address, expected) in cases {
            assert_eq!(
                table.lookup(address.parse().unwrap()),
                expected,
                "{address}"
            );
        }
        assert_eq!(table.remove(&prefix("10.1.0.0/16")), Some(2));
        assert_eq!(table.lookup("10.1.9.9".parse().unwrap()), Some(1));
        assert_eq!(table.get(&prefix("10.1.2.3/32")), Some(3));
        assert_eq!(table.len(), 3);
    }

    #[test]
    fn adding_and_removing_the_same_ranges_leaves_no_nodes_behind() {
        let mut trie = Trie::new();
        for round in 0..3 {
            for i in 0..1_000_u128 {
                trie.insert(i << 96, 32, i);
            }
            for i in 0..1_000_u128 {
                assert_eq!(trie.remove(i << 96, 32), Some(i), "round {round}");
            }
            assert_eq!(trie.nodes.len() - trie.free.len(), 1);
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(Prefix, u16),
        Remove(Prefix),
    }

    fn any_prefix() -> impl Strategy<Value = Prefix> {
        // Few distinct addresses, so that ranges nest and collide.
        prop_oneof![
            (0_u32..64, 0_u8..=32).prop_map(|(bits, len)| {
                let address = bits.reverse_bits() | bits;
                Prefix::new(IpAddr::V4(address.into()), len).unwrap()
            }),
            (0_u128..64, 0_u8..=128).prop_map(|(bits, len)| {
                let address = bits.reverse_bits() | bits;
                Prefix::new(IpAddr::V6(address.into()), len).unwrap()
            }),
        ]
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (any_prefix(), any::<u16>()).prop_map(|(prefix, value)| Step::Insert(prefix, value)),
            2 => any_prefix().prop_map(Step::Remove),
        ]
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_linear_search(
            steps in proptest::collection::vec(any_step(), 1..150),
            probes in proptest::collection::vec(any_prefix(), 1..40),
        ) {
            let mut table = PrefixTable::new();
            let mut model = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Insert(prefix, value) => {
                        prop_assert_eq!(table.insert(&prefix, value), model.insert(prefix, value));
                    }
                    Step::Remove(prefix) => {
                        prop_assert_eq!(table.remove(&prefix), model.remove(&prefix));
                    }
                }
                prop_assert_eq!(table.len(), model.len());
            }
            for probe in probes {
                let expected = model
                    .iter()
                    .filter(|(prefix, _)| prefix.contains(probe.address()))
                    .max_by_key(|(prefix, _)| prefix.bits())
                    .map(|(_, value)| *value);
                prop_assert_eq!(table.lookup(probe.address()), expected);
                prop_assert_eq!(table.get(&probe), model.get(&probe).copied());
            }
        }
    }
}
