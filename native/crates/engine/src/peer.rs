//! What the engine knows about one peer.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use conceal::TrailerWindow;
use filter::PeerId;
use ports::{Endpoint, Instant};
use tables::Prefix;

use crate::counters::PeerCounters;
use crate::endpoint::{Change, EndpointCell};
use crate::lanes::PeerLanes;
use crate::path::PeerPath;
use crate::timers::Deadline;

/// One peer. Shards change it through atomics; its fixed parts change only while no shard reads.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) index: u32,
    /// Never given to another peer, unlike the index.
    serial: u32,
    pub(crate) keepalive: Option<Duration>,
    pub(crate) allowed: Vec<Prefix>,
    pub(crate) endpoint: EndpointCell,
    pub(crate) sessions: PeerSessions,
    pub(crate) waiting: WaitingPackets,
    pub(crate) counters: PeerCounters,
    pub(crate) passive_keepalive: Deadline,
    pub(crate) persistent_keepalive: Deadline,
    pub(crate) no_answer: Deadline,
    /// A handshake was asked for and neither a session nor a refusal has come.
    pub(crate) handshake_wanted: AtomicBool,
    /// A move is queued for the slow path.
    pub(crate) move_queued: AtomicBool,
    pub(crate) path: PeerPath,
    /// From the first session with several lanes on.
    pub(crate) lanes: Option<Box<PeerLanes>>,
    /// How long random trailers to it may make a datagram.
    pub(crate) window: TrailerWindow,
    last_received: AtomicU64,
}

impl Peer {
    pub(crate) fn new(index: u32, serial: u32) -> Self {
        Peer {
            index,
            serial,
            keepalive: None,
            allowed: Vec::new(),
            endpoint: EndpointCell::new(None),
            sessions: PeerSessions::new(),
            waiting: WaitingPackets::default(),
            counters: PeerCounters::default(),
            passive_keepalive: Deadline::default(),
            persistent_keepalive: Deadline::default(),
            no_answer: Deadline::default(),
            handshake_wanted: AtomicBool::new(false),
            move_queued: AtomicBool::new(false),
            path: PeerPath::default(),
            lanes: None,
            window: TrailerWindow::default(),
            last_received: AtomicU64::new(0),
        }
    }

    /// What flows know it by.
    pub(crate) fn id(&self) -> PeerId {
        PeerId {
            slot: self.index,
            serial: self.serial,
        }
    }

    /// Sends to another place from now on; what the path there carries is not known.
    pub(crate) fn move_to(&self, endpoint: Option<Endpoint>) -> Change {
        let change = self.endpoint.store(endpoint);
        if change == Change::Moved {
            self.window.reset();
            if let Some(lanes) = &self.lanes {
                lanes.reset();
            }
        }
        change
    }

    pub(crate) fn note_received(&self, now: Instant) {
        self.last_received
            .store(now.as_nanoseconds(), Ordering::Relaxed);
    }

    /// When something authenticated last came from the peer.
    pub(crate) fn last_received(&self) -> Option<Instant> {
        match self.last_received.load(Ordering::Relaxed) {
            0 => None,
            nanoseconds => Some(Instant::from_nanoseconds(nanoseconds)),
        }
    }
}

/// Slots of a peer's sessions. Only [`PeerSessions::promote`] runs while other shards read.
#[derive(Debug)]
pub(crate) struct PeerSessions {
    current: AtomicU32,
    next: AtomicU32,
    previous: AtomicU32,
    /// What was current when two handshakes crossed: the other side sends under it until our answer has arrived there.
    elder: AtomicU32,
    turn: Mutex<()>,
}

/// Sessions that fell out of their places.
pub(crate) type Fallen = [Option<u32>; 2];

impl PeerSessions {
    fn new() -> Self {
        PeerSessions {
            current: AtomicU32::new(NO_SLOT),
            next: AtomicU32::new(NO_SLOT),
            previous: AtomicU32::new(NO_SLOT),
            elder: AtomicU32::new(NO_SLOT),
            turn: Mutex::new(()),
        }
    }

