//! What the slow path and all shards share.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use filter::FlowTable;
use ports::{DatagramState, Endpoint, Instant};
use wire::CookieSecrets;

use crate::command::{BesideCommand, Command, CommandError, Problem, Role, TableCommand, decode};
use crate::counters::{DropReason, ShardTotals};
use crate::engine::EngineLimits;
use crate::event::Events;
use crate::gate::HandshakeGate;
use crate::peer::WaitingBytes;
use crate::stage::StageTable;
use crate::state::{NewTimers, State};

/// Shared by the slow path and all shards.
pub(crate) struct Shared {
    state: RwLock<State>,
    pub(crate) events: Events,
    pub(crate) gate: HandshakeGate,
    pub(crate) waiting_bytes: WaitingBytes,
    pub(crate) flows: FlowTable,
    pub(crate) boards: Vec<ShardBoard>,
    peers_max: u32,
    mail: Mutex<Mail>,
    mail_waiting: AtomicBool,
    /// [`RUNNING`], [`STOPPING`], or [`PANIC`] plus the number of a shard that is to panic.
    course: AtomicU32,
}

/// Whether a call to stop was the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    First,
    Again,
}

const RUNNING: u32 = 0;
const STOPPING: u32 = 1;
const PANIC: u32 = 1 << 16;

/// What one shard shows to the outside.
#[derive(Debug)]
pub(crate) struct ShardBoard {
    pub(crate) totals: ShardTotals,
    pub(crate) stages: StageTable,
    pub(crate) state: Mutex<ShardState>,
}

/// What the sockets and the TUN queue of a shard use at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardState {
    /// The IPv4 socket.
    pub v4: Option<DatagramState>,
    /// The IPv6 socket.
    pub v6: Option<DatagramState>,
    /// The kernel refused a merged TCP frame, so TCP is not merged any more.
    pub tcp_merge_refused: bool,
    /// The kernel refused a merged UDP frame, so UDP is not merged any more.
    pub udp_merge_refused: bool,
}

/// Work for the first shard that the slow path ordered.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    pub(crate) handshakes: Vec<OutgoingHandshake>,
    /// Peers with a session of our own initiative: waiting packets go out, or a keepalive that confirms the session.
    pub(crate) confirm: Vec<u32>,
    pub(crate) timers: NewTimers,
    pub(crate) probes: Vec<ProbeOrder>,
}

/// A path-MTU probe to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeOrder {
    pub(crate) peer: u32,
    /// Bytes of the whole datagram.
    pub(crate) size: usize,
    pub(crate) id: u32,
}

impl Mail {
    fn is_empty(&self) -> bool {
        self.handshakes.is_empty()
            && self.confirm.is_empty()
            && self.timers.is_empty()
            && self.probes.is_empty()
    }
}

/// A handshake message to send.
#[derive(Debug)]
pub(crate) struct OutgoingHandshake {
    pub(crate) peer: Option<u32>,
    pub(crate) to: Endpoint,
    pub(crate) message: Box<[u8]>,
}

impl Shared {
    pub(crate) fn new(limits: &EngineLimits, events: Events) -> Self {
        let board = || ShardBoard {
            totals: ShardTotals::new(),
            stages: StageTable::default(),
            state: Mutex::new(ShardState::default()),
        };
        Shared {
            state: RwLock::new(State::new()),
            events,
            gate: HandshakeGate::new(&limits.public_key),
            waiting_bytes: WaitingBytes::default(),
            flows: FlowTable::new(limits.flows_max),
            boards: (0..limits.shards).map(|_| board()).collect(),
            peers_max: limits.peers_max,
            mail: Mutex::new(Mail::default()),
            mail_waiting: AtomicBool::new(false),
            course: AtomicU32::new(RUNNING),
        }
    }

