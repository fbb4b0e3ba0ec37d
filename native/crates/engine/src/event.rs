//! Events for the slow path: two bounded queues, encoded when they are fetched.

use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something the slow path must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    WantHandshake {
        peer: u32,
        reason: WantReason,
    },
    SessionConfirmed {
        peer: u32,
        local_index: u32,
    },
    /// The endpoint is looked up when the event is fetched, so that one event stands for many moves.
    EndpointMoved {
        peer: u32,
    },
    NoAnswer {
        peer: u32,
    },
    IoFault(IoFault),
    SessionExpired {
        peer: u32,
        local_index: u32,
    },
    /// A path-MTU probe came back.
    ProbeAnswered {
        peer: u32,
        id: u32,
        size: u32,
    },
    /// The system says that datagrams of more than `payload` bytes do not fit the path.
    PathTooBig {
        peer: u32,
        payload: u32,
    },
    /// A datagram that a black hole could swallow went out, the first since the slow path asked last.
    LargeSent {
        peer: u32,
    },
    /// A shard panicked; all shards end.
    ShardFailed(FailureText),
}

/// What a panic said: text of at most 256 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailureText(Box<str>);

impl FailureText {
    /// Keeps the beginning.
    pub(crate) fn new(text: &str) -> Self {
        let end = (0..=text.len().min(FAILURE_TEXT_MAX))
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        FailureText(text.get(..end).unwrap_or_default().into())
    }
}

const FAILURE_TEXT_MAX: usize = 256;

/// Why a handshake is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum WantReason {
    NoSession = 0,
    OldOnSend = 1,
    OldOnReceive = 2,
}

/// A failed system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IoFault {
    pub(crate) what: FaultSource,
    pub(crate) weight: FaultWeight,
    pub(crate) errno: i32,
}

/// Which call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FaultSource {
    TunRead = 0,
    TunWrite = 1,
    UdpReceive = 2,
    UdpSend = 3,
    Poll = 4,
}

/// Whether the shard goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FaultWeight {
    Passing = 0,
    Fatal = 1,
}

/// A handshake message on its way to the slow path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandshakeMessage {
    pub(crate) kind: HandshakeKind,
    pub(crate) shard: u16,
    pub(crate) flags: u8,
    pub(crate) from: SocketAddr,
    pub(crate) len: usize,
    pub(crate) bytes: [u8; wire::INITIATION_LEN],
}

/// What the slow path should do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeKind {
    Process,
    AnswerWithCookie,
}

/// Flag: the engine is under load.
pub(crate) const FLAG_UNDER_LOAD: u8 = 1;
/// Flag: MAC2 was present and valid.
pub(crate) const FLAG_MAC2_VALID: u8 = 2;

/// Most handshake messages that wait for the slow path.
pub(crate) const HANDSHAKES_MAX: usize = 1024;

/// Both queues and the wake-up of the slow path.
pub(crate) struct Events {
    queues: Mutex<Queues>,
    handshakes_waiting: AtomicUsize,
    announced: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

struct Queues {
    events: VecDeque<(u16, Event)>,
    handshakes: VecDeque<HandshakeMessage>,
    overflow: u32,
}

impl Events {
    /// `wake` is called when events become available after all earlier ones were fetched.
    pub(crate) fn new(wake: Box<dyn Fn() + Send + Sync>) -> Self {
        Events {
            queues: Mutex::new(Queues {
                events: VecDeque::with_capacity(1024),
                handshakes: VecDeque::with_capacity(HANDSHAKES_MAX),
                overflow: 0,
            }),
            handshakes_waiting: AtomicUsize::new(0),
            announced: AtomicBool::new(false),
            wake,
        }
    }

    pub(crate) fn push(&self, shard: u16, event: Event) {
        self.lock().events.push_back((shard, event));
        self.announce();
    }

