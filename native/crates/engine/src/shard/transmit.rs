//! Sealing what was collected, and sending it.

use core::net::SocketAddr;
use std::io;

use conceal::{Kind, WINDOW_START};
use ports::{DatagramCounters, Datagrams, Endpoint};
use wire::{Aead, COOKIE_REPLY_LEN, DATA_HEADER_LEN, DataHeader, TAG_LEN};

use super::batch::{Carriage, Target, TxBatch};
use super::lanes::{LaneSockets, lane_socket, note_turn};
use super::pass::{FaultReporter, Pass};
use crate::concealment::{Concealment, Reach};
use crate::counters::{DropReason, Total};
use crate::driver::{LaneFamily, Ready, ShardClock, WantRoom, lane_bit};
use crate::event::{Event, FaultSource, WantReason};
use crate::lanes::Turn;
use crate::path::{Belief, Lowered, News};
use crate::peer::Peer;
use crate::session::Session;
use crate::shared::OutgoingHandshake;
use crate::stage::{Stage, Work};
use crate::timers::{TimerKey, TimerQueue};

/// The sending half of a shard.
pub(crate) struct Transmitter<D> {
    pub(crate) v4: Option<D>,
    pub(crate) v6: Option<D>,
    /// Sockets of the second lane and those behind it.
    pub(crate) lanes: Vec<LaneSockets<D>>,
    pub(crate) batch: TxBatch,
    pub(crate) timers: TimerQueue,
    pub(crate) faults: FaultReporter,
    full: WantRoom,
}

impl<D: Datagrams> Transmitter<D> {
    pub(crate) fn new(
        sockets: LaneSockets<D>,
        lanes: Vec<LaneSockets<D>>,
        mut batch: TxBatch,
    ) -> Self {
        let LaneSockets { v4, v6 } = sockets;
        if [&v4, &v6]
            .into_iter()
            .flatten()
            .any(|socket| !socket.state().equal_tails.is_on())
        {
            batch.leave_room_for_a_tail();
        }
        Transmitter {
            v4,
            v6,
            lanes,
            batch,
            timers: TimerQueue::new(),
            faults: FaultReporter::default(),
            full: WantRoom::default(),
        }
    }

    /// Sockets that were full at the last send and have not reported room since.
    pub(crate) fn full(&self) -> WantRoom {
        self.full
    }

    pub(crate) fn note_room(&mut self, ready: Ready) {
        self.full.v4 &= !ready.room_v4;
        self.full.v6 &= !ready.room_v6;
        self.full.lanes &= !ready.room_lanes;
    }

    /// Queues a keepalive of a session behind what is collected.
    pub(crate) fn push_keepalive<C: ShardClock>(&mut self, pass: &Pass<'_, C>, target: Target) {
        if !self.batch.accepts(target, 0) {
            self.flush(pass);
        }
        self.batch.commit(target, 0);
        pass.count(Total::KeepalivesSent, 1);
    }

