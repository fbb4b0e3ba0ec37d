//! How large a datagram the path to a peer carries.

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;

use ports::{Instant, PathBound};

use crate::command::Probes;

/// Bounds and marks of one peer's path, changed by all shards.
#[derive(Debug)]
pub(crate) struct PeerPath {
    payload: AtomicUsize,
    answers: AtomicBool,
    /// The slow path wants to know when something large goes out.
    large_wanted: AtomicBool,
    /// Probes that went out and were not answered, at most [`UNANSWERED_MAX`].
    unanswered: AtomicUsize,
    /// The bound was found out by probes that the peer answered.
    proven: AtomicBool,
    /// When to look again what the kernel believes.
    belief_due: AtomicU64,
    /// What the slow path was told last that the kernel believes.
    belief_told: AtomicUsize,
}

impl Default for PeerPath {
    fn default() -> Self {
        PeerPath {
            payload: AtomicUsize::new(NO_BOUND),
            answers: AtomicBool::new(false),
            large_wanted: AtomicBool::new(false),
            unanswered: AtomicUsize::new(0),
            proven: AtomicBool::new(false),
            belief_due: AtomicU64::new(0),
            belief_told: AtomicUsize::new(NO_BOUND),
        }
    }
}

impl PeerPath {
    /// Longest inner packet that fits with so many bytes around it, under the MTU of the device.
    pub(crate) fn inner_max(&self, mtu: usize, overhead: usize) -> usize {
        let payload = self.payload.load(Ordering::Relaxed).min(PAYLOAD_MAX);
        mtu.min(payload.saturating_sub(overhead).max(INNER_MIN))
    }

    /// Takes what the slow path decided.
    pub(crate) fn set(&self, payload: Option<usize>, probes: Probes, bound: PathBound) {
        self.proven
            .store(bound == PathBound::Proven, Ordering::Relaxed);
        self.payload
            .store(payload.unwrap_or(NO_BOUND), Ordering::Relaxed);
        self.answers
            .store(probes == Probes::Answered, Ordering::Relaxed);
        self.arm();
    }

    /// Takes what the kernel said about datagrams that were refused. Returns whether that was news.
    pub(crate) fn lower(&self, payload: usize) -> Lowered {
        let payload = payload.max(PAYLOAD_MIN);
        if self.payload.fetch_min(payload, Ordering::Relaxed) > payload {
            Lowered::Yes
        } else {
            Lowered::No
        }
    }

    /// Which bound counts for datagrams to the peer.
    pub(crate) fn bound(&self) -> PathBound {
        if self.proven.load(Ordering::Relaxed) {
            PathBound::Proven
        } else {
            PathBound::Believed
        }
    }

    /// Whether to look what the kernel believes of a path that is proven: datagrams of this size go out, and nobody has
    /// looked for a while. What is believed refuses nothing there, so that only looking shows what a router reported.
    pub(crate) fn wants_belief(&self, datagram: usize, now: Instant) -> bool {
        if datagram <= LARGE_FROM || self.bound() == PathBound::Believed {
            return false;
        }
        let due = self.belief_due.load(Ordering::Relaxed);
        let next = (now + BELIEF_EVERY).as_nanoseconds();
        now.as_nanoseconds() >= due
            && self
                .belief_due
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Takes what the kernel believes. Returns whether the slow path must hear of it: it is less than what goes out, and
    /// was not told yet.
    pub(crate) fn note_belief(&self, payload: usize) -> Belief {
        let known = self.payload.load(Ordering::Relaxed);
        let told = if payload < known { payload } else { NO_BOUND };
        let before = self.belief_told.swap(told, Ordering::Relaxed);
        if told == NO_BOUND || told == before {
            Belief::NothingNew
        } else {
            Belief::Less
        }
    }

    pub(crate) fn probes(&self) -> Probes {
        if self.answers.load(Ordering::Relaxed) {
            Probes::Answered
        } else {
            Probes::Ignored
        }
    }

    /// Notes that a probe goes out.
    pub(crate) fn note_probe(&self) {
        let one_more = |count| (count < UNANSWERED_MAX).then_some(count + 1);
        let _ = self
            .unanswered
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
    }

    /// Takes an answer for one of the probes that went out. Returns whether there was one: a peer must not be able to
    /// say more than it was asked.
    pub(crate) fn note_answer(&self) -> Answer {
        let one_less = |count: usize| count.checked_sub(1);
        match self
            .unanswered
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
        {
            Ok(_) => Answer::Awaited,
            Err(_) => Answer::Unasked,
        }
    }

    /// Asks for one more word about a large datagram.
    pub(crate) fn arm(&self) {
        self.large_wanted
            .store(self.probes() == Probes::Answered, Ordering::Relaxed);
    }

    /// Notes that datagrams of this size went out. Returns whether the slow path waits for the news.
    pub(crate) fn note_sent(&self, datagram: usize) -> News {
        let awaited = datagram > LARGE_FROM
            && self.large_wanted.load(Ordering::Relaxed)
            && self.large_wanted.swap(false, Ordering::Relaxed);
        if awaited { News::Awaited } else { News::No }
    }
}

/// Whether the bound went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowered {
    Yes,
    No,
}