    /// Held by a shard for one batch. Waits only while a change is being made.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held for one change; waits for the batches that are under way.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stop(&self) -> Stop {
        match self.course.swap(STOPPING, Ordering::AcqRel) {
            STOPPING => Stop::Again,
            _ => Stop::First,
        }
    }

    /// Whether a shard is to end.
    ///
    /// # Panics
    /// When the shard was told to.
    pub(crate) fn is_stopping(&self, shard: u16) -> bool {
        let course = self.course.load(Ordering::Acquire);
        assert!(course != PANIC + u32::from(shard), "a panic was asked for");
        course == STOPPING
    }

    pub(crate) fn inject_panic(&self, shard: u16) {
        let wanted = PANIC + u32::from(shard);
        // An engine that stops already goes on doing so.
        let _ = self
            .course
            .compare_exchange(RUNNING, wanted, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Takes what was ordered since the last call.
    pub(crate) fn take_mail(&self) -> Option<Mail> {
        if !self.mail_waiting.load(Ordering::Acquire) {
            return None;
        }
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        self.mail_waiting.store(false, Ordering::Release);
        Some(core::mem::take(&mut *mail))
    }

    /// Applies a batch of commands to all shards at once: between two batches of packets where it changes the tables,
    /// else beside them. Returns whether the first shard must be woken.
    pub(crate) fn apply(&self, bytes: &[u8], now: Instant) -> Result<MailState, CommandError> {
        let commands = decode(bytes)?;
        let mut order = Mail::default();
        let changes_tables = |(_, command): &(usize, Command<'_>)| match command {
            Command::Tables(_) => true,
            Command::Beside(_) => false,
        };
        if commands.iter().any(changes_tables) {
            self.apply_to_tables(commands, now, &mut order)?;
        } else {
            let state = self.read();
            check(&commands, &state, self.peers_max)?;
            for (_, command) in commands {
                if let Command::Beside(command) = command {
                    self.do_beside(&state, command, &mut order);
                }
            }
        }
        Ok(self.post(order))
    }

    fn apply_to_tables(
        &self,
        commands: Vec<(usize, Command<'_>)>,
        now: Instant,
        order: &mut Mail,
    ) -> Result<(), CommandError> {
        let mut state = self.write();
        check(&commands, &state, self.peers_max)?;
        for (_, command) in commands {
            match command {
                Command::Tables(command) => self.change_tables(&mut state, command, now, order),
                Command::Beside(command) => self.do_beside(&state, command, order),
            }
        }
        let replaced = state.take_replaced();
        drop(state);
        drop(replaced);
        Ok(())
    }

    /// Leaves work for the first shard.
    fn post(&self, mut order: Mail) -> MailState {
        if order.is_empty() {
            return MailState::Empty;
        }
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        mail.handshakes.append(&mut order.handshakes);
        mail.confirm.append(&mut order.confirm);
        mail.timers.append(&mut order.timers);
        mail.probes.append(&mut order.probes);
        self.mail_waiting.store(true, Ordering::Release);
        MailState::Waiting
    }

    fn change_tables(
        &self,
        state: &mut State,
        command: TableCommand,
        now: Instant,
        order: &mut Mail,
    ) {
        match command {
            TableCommand::AddPeer {
                peer,
                keepalive_seconds,
            } => {
                state.add_peer(peer);
                state.set_keepalive(peer, keepalive_seconds, now, &mut order.timers);
            }
            TableCommand::RemovePeer { peer } => {
                if let Some(peer) = state.remove_peer(peer) {
                    peer.waiting.clear(&self.waiting_bytes);
                }
            }
            TableCommand::SetAllowedIps { peer, prefixes } => state.set_allowed(peer, prefixes),
            TableCommand::SetKeepalive { peer, seconds } => {
                state.set_keepalive(peer, seconds, now, &mut order.timers);
            }
            TableCommand::InstallSession(keys) => {
                let (index, role) = (keys.peer, keys.role);
                state.install(keys, now, &mut order.timers);
                if let Some(peer) = state.peer(index) {
                    peer.handshake_wanted.store(false, Ordering::Release);
                }
                if role == Role::Initiator {
                    order.confirm.push(index);
                }
            }
            TableCommand::RetireSession { local_index } => state.retire(local_index),
            TableCommand::SetFilter { filter } => state.set_filter(filter),
            TableCommand::SetMtu { mtu } => state.set_mtu(mtu),
            TableCommand::SetConceal { concealment } => state.set_concealment(concealment),
            TableCommand::SetSilence { silence } => state.set_silence(silence),
        }
    }

    fn do_beside(&self, state: &State, command: BesideCommand<'_>, order: &mut Mail) {
        match command {
            BesideCommand::SetEndpoint { peer, remote } => {
                if let Some(peer) = state.peer(peer) {
                    peer.move_to(remote.map(Endpoint::unpinned));
                }
            }
            BesideCommand::SendHandshake {
                peer,
                remote,
                message,
            } => {
                let current = peer
                    .and_then(|peer| state.peer(peer))
                    .and_then(|peer| peer.endpoint.load());
                if let Some(to) = remote
                    .map(Endpoint::unpinned)
                    .map_or(current, |wanted| Some(prefer(wanted, current)))
                {
                    order.handshakes.push(OutgoingHandshake {
                        peer,
                        to,
                        message: message.into(),
                    });
                }
            }
            BesideCommand::HandshakeGaveUp { peer } => {
                if let Some(peer) = state.peer(peer) {
                    // In this order: a shard queues first and asks then, so a packet that comes behind the clearing asks.
                    peer.handshake_wanted.store(false, Ordering::Release);
                    let dropped = peer.waiting.clear(&self.waiting_bytes);
                    peer.counters.drop_packets(DropReason::NoSession, dropped);
                }
            }
            BesideCommand::SetCookieSecrets { current, previous } => {
                self.gate
                    .set_secrets(CookieSecrets::new(*current, *previous));
            }
            BesideCommand::SetPathMtu {
                peer,
                payload,
                probes,
                bound,
            } => {
                if let Some(peer) = state.peer(peer) {
                    peer.path.set(payload, probes, bound);
                }
            }
            BesideCommand::SendProbe { peer, size, id } => {
                order.probes.push(ProbeOrder { peer, size, id });
            }
        }
    }

    /// Fetches events. The tables are locked first, as shards do, so that nobody waits for the other.
    pub(crate) fn take_events(&self, into: &mut [u8]) -> usize {
        let state = self.read();
        self.events.take(into, |peer| {
            let peer = state.peer(peer)?;
            peer.move_queued.store(false, Ordering::SeqCst);
            peer.endpoint.load().map(|endpoint| endpoint.remote)
        })
    }
}

/// Whether the first shard has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailState {
    Empty,
    Waiting,
}

/// Keeps the pinned source address when the place is the one packets go to already.
fn prefer(wanted: Endpoint, current: Option<Endpoint>) -> Endpoint {
    current
        .filter(|current| current.remote == wanted.remote)
        .unwrap_or(wanted)
}

/// Checks a whole batch against the tables, so that nothing is applied when something does not fit.
fn check(
    commands: &[(usize, Command<'_>)],
    state: &State,
    peers_max: u32,
) -> Result<(), CommandError> {
    let mut peers: HashMap<u32, bool> = HashMap::new();
    let mut indices: HashMap<u32, bool> = HashMap::new();
    for (offset, command) in commands {
        let fail = |problem| {
            Err(CommandError {
                offset: *offset,
                problem,
            })
        };
        let exists = |peers: &HashMap<u32, bool>, peer: u32| {
            peers
                .get(&peer)
                .copied()
                .unwrap_or_else(|| state.peer(peer).is_some())
        };
        match command {
            Command::Tables(TableCommand::AddPeer { peer, .. }) => {
                if *peer >= peers_max {
                    return fail(Problem::PeerOutOfRange { peer: *peer });
                }
                if exists(&peers, *peer) {
                    return fail(Problem::PeerInUse { peer: *peer });
                }
                peers.insert(*peer, true);
            }
            Command::Tables(TableCommand::RemovePeer { peer }) => {
                if !exists(&peers, *peer) {
                    return fail(Problem::UnknownPeer { peer: *peer });
                }
                peers.insert(*peer, false);
            }
            Command::Tables(TableCommand::InstallSession(keys)) => {
                if !exists(&peers, keys.peer) {
                    return fail(Problem::UnknownPeer { peer: keys.peer });
                }
                let local_index = keys.local_index;
                if indices
                    .get(&local_index)
                    .copied()
                    .unwrap_or_else(|| state.has_session(local_index))
                {
                    return fail(Problem::IndexInUse { local_index });
                }
                indices.insert(local_index, true);
            }
            Command::Tables(TableCommand::RetireSession { local_index }) => {
                indices.insert(*local_index, false);
            }
            Command::Tables(
                TableCommand::SetAllowedIps { peer, .. } | TableCommand::SetKeepalive { peer, .. },
            )
            | Command::Beside(
                BesideCommand::SendHandshake {
                    peer: Some(peer), ..
                }
                | BesideCommand::SetEndpoint { peer, .. }
                | BesideCommand::HandshakeGaveUp { peer }
                | BesideCommand::SetPathMtu { peer, .. }
                | BesideCommand::SendProbe { peer, .. },
            ) => {
                if !exists(&peers, *peer) {
                    return fail(Problem::UnknownPeer { peer: *peer });
                }
            }
            Command::Tables(
                TableCommand::SetFilter { .. }
                | TableCommand::SetMtu { .. }
                | TableCommand::SetConceal { .. }
                | TableCommand::SetSilence { .. },
            )
            | Command::Beside(
                BesideCommand::SendHandshake { peer: None, .. }
                | BesideCommand::SetCookieSecrets { .. },
            ) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn shared() -> Shared {
        let limits = EngineLimits {
            public_key: [7; 32],
            shards: 1,
            peers_max: 8,
            flows_max: 16,
        };
        Shared::new(&limits, Events::new(Box::new(|| {})))
    }

    fn record(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_le_bytes();
        [&[kind, 0, 0, 0][..], &length, body].concat()
    }

    const PEER: [u8; 4] = [3, 0, 0, 0];

    /// Every command that leaves the tables alone, for a peer that exists.
    fn beside() -> Vec<u8> {
        let endpoint = [&PEER[..], &[0; 20]].concat();
        [
            record(4, &endpoint),
            record(8, &endpoint),
            record(9, &PEER),
            record(10, &[9; 64]),
            record(15, &[&PEER[..], &[0; 8]].concat()),
            record(16, &[&PEER[..], &[200, 0, 0, 0, 1, 0, 0, 0]].concat()),
        ]
        .concat()
    }

    /// Applies a batch while a shard is in the middle of its own. Returns whether it came through meanwhile.
    fn applied_during_a_batch(commands: &[u8]) -> bool {
        let shared = shared();
        let add = record(1, &[3, 0, 0, 0, 0, 0, 0, 0]);
        shared.apply(&add, Instant::default()).unwrap();
        let (done, waits_for) = mpsc::channel();
        thread::scope(|scope| {
            let batch = shared.read();
            scope.spawn(|| {
                shared.apply(commands, Instant::default()).unwrap();
                done.send(()).unwrap();
            });
            // Whoever needs the tables alone waits for ever; the others come through however slow the machine is.
            let patience = Duration::from_secs(if commands == beside() { 60 } else { 1 });
            let came = waits_for.recv_timeout(patience).is_ok();
            drop(batch);
            came
        })
    }

    #[test]
    fn probes_handshakes_endpoints_and_path_bounds_wait_for_no_batch_of_a_shard() {
        assert!(applied_during_a_batch(&beside()));
    }

    #[test]
    fn what_changes_the_tables_waits_for_the_batches_under_way() {
        let with_table = [beside(), record(14, &1_280_u32.to_le_bytes())].concat();

        assert!(!applied_during_a_batch(&with_table));
    }
}
