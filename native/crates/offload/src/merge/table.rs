//! The flows of one burst and the frame each may still join.

use packet::IpVersion;

/// Everything that identifies a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowKey {
    pub(super) source: u128,
    pub(super) destination: u128,
    pub(super) ports: u32,
    pub(super) peer: u32,
    pub(super) version: IpVersion,
    pub(super) protocol: u8,
}

/// What is known of a packet whose ports cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AddressPair {
    pub(super) peer: u32,
    pub(super) version: IpVersion,
    pub(super) source: u128,
    pub(super) destination: u128,
    pub(super) protocol: Option<u8>,
}

/// Fixed-size table; nothing is removed before the burst ends, so a short bounded probe finds every flow it holds.
#[derive(Debug)]
pub(super) struct FlowTable {
    entries: Vec<Entry>,
    slots: Vec<Option<u16>>,
    flows_max: usize,
    latest: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: FlowKey,
    slot: usize,
    open: Option<u32>,
}

impl FlowTable {
    pub(super) fn new(flows_max: usize) -> Self {
        let flows_max = flows_max.clamp(1, FLOWS_MAX);
        let slots = (flows_max * 2).next_power_of_two();
        Self {
            entries: Vec::with_capacity(flows_max),
            slots: vec![None; slots],
            flows_max,
            latest: 0,
        }
    }

    /// The entry of a flow, made if there is room; `None` makes the packet a single.
    pub(super) fn find_or_insert(&mut self, key: &FlowKey) -> Option<usize> {
        let slot = match self.find(key) {
            Found::Entry(index) => return Some(index),
            Found::Free(slot) => slot,
            Found::Crowded => return None,
        };
        if self.entries.len() >= self.flows_max {
            return None;
        }
        let index = self.entries.len();
        *self.slots.get_mut(slot)? = Some(u16::try_from(index).ok()?);
        self.entries.push(Entry {
            key: *key,
            slot,
            open: None,
        });
        self.latest = index;
        Some(index)
    }

    /// The frame that the flow's next packet may join.
    pub(super) fn open_frame(&self, index: usize) -> Option<u32> {
        self.entries.get(index)?.open
    }

    pub(super) fn set_open_frame(&mut self, index: usize, frame: Option<u32>) {
        if let Some(entry) = self.entries.get_mut(index) {
            entry.open = frame;
        }
    }

    /// Ends the run of one flow.
    pub(super) fn close(&mut self, key: &FlowKey) {
        if let Found::Entry(index) = self.find(key) {
            self.set_open_frame(index, None);
        }
    }

    /// Ends every run between two addresses, of one protocol if it is known.
    pub(super) fn close_matching(&mut self, pair: &AddressPair) {
        for entry in &mut self.entries {
            let key = &entry.key;
            if key.source == pair.source
                && key.destination == pair.destination
                && key.version == pair.version
                && key.peer == pair.peer
                && pair
                    .protocol
                    .is_none_or(|protocol| protocol == key.protocol)
            {
                entry.open = None;
            }
        }
    }

    /// Forgets every flow.
    pub(super) fn clear(&mut self) {
        for entry in &self.entries {
            if let Some(slot) = self.slots.get_mut(entry.slot) {
                *slot = None;
            }
        }
        self.entries.clear();
        self.latest = 0;
    }

    /// The flow of the packet before is tried first: bulk traffic comes in trains.
    fn find(&mut self, key: &FlowKey) -> Found {
        if self
            .entries
            .get(self.latest)
            .is_some_and(|entry| entry.key == *key)
        {
            return Found::Entry(self.latest);
        }
        let mask = self.slots.len() - 1;
        let home = hash(key);
        for step in 0..PROBES_MAX {
            let slot = (home + step) & mask;
            let Some(index) = self.slots.get(slot).copied().flatten() else {
                return Found::Free(slot);
            };
            let index = usize::from(index);
            if self
                .entries
                .get(index)
                .is_some_and(|entry| entry.key == *key)
            {
                self.latest = index;
                return Found::Entry(index);
            }
        }
        Found::Crowded
    }
}

enum Found {
    Entry(usize),
    Free(usize),
    /// No free slot near enough.
    Crowded,
}

/// Spreads flows over slots. It need not resist an attacker: the key is compared in full and the probe is bounded.
#[expect(clippy::cast_possible_truncation, reason = "a hash keeps what fits")]
const fn hash(key: &FlowKey) -> usize {
    let mixed = key.source ^ key.destination.rotate_left(29);
    let ports = (key.ports as u64) << 32 | key.peer as u64;
    let word = (mixed as u64).wrapping_mul(SPREAD) ^ ((mixed >> 64) as u64).rotate_left(17) ^ ports;
    let spread = word.wrapping_mul(SPREAD);
    ((spread ^ spread >> 32).wrapping_mul(SPREAD) >> 32) as usize
}

/// An odd constant whose bits look random (2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Slots looked at before a flow counts as not fitting.
const PROBES_MAX: usize = 32;
/// Bound of the table, so that an index fits 16 bits.
const FLOWS_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    /// COT-30: flows that fall on the same slot stay apart, and a crowded slot only costs merging.
    #[test]
    fn cot_30_colliding_flows_have_entries_of_their_own() {
        let mut table = FlowTable::new(128);
        let home = hash(&flow(0)) & (table.slots.len() - 1);
        let colliding: Vec<FlowKey> = (0..)
            .map(flow)
            .filter(|key| hash(key) & (table.slots.len() - 1) == home)
            .take(PROBES_MAX + 5)
            .collect();

        let entries: Vec<Option<usize>> = colliding
            .iter()
            .map(|key| table.find_or_insert(key))
            .collect();

        assert_eq!(
            entries,
            (0..PROBES_MAX)
                .map(Some)
                .chain([None; 5])
                .collect::<Vec<_>>()
        );
        for (key, entry) in colliding.iter().zip(&entries) {
            assert_eq!(table.find_or_insert(key), *entry, "found again");
        }
    }

    /// COT-29: the table holds what it was made for, then turns flows away.
    #[test]
    fn cot_29_the_table_holds_its_number_of_flows() {
        let mut table = FlowTable::new(128);

        let entries = (0..500)
            .filter(|ports| table.find_or_insert(&flow(*ports)).is_some())
            .count();
        table.clear();

        assert_eq!(entries, 128);
        assert!(table.slots.iter().all(Option::is_none));
    }

    fn flow(ports: u32) -> FlowKey {
        FlowKey {
            source: 1,
            destination: 2,
            ports,
            peer: 3,
            version: IpVersion::V4,
            protocol: 6,
        }
    }
}