    /// Queues a handshake message; when the queue is full it is dropped and counted.
    pub(crate) fn push_handshake(&self, message: &HandshakeMessage) -> Pushed {
        let mut queues = self.lock();
        if queues.handshakes.len() >= HANDSHAKES_MAX {
            queues.overflow = queues.overflow.saturating_add(1);
            return Pushed::Dropped;
        }
        queues.handshakes.push_back(*message);
        self.handshakes_waiting
            .store(queues.handshakes.len(), Ordering::Relaxed);
        drop(queues);
        self.announce();
        Pushed::Queued
    }

    /// How many handshake messages wait; slightly old is good enough to notice load.
    pub(crate) fn handshakes_waiting(&self) -> usize {
        self.handshakes_waiting.load(Ordering::Relaxed)
    }

    /// Writes whole records and returns the bytes written. `endpoint_of` says where a peer is now, and notes that its
    /// move has been told.
    pub(crate) fn take(
        &self,
        into: &mut [u8],
        mut endpoint_of: impl FnMut(u32) -> Option<SocketAddr>,
    ) -> usize {
        self.announced.store(false, Ordering::SeqCst);
        let mut queues = self.lock();
        let mut writer = Writer { out: into, used: 0 };
        if queues.overflow > 0 && writer.overflow(queues.overflow).is_some() {
            queues.overflow = 0;
        }
        // Neither queue may starve the other.
        while !(queues.events.is_empty() && queues.handshakes.is_empty()) {
            let room = EVENTS_PER_HANDSHAKE;
            if take_events(&mut queues.events, &mut writer, room, &mut endpoint_of).is_none() {
                break;
            }
            if let Some(message) = queues.handshakes.front() {
                if writer.handshake(message).is_none() {
                    break;
                }
                queues.handshakes.pop_front();
            }
        }
        self.handshakes_waiting
            .store(queues.handshakes.len(), Ordering::Relaxed);
        writer.used
    }

    fn announce(&self) {
        if !self.announced.load(Ordering::SeqCst) && !self.announced.swap(true, Ordering::SeqCst) {
            (self.wake)();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// So many events are told before a handshake message has its turn.
const EVENTS_PER_HANDSHAKE: usize = 16;

/// Writes up to `count` events. `None` when the next one does not fit.
fn take_events(
    events: &mut VecDeque<(u16, Event)>,
    writer: &mut Writer<'_>,
    count: usize,
    mut endpoint_of: impl FnMut(u32) -> Option<SocketAddr>,
) -> Option<()> {
    for _ in 0..count {
        let Some((shard, event)) = events.front() else {
            break;
        };
        match event {
            Event::EndpointMoved { peer } => {
                if let Some(remote) = endpoint_of(*peer) {
                    writer.moved(*shard, *peer, remote)?;
                }
            }
            plain @ (Event::WantHandshake { .. }
            | Event::SessionConfirmed { .. }
            | Event::NoAnswer { .. }
            | Event::IoFault(_)
            | Event::SessionExpired { .. }
            | Event::ProbeAnswered { .. }
            | Event::PathTooBig { .. }
            | Event::LargeSent { .. }
            | Event::ShardFailed(_)) => writer.plain(*shard, plain)?,
        }
        events.pop_front();
    }
    Some(())
}

/// What became of a handshake message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Queued,
    Dropped,
}

/// Writes records as long as they fit whole.
struct Writer<'a> {
    out: &'a mut [u8],
    used: usize,
}

impl Writer<'_> {
    fn plain(&mut self, shard: u16, event: &Event) -> Option<()> {
        match event {
            Event::WantHandshake { peer, reason } => self.record(
                3,
                0,
                shard,
                &[&peer.to_le_bytes(), &[*reason as u8, 0, 0, 0]],
            ),
            Event::SessionConfirmed { peer, local_index } => self.record(
                4,
                0,
                shard,
                &[&peer.to_le_bytes(), &local_index.to_le_bytes()],
            ),
            Event::EndpointMoved { .. } => Some(()),
            Event::NoAnswer { peer } => self.record(6, 0, shard, &[&peer.to_le_bytes()]),
            Event::IoFault(IoFault {
                what,
                weight,
                errno,
            }) => self.record(
                8,
                0,
                shard,
                &[&[*what as u8, *weight as u8, 0, 0], &errno.to_le_bytes()],
            ),
            Event::SessionExpired { peer, local_index } => self.record(
                9,
                0,
                shard,
                &[&peer.to_le_bytes(), &local_index.to_le_bytes()],
            ),
            Event::ProbeAnswered { peer, id, size } => self.record(
                10,
                0,
                shard,
                &[&peer.to_le_bytes(), &id.to_le_bytes(), &size.to_le_bytes()],
            ),
            Event::PathTooBig { peer, payload } => {
                self.record(11, 0, shard, &[&peer.to_le_bytes(), &payload.to_le_bytes()])
            }
            Event::LargeSent { peer } => self.record(12, 0, shard, &[&peer.to_le_bytes()]),
            Event::ShardFailed(FailureText(text)) => self.record(14, 0, shard, &[text.as_bytes()]),
        }
    }