    /// Copies a finished packet behind what is collected.
    pub(crate) fn push_packet<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        target: Target,
        packet: &[u8],
    ) {
        if !self.batch.accepts(target, packet.len()) {
            self.flush(pass);
        }
        let Some(room) = self.batch.room().get_mut(..packet.len()) else {
            return;
        };
        room.copy_from_slice(packet);
        self.batch.commit(target, packet.len());
    }

    /// Sends the packets that waited for a session, oldest first. Returns how many there were.
    pub(crate) fn send_waiting<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        peer: &Peer,
        session: u32,
    ) -> usize {
        let mut sent = 0;
        while let Some(packet) = peer.waiting.pop(&pass.shared.waiting_bytes) {
            let lane = self.lane_of(pass, peer, pass.state.session(session), &packet);
            let target = pass.target(peer, session).marked_as(&packet).by(lane);
            self.push_packet(pass, target, &packet);
            sent += 1;
        }
        sent
    }

    /// Seals and sends what is collected.
    pub(crate) fn flush<C: ShardClock>(&mut self, pass: &Pass<'_, C>) {
        if let Some(target) = self.batch.target()
            && let Some(peer) = pass.state.peer(target.peer)
        {
            self.flush_to(pass, peer, target);
        }
        self.batch.clear();
    }

    fn flush_to<C: ShardClock>(&mut self, pass: &Pass<'_, C>, peer: &Peer, target: Target) {
        self.shorten_tail(pass, peer, target);
        let datagrams = self.batch.datagrams() as u64;
        let Some(session) = pass.state.session(target.session) else {
            return pass.dropped(Some(peer), DropReason::NoSession, datagrams);
        };
        let Some(endpoint) = peer.endpoint.load() else {
            return pass.dropped(Some(peer), DropReason::Io, datagrams);
        };
        let Some(first) = session.reserve(target.lane, datagrams) else {
            return pass.dropped(Some(peer), DropReason::NoSession, datagrams);
        };
        let work = Work {
            packets: self.batch.datagrams(),
            bytes: self.batch.payload().len(),
        };
        if self.batch.data_packets() > 0
            && peer.path.note_sent(self.batch.segment()) == News::Awaited
        {
            pass.event(Event::LargeSent { peer: peer.index });
        }
        let start = pass.cycles();
        for (datagram, counter) in self.batch.each_mut().zip(first..) {
            seal(session, counter, datagram);
        }
        if let Some(concealment) = pass.state.concealment() {
            self.batch.conceal(concealment);
            peer.window.raise(self.batch.longest_datagram());
        }
        let start = pass.spent(Stage::Seal, work, start);
        let accepted = self.send_batch(pass, peer, endpoint, target);
        pass.spent(Stage::UdpSend, work, start);
        if session.lanes > 1 {
            self.note_lane(pass, peer, target.lane);
        }
        self.look_at_belief(pass, peer, endpoint);
        self.account(pass, peer, accepted);
        if session.wants_rekey_on_send(pass.now) {
            pass.want_handshake(peer, WantReason::OldOnSend);
        }
    }

    /// FBK-08: where the kernel mangles a batch whose last segment has full size, a keepalive becomes the last.
    fn shorten_tail<C: ShardClock>(&mut self, pass: &Pass<'_, C>, peer: &Peer, target: Target) {
        if !self.batch.has_equal_tail() || self.batch.datagrams() < EQUAL_TAIL_BATCH_MIN {
            return;
        }
        let remote = peer.endpoint.load().map(|endpoint| endpoint.remote);
        let state = remote
            .and_then(|remote| self.socket_of(target.lane, remote))
            .map(|socket| socket.state());
        if state.is_some_and(|state| state.gso.is_on() && !state.equal_tails.is_on()) {
            self.batch.commit(target, 0);
            pass.count(Total::KeepalivesSent, 1);
        }
    }

    /// Sends the sealed batch; what a full socket does not take is dropped, and the TUN queue rests until it has room.
    fn send_batch<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        peer: &Peer,
        endpoint: Endpoint,
        target: Target,
    ) -> usize {
        let Target { mark, lane, .. } = target;
        let socket = match lane {
            0 => socket_for(&mut self.v4, &mut self.v6, endpoint.remote),
            lane => lane_socket(&mut self.lanes, lane, endpoint.remote),
        };
        let Some(socket) = socket else {
            return 0;
        };
        socket.rely_on(peer.path.bound());
        let (mut accepted, mut handled) = (0, 0);
        for _ in 0..SEND_ATTEMPTS {
            let rest = self
                .batch
                .payload()
                .get(self.batch.behind(handled))
                .unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let outcome = match self.batch.carriage() {
                Carriage::Together => {
                    socket.send_marked(&endpoint, rest, self.batch.segment(), mark)
                }
                Carriage::Alone(carriage) => socket.send_alone(&endpoint, rest, carriage),
            };
            accepted += outcome.accepted;
            handled += outcome.handled;
            if outcome.pin_lost {
                // Another shard may have heard the peer elsewhere since.
                let unpinned = Endpoint::unpinned(endpoint.remote);
                peer.endpoint.replace(endpoint, unpinned);
            }
            match &outcome.error {
                Some(error) if error.kind() == io::ErrorKind::WouldBlock && lane > 0 => {
                    let family = if endpoint.remote.is_ipv4() {
                        LaneFamily::V4
                    } else {
                        LaneFamily::V6
                    };
                    self.full.lanes |= lane_bit(lane, family);
                    break;
                }
                Some(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.full.v4 |= endpoint.remote.is_ipv4();
                    self.full.v6 |= endpoint.remote.is_ipv6();
                    break;
                }
                Some(error) if error.raw_os_error() == Some(EMSGSIZE) => {
                    if let Some(payload) = socket.path_payload(endpoint.remote) {
                        note_too_big(pass, peer, payload);
                    }
                }
                Some(error) if error.kind() == io::ErrorKind::PermissionDenied && lane > 0 => {
                    // A rule of this host lets the port out no more; the first one may be allowed.
                    let lanes = peer.lanes.as_ref();
                    note_turn(
                        pass,
                        lanes.map_or(Turn::Nothing, |lanes| lanes.fail(lane, pass.now)),
                    );
                }
                Some(error) => self.faults.report(pass, FaultSource::UdpSend, error),
                None => {}
            }
        }
        accepted
    }

    /// Notices what routers report about a path that is proven. It is a hint for the slow path and lowers nothing here:
    /// anybody can forge it.
    fn look_at_belief<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        peer: &Peer,
        endpoint: Endpoint,
    ) {
        if self.batch.carriage() != Carriage::Together
            || !peer.path.wants_belief(self.batch.segment(), pass.now)
        {
            return;
        }
        let socket = socket_for(&mut self.v4, &mut self.v6, endpoint.remote);
        let believed = socket.and_then(|socket| socket.path_payload(endpoint.remote));
        if let Some(payload) = believed
            && peer.path.note_belief(payload) == Belief::Less
        {
            tell_too_big(pass, peer, payload);
        }
    }

    fn account<C: ShardClock>(&mut self, pass: &Pass<'_, C>, peer: &Peer, accepted: usize) {
        let (datagrams, packets) = (self.batch.datagrams(), self.batch.data_packets());
        let lost = datagrams.saturating_sub(accepted);
        // A probe that the kernel refuses has done its work.
        if lost > 0 && self.batch.carriage() != Carriage::Alone(ports::Carriage::Whole) {
            pass.dropped(Some(peer), DropReason::Io, lost as u64);
        }
        if packets > 0 {
            let bytes = self.batch.inner_bytes() * accepted / datagrams.max(1);
            peer.counters
                .tx_packets
                .add(packets.saturating_sub(lost) as u64);
            peer.counters.tx_bytes.add(bytes as u64);
            if !peer.no_answer.is_set() {
                let due = pass.now + self.batch.draw(pass.state.silence().no_answer);
                if peer.no_answer.set(due) {
                    self.timers
                        .watch(due, TimerKey::NoAnswer { peer: peer.index });
                }
            }
        }
        peer.passive_keepalive.clear();
        self.postpone_persistent(pass, peer);
    }

    /// Moves the persistent keepalive behind a packet that went either way.
    pub(crate) fn postpone_persistent<C: ShardClock>(&mut self, pass: &Pass<'_, C>, peer: &Peer) {
        if let Some(interval) = peer.keepalive {
            let due = pass.now + interval;
            if peer.persistent_keepalive.set(due) {
                self.timers
                    .watch(due, TimerKey::PersistentKeepalive { peer: peer.index });
            }
        }
    }

    /// Sends a message of the slow path as it is.
    pub(crate) fn send_handshake<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        order: &OutgoingHandshake,
    ) {
        let OutgoingHandshake { peer, to, message } = order;
        let peer = peer.and_then(|peer| pass.state.peer(peer));
        let reach = Reach {
            window: peer.map_or(WINDOW_START, |peer| peer.window.get()),
            unix_seconds: pass.clock.unix_seconds(),
        };
        self.flush(pass);
        if let Some(reason) = self.send_message(pass, to, message, reach).err() {
            pass.dropped(peer, reason, 1);
        }
    }

    /// A cookie reply with a type of the profile; no MAC covers it.
    pub(crate) fn typed<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        mut reply: [u8; COOKIE_REPLY_LEN],
    ) -> [u8; COOKIE_REPLY_LEN] {
        if let Some((concealment, (random, _))) = pass.state.concealment().zip(self.batch.scratch())
            && let Some(value) = reply.first_chunk_mut()
        {
            *value = concealment
                .profile
                .types(Kind::CookieReply)
                .draw(random)
                .to_le_bytes();
        }
        reply
    }

    /// Sends a handshake message as the profile wants it. Nothing may be collected.
    pub(crate) fn send_message<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        to: &Endpoint,
        message: &[u8],
        reach: Reach,
    ) -> Result<(), DropReason> {
        let socket = socket_for(&mut self.v4, &mut self.v6, to.remote).ok_or(DropReason::Io)?;
        let disguise = pass.state.concealment().zip(self.batch.scratch());
        let mut failed = None;
        let mut send = |datagram: &[u8]| {
            let outcome = socket.send(to, datagram, datagram.len());
            failed = failed.take().or(outcome.error);
            outcome.accepted
        };
        let accepted = match disguise {
            None => send(message),
            Some((Concealment { profile, .. }, (random, scratch))) => {
                if profile.kind_of(message) == Some(Kind::Initiation) {
                    // A decoy that is lost must not keep the initiation back (WIR-11).
                    profile.prelude(reach.unix_seconds, random, scratch, |decoy| {
                        send(decoy);
                    });
                }
                // Its type is of another profile when that has changed since the message was made.
                let framed = profile
                    .frame(message, reach.window, random, scratch)
                    .and_then(|len| scratch.get(..len));
                send(framed.ok_or(DropReason::Malformed)?)
            }
        };
        if let Some(error) = &failed {
            self.faults.report(pass, FaultSource::UdpSend, error);
        }
        if accepted == 0 {
            return Err(DropReason::Io);
        }
        Ok(())
    }

    /// Shows the counts of both sockets.
    pub(crate) fn publish<C: ShardClock>(&self, pass: &Pass<'_, C>) {
        let totals = &pass.board.totals;
        let lanes = self.lanes.iter().flat_map(|lane| [&lane.v4, &lane.v6]);
        let sum = |of: fn(&DatagramCounters) -> u64| {
            let sockets = [&self.v4, &self.v6].into_iter().chain(lanes.clone());
            sockets
                .flatten()
                .map(|socket| of(socket.counters()))
                .sum::<u64>()
        };
        let errors = |of: &DatagramCounters| {
            of.send_would_block
                + of.send_no_buffers
                + of.send_too_big
                + of.send_unreachable
                + of.send_refused
                + of.send_other
        };
        totals.set(Total::UdpSendCalls, sum(|of| of.send_calls));
        totals.set(Total::UdpSendGso, sum(|of| of.send_gso));
        totals.set(Total::UdpSendDatagrams, sum(|of| of.send_datagrams));
        totals.set(Total::UdpSendErrors, sum(errors));
        totals.set(Total::UdpSendFallbacks, sum(|of| of.send_fallback));
        totals.set(Total::UdpReceiveCalls, sum(|of| of.receive_calls));
        totals.set(Total::UdpReceiveGro, sum(|of| of.receive_gro));
        totals.set(Total::UdpReceiveDatagrams, sum(|of| of.receive_datagrams));
        totals.set(Total::UdpReceiveTruncated, sum(|of| of.receive_truncated));
        let by_lanes = lanes.flatten();
        totals.set(
            Total::LaneSendDatagrams,
            by_lanes
                .map(|socket| socket.counters().send_datagrams)
                .sum(),
        );
    }
}

