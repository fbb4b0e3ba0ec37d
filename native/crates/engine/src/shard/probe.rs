//! Path-MTU probes and their answers.

use ports::{Datagrams, PathBound};
use wire::Extension;

use super::lanes::note_turn;
use super::pass::Pass;
use super::transmit::{Transmitter, socket_for, tell_too_big};
use crate::command::{Extensions, Probes};
use crate::counters::{DropReason, Total};
use crate::driver::ShardClock;
use crate::event::Event;
use crate::lanes::Lane;
use crate::path::Answer;
use crate::peer::Peer;
use crate::session::Session;
use crate::shared::ProbeOrder;

impl<D: Datagrams> Transmitter<D> {
    /// Sends one probe, alone and unfragmented. Without an endpoint, or a session with extension messages, nothing is sent:
    /// the slow path waits for an answer in any case.
    pub(crate) fn send_probe<C: ShardClock>(&mut self, pass: &Pass<'_, C>, order: ProbeOrder) {
        let Some(peer) = pass.state.peer(order.peer) else {
            return;
        };
        let (Some(session), Some(endpoint)) = (speaking_session(pass, peer), peer.endpoint.load())
        else {
            return;
        };
        self.flush(pass);
        if let Some(socket) = socket_for(&mut self.v4, &mut self.v6, endpoint.remote)
            && let Some(payload) = socket.path_payload(endpoint.remote)
            && payload < order.size
        {
            if peer.path.bound() == PathBound::Believed {
                peer.path.lower(payload);
            }
            tell_too_big(pass, peer, payload);
        }
        let target = pass.target(peer, session);
        let Some(len) = order.size.checked_sub(target.shape.overhead()) else {
            return;
        };
        let message = Extension::MtuProbe { id: order.id };
        let written = self
            .batch
            .room()
            .get_mut(..len)
            .map(|room| message.write(room));
        if written.flatten().is_some() {
            peer.path.note_probe();
            self.batch.commit_probe(target, len);
            pass.count(Total::PathProbesSent, 1);
            self.flush(pass);
        }
        peer.path.arm();
    }

    /// Does what an extension message of a peer asks for: by which lane it came, and how long the whole datagram was.
    pub(crate) fn handle_extension<C: ShardClock>(
        &mut self,
        pass: &Pass<'_, C>,
        peer: &Peer,
        (lane, message, datagram): (Lane, Extension, usize),
    ) {
        match message {
            Extension::MtuProbe { id } => {
                let Some(session) = speaking_session(pass, peer) else {
                    return;
                };
                let size = u32::try_from(datagram).unwrap_or(u32::MAX);
                let target = pass.target(peer, session);
                if !self.batch.accepts(target, Extension::LEN_MAX) {
                    self.flush(pass);
                }
                let room = self.batch.room().get_mut(..Extension::LEN_MAX);
                let answer = Extension::MtuAnswer { id, size };
                if room.and_then(|room| answer.write(room)).is_some() {
                    self.batch.commit_extension(target, Extension::LEN_MAX);
                    pass.count(Total::PathProbesAnswered, 1);
                }
                self.flush(pass);
            }
            Extension::MtuAnswer { id, size } => {
                if peer.path.note_answer() == Answer::Unasked {
                    return pass.dropped(Some(peer), DropReason::Malformed, 1);
                }
                let peer = peer.index;
                pass.event(Event::ProbeAnswered { peer, id, size });
            }
            Extension::LaneProbe { id } => self.answer_lane_probe(pass, peer, lane, id),
            Extension::LaneAnswer { id, lane } => {
                if let Some(lanes) = &peer.lanes {
                    note_turn(pass, lanes.note_answer(lane, id, pass.now));
                }
            }
        }
    }
}

/// Whether extension messages under a session are heard: both ends agreed on them in its handshake, and they are not
/// switched off for the peer.
pub(super) fn speaks_extensions(session: &Session, peer: &Peer) -> bool {
    session.extensions == Extensions::Agreed && peer.path.probes() == Probes::Answered
}

/// The session in use, if extension messages may be sent under it. A peer may have told us something under an earlier
/// one while the present one is plain WireGuard.
fn speaking_session<C: ShardClock>(pass: &Pass<'_, C>, peer: &Peer) -> Option<u32> {
    peer.sessions.current().filter(|slot| {
        pass.state
            .session(*slot)
            .is_some_and(|session| session.is_usable(pass.now) && speaks_extensions(session, peer))
    })
}
