//! Deadlines of peers and sessions, kept by the shard that armed them.

use core::cmp::Reverse;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BinaryHeap;

use ports::Instant;

/// One deadline that any shard may move and one shard watches.
///
/// Moving it away or clearing it costs a store; the watching shard looks again when its earlier entry comes up.
#[derive(Debug, Default)]
pub(crate) struct Deadline {
    due: AtomicU64,
    /// When the entry comes up that looks at it; 0 = none does. Another entry, of a peer that had the same number before
    /// or of a time before the deadline came nearer, says nothing here.
    watched: AtomicU64,
}

/// What to do after looking at a deadline whose entry came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// It was cleared.
    Never,
    /// It was moved; it is watched again until then.
    Later(Instant),
    /// It has come.
    Now,
}

impl Deadline {
    pub(crate) fn is_set(&self) -> bool {
        self.due.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn clear(&self) {
        if self.is_set() {
            self.due.store(0, Ordering::SeqCst);
        }
    }

    /// Sets the deadline. Returns whether the caller must now watch it until then.
    #[must_use]
    pub(crate) fn set(&self, due: Instant) -> bool {
        let due = due.as_nanoseconds().max(1);
        self.due.store(due, Ordering::SeqCst);
        loop {
            let watched = self.watched.load(Ordering::SeqCst);
            if watched != NOBODY && watched <= due {
                return false;
            }
            if self.watch_instead(watched, due) {
                return true;
            }
        }
    }

    /// Looks at the deadline when an entry for it has come up; a deadline that has come is cleared.
    pub(crate) fn look(&self, entry: Instant, now: Instant) -> Due {
        if !self.watch_instead(nanoseconds(entry), NOBODY) {
            return Due::Never;
        }
        match self.due.load(Ordering::SeqCst) {
            0 => Due::Never,
            due if due > now.as_nanoseconds() => {
                if self.watch_instead(NOBODY, due) {
                    Due::Later(Instant::from_nanoseconds(due))
                } else {
                    Due::Never
                }
            }
            due => {
                // Whoever set it anew meanwhile wins and watches it.
                match self
                    .due
                    .compare_exchange(due, 0, Ordering::SeqCst, Ordering::SeqCst)
                {
                    Ok(_) => Due::Now,
                    Err(_) => Due::Never,
                }
            }
        }
    }

    /// Whether the entry that comes up then is the one that looks at this deadline.
    pub(crate) fn is_watched_by(&self, entry: Instant) -> bool {
        self.watched.load(Ordering::SeqCst) == nanoseconds(entry)
    }

    fn watch_instead(&self, before: u64, after: u64) -> bool {
        self.watched
            .compare_exchange(before, after, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

/// The value of `watched` while no entry looks.
const NOBODY: u64 = 0;

fn nanoseconds(entry: Instant) -> u64 {
    entry.as_nanoseconds().max(1)
}

/// What a deadline is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerKey {
    /// Something was received and nothing sent since.
    PassiveKeepalive { peer: u32 },
    /// The path must be kept open.
    PersistentKeepalive { peer: u32 },
    /// Something was sent and nothing received since.
    NoAnswer { peer: u32 },
    /// The lanes to a peer are looked at.
    Lanes { peer: u32 },
    /// A session must not be used any more.
    SessionEnd { slot: u32, local_index: u32 },
}

/// Entries of one shard, nearest first.
#[derive(Debug)]
pub(crate) struct TimerQueue {
    entries: BinaryHeap<Reverse<(Instant, TimerKey)>>,
    /// With so many entries those are looked for that nobody needs any more.
    sweep_at: usize,
}

impl TimerQueue {
    pub(crate) fn new() -> Self {
        TimerQueue {
            entries: BinaryHeap::with_capacity(ENTRIES_FREE),
            sweep_at: ENTRIES_FREE,
        }
    }

    pub(crate) fn watch(&mut self, due: Instant, key: TimerKey) {
        self.entries.push(Reverse((due, key)));
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.entries.peek().map(|Reverse((due, _))| *due)
    }

    /// Takes the nearest entry that has come up, with when that was.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<(Instant, TimerKey)> {
        if self.next_due()? > now {
            return None;
        }
        self.entries.pop().map(|Reverse(entry)| entry)
    }

    /// Drops the entries of peers and sessions that are gone, once there are many: an entry of a peer with a long
    /// keepalive stays for hours otherwise, and one comes with each peer that is removed and added again. At most twice
    /// as many are kept as are needed, beside the first thousand.
    pub(crate) fn sweep(&mut self, is_needed: impl Fn(Instant, TimerKey) -> bool) {
        if self.entries.len() < self.sweep_at {
            return;
        }
        self.entries
            .retain(|Reverse((due, key))| is_needed(*due, *key));
        self.sweep_at = ENTRIES_FREE.max(2 * self.entries.len());
    }
}

/// So many entries are kept without looking whether they are needed.
const ENTRIES_FREE: usize = 1_024;

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::default() + Duration::from_secs(seconds)
    }

