//! What happens when a deadline has come.

use ports::{Datagrams, Instant};

use super::pass::Pass;
use super::transmit::Transmitter;
use crate::driver::ShardClock;
use crate::event::{Event, WantReason};
use crate::peer::Peer;
use crate::state::Ended;
use crate::timers::{Deadline, Due, TimerKey};

/// Handles every deadline that has come. Sessions to wipe are put into `ended`.
pub(crate) fn handle_due<C, D>(
    pass: &Pass<'_, C>,
    transmitter: &mut Transmitter<D>,
    ended: &mut Vec<Ended>,
) where
    C: ShardClock,
    D: Datagrams,
{
    while let Some(entry) = transmitter.timers.pop_due(pass.now) {
        let (_, key) = entry;
        match key {
            TimerKey::PassiveKeepalive { peer } => {
                if let Some(peer) = come(pass, transmitter, entry, peer, |peer| {
                    &peer.passive_keepalive
                }) {
                    send_keepalive(pass, transmitter, peer);
                }
            }
            TimerKey::PersistentKeepalive { peer } => {
                if let Some(peer) = come(pass, transmitter, entry, peer, |peer| {
                    &peer.persistent_keepalive
                }) {
                    transmitter.postpone_persistent(pass, peer);
                    if send_keepalive(pass, transmitter, peer) == Sent::NoSession {
                        pass.want_handshake(peer, WantReason::NoSession);
                    }
                }
            }
            TimerKey::NoAnswer { peer } => {
                if let Some(peer) = come(pass, transmitter, entry, peer, |peer| &peer.no_answer) {
                    pass.event(Event::NoAnswer { peer: peer.index });
                }
            }
            TimerKey::Lanes { peer } => {
                if let Some(peer) = pass.state.peer(peer)
                    && let Some(lanes) = &peer.lanes
                {
                    match lanes.round.look(entry.0, pass.now) {
                        Due::Now => transmitter.probe_lanes(pass, peer),
                        Due::Later(due) => transmitter.timers.watch(due, key),
                        Due::Never => {}
                    }
                }
            }
            TimerKey::SessionEnd { slot, local_index } => ended.push(Ended { slot, local_index }),
        }
    }
    transmitter.flush(pass);
    sweep(pass, transmitter);
}

/// Forgets what was watched for peers and sessions that are gone.
pub(crate) fn sweep<C, D>(pass: &Pass<'_, C>, transmitter: &mut Transmitter<D>) {
    transmitter.timers.sweep(|due, key| {
        let watches = |peer: u32, deadline: fn(&Peer) -> &Deadline| {
            let peer = pass.state.peer(peer);
            peer.is_some_and(|peer| deadline(peer).is_watched_by(due))
        };
        match key {
            TimerKey::PassiveKeepalive { peer } => watches(peer, |peer| &peer.passive_keepalive),
            TimerKey::PersistentKeepalive { peer } => {
                watches(peer, |peer| &peer.persistent_keepalive)
            }
            TimerKey::NoAnswer { peer } => watches(peer, |peer| &peer.no_answer),
            TimerKey::Lanes { peer } => pass
                .state
                .peer(peer)
                .and_then(|peer| peer.lanes.as_ref())
                .is_some_and(|lanes| lanes.round.is_watched_by(due)),
            TimerKey::SessionEnd { slot, local_index } => pass
                .state
                .session(slot)
                .is_some_and(|session| session.local_index == local_index),
        }
    });
}

/// The peer whose deadline has really come: it was neither cleared nor moved.
fn come<'a, C, D>(
    pass: &Pass<'a, C>,
    transmitter: &mut Transmitter<D>,
    (entry, key): (Instant, TimerKey),
    peer: u32,
    deadline: impl Fn(&Peer) -> &Deadline,
) -> Option<&'a Peer>
where
    C: ShardClock,
{
    let peer = pass.state.peer(peer)?;
    match deadline(peer).look(entry, pass.now) {
        Due::Now => Some(peer),
        Due::Later(due) => {
            transmitter.timers.watch(due, key);
            None
        }
        Due::Never => None,
    }
}

/// Whether a keepalive could be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Yes,
    NoSession,
}

/// Queues a keepalive under the peer's current session.
pub(crate) fn send_keepalive<C, D>(
    pass: &Pass<'_, C>,
    transmitter: &mut Transmitter<D>,
    peer: &Peer,
) -> Sent
where
    C: ShardClock,
    D: Datagrams,
{
    let current = peer.sessions.current();
    let usable = current.filter(|slot| {
        pass.state
            .session(*slot)
            .is_some_and(|session| session.is_usable(pass.now))
    });
    let Some(session) = usable else {
        return Sent::NoSession;
    };
    transmitter.push_keepalive(pass, pass.target(peer, session));
    Sent::Yes
}