/// Whether the kernel has come to believe in less than what goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    NothingNew,
    Less,
}

/// Whether a probe had gone out for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Awaited,
    Unasked,
}

/// Whether somebody waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Awaited,
    No,
}

/// A packet that must be carried whatever the profile and the path: what an IPv4 host must take, less the tunnel.
const INNER_MIN: usize = 68;
const NO_BOUND: usize = usize::MAX;
/// The most one UDP datagram carries.
const PAYLOAD_MAX: usize = 65_507;
/// What fits a path of 576 bytes.
const PAYLOAD_MIN: usize = 548;
/// Lost probes are never answered, so their number says little beyond this.
const UNANSWERED_MAX: usize = 32;
/// Datagrams up to this size pass wherever the tunnel works at all.
const LARGE_FROM: usize = 1_232;
/// How often the kernel is asked, while large datagrams go out.
const BELIEF_EVERY: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lim_06_the_bound_is_the_least_of_device_path_and_one_datagram() {
        let path = PeerPath::default();
        assert_eq!(path.inner_max(1420, wire::DATA_OVERHEAD), 1420);
        assert_eq!(path.inner_max(65_535, wire::DATA_OVERHEAD), 65_475);

        path.set(Some(1272), Probes::Answered, PathBound::Believed);
        assert_eq!(path.inner_max(1420, wire::DATA_OVERHEAD), 1240);
        assert_eq!(path.inner_max(576, wire::DATA_OVERHEAD), 576);
    }

    #[test]
    fn fbk_04_the_kernel_only_ever_lowers_the_bound_and_the_slow_path_may_raise_it() {
        let path = PeerPath::default();
        assert_eq!(path.lower(1372), Lowered::Yes);
        assert_eq!(path.lower(1372), Lowered::No, "told once");
        assert_eq!(path.lower(1400), Lowered::No);
        assert_eq!(path.inner_max(1420, wire::DATA_OVERHEAD), 1340);
        assert_eq!(path.lower(0), Lowered::Yes);
        assert_eq!(
            path.inner_max(1420, wire::DATA_OVERHEAD),
            516,
            "never below what every path carries"
        );

        path.set(Some(1452), Probes::Ignored, PathBound::Believed);
        assert_eq!(path.inner_max(1420, wire::DATA_OVERHEAD), 1420);
    }

    #[test]
    fn there_are_never_more_answers_than_probes_and_lost_ones_are_forgotten_at_some_point() {
        let path = PeerPath::default();
        assert_eq!(path.note_answer(), Answer::Unasked);
        path.note_probe();
        assert_eq!(path.note_answer(), Answer::Awaited);
        assert_eq!(path.note_answer(), Answer::Unasked);

        (0..10 * UNANSWERED_MAX).for_each(|_| path.note_probe());
        let taken = (0..10 * UNANSWERED_MAX)
            .filter(|_| path.note_answer() == Answer::Awaited)
            .count();
        assert_eq!(taken, UNANSWERED_MAX);
    }

    #[test]
    fn what_the_kernel_believes_of_a_proven_path_is_looked_at_now_and_then_and_told_once() {
        let path = PeerPath::default();
        let at = |milliseconds| Instant::default() + Duration::from_millis(milliseconds);
        path.set(Some(1452), Probes::Answered, PathBound::Believed);
        assert!(!path.wants_belief(1452, at(1)), "it refuses by itself");

        path.set(Some(1452), Probes::Answered, PathBound::Proven);
        assert!(!path.wants_belief(1232, at(1)));
        assert!(path.wants_belief(1452, at(1)));
        assert!(!path.wants_belief(1452, at(250)));
        assert!(path.wants_belief(1452, at(251)));

        assert_eq!(path.note_belief(1472), Belief::NothingNew);
        assert_eq!(path.note_belief(548), Belief::Less);
        assert_eq!(path.note_belief(548), Belief::NothingNew);
        path.set(Some(1452), Probes::Answered, PathBound::Proven);
        assert_eq!(
            path.note_belief(548),
            Belief::NothingNew,
            "the slow path knows, and found that more passes"
        );
        assert_eq!(path.note_belief(1372), Belief::Less);
        assert_eq!(path.note_belief(1472), Belief::NothingNew);
        assert_eq!(path.note_belief(1372), Belief::Less, "believed again");
        assert_eq!(
            path.inner_max(1420, wire::DATA_OVERHEAD),
            1420,
            "belief lowers nothing"
        );
    }

    #[test]
    fn a_large_datagram_is_news_once_and_only_where_probes_are_possible() {
        let path = PeerPath::default();
        assert_eq!(path.note_sent(1452), News::No);
        path.set(None, Probes::Answered, PathBound::Believed);
        assert_eq!(path.note_sent(1232), News::No);
        assert_eq!(path.note_sent(1452), News::Awaited);
        assert_eq!(path.note_sent(1452), News::No);
        path.arm();
        assert_eq!(path.note_sent(1452), News::Awaited);
    }
}
