//! One pair of transport keys.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ports::Instant;
use wire::{ReplayWindow, TransportKey};

use crate::command::{Elision, Extensions, InstallSession, Problem, Role};
use crate::lanes::{LANES_MAX, Lane, PLACES_MAX, lane_and_place, packet_number};
use crate::reader::Reader;

/// Keys and counters of one handshake, shared by all shards. Dropping it wipes the keys.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) peer: u32,
    pub(crate) local_index: u32,
    pub(crate) remote_index: u32,
    pub(crate) role: Role,
    pub(crate) created: Instant,
    pub(crate) send_key: TransportKey,
    pub(crate) receive_key: TransportKey,
    pub(crate) elision: Elision,
    pub(crate) extensions: Extensions,
    /// How many lanes it has; 1 = packet numbers are WireGuard's own.
    pub(crate) lanes: u8,
    ageing: Ageing,
    /// Numbers from here on are neither sent nor accepted, on the first lane.
    reject_after: u64,
    first: Numbers,
    others: Option<Box<[Numbers; LANES_MAX as usize - 1]>>,
}

/// The packet numbers of one lane: what was sent, and what was accepted.
#[derive(Debug, Default)]
struct Numbers {
    sent: AtomicU64,
    replay: Mutex<ReplayWindow>,
}

impl Session {
    /// Takes the keys out of a command.
    pub(crate) fn new(mut keys: InstallSession, now: Instant) -> Self {
        let age = Duration::from_millis(u64::from(keys.age_ms));
        let created = now
            .as_nanoseconds()
            .saturating_sub(u64::try_from(age.as_nanos()).unwrap_or(0));
        Session {
            peer: keys.peer,
            local_index: keys.local_index,
            remote_index: keys.remote_index,
            role: keys.role,
            created: Instant::from_nanoseconds(created),
            send_key: TransportKey::new(keys.cipher, &mut keys.send_key),
            receive_key: TransportKey::new(keys.cipher, &mut keys.receive_key),
            elision: keys.elision,
            extensions: keys.extensions,
            lanes: keys.lanes,
            ageing: keys.ageing,
            reject_after: if keys.lanes > 1 {
                PLACES_MAX
            } else {
                REJECT_AFTER_MESSAGES
            },
            first: Numbers::default(),
            others: (keys.lanes > 1).then(Box::default),
        }
    }

    /// When the session must not be used any more.
    pub(crate) fn end(&self) -> Instant {
        self.created + self.ageing.reject_after
    }

    /// Says whether packets may still be sent or accepted.
    pub(crate) fn is_usable(&self, now: Instant) -> bool {
        now < self.end() && self.first.sent.load(Ordering::Relaxed) < self.reject_after
    }

    /// Says whether sending should bring a new handshake about.
    pub(crate) fn wants_rekey_on_send(&self, now: Instant) -> bool {
        self.first.sent.load(Ordering::Relaxed) > REKEY_AFTER_MESSAGES.min(self.reject_after / 2)
            || (self.role == Role::Initiator && now >= self.created + self.ageing.rekey_on_send)
    }

    /// Says whether receiving should bring a new handshake about: the session ends soon and only we can renew it.
    pub(crate) fn wants_rekey_on_receive(&self, now: Instant) -> bool {
        self.role == Role::Initiator && now >= self.created + self.ageing.rekey_on_receive
    }

    /// Takes the next packet numbers of a lane; `None` when they are used up.
    pub(crate) fn reserve(&self, lane: Lane, packets: u64) -> Option<u64> {
        let first = self
            .numbers(lane)?
            .sent
            .fetch_add(packets, Ordering::Relaxed);
        (first.saturating_add(packets) <= self.reject_after).then(|| packet_number(lane, first))
    }

    /// Whose packet a number is; `None` for numbers that nobody may use.
    pub(crate) fn lane_of(&self, counter: u64) -> Option<Lane> {
        if self.lanes == 1 {
            return (counter < REJECT_AFTER_MESSAGES).then_some(0);
        }
        let (lane, place) = lane_and_place(counter);
        (lane < self.lanes && place < PLACES_MAX).then_some(lane)
    }

    /// The replay window of a lane, held for one batch.
    pub(crate) fn replay(&self, lane: Lane) -> MutexGuard<'_, ReplayWindow> {
        let numbers = self.numbers(lane).unwrap_or(&self.first);
        numbers
            .replay
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn numbers(&self, lane: Lane) -> Option<&Numbers> {
        match lane {
            0 => Some(&self.first),
            lane => self.others.as_deref()?.get(usize::from(lane) - 1),
        }
    }
}

/// Ages at which something happens to one session; drawn once, by the slow path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ageing {
    /// Sending asks for the next session from here on (TMR-09).
    rekey_on_send: Duration,
    /// So does receiving (TMR-10).
    rekey_on_receive: Duration,
    /// It must not be used any more (TMR-11).
    reject_after: Duration,
}

impl Default for Ageing {
    /// WireGuard's own.
    fn default() -> Self {
        Ageing {
            rekey_on_send: Duration::from_secs(120),
            rekey_on_receive: Duration::from_secs(165),
            reject_after: Duration::from_secs(180),
        }
    }
}