    /// The session that packets are sent under.
    pub(crate) fn current(&self) -> Option<u32> {
        some(self.current.load(Ordering::Acquire))
    }

    /// Says whether a session waits for the first packet of the other side.
    pub(crate) fn is_next(&self, slot: u32) -> bool {
        self.next.load(Ordering::Acquire) == slot
    }

    /// All sessions.
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> {
        [&self.current, &self.next, &self.previous, &self.elder]
            .map(|place| some(place.load(Ordering::Acquire)))
            .into_iter()
            .flatten()
    }

    /// Takes a session we initiated: it is current at once. An unconfirmed session of the other side, which it may
    /// already be using, becomes the previous one, and what was current is kept, too.
    pub(crate) fn install_initiated(&self, slot: u32) -> Fallen {
        let _turn = self.lock();
        let old_current = self.current.swap(slot, Ordering::AcqRel);
        let old_next = self.next.swap(NO_SLOT, Ordering::AcqRel);
        let (previous, elder) = if old_next == NO_SLOT {
            (old_current, NO_SLOT)
        } else {
            (old_next, old_current)
        };
        self.retire_to(previous, elder)
    }

    /// Takes a session the other side initiated: it waits for its first packet.
    pub(crate) fn install_responded(&self, slot: u32) -> Fallen {
        let _turn = self.lock();
        [some(self.next.swap(slot, Ordering::AcqRel)), None]
    }

    /// Makes the waiting session current. Returns whether it was still waiting, and what fell out.
    pub(crate) fn promote(&self, slot: u32) -> Option<Fallen> {
        let _turn = self.lock();
        self.next
            .compare_exchange(slot, NO_SLOT, Ordering::AcqRel, Ordering::Acquire)
            .ok()?;
        let old_current = self.current.swap(slot, Ordering::AcqRel);
        Some(self.retire_to(old_current, NO_SLOT))
    }

    /// Fills the places of sessions that are only received under. Returns what was there.
    fn retire_to(&self, previous: u32, elder: u32) -> Fallen {
        [
            some(self.previous.swap(previous, Ordering::AcqRel)),
            some(self.elder.swap(elder, Ordering::AcqRel)),
        ]
    }