/// The kernel refused datagrams: smaller ones follow from now on, and the slow path learns it once (FBK-04).
pub(super) fn note_too_big<C: ShardClock>(pass: &Pass<'_, C>, peer: &Peer, payload: usize) {
    if peer.path.lower(payload) == Lowered::Yes {
        tell_too_big(pass, peer, payload);
    }
}

/// Tells the slow path that the kernel believes in no more than this.
pub(super) fn tell_too_big<C: ShardClock>(pass: &Pass<'_, C>, peer: &Peer, payload: usize) {
    let payload = u32::try_from(payload).unwrap_or(u32::MAX);
    let peer = peer.index;
    pass.event(Event::PathTooBig { peer, payload });
}

const EMSGSIZE: i32 = 90;

/// A smaller batch is sent without GSO: a datagram more would cost more than it saves.
const EQUAL_TAIL_BATCH_MIN: usize = 8;

/// Twice is enough: the second attempt comes after the kernel ran out of memory once or lost a pinned address.
const SEND_ATTEMPTS: usize = 2;

fn seal(session: &Session, counter: u64, datagram: &mut [u8]) {
    let Some((head, rest)) = datagram.split_first_chunk_mut::<DATA_HEADER_LEN>() else {
        return;
    };
    let Some((packet, tag)) = rest.split_last_chunk_mut::<TAG_LEN>() else {
        return;
    };
    DataHeader {
        receiver: session.remote_index,
        counter,
    }
    .write(head);
    session.send_key.seal(counter, packet, tag);
}

pub(super) fn socket_for<'a, D>(
    v4: &'a mut Option<D>,
    v6: &'a mut Option<D>,
    remote: SocketAddr,
) -> Option<&'a mut D> {
    match remote {
        SocketAddr::V4(_) => v4.as_mut(),
        SocketAddr::V6(_) => v6.as_mut(),
    }
}
