//! Deadlines of peers and sessions, kept by the shard that armed them.

use core::cmp::Reverse;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::collections::BinaryHeap;

use ports::Instant;

/// One deadline that any shard may move and one shard watches.
///
/// Moving or clearing it costs a store; the watching shard looks again when its earlier entry comes up.
#[derive(Debug, Default)]
pub(crate) struct Deadline {
    due: AtomicU64,
    watched: AtomicBool,
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

    /// Sets the deadline. Returns whether the caller must now watch it.
    #[must_use]
    pub(crate) fn set(&self, due: Instant) -> bool {
        self.due
            .store(due.as_nanoseconds().max(1), Ordering::SeqCst);
        !self.watched.load(Ordering::SeqCst) && !self.watched.swap(true, Ordering::SeqCst)
    }

    /// Looks at the deadline when its entry has come up; a deadline that has come is cleared.
    pub(crate) fn look(&self, now: Instant) -> Due {
        self.watched.store(false, Ordering::SeqCst);
        match self.due.load(Ordering::SeqCst) {
            0 => Due::Never,
            due if due > now.as_nanoseconds() => {
                if self.watched.swap(true, Ordering::SeqCst) {
                    Due::Never
                } else {
                    Due::Later(Instant::from_nanoseconds(due))
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
    /// A session must not be used any more.
    SessionEnd { slot: u32, local_index: u32 },
}

/// Entries of one shard, nearest first.
#[derive(Debug)]
pub(crate) struct TimerQueue(BinaryHeap<Reverse<(Instant, TimerKey)>>);

impl TimerQueue {
    pub(crate) fn with_capacity(entries: usize) -> Self {
        TimerQueue(BinaryHeap::with_capacity(entries))
    }

    pub(crate) fn watch(&mut self, due: Instant, key: TimerKey) {
        self.0.push(Reverse((due, key)));
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse((due, _))| *due)
    }

    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<TimerKey> {
        if self.next_due()? > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, key))| key)
    }
}

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

        assert_eq!(deadline.look(at(10)), Due::Later(at(15)));
        assert_eq!(deadline.look(at(15)), Due::Now);
        assert_eq!(deadline.look(at(15)), Due::Never);
        assert!(deadline.set(at(20)), "must be watched anew");
    }

    #[test]
    fn a_cleared_deadline_does_not_fire() {
        let deadline = Deadline::default();
        let _ = deadline.set(at(10));
        deadline.clear();

        assert_eq!(deadline.look(at(10)), Due::Never);
    }

    #[test]
    fn entries_come_up_in_order_and_not_early() {
        let mut queue = TimerQueue::with_capacity(4);
        queue.watch(at(3), TimerKey::NoAnswer { peer: 1 });
        queue.watch(at(1), TimerKey::PassiveKeepalive { peer: 2 });

        assert_eq!(queue.next_due(), Some(at(1)));
        assert_eq!(queue.pop_due(at(0)), None);
        assert_eq!(
            queue.pop_due(at(2)),
            Some(TimerKey::PassiveKeepalive { peer: 2 })
        );
        assert_eq!(queue.pop_due(at(2)), None);
        assert_eq!(queue.pop_due(at(3)), Some(TimerKey::NoAnswer { peer: 1 }));
    }
}