    /// Forgets a session wherever it is.
    pub(crate) fn forget(&self, slot: u32) {
        let _turn = self.lock();
        for place in [&self.current, &self.next, &self.previous, &self.elder] {
            let _ = place.compare_exchange(slot, NO_SLOT, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const NO_SLOT: u32 = u32::MAX;

fn some(slot: u32) -> Option<u32> {
    (slot != NO_SLOT).then_some(slot)
}

/// Packets that wait for a session, oldest first, bounded per peer and for the whole engine.
#[derive(Debug, Default)]
pub(crate) struct WaitingPackets {
    packets: Mutex<VecDeque<Box<[u8]>>>,
    count: AtomicUsize,
}

/// Bytes that wait at all peers together.
#[derive(Debug, Default)]
pub(crate) struct WaitingBytes(AtomicUsize);

impl WaitingPackets {
    /// Queues a copy of a packet and returns how many old ones were dropped for it; the packet itself is one of them
    /// when the whole engine has no room.
    pub(crate) fn push(&self, packet: &[u8], total: &WaitingBytes) -> u64 {
        let mut packets = self.lock();
        let mut dropped = 0;
        while packets.len() >= WAITING_PACKETS_MAX
            || (!packets.is_empty()
                && total.0.load(Ordering::Relaxed) + packet.len() > WAITING_BYTES_MAX)
        {
            let Some(oldest) = packets.pop_front() else {
                break;
            };
            total.0.fetch_sub(oldest.len(), Ordering::Relaxed);
            dropped += 1;
        }
        if total.0.load(Ordering::Relaxed) + packet.len() > WAITING_BYTES_MAX {
            dropped += 1;
        } else {
            total.0.fetch_add(packet.len(), Ordering::Relaxed);
            packets.push_back(packet.into());
        }
        self.count.store(packets.len(), Ordering::Release);
        dropped
    }

    pub(crate) fn pop(&self, total: &WaitingBytes) -> Option<Box<[u8]>> {
        let mut packets = self.lock();
        let packet = packets.pop_front()?;
        total.0.fetch_sub(packet.len(), Ordering::Relaxed);
        self.count.store(packets.len(), Ordering::Release);
        Some(packet)
    }

    /// Drops all and returns how many there were.
    pub(crate) fn clear(&self, total: &WaitingBytes) -> u64 {
        let mut dropped = 0;
        while self.pop(total).is_some() {
            dropped += 1;
        }
        dropped
    }

    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Box<[u8]>>> {
        self.packets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Most packets that wait at one peer.
pub(crate) const WAITING_PACKETS_MAX: usize = 256;
/// Most bytes that wait in the whole engine.
pub(crate) const WAITING_BYTES_MAX: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_responded_session_waits_and_an_initiated_one_does_not() {
        let sessions = PeerSessions::new();

        assert_eq!(sessions.install_responded(1), [None, None]);
        assert_eq!(sessions.current(), None);
        assert!(sessions.is_next(1));

        assert_eq!(sessions.promote(1), Some([None, None]));
        assert_eq!(sessions.current(), Some(1));
        assert_eq!(sessions.promote(1), None, "only once");

        assert_eq!(sessions.install_initiated(2), [None, None]);
        assert_eq!(sessions.all().collect::<Vec<_>>(), [2, 1]);
        assert_eq!(sessions.install_initiated(3), [Some(1), None]);
    }

    #[test]
    fn when_both_sides_initiated_the_unconfirmed_session_and_the_one_in_use_stay_valid() {
        let sessions = PeerSessions::new();
        sessions.install_initiated(1);
        sessions.install_responded(2);

        assert_eq!(sessions.install_initiated(3), [None, None]);
        assert_eq!(sessions.all().collect::<Vec<_>>(), [3, 2, 1]);

        sessions.install_responded(4);
        assert_eq!(sessions.promote(4), Some([Some(2), Some(1)]));
        assert_eq!(sessions.all().collect::<Vec<_>>(), [4, 3]);
    }

    #[test]
    fn a_forgotten_session_is_nowhere() {
        let sessions = PeerSessions::new();
        sessions.install_initiated(1);
        sessions.forget(1);
        assert_eq!(sessions.all().count(), 0);
    }

    #[test]
    fn the_oldest_waiting_packet_makes_room() {
        let (waiting, total) = (WaitingPackets::default(), WaitingBytes::default());
        let dropped: u64 = (0..=WAITING_PACKETS_MAX)
            .map(|i| waiting.push(&i.to_le_bytes(), &total))
            .sum();

        assert_eq!(dropped, 1);
        assert_eq!(waiting.len(), WAITING_PACKETS_MAX);
        assert_eq!(
            waiting.pop(&total).as_deref(),
            Some(&1_usize.to_le_bytes()[..])
        );
        assert_eq!(waiting.clear(&total), 255);
        assert_eq!(total.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn one_peer_cannot_use_more_than_the_engine_allows() {
        let (one, other, total) = (
            WaitingPackets::default(),
            WaitingPackets::default(),
            WaitingBytes::default(),
        );
        let large = vec![0; 65_535];
        (0..256).for_each(|_| {
            one.push(&large, &total);
        });

        assert_eq!(
            other.push(&large, &total),
            1,
            "dropped itself: nothing older at this peer"
        );
        assert!(total.0.load(Ordering::Relaxed) <= WAITING_BYTES_MAX);
    }
}