    fn moved(&mut self, shard: u16, peer: u32, remote: SocketAddr) -> Option<()> {
        self.record(5, 0, shard, &[&peer.to_le_bytes(), &endpoint(remote)])
    }

    fn overflow(&mut self, dropped: u32) -> Option<()> {
        self.record(7, 0, 0, &[&dropped.to_le_bytes(), &[0; 4]])
    }

    fn handshake(&mut self, message: &HandshakeMessage) -> Option<()> {
        let kind = match message.kind {
            HandshakeKind::Process => 1,
            HandshakeKind::AnswerWithCookie => 2,
        };
        let bytes = message.bytes.get(..message.len).unwrap_or_default();
        self.record(
            kind,
            message.flags,
            message.shard,
            &[&endpoint(message.from), bytes],
        )
    }

    fn record(&mut self, kind: u8, flags: u8, shard: u16, body: &[&[u8]]) -> Option<()> {
        let body_len: usize = body.iter().map(|part| part.len()).sum();
        let end = self.used.checked_add(HEADER_LEN + body_len)?;
        let mut out = self.out.get_mut(self.used..end)?;
        let [shard_low, shard_high] = shard.to_le_bytes();
        let [l0, l1, l2, l3] = u32::try_from(body_len).ok()?.to_le_bytes();
        for part in [&[kind, flags, shard_low, shard_high, l0, l1, l2, l3][..]]
            .iter()
            .chain(body)
        {
            let (target, rest) = out.split_at_mut_checked(part.len())?;
            target.copy_from_slice(part);
            out = rest;
        }
        self.used = end;
        Some(())
    }
}

const HEADER_LEN: usize = 8;

fn endpoint(remote: SocketAddr) -> [u8; 20] {
    let mut out = [0; 20];
    let [port_low, port_high] = remote.port().to_le_bytes();
    match remote {
        SocketAddr::V4(v4) => {
            let [a, b, c, d] = v4.ip().octets();
            let head = [4, 0, port_low, port_high, a, b, c, d];
            out.iter_mut().zip(head).for_each(|(to, from)| *to = from);
        }
        SocketAddr::V6(v6) => {
            let head = [6, 0, port_low, port_high];
            out.iter_mut()
                .zip(head.into_iter().chain(v6.ip().octets()))
                .for_each(|(to, from)| *to = from);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn counted() -> (Events, Arc<AtomicUsize>) {
        let wakes = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&wakes);
        (
            Events::new(Box::new(move || {
                seen.fetch_add(1, Ordering::SeqCst);
            })),
            wakes,
        )
    }

    fn message() -> HandshakeMessage {
        HandshakeMessage {
            kind: HandshakeKind::Process,
            shard: 1,
            flags: FLAG_UNDER_LOAD,
            from: "192.0.2.1:7".parse().unwrap(),
            len: wire::RESPONSE_LEN,
            bytes: [9; wire::INITIATION_LEN],
        }
    }

    #[test]
    fn wake_ups_are_coalesced_until_events_are_fetched() {
        let (events, wakes) = counted();
        events.push(0, Event::NoAnswer { peer: 1 });
        events.push(0, Event::NoAnswer { peer: 2 });
        assert_eq!(wakes.load(Ordering::SeqCst), 1);

        let mut out = [0; 64];
        assert_eq!(events.take(&mut out, |_| None), 24);
        assert_eq!(events.take(&mut out, |_| None), 0);
        events.push(0, Event::NoAnswer { peer: 3 });
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn only_whole_records_are_written_and_nothing_is_lost() {
        let (events, _) = counted();
        events.push(
            2,
            Event::SessionConfirmed {
                peer: 1,
                local_index: 2,
            },
        );
        events.push_handshake(&message());

        let mut out = [0; 60];
        assert_eq!(events.take(&mut out, |_| None), 16);
        assert_eq!(out[..16], [4, 0, 2, 0, 8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(
            events.take(&mut out, |_| None),
            0,
            "the message does not fit"
        );
        let mut large = [0; 200];
        assert_eq!(events.take(&mut large, |_| None), 8 + 20 + 92);
        assert_eq!(large[..8], [1, 1, 1, 0, 112, 0, 0, 0]);
        assert_eq!(large[8..16], [4, 0, 7, 0, 192, 0, 2, 1]);
    }

    #[test]
    fn a_move_is_told_with_the_place_where_the_peer_is_when_asked() {
        let (events, _) = counted();
        events.push(0, Event::EndpointMoved { peer: 5 });
        events.push(0, Event::EndpointMoved { peer: 6 });

        let mut out = [0; 100];
        let used = events.take(&mut out, |peer| {
            (peer == 6).then(|| "[2001:db8::1]:258".parse().unwrap())
        });

        assert_eq!(used, 32, "a peer that is gone is not told about");
        assert_eq!(out[8..18], [6, 0, 0, 0, 6, 0, 2, 1, 0x20, 0x01]);
    }

    #[test]
    fn a_failure_is_told_in_at_most_256_bytes_of_whole_characters() {
        let (events, _) = counted();
        let text = format!("{}é and more", "x".repeat(255));
        events.push(3, Event::ShardFailed(FailureText::new(&text)));

        let mut out = [0; 512];
        let used = events.take(&mut out, |_| None);

        assert_eq!(out[..8], [14, 0, 3, 0, 255, 0, 0, 0]);
        assert_eq!(out[8..used], [b'x'; 255]);
    }

    #[test]
    fn a_handshake_message_is_told_however_many_events_wait() {
        let (events, _) = counted();
        (0..1_000).for_each(|peer| events.push(0, Event::NoAnswer { peer }));
        events.push_handshake(&message());

        let mut out = [0; 400];
        let used = events.take(&mut out, |_| None);

        assert_eq!(used, 16 * 12 + 120 + 7 * 12);
        assert_eq!(out[16 * 12], 1, "the message comes after a few events");
        assert_eq!(events.handshakes_waiting(), 0);
    }

    #[test]
    fn a_full_queue_drops_and_tells_how_many() {
        let (events, _) = counted();
        (0..HANDSHAKES_MAX)
            .for_each(|_| assert_eq!(events.push_handshake(&message()), Pushed::Queued));
        assert_eq!(events.push_handshake(&message()), Pushed::Dropped);
        assert_eq!(events.handshakes_waiting(), HANDSHAKES_MAX);

        let mut out = [0; 16];
        assert_eq!(events.take(&mut out, |_| None), 16);
        assert_eq!(out, [7, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
