//! Lanes in a shard: by which one a packet goes, and whether the lanes arrive.

use core::net::SocketAddr;

use ports::Datagrams;
use wire::Extension;

use super::pass::Pass;
use super::transmit::{Transmitter, socket_for};
use crate::counters::Total;
use crate::driver::ShardClock;
use crate::lanes::{Lane, Look, Turn, flow_number};
use crate::peer::Peer;
use crate::session::Session;
use crate::timers::TimerKey;

/// The sockets of one lane in one shard; they only send, except those of the first lane.
#[derive(Debug)]
pub struct LaneSockets<D> {
    /// Its IPv4 socket.
    pub v4: Option<D>,
    /// Its IPv6 socket.
    pub v6: Option<D>,
}

impl<D: Datagrams> Transmitter<D> {
    /// The lane that a packet to a peer goes by under a session.
    pub(crate) fn lane_of<C: ShardClock>(
        &self,
        pass: &Pass<'_, C>,
        peer: &Peer,
        session: Option<&Session>,
        packet: &[u8],
    ) -> Lane {
        match (session, &peer.lanes) {
            (Some(session), Some(lanes)) if session.lanes > 1 => {
                lanes.lane_of(flow_number(packet), self.own_lanes(session), pass.now)
            }
            _ => 0,
        }
    }

    /// Lanes of a session that there are sockets for.
    fn own_lanes(&self, session: &Session) -> u8 {
        u8::try_from(self.lanes.len() + 1)
            .unwrap_or(u8::MAX)
            .min(session.lanes)
    }

    /// Notes that a batch went out by a lane.
    pub(super) fn note_lane<C: ShardClock>(&mut self, pass: &Pass<'_, C>, peer: &Peer, lane: Lane) {
        let Some(lanes) = &peer.lanes else { return };
        if self.batch.data_packets() > 0 {
            lanes.note_sent(lane);
        } else if !lanes.is_new() {
            return;
        }
        if !lanes.round.is_set() && lanes.round.set(pass.now) {
            let peer = peer.index;
            self.timers.watch(pass.now, TimerKey::Lanes { peer });
        }
    }

    /// Asks by each lane that carries data, and by those that may work again, whether it arrives.
    pub(crate) fn probe_lanes<C: ShardClock>(&mut self, pass: &Pass<'_, C>, peer: &Peer) {
        let Some((slot, session)) = session_with_lanes(pass, peer) else {
            return;
        };
        let (Some(lanes), Some(endpoint)) = (&peer.lanes, peer.endpoint.load()) else {
            return;
        };
        let own = self.own_lanes(session);
        let round = lanes.begin_round(own, pass.now);
        for lane in 1..own {
            if lane_socket(&mut self.lanes, lane, endpoint.remote).is_none() {
                continue;
            }
            let len = match lanes.look(lane, round) {
                Look::Rest => continue,
                Look::Down => {
                    note_turn(pass, Turn::Down);
                    continue;
                }
                Look::Probe => Extension::LEN_MAX,
                Look::Try => pass.inner_max(peer).max(Extension::LEN_MAX),
            };
            let probe = Extension::LaneProbe { id: round.id };
            self.push_extension(pass, peer, (slot, lane), (probe, len));
            pass.count(Total::LaneProbesSent, 1);
        }
        if round.spares_first() {
            self.push_keepalive(pass, pass.target(peer, slot));
        }
        self.flush(pass);
        if let Some(due) = lanes.next_round(round)
            && lanes.round.set(due)
        {
            let peer = peer.index;
            self.timers.watch(due, TimerKey::Lanes { peer });
        }
    }

    /// Answers a probe by the first lane, the only one that is known to arrive.
    pub(super) fn answer_lane_probe<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        peer: &Peer,
        lane: Lane,
        id: u32,
    ) {
        if let Some((slot, _)) = session_with_lanes(pass, peer) {
            let lane = lane.into();
            let answer = Extension::LaneAnswer { id, lane };
            self.push_extension(pass, peer, (slot, 0), (answer, Extension::LEN_MAX));
            pass.count(Total::LaneProbesAnswered, 1);
            self.flush(pass);
        }
    }

    fn push_extension<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        peer: &Peer,
        (session, lane): (u32, Lane),
        (message, len): (Extension, usize),
    ) {
        let target = pass.target(peer, session).by(lane);
        if !self.batch.accepts(target, len) {
            self.flush(pass);
        }
        let room = self.batch.room().get_mut(..len);
        if room.and_then(|room| message.write(room)).is_some() {
            self.batch.commit_extension(target, len);
        }
    }

    /// The socket that a lane has for a place.
    pub(super) fn socket_of(&mut self, lane: Lane, remote: SocketAddr) -> Option<&mut D> {
        match lane {
            0 => socket_for(&mut self.v4, &mut self.v6, remote),
            lane => lane_socket(&mut self.lanes, lane, remote),
        }
    }
}

/// Counts a lane that came into use or went out of it.
pub(super) fn note_turn<C: ShardClock>(pass: &Pass<'_, C>, turn: Turn) {
    match turn {
        Turn::Nothing => {}
        Turn::Up => pass.count(Total::LanesUp, 1),
        Turn::Down => pass.count(Total::LanesDown, 1),
    }
}

/// The session in use, if it has several lanes.
fn session_with_lanes<'a, C: ShardClock>(
    pass: &Pass<'a, C>,
    peer: &Peer,
) -> Option<(u32, &'a Session)> {
    let slot = peer.sessions.current()?;
    let session = pass.state.session(slot)?;
    (session.lanes > 1 && session.is_usable(pass.now)).then_some((slot, session))
}

/// The socket of a lane behind the first.
pub(super) fn lane_socket<D>(
    lanes: &mut [LaneSockets<D>],
    lane: Lane,
    remote: SocketAddr,
) -> Option<&mut D> {
    let sockets = lanes.get_mut(usize::from(lane).checked_sub(1)?)?;
    socket_for(&mut sockets.v4, &mut sockets.v6, remote)
}
