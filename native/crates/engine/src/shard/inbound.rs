//! From the sockets to the TUN queue.

use core::ops::Range;
use std::io;

use arrayvec::ArrayVec;
use conceal::Kind;
use filter::{Direction, Judge, Passage, Verdict};
use offload::{Checksum, Family, MergeLimits, Merger, PushOutcome};
use packet::ecn::{self, Carried};
use ports::{Datagrams, Endpoint, Received, TunQueue};
use wire::{Aead, DATA_HEADER_LEN, DataHeader, Extension, Message, ReplayVerdict, is_extension};

use super::outbound::Drained;
use super::pass::{FaultReporter, Pass};
use super::probe::speaks_extensions;
use super::recognise::{is_keepalive, recognise};
use super::run::{Run, run_of};
use super::transmit::Transmitter;
use super::tun_writer::{Form, TunWriter};
use crate::command::Elision;
use crate::concealment::Reach;
use crate::counters::{DropReason, Total};
use crate::driver::ShardClock;
use crate::endpoint::Change;
use crate::event::{Event, FaultSource, HandshakeKind, HandshakeMessage, Pushed, WantReason};
use crate::gate::{Arrival, Judgement};
use crate::session::Session;
use crate::stage::{Stage, Work};
use crate::state::Ended;
use crate::timers::TimerKey;

/// Receives batches, opens them in place and merges them into frames.
pub(crate) struct Inbound {
    arena: Box<[u8]>,
    received: [Received; SLOTS],
    opened: Vec<Opened>,
    /// Extension messages of a run, with the length of their datagrams.
    extensions: ArrayVec<(Extension, usize), EXTENSIONS_MAX>,
    merger: Merger,
    writer: TunWriter,
    got: Work,
    wrote: Wrote,
    judge: Judge,
    /// Sessions that fell out of their places when another was confirmed.
    pub(crate) fallen: Vec<Ended>,
}

/// An opened packet in the arena.
#[derive(Clone, Copy, Debug)]
struct Opened {
    counter: u64,
    start: usize,
    len: usize,
    checksum: Checksum,
}

/// Whether frames went to the TUN queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    Nothing,
    Something,
}

/// Which socket to receive from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    V4,
    V6,
}

impl Inbound {
    pub(crate) fn new(limits: MergeLimits, writer: TunWriter) -> Self {
        Inbound {
            arena: vec![0; SLOTS * SLOT_LEN].into_boxed_slice(),
            received: [Received::EMPTY; SLOTS],
            opened: Vec::with_capacity(OPENED_MAX),
            extensions: ArrayVec::new(),
            merger: Merger::new(limits),
            writer,
            got: Work::default(),
            wrote: Wrote::Nothing,
            judge: Judge::default(),
            fallen: Vec::new(),
        }
    }

    /// Packets above this are never merged.
    pub(crate) fn set_mtu(&mut self, mtu: usize) {
        self.merger.set_inner_mtu(mtu);
    }

    /// Whether frames were written since the last call.
    pub(crate) fn take_wrote(&mut self) -> Wrote {
        core::mem::replace(&mut self.wrote, Wrote::Nothing)
    }

    /// Datagrams received since the last call.
    pub(crate) fn take_received(&mut self) -> Work {
        core::mem::take(&mut self.got)
    }

    /// Families the kernel refused to take merged.
    pub(crate) fn refused(&self) -> &[Family] {
        self.writer.refused()
    }

