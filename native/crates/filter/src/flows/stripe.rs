use std::collections::VecDeque;

use super::PeerId;
use super::entry::{Entry, Told, Worth};
use super::key::FlowKey;
use super::records::Sampling;

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
    /// What peers hold, by the low bits of their serial numbers; those that share them share a part of the table.
    holders: Box<[Holder]>,
    /// Flows that were ever stored.
    born: u64,
    sampling: Sampling,
    /// Flows that were forgotten and are not recorded yet. Has its room from the moment something is recorded.
    ended: VecDeque<Entry>,
    /// Ends that nobody will record, since the last look.
    lost: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Holder {
    flows: u32,
    /// Where the search among its own flows goes on.
    hand: u32,
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
            holders: vec![Holder::default(); HOLDERS].into_boxed_slice(),
            born: 0,
            sampling: Sampling::OFF,
            ended: VecDeque::new(),
            lost: 0,
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
        mut entry: Entry,
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
        self.born += 1;
        entry.id = self.born;
        let holder = holder_of(entry.peer);
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
        if let Some(holder) = self.holders.get_mut(holder) {
            holder.flows += 1;
        }
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
            let (next, holder) = (*next, holder_of(entry.peer));
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
                    let freed = core::mem::replace(slot, Slot::Free { next: self.free });
                    if let Slot::Used { entry, .. } = freed {
                        self.record_end(entry);
                    }
                }
                self.free = link;
                self.used -= 1;
                if let Some(holder) = self.holders.get_mut(holder) {
                    holder.flows -= 1;
                }
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

    /// Copies the flows of the slots from `from` on, one to each place. Returns whether there are slots behind them.
    pub(crate) fn copy(&self, from: usize, into: &mut [Option<Entry>]) -> bool {
        let Some(behind) = self.slots.get(from..) else {
            return false;
        };
        for (place, slot) in into.iter_mut().zip(behind) {
            *place = match slot {
                Slot::Used { entry, .. } => Some(entry.clone()),
                Slot::Free { .. } => None,
            };
        }
        behind.len() > into.len()
    }

    /// Records one flow of so many from now on.
    pub(crate) fn set_sampling(&mut self, sampling: Sampling) {
        if self.sampling == sampling {
            return;
        }
        self.sampling = sampling;
        self.lost = 0;
        self.ended = match sampling {
            Sampling::OFF => VecDeque::new(),
            _ => VecDeque::with_capacity(ENDED_MAX),
        };
    }

    /// Takes flows that ended, one to each place, and how many ends were lost.
    pub(crate) fn take_ended(&mut self, into: &mut [Option<Entry>]) -> u64 {
        for place in into {
            *place = self.ended.pop_front();
        }
        core::mem::take(&mut self.lost)
    }

    /// Copies what is to be recorded among the slots from `from` on, one to each place, as told from here on. Returns
    /// whether there are slots behind them.
    pub(crate) fn take_news(
        &mut self,
        from: usize,
        into: &mut [Option<Entry>],
        told: impl Fn(&Entry) -> Option<Told>,
    ) -> bool {
        let sampling = self.sampling;
        let Some(behind) = self.slots.get_mut(from..) else {
            return false;
        };
        let more = behind.len() > into.len();
        for (place, slot) in into.iter_mut().zip(behind) {
            *place = None;
            if let Slot::Used { entry, .. } = slot
                && entry.told != Told::End
                && sampling.takes(entry.id)
                && let Some(told) = told(entry)
            {
                entry.told = told;
                *place = Some(entry.clone());
            }
        }
        more
    }

    /// Ends of denied flows take no more than half the room.
    fn record_end(&mut self, mut entry: Entry) {
        if !self.sampling.takes(entry.id) || entry.told == Told::End {
            return;
        }
        let room = match entry.worth() {
            Worth::Denied => ENDED_MAX / 2,
            Worth::Young | Worth::Established => ENDED_MAX,
        };
        if self.ended.len() < room {
            entry.told = Told::End;
            self.ended.push_back(entry);
        } else {
            self.lost += 1;
        }
    }

    /// Forgets a flow. A peer that holds more than its share makes room among its own flows only, records of drops aside;
    /// for others its flows go first.
    fn make_room(&mut self, newcomer: &Entry, rehash: &impl Fn(&FlowKey) -> u64) -> Stored {
        let holder = holder_of(newcomer.peer);
        let among_own = self.is_over_share(newcomer.peer);
        let slots = self.slots.len();
        let mut at = if among_own {
            self.holders.get(holder).map_or(0, |it| it.hand as usize)
        } else {
            self.hand
        };
        let mut victim: Option<(Loss, FlowKey)> = None;
        let mut looked_at = 0;
        // Whoever walks far past flows of others looks at its own next: over time at most a few slots per flow.
        for _ in 0..slots {
            if looked_at == LOOKED_AT {
                break;
            }
            let here = at;
            at = if at + 1 < slots { at + 1 } else { 0 };
            let Some(Slot::Used { entry, .. }) = self.slots.get(here) else {
                continue;
            };
            let worth = entry.worth();
            if entry.is_expired(newcomer.last_ms) {
                let key = entry.key;
                self.remove(rehash(&key), &key);
                break;
            }
            if among_own && holder_of(entry.peer) != holder && worth != Worth::Denied {
                continue;
            }
            looked_at += 1;
            let loss = Loss {
                is_allowed: worth != Worth::Denied,
                within_share: !self.is_over_share(entry.peer),
                worth,
                last_ms: entry.last_ms,
            };
            if victim.is_none_or(|(least, _)| loss < least) {
                victim = Some((loss, entry.key));
            }
        }
        match self.holders.get_mut(holder) {
            Some(holder) if among_own => holder.hand = u32::try_from(at).unwrap_or(0),
            Some(_) | None => self.hand = at,
        }
        if self.free != Link::default() {
            return Stored::Free;
        }
        match victim {
            Some((loss, key)) if !loss.is_allowed || newcomer.worth() > Worth::Denied => {
                self.remove(rehash(&key), &key);
                Stored::Evicted
            }
            Some(_) | None => Stored::Refused,
        }
    }

    fn is_over_share(&self, peer: PeerId) -> bool {
        let share = self.slots.capacity() / SHARES;
        let held = self.holders.get(holder_of(peer)).map_or(0, |it| it.flows);
        held as usize > share
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

/// What would be lost with a flow, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Loss {
    is_allowed: bool,
    within_share: bool,
    worth: Worth,
    last_ms: u64,
}

fn holder_of(peer: PeerId) -> usize {
    peer.serial as usize % HOLDERS
}

impl Link {
    fn position(self) -> Option<usize> {
        usize::try_from(self.0.checked_sub(1)?).ok()
    }
}

/// Ends that wait in one stripe to be recorded.
const ENDED_MAX: usize = 128;
const SWEPT_PER_INSERT: usize = 2;
const LOOKED_AT: usize = 16;
const HOLDERS: usize = 1024;
/// A peer's share of a full table is one of so many.
const SHARES: usize = 4;