    #[test]
    fn a_moved_deadline_is_looked_at_again_and_fires_once() {
        let deadline = Deadline::default();

        assert!(deadline.set(at(10)), "first to set it watches it");
        assert!(!deadline.set(at(15)), "already watched");

        assert_eq!(deadline.look(at(10), at(10)), Due::Later(at(15)));
        assert_eq!(deadline.look(at(15), at(15)), Due::Now);
        assert_eq!(deadline.look(at(15), at(15)), Due::Never);
        assert!(deadline.set(at(20)), "must be watched anew");
    }

    #[test]
    fn a_deadline_that_comes_nearer_is_watched_by_a_new_entry_and_the_old_one_is_void() {
        let deadline = Deadline::default();
        assert!(deadline.set(at(60)));

        assert!(deadline.set(at(5)), "nobody looks that early");
        assert_eq!(deadline.look(at(5), at(5)), Due::Now);
        assert!(deadline.set(at(65)));

        assert_eq!(deadline.look(at(60), at(60)), Due::Never);
        assert_eq!(deadline.look(at(65), at(65)), Due::Now);
    }

    /// A peer whose key changes is removed, and another is added under its number; what was watched for it comes up late.
    #[test]
    fn a_peer_added_again_and_again_under_one_number_keeps_one_entry() {
        let mut queue = TimerQueue::new();
        let key = TimerKey::PersistentKeepalive { peer: 1 };
        let mut deadline = Deadline::default();
        for second in 0..100 {
            deadline = Deadline::default();
            assert!(deadline.set(at(25 + second)));
            queue.watch(at(25 + second), key);
        }
        // It talks all the time, so that its keepalive is never due.
        for second in 100..300 {
            assert!(!deadline.set(at(second + 25)));
            while let Some((entry, key)) = queue.pop_due(at(second)) {
                if let Due::Later(due) = deadline.look(entry, at(second)) {
                    queue.watch(due, key);
                }
            }
        }

        assert_eq!(queue.entries.len(), 1);
    }

    #[test]
    fn entries_that_nobody_needs_are_swept_out_once_there_are_many_and_needed_ones_stay() {
        let mut queue = TimerQueue::new();
        let needed = |_, key| matches!(key, TimerKey::NoAnswer { .. });
        let mut most = 0;
        for number in 0..100_000 {
            let gone = TimerKey::SessionEnd {
                slot: 0,
                local_index: number,
            };
            queue.watch(at(180 + u64::from(number)), gone);
            if number % 100 == 0 {
                queue.watch(at(1), TimerKey::NoAnswer { peer: number });
            }
            queue.sweep(needed);
            most = most.max(queue.entries.len());
        }

        assert!(most <= ENTRIES_FREE + 2 * 1_000, "{most}");
        queue.sweep_at = 0;
        queue.sweep(needed);
        assert_eq!(queue.entries.len(), 1_000);
    }

    #[test]
    fn a_cleared_deadline_does_not_fire() {
        let deadline = Deadline::default();
        let _ = deadline.set(at(10));
        deadline.clear();

        assert_eq!(deadline.look(at(10), at(10)), Due::Never);
    }

    #[test]
    fn entries_come_up_in_order_and_not_early() {
        let mut queue = TimerQueue::new();
        queue.watch(at(3), TimerKey::NoAnswer { peer: 1 });
        queue.watch(at(1), TimerKey::PassiveKeepalive { peer: 2 });

        assert_eq!(queue.next_due(), Some(at(1)));
        assert_eq!(queue.pop_due(at(0)), None);
        assert_eq!(
            queue.pop_due(at(2)),
            Some((at(1), TimerKey::PassiveKeepalive { peer: 2 }))
        );
        assert_eq!(queue.pop_due(at(2)), None);
        assert_eq!(
            queue.pop_due(at(3)),
            Some((at(3), TimerKey::NoAnswer { peer: 1 }))
        );
    }
}