    /// Receives one batch and writes everything of it to the TUN queue.
    pub(crate) fn turn<C, T, D>(
        &mut self,
        pass: &Pass<'_, C>,
        source: Source,
        tun: &mut T,
        transmitter: &mut Transmitter<D>,
    ) -> Drained
    where
        C: ShardClock,
        T: TunQueue,
        D: Datagrams,
    {
        let socket = match source {
            Source::V4 => transmitter.v4.as_mut(),
            Source::V6 => transmitter.v6.as_mut(),
        };
        let Some(socket) = socket else {
            return Drained::Yes;
        };
        let start = pass.cycles();
        let count = match socket.receive(&mut self.arena, SLOT_LEN, &mut self.received) {
            Ok(count) => count,
            Err(error) => {
                if error.kind() != io::ErrorKind::WouldBlock {
                    transmitter
                        .faults
                        .report(pass, FaultSource::UdpReceive, &error);
                }
                return Drained::Yes;
            }
        };
        let received = self.received;
        let filled = received.get(..count).unwrap_or_default();
        let work = Work {
            packets: filled.iter().map(|slot| slot.datagrams().count()).sum(),
            bytes: filled.iter().map(|slot| slot.len).sum(),
        };
        pass.spent(Stage::UdpReceive, work, start);
        self.got.packets += work.packets;
        self.got.bytes += work.bytes;
        for slot in filled {
            self.slot(pass, slot, tun, transmitter);
        }
        pass.settle(&mut self.judge);
        self.flush(pass, tun, &mut transmitter.faults);
        if count == SLOTS {
            Drained::MaybeNot
        } else {
            Drained::Yes
        }
    }

    /// Opens the datagrams of one slot, run by run.
    fn slot<C, T, D>(
        &mut self,
        pass: &Pass<'_, C>,
        slot: &Received,
        tun: &mut T,
        transmitter: &mut Transmitter<D>,
    ) where
        C: ShardClock,
        T: TunQueue,
        D: Datagrams,
    {
        let base = slot.slot * SLOT_LEN;
        let mut run: Option<Run<'_>> = None;
        let mut start = pass.cycles();
        for range in slot.datagrams() {
            let range = base + range.start..base + range.end;
            let datagram = self.arena.get_mut(range.clone()).unwrap_or_default();
            let known = run.map(|run| run.session.local_index);
            let Some((message, range)) = recognise(pass, datagram, (range.start, known)) else {
                pass.dropped(None, DropReason::Malformed, 1);
                continue;
            };
            match message {
                Message::Data(header) => {
                    let same = run.filter(|run| run.takes(header));
                    if same.is_none() || self.opened.len() == OPENED_MAX {
                        start = self.finish(pass, run.take(), start, tun, transmitter);
                        run = run_of(pass, header, slot);
                    }
                    match run {
                        Some(run) => self.open(pass, run, header, range),
                        None => pass.dropped(None, DropReason::NoSession, 1),
                    }
                }
                kind @ (Message::Initiation | Message::Response | Message::CookieReply) => {
                    self.handshake(pass, kind, range, slot.from, transmitter);
                }
            }
        }
        self.finish(pass, run, start, tun, transmitter);
    }