impl Ageing {
    /// Reads the end of the body of `InstallSession`; nothing there means WireGuard's own.
    pub(crate) fn read(body: &mut Reader<'_>) -> Result<Self, Problem> {
        if body.is_empty() {
            return Ok(Ageing::default());
        }
        let mut age = || body.u32().map(|ms| Duration::from_millis(ms.into()));
        let ageing = Ageing {
            rekey_on_send: age()?,
            rekey_on_receive: age()?,
            reject_after: age()?,
        };
        if ageing.reject_after.is_zero() {
            return Err(Problem::BadField {
                field: "reject after",
            });
        }
        Ok(ageing)
    }
}

/// Packet numbers at or above this are neither sent nor accepted.
pub(crate) const REJECT_AFTER_MESSAGES: u64 = u64::MAX - (1 << 13);
const REKEY_AFTER_MESSAGES: u64 = 1 << 60;

#[cfg(test)]
mod tests {
    use wire::ReplayVerdict;

    use super::*;

    fn session(role: Role, age_ms: u32) -> Session {
        Session::new(keys(role, age_ms), at(1_000))
    }

    fn keys(role: Role, age_ms: u32) -> InstallSession {
        InstallSession {
            peer: 1,
            local_index: 2,
            remote_index: 3,
            role,
            cipher: wire::Cipher::ChaCha20Poly1305,
            elision: Elision::Off,
            extensions: Extensions::None,
            lanes: 1,
            age_ms,
            ageing: Ageing::default(),
            send_key: [1; 32].into(),
            receive_key: [2; 32].into(),
        }
    }

    fn at(seconds: u64) -> Instant {
        Instant::default() + Duration::from_secs(seconds)
    }

    #[test]
    fn a_session_is_used_for_180_seconds_from_its_handshake() {
        let session = session(Role::Initiator, 60_000);

        assert!(session.is_usable(at(1_119)));
        assert!(!session.is_usable(at(1_120)));
    }

    #[test]
    fn only_the_initiator_renews_by_age() {
        let cases = [
            (Role::Initiator, 119, false, false),
            (Role::Initiator, 120, true, false),
        ];
        for (role, age, on_send, on_receive) in cases {
            let session = session(role, 0);
            assert_eq!(
                session.wants_rekey_on_send(at(1_000 + age)),
                on_send,
                "{age}"
            );
            assert_eq!(
                session.wants_rekey_on_receive(at(1_000 + age)),
                on_receive,
                "{age}"
            );
        }
        assert!(session(Role::Initiator, 0).wants_rekey_on_receive(at(1_165)));
        assert!(!session(Role::Responder, 0).wants_rekey_on_send(at(1_170)));
        assert!(!session(Role::Responder, 0).wants_rekey_on_receive(at(1_170)));
    }

    #[test]
    fn tmr_12_both_sides_renew_after_many_messages_and_stop_before_the_numbers_run_out() {
        let session = session(Role::Responder, 0);
        session
            .first
            .sent
            .store(REKEY_AFTER_MESSAGES + 1, Ordering::Relaxed);
        assert!(session.wants_rekey_on_send(at(1_000)));

        session
            .first
            .sent
            .store(REJECT_AFTER_MESSAGES - 2, Ordering::Relaxed);
        assert_eq!(session.reserve(0, 2), Some(REJECT_AFTER_MESSAGES - 2));
        assert_eq!(session.reserve(0, 1), None);
        assert!(!session.is_usable(at(1_000)));
    }

    #[test]
    fn lanes_have_numbers_and_windows_of_their_own_within_one_session() {
        let mut keys = keys(Role::Initiator, 0);
        keys.lanes = 4;
        let session = Session::new(keys, at(1_000));

        assert_eq!(session.reserve(0, 5), Some(0));
        assert_eq!(session.reserve(3, 5), Some(3 << 56));
        assert_eq!(session.reserve(3, 1), Some((3 << 56) + 5));
        assert_eq!(session.lane_of(4), Some(0));
        assert_eq!(session.lane_of((3 << 56) + 5), Some(3));
        assert_eq!(session.lane_of(4 << 56), None, "beyond its lanes");
        assert_eq!(session.lane_of(PLACES_MAX), None);

        // One lane may be ahead of another by any number of packets.
        let number = (3 << 56) + 1_000_000;
        assert_eq!(session.replay(3).accept(number), ReplayVerdict::Fresh);
        for place in 0..100 {
            let number = (1 << 56) + place;
            assert_eq!(session.replay(1).accept(number), ReplayVerdict::Fresh);
            assert_eq!(session.replay(0).accept(place), ReplayVerdict::Fresh);
        }
        assert_eq!(session.replay(3).accept(number), ReplayVerdict::Duplicate);
        assert_eq!(session.replay(0).accept(99), ReplayVerdict::Duplicate);
    }

    #[test]
    fn a_lane_that_is_used_up_never_takes_numbers_of_the_next() {
        let mut keys = keys(Role::Initiator, 0);
        keys.lanes = 2;
        let session = Session::new(keys, at(1_000));
        for numbers in [&session.first, &session.others.as_ref().unwrap()[0]] {
            numbers.sent.store(PLACES_MAX - 1, Ordering::Relaxed);
        }
        for lane in [0, 1] {
            assert!(session.reserve(lane, 1).is_some());
            assert_eq!(session.reserve(lane, 1), None);
        }
        assert!(!session.is_usable(at(1_000)));
    }

    #[test]
    fn a_session_without_lanes_has_wireguards_numbers() {
        let session = session(Role::Initiator, 0);
        assert_eq!(session.lane_of(3 << 56), Some(0));
        assert_eq!(session.lane_of(REJECT_AFTER_MESSAGES), None);
        assert_eq!(session.reserve(1, 1), None);
    }
}
