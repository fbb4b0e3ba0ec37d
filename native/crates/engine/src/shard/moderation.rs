//! Letting packets gather when they come fast and one by one (decision 0160).

use core::time::Duration;

use ports::Instant;

use crate::stage::Work;

/// Notices one-way streams of small packets, whose wake-ups cost more than the packets.
#[derive(Debug, Default)]
pub(crate) struct Moderation {
    last_turn: Option<Instant>,
    way: Option<Way>,
    /// Turns in a row that belong to one such stream.
    streak: u8,
    before: Before,
}

/// What one turn moved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TurnWork {
    /// Frames read from the TUN queue.
    pub(crate) read: Work,
    /// Datagrams received.
    pub(crate) received: Work,
}

/// What to do before the next wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Wait at once.
    Wait,
    /// Look away for [`REST`] first.
    Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

/// What preceded a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Wait,
    Rest,
}

impl Moderation {
    /// Judges a turn that began at `now`.
    ///
    /// Two parties that answer each other are never kept waiting: a turn that moved packets the other way ends the
    /// streak.
    pub(crate) fn after_turn(&mut self, now: Instant, work: TurnWork) -> Advice {
        let since = self.last_turn.map(|last| now.saturating_since(last));
        let before = core::mem::take(&mut self.before);
        self.last_turn = Some(now);
        let way = way(work);
        let gathers = match before {
            Before::Wait => {
                since.is_some_and(|since| since <= INTERVAL_MAX) && work.packets() < PACKETS_ENOUGH
            }
            Before::Rest => work.packets() >= 2,
        };
        if way.is_none() || way != self.way || !gathers || work.bytes() > work.packets() * SMALL {
            self.streak = 0;
        } else {
            self.streak = self.streak.saturating_add(1);
        }
        self.way = way;
        if self.streak < STREAK {
            return Advice::Wait;
        }
        self.before = Before::Rest;
        Advice::Rest
    }
}

impl TurnWork {
    fn packets(&self) -> usize {
        self.read.packets + self.received.packets
    }

    fn bytes(&self) -> usize {
        self.read.bytes + self.received.bytes
    }
}

/// The way of a turn that moved packets one way only.
fn way(work: TurnWork) -> Option<Way> {
    match (work.read.packets, work.received.packets) {
        (1.., 0) => Some(Way::Out),
        (0, 1..) => Some(Way::In),
        _ => None,
    }
}

/// How long a worker looks away.
pub(crate) const REST: Duration = Duration::from_micros(150);

/// Turns of a stream are at most this far apart: 12,500 packets a second.
const INTERVAL_MAX: Duration = Duration::from_micros(80);
/// Turns in a row that make a stream.
const STREAK: u8 = 16;
/// A turn with so many packets has gathered enough without a rest.
const PACKETS_ENOUGH: usize = 16;
/// Mean size above which packets are worth a wake-up each.
const SMALL: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn work(packets: usize, size: usize) -> Work {
        Work {
            packets,
            bytes: packets * size,
        }
    }

    fn out(packets: usize, size: usize) -> TurnWork {
        TurnWork {
            read: work(packets, size),
            ..TurnWork::default()
        }
    }

    fn received(packets: usize, size: usize) -> TurnWork {
        TurnWork {
            received: work(packets, size),
            ..TurnWork::default()
        }
    }

    /// Says after how many of 100 turns with that interval a rest is advised first.
    fn first_rest(interval_us: u64, turn: impl Fn(usize) -> TurnWork) -> Option<usize> {
        let mut moderation = Moderation::default();
        let interval = Duration::from_micros(interval_us);
        let mut now = Instant::default();
        (0..100).find(|at| {
            now = now + interval;
            moderation.after_turn(now, turn(*at)) == Advice::Rest
        })
    }

    #[test]
    fn a_fast_one_way_stream_of_small_packets_rests() {
        assert_eq!(first_rest(30, |_| out(1, 64)), Some(16));
        assert_eq!(first_rest(30, |_| received(2, 1452)), Some(16));
    }

    #[test]
    fn a_slow_stream_never_rests() {
        assert_eq!(first_rest(100, |_| out(1, 64)), None);
    }

    #[test]
    fn request_and_answer_never_rest_however_fast_they_are() {
        let alternating = |at: usize| {
            if at.is_multiple_of(2) {
                out(1, 64)
            } else {
                received(1, 64)
            }
        };
        assert_eq!(first_rest(10, alternating), None);
        let both = |_| TurnWork {
            read: work(1, 64),
            received: work(1, 64),
        };
        assert_eq!(first_rest(10, both), None);
    }

    #[test]
    fn super_frames_and_full_batches_never_rest() {
        assert_eq!(first_rest(50, |_| out(1, 60_000)), None);
        assert_eq!(first_rest(50, |_| received(45, 1452)), None);
    }

    #[test]
    fn rests_go_on_while_packets_gather_and_end_with_the_stream() {
        let mut moderation = Moderation::default();
        let mut now = Instant::default();
        for _ in 0..=STREAK {
            now = now + Duration::from_micros(20);
            moderation.after_turn(now, out(1, 64));
        }

        for packets in [40, 2] {
            now = now + Duration::from_micros(200);
            assert_eq!(moderation.after_turn(now, out(packets, 64)), Advice::Rest);
        }
        now = now + Duration::from_micros(200);
        assert_eq!(moderation.after_turn(now, out(1, 64)), Advice::Wait);
        now = now + Duration::from_micros(20);
        assert_eq!(moderation.after_turn(now, out(1, 64)), Advice::Wait);
    }
}
