//! What is told of flows to who writes them down.

use std::sync::atomic::Ordering;

use super::entry::{Entry, Told, Worth};
use super::{COPIED_AT_ONCE, FlowRow, FlowTable, PeerId, SLOT_BITS, SLOT_MASK, lock, row};

/// Which flows are recorded: one of so many, the same ones from their beginning to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling(u32);

impl Sampling {
    /// No flow is.
    pub const OFF: Sampling = Sampling(0);

    /// One flow of `count`; 0 = none.
    #[must_use]
    pub fn one_of(count: u32) -> Self {
        Sampling(count)
    }

    pub(super) fn takes(self, id: u64) -> bool {
        // Flows of one kind often begin in a rhythm: the numbers are mixed before one of so many is taken.
        let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        mixed.checked_rem(u64::from(self.0)) == Some(0)
    }
}

/// What is wanted of one look.
#[derive(Clone, Copy, Debug)]
pub struct RecordsWanted {
    /// Which flows.
    pub sampling: Sampling,
    /// Milliseconds since any fixed point of time.
    pub now_ms: u64,
    /// The most records; flows that nothing passed of get at most half.
    pub rows_max: usize,
}

/// What one look found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordsTaken {
    /// Records that were made.
    pub rows: usize,
    /// Ends of flows that came too fast to be recorded, since the look before.
    pub lost: u64,
}

impl FlowTable {
    /// Calls `each` with flows that ended since the look before, that are some seconds old, or that went on for half a
    /// minute since their last record; counts are those since their beginning. A look passes a bounded part of the table
    /// and holds a stripe only to copy a few slots: what it did not come to is told by a later one.
    pub fn take_records(
        &self,
        wanted: &RecordsWanted,
        is_there: impl Fn(PeerId) -> bool,
        each: impl FnMut(FlowRow),
    ) -> RecordsTaken {
        let mut look = Look {
            wanted,
            is_there,
            each,
            taken: RecordsTaken::default(),
            denied: 0,
        };
        for number in 0..self.stripes.len() {
            if let Some(stripe) = self.stripes.get(number) {
                lock(stripe).set_sampling(wanted.sampling);
            }
            while look.has_room() && look.take_ended(self, number) {}
        }
        if wanted.sampling != Sampling::OFF {
            let from = self.recorded_to.load(Ordering::Relaxed);
            self.recorded_to
                .store(look.walk(self, from), Ordering::Relaxed);
        }
        look.taken
    }
}

struct Look<'a, There, Each> {
    wanted: &'a RecordsWanted,
    is_there: There,
    each: Each,
    taken: RecordsTaken,
    denied: usize,
}

impl<There: Fn(PeerId) -> bool, Each: FnMut(FlowRow)> Look<'_, There, Each> {
    fn has_room(&self) -> bool {
        self.taken.rows + COPIED_AT_ONCE <= self.wanted.rows_max
    }

    /// Returns whether there may be more in this stripe.
    fn take_ended(&mut self, table: &FlowTable, number: usize) -> bool {
        let Some(stripe) = table.stripes.get(number) else {
            return false;
        };
        let mut copies = [const { None }; COPIED_AT_ONCE];
        self.taken.lost += lock(stripe).take_ended(&mut copies);
        let more = copies.iter().all(Option::is_some);
        for entry in copies.into_iter().flatten() {
            self.tell(number, &entry);
        }
        more
    }

    /// Goes through the table from a position on, and returns where to go on.
    fn walk(&mut self, table: &FlowTable, from: u64) -> u64 {
        let mut number = usize::try_from(from >> SLOT_BITS).unwrap_or(0);
        let mut slot = usize::try_from(from & SLOT_MASK).unwrap_or(0);
        let (mut turns, mut slots) = (0, 0);
        // The stripe it began in comes twice: its part before that place is looked at last.
        while turns <= table.stripes.len() && slots < SLOTS_PER_LOOK && self.has_room() {
            let Some(stripe) = table.stripes.get(number) else {
                (number, slot) = (0, 0);
                continue;
            };
            let mut copies = [const { None }; COPIED_AT_ONCE];
            let more = lock(stripe).take_news(slot, &mut copies, |entry| self.told(entry));
            for entry in copies.into_iter().flatten() {
                self.tell(number, &entry);
            }
            slots += COPIED_AT_ONCE;
            slot += COPIED_AT_ONCE;
            if !more {
                turns += 1;
                (number, slot) = (number + 1, 0);
            }
        }
        (number as u64) << SLOT_BITS | slot as u64
    }

    /// What is to be told of a flow; `None` = nothing for now.
    fn told(&self, entry: &Entry) -> Option<Told> {
        let now_ms = self.wanted.now_ms;
        if entry.worth() == Worth::Denied && self.denied >= self.wanted.rows_max / 2 {
            return None;
        }
        if entry.is_expired(now_ms) || !(self.is_there)(entry.peer) {
            return Some(Told::End);
        }
        entry.is_news(now_ms).then_some(Told::At(now_ms))
    }

    fn tell(&mut self, number: usize, entry: &Entry) {
        if entry.worth() == Worth::Denied {
            if self.denied >= self.wanted.rows_max / 2 {
                self.taken.lost += 1;
                return;
            }
            self.denied += 1;
        }
        let mut row = row((number as u64) << SLOT_BITS, entry, self.wanted.now_ms);
        row.peer = row.peer.filter(|_| (self.is_there)(entry.peer));
        self.taken.rows += 1;
        (self.each)(row);
    }
}

/// A full table is passed in a few looks.
const SLOTS_PER_LOOK: usize = 32_768;