    fn open<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        run: Run<'_>,
        header: DataHeader,
        range: Range<usize>,
    ) {
        if run.session.lane_of(header.counter) != Some(run.lane) {
            return pass.dropped(Some(run.peer), DropReason::NoSession, 1);
        }
        let start = range.start + DATA_HEADER_LEN;
        let sealed = self.arena.get_mut(start..range.end).unwrap_or_default();
        match run.session.receive_key.open(header.counter, sealed) {
            Ok(len) => self.opened.push(Opened {
                counter: header.counter,
                start,
                len,
                checksum: Checksum::Unverified,
            }),
            Err(_) => pass.dropped(Some(run.peer), DropReason::BadTag, 1),
        }
    }

    /// Takes a run whose packets are opened through replay window, timers, source check and policy to the merger.
    /// Returns the cycle count now.
    fn finish<C, T, D>(
        &mut self,
        pass: &Pass<'_, C>,
        run: Option<Run<'_>>,
        start: u64,
        tun: &mut T,
        transmitter: &mut Transmitter<D>,
    ) -> u64
    where
        C: ShardClock,
        T: TunQueue,
        D: Datagrams,
    {
        let Some(run) = run else { return start };
        let work = self.work();
        let start = pass.spent(Stage::Open, work, start);
        self.drop_replays(pass, run);
        if self.opened.is_empty() {
            return start;
        }
        self.authenticated(pass, run, transmitter);
        if let Some(concealment) = pass.state.concealment() {
            let longest = self.opened.iter().map(|packet| packet.len).max();
            let around = concealment.profile.padding(Kind::Transport) + DATA_HEADER_LEN;
            run.peer.window.raise(around + longest.unwrap_or(0));
        }
        self.drop_unwanted(pass, run);
        for (message, datagram) in self.extensions.drain(..) {
            transmitter.handle_extension(pass, run.peer, (run.lane, message, datagram));
        }
        let (packets, bytes) = (self.opened.len() as u64, self.work().bytes as u64);
        run.peer.counters.rx_packets.add(packets);
        if run.lane > 0 {
            pass.count(Total::LaneReceiveDatagrams, work.packets);
        }
        run.peer.counters.rx_bytes.add(bytes);
        let start = pass.spent(Stage::Filter, work, start);
        self.merge(pass, run.peer.index, start, tun, &mut transmitter.faults)
    }

    fn work(&self) -> Work {
        Work {
            packets: self.opened.len(),
            bytes: self.opened.iter().map(|packet| packet.len).sum(),
        }
    }

    fn drop_replays<C: ShardClock>(&mut self, pass: &Pass<'_, C>, run: Run<'_>) {
        let mut window = run.session.replay(run.lane);
        let before = self.opened.len();
        self.opened
            .retain(|packet| match window.accept(packet.counter) {
                ReplayVerdict::Fresh => true,
                ReplayVerdict::Duplicate | ReplayVerdict::BehindWindow => false,
            });
        drop(window);
        let replayed = before - self.opened.len();
        if replayed > 0 {
            pass.dropped(Some(run.peer), DropReason::Replay, replayed as u64);
        }
    }

    /// What every authenticated run does to its peer: confirm the session, follow the peer, move the timers.
    fn authenticated<C, D>(
        &mut self,
        pass: &Pass<'_, C>,
        run: Run<'_>,
        transmitter: &mut Transmitter<D>,
    ) where
        C: ShardClock,
        D: Datagrams,
    {
        let Run {
            slot,
            session,
            peer,
            from,
            lane,
            mark: _,
        } = run;
        peer.note_received(pass.now);
        // Only the first lane leaves from the port that answers go to.
        if lane == 0
            && peer.move_to(Some(from)) == Change::Moved
            && !peer
                .move_queued
                .swap(true, core::sync::atomic::Ordering::AcqRel)
        {
            pass.event(Event::EndpointMoved { peer: peer.index });
        }
        if peer.sessions.is_next(slot)
            && let Some(fallen) = peer.sessions.promote(slot)
        {
            self.fallen.extend(pass.state.named(fallen));
            // Whatever was asked for has come, even where the slow path answers its own question no more.
            peer.handshake_wanted
                .store(false, core::sync::atomic::Ordering::Release);
            pass.event(Event::SessionConfirmed {
                peer: peer.index,
                local_index: session.local_index,
            });
            transmitter.send_waiting(pass, peer, slot);
            transmitter.flush(pass);
        }
        peer.no_answer.clear();
        transmitter.postpone_persistent(pass, peer);
        let data = self
            .opened
            .iter()
            .any(|packet| !is_keepalive(self.arena.get(packet.start..packet.start + packet.len)));
        if data && !peer.passive_keepalive.is_set() {
            let due = pass.now + transmitter.batch.draw(pass.state.silence().keepalive);
            if peer.passive_keepalive.set(due) {
                transmitter
                    .timers
                    .watch(due, TimerKey::PassiveKeepalive { peer: peer.index });
            }
        }
        if session.wants_rekey_on_receive(pass.now) {
            pass.want_handshake(peer, WantReason::OldOnReceive);
        }
    }

    /// Cuts padding off and drops keepalives, packets from addresses the peer does not own, and what the policy denies.
    fn drop_unwanted<C: ShardClock>(&mut self, pass: &Pass<'_, C>, run: Run<'_>) {
        let peer = run.peer;
        let mut owned = None;
        let form = self.writer.form();
        let (arena, opened) = (&mut self.arena, &mut self.opened);
        let (extensions, judge) = (&mut self.extensions, &mut self.judge);
        let bench = pass.bench();
        let overhead = pass.shape(peer).overhead();
        opened.retain_mut(|packet| {
            if is_keepalive(arena.get(packet.start..packet.start + packet.len)) {
                pass.count(Total::KeepalivesReceived, 1);
                return false;
            }
            let bytes = arena
                .get_mut(packet.start..packet.start + packet.len)
                .unwrap_or_default();
            if is_extension(bytes)
                && (run.session.lanes > 1 || speaks_extensions(run.session, peer))
            {
                let kept = Extension::read(bytes)
                    .and_then(|message| extensions.try_push((message, packet.len + overhead)).ok());
                if kept.is_none() {
                    pass.dropped(Some(peer), DropReason::Malformed, 1);
                }
                return false;
            }
            if offload::is_marked(bytes) {
                let Some(checksum) = accept_elided(run.session, bytes, form) else {
                    pass.count(Total::ElideBad, 1);
                    pass.dropped(Some(peer), DropReason::Malformed, 1);
                    return false;
                };
                pass.count(Total::ElideRx, 1);
                packet.checksum = checksum;
            }
            if run.mark != ecn::NOT_CAPABLE && ecn::carry(run.mark, bytes) == Carried::Impossible {
                pass.dropped(Some(peer), DropReason::Congestion, 1);
                return false;
            }
            let bytes = &*bytes;
            let declared = packet::declared_len(bytes).and_then(|len| bytes.get(..len));
            let Some((cut, (source, _))) =
                declared.and_then(|cut| Some((cut, packet::addresses(cut)?)))
            else {
                pass.dropped(Some(peer), DropReason::Malformed, 1);
                return false;
            };
            if owned != Some(source) {
                if pass.state.peer_of(source) != Some(peer.index) {
                    pass.dropped(Some(peer), DropReason::SourceNotAllowed, 1);
                    return false;
                }
                owned = Some(source);
            }
            let passage = Passage {
                direction: Direction::In,
                peer: peer.id(),
                packet: cut,
            };
            if judge.judge(&bench, &passage) != Verdict::Allow {
                pass.dropped(Some(peer), DropReason::Filter, 1);
                return false;
            }
            packet.len = cut.len();
            true
        });
    }

    fn merge<C, T>(
        &mut self,
        pass: &Pass<'_, C>,
        peer: u32,
        start: u64,
        tun: &mut T,
        faults: &mut FaultReporter,
    ) -> u64
    where
        C: ShardClock,
        T: TunQueue,
    {
        let mut work = Work::default();
        let mut start = start;
        for at in 0..self.opened.len() {
            let Some(packet) = self.opened.get(at).copied() else {
                break;
            };
            let mut outcome = self.push(packet, peer);
            if outcome == PushOutcome::Full {
                pass.spent(Stage::Merge, core::mem::take(&mut work), start);
                self.flush(pass, tun, faults);
                start = pass.cycles();
                outcome = self.push(packet, peer);
            }
            match outcome {
                PushOutcome::Queued => {
                    work.packets += 1;
                    work.bytes += packet.len;
                }
                PushOutcome::Full | PushOutcome::Malformed => {
                    pass.dropped(pass.state.peer(peer), DropReason::Malformed, 1);
                }
            }
        }
        self.opened.clear();
        pass.spent(Stage::Merge, work, start)
    }

    fn push(&mut self, packet: Opened, peer: u32) -> PushOutcome {
        let (Ok(start), Ok(len)) = (u32::try_from(packet.start), u32::try_from(packet.len)) else {
            return PushOutcome::Malformed;
        };
        self.merger
            .push(&self.arena, start, len, peer, packet.checksum)
    }

    /// Writes everything that was merged; nothing is held over a wait (ORD-03).
    fn flush<C, T>(&mut self, pass: &Pass<'_, C>, tun: &mut T, faults: &mut FaultReporter)
    where
        C: ShardClock,
        T: TunQueue,
    {
        if self.merger.is_empty() {
            return;
        }
        self.wrote = Wrote::Something;
        let order = self.writer.order();
        let writer = &mut self.writer;
        let start = pass.cycles();
        let mut writing = 0;
        self.merger.flush(&mut self.arena, order, |arena, frame| {
            writing += writer.write(pass, tun, faults, arena, &frame);
        });
        pass.spent(Stage::Merge, Work::default(), start.wrapping_add(writing));
        for family in self.writer.refused() {
            self.merger.disable(*family);
        }
    }

    /// Judges a handshake message: it goes to the slow path, or is answered with a cookie right here, or is dropped.
    fn handshake<C: ShardClock, D: Datagrams>(
        &self,
        pass: &Pass<'_, C>,
        kind: Message,
        range: Range<usize>,
        from: Endpoint,
        transmitter: &mut Transmitter<D>,
    ) {
        pass.count(Total::HandshakesReceived, 1);
        let message = self.arena.get(range).unwrap_or_default();
        let arrival = Arrival {
            now: pass.now,
            waiting: pass.shared.events.handshakes_waiting(),
            cookies: pass
                .state
                .concealment()
                .map(|concealment| concealment.profile.cookies())
                .unwrap_or_default(),
        };
        let (kind, flags) = match pass.shared.gate.judge(&kind, message, from.remote, arrival) {
            Judgement::Process { flags } => (HandshakeKind::Process, flags),
            Judgement::AnswerWithCookie { flags } => (HandshakeKind::AnswerWithCookie, flags),
            Judgement::BadMac => return pass.count(Total::HandshakesBadMac, 1),
            Judgement::Drop => return pass.count(Total::HandshakesDropped, 1),
        };
        if kind == HandshakeKind::AnswerWithCookie {
            pass.count(Total::CookiesWanted, 1);
            if let Some(reply) = pass.shared.gate.cookie_reply(message, from.remote) {
                transmitter.flush(pass);
                let reply = transmitter.typed(pass, reply);
                // A reply that is lost is like one lost on the road: the sender asks again.
                let _ = transmitter.send_message(pass, &from, &reply, Reach::STRANGER);
                return;
            }
        }
        let mut bytes = [0; wire::INITIATION_LEN];
        bytes
            .iter_mut()
            .zip(message)
            .for_each(|(to, from)| *to = *from);
        let message = HandshakeMessage {
            kind,
            shard: pass.shard,
            flags,
            from: from.remote,
            len: message.len(),
            bytes,
        };
        if pass.shared.events.push_handshake(&message) == Pushed::Dropped {
            pass.count(Total::HandshakesDropped, 1);
        }
    }
}

/// Clears the mark of a packet whose checksum the sender left out, and finishes it for a device that wants that. Returns
/// what is known about the checksum; `None` when the session does not carry elision or the field holds no seed.
fn accept_elided(session: &Session, packet: &mut [u8], form: Form) -> Option<Checksum> {
    if session.elision == Elision::Off {
        return None;
    }
    offload::unmark(packet).ok()?;
    match form {
        Form::Partial => Some(Checksum::Elided),
        Form::Finished => {
            offload::finish_elided(packet);
            Some(Checksum::Unverified)
        }
    }
}

/// Slots of one receive.
pub const SLOTS: usize = 16;
/// Not a multiple of the page size: copies between places of equal page offset are slow on some processors.
const SLOT_LEN: usize = 65_536 + 1_088;
/// Extension messages of one run; nobody sends more for an honest reason.
const EXTENSIONS_MAX: usize = 16;
/// Packets of one run.
const OPENED_MAX: usize = 2048;
