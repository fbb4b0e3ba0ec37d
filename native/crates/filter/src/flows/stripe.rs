use super::entry::{Entry, Worth};
use super::key::FlowKey;

/// A part of the flow table: a hash table with chains through slots that are allocated once.
#[derive(Debug)]
pub(crate) struct Stripe {
    /// First slot of each chain.
    heads: Box<[Link]>,
    slots: Vec<Slot>,
    /// First free slot.
    free: Link,
    used: usize,
    /// Where the search for something to forget goes on.
    hand: usize,
}

/// Number of a slot plus one; 0 = none, so that fresh memory needs no writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Link(u32);

#[derive(Debug)]
enum Slot {
    Free { next: Link },
    Used { next: Link, entry: Entry },
}

/// What had to go so that a flow could be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// There was room.
    Free,
    /// Another flow was forgotten.
    Evicted,
    /// There was no room for a flow of so little worth.
    Refused,
}

impl Stripe {
    pub(crate) fn new(slots: usize) -> Self {
        Stripe {
            heads: vec![Link::default(); slots.next_power_of_two()].into_boxed_slice(),
            slots: Vec::with_capacity(slots),
            free: Link::default(),
            used: 0,
            hand: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.used
    }

    pub(crate) fn find(&mut self, hash: u64, key: &FlowKey) -> Option<&mut Entry> {
        let at = self.position(hash, key)?;
        match self.slots.get_mut(at)? {
            Slot::Used { entry, .. } => Some(entry),
            Slot::Free { .. } => None,
        }
    }

    /// Stores a flow whose key is not there.
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        entry: Entry,
        rehash: impl Fn(&FlowKey) -> u64,
    ) -> Stored {
        let stored = if self.free == Link::default() && self.slots.len() == self.slots.capacity() {
            match self.make_room(&entry, &rehash) {
                Stored::Refused => return Stored::Refused,
                stored @ (Stored::Free | Stored::Evicted) => stored,
            }
        } else {
            Stored::Free
        };
        let bucket = self.bucket(hash);
        let next = self.heads.get(bucket).copied().unwrap_or_default();
        let slot = Slot::Used { next, entry };
        let link = if let Some(at) = self.free.position() {
            let Some(place) = self.slots.get_mut(at) else {
                return Stored::Refused;
            };
            let link = self.free;
            if let Slot::Free { next } = place {
                self.free = *next;
            }
            *place = slot;
            link
        } else {
            self.slots.push(slot);
            Link(u32::try_from(self.slots.len()).unwrap_or(0))
        };
        if let Some(head) = self.heads.get_mut(bucket) {
            *head = link;
        }
        self.used += 1;
        stored
    }

    pub(crate) fn remove(&mut self, hash: u64, key: &FlowKey) {
        let bucket = self.bucket(hash);
        let mut before: Option<usize> = None;
        let mut link = self.heads.get(bucket).copied().unwrap_or_default();
        while let Some(at) = link.position() {
            let Some(Slot::Used { next, entry }) = self.slots.get(at) else {
                return;
            };
            let next = *next;
            if entry.key == *key {
                match before.and_then(|before| self.slots.get_mut(before)) {
                    Some(Slot::Used { next: to, .. }) => *to = next,
                    Some(Slot::Free { .. }) => return,
                    None => {
                        if let Some(head) = self.heads.get_mut(bucket) {
                            *head = next;
                        }
                    }
                }
                if let Some(slot) = self.slots.get_mut(at) {
                    *slot = Slot::Free { next: self.free };
                }
                self.free = link;
                self.used -= 1;
                return;
            }
            before = Some(at);
            link = next;
        }
    }

    /// Forgets expired flows among the next few slots; called once per new flow, it keeps up with them.
    pub(crate) fn sweep(&mut self, now_ms: u64, rehash: impl Fn(&FlowKey) -> u64) -> usize {
        let mut expired = 0;
        for _ in 0..SWEPT_PER_INSERT {
            let at = self.next_hand();
            if let Some(Slot::Used { entry, .. }) = self.slots.get(at)
                && entry.is_expired(now_ms)
            {
                let key = entry.key;
                self.remove(rehash(&key), &key);
                expired += 1;
            }
        }
        expired
    }

    /// The flow of a slot at or behind `from`, with its number.
    pub(crate) fn next_used(&mut self, from: usize) -> Option<(usize, &mut Entry)> {
        let behind = self.slots.get_mut(from..)?;
        (from..).zip(behind).find_map(|(at, slot)| match slot {
            Slot::Used { entry, .. } => Some((at, entry)),
            Slot::Free { .. } => None,
        })
    }

    fn make_room(&mut self, newcomer: &Entry, rehash: &impl Fn(&FlowKey) -> u64) -> Stored {
        let mut victim: Option<(Worth, u64, FlowKey)> = None;
        for _ in 0..LOOKED_AT {
            let at = self.next_hand();
            let Some(Slot::Used { entry, .. }) = self.slots.get(at) else {
                continue;
            };
            if entry.is_expired(newcomer.last_ms) {
                let key = entry.key;
                self.remove(rehash(&key), &key);
                return Stored::Free;
            }
            let found = (entry.worth(), entry.last_ms, entry.key);
            if victim.is_none_or(|best| (found.0, found.1) < (best.0, best.1)) {
                victim = Some(found);
            }
        }
        match victim {
            Some((worth, _, key)) if worth == Worth::Denied || newcomer.worth() > Worth::Denied => {
                self.remove(rehash(&key), &key);
                Stored::Evicted
            }
            Some(_) | None => Stored::Refused,
        }
    }

    fn next_hand(&mut self) -> usize {
        let at = self.hand;
        self.hand = if at + 1 < self.slots.len() { at + 1 } else { 0 };
        at
    }

    fn position(&self, hash: u64, key: &FlowKey) -> Option<usize> {
        let mut link = self.heads.get(self.bucket(hash)).copied()?;
        while let Some(at) = link.position() {
            let Some(Slot::Used { next, entry }) = self.slots.get(at) else {
                return None;
            };
            if entry.key == *key {
                return Some(at);
            }
            link = *next;
        }
        None
    }

    fn bucket(&self, hash: u64) -> usize {
        usize::try_from(hash & 0xffff_ffff).unwrap_or(0) & (self.heads.len() - 1)
    }
}

impl Link {
    fn position(self) -> Option<usize> {
        usize::try_from(self.0.checked_sub(1)?).ok()
    }
}

const SWEPT_PER_INSERT: usize = 2;
const LOOKED_AT: usize = 16;
