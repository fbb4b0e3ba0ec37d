//! What all shards read: peers, sessions, allowed addresses, policy.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::collections::HashMap;

use filter::Filter;
use ports::Instant;
use tables::{Prefix, PrefixTable, Slots};

use crate::command::{InstallSession, Role};
use crate::concealment::Concealment;
use crate::lanes::PeerLanes;
use crate::peer::{Fallen, Peer};
use crate::session::Session;
use crate::silence::Silence;
use crate::timers::TimerKey;

/// The tables of one engine. Changed only while no shard is in the middle of a batch.
#[derive(Debug)]
pub(crate) struct State {
    peers: Vec<Option<Box<Peer>>>,
    /// Peers that there were so far.
    peers_added: u32,
    allowed: PrefixTable<u32>,
    sessions: Slots<Box<Session>>,
    by_index: HashMap<u32, u32>,
    filter: Box<Filter>,
    /// The policy before, until it is taken out of the lock to be freed.
    replaced: Option<Box<Filter>>,
    mtu: Option<usize>,
    concealment: Option<Box<Concealment>>,
    silence: Silence,
}

/// A session to be wiped once no shard reads. Its slot may hold another one by then, so both names are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) slot: u32,
    pub(crate) local_index: u32,
}

/// Deadlines that a change brought about; a shard must watch them.
pub(crate) type NewTimers = Vec<(Instant, TimerKey)>;

impl State {
    pub(crate) fn new() -> Self {
        State {
            peers: Vec::new(),
            peers_added: 0,
            allowed: PrefixTable::new(),
            sessions: Slots::new(),
            by_index: HashMap::new(),
            filter: Box::new(Filter::deny_all()),
            replaced: None,
            mtu: None,
            concealment: None,
            silence: Silence::default(),
        }
    }

    pub(crate) fn peer(&self, index: u32) -> Option<&Peer> {
        self.peers.get(index as usize)?.as_deref()
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().flatten().map(Box::as_ref)
    }

    pub(crate) fn session(&self, slot: u32) -> Option<&Session> {
        self.sessions.get(slot).map(Box::as_ref)
    }

    /// The session a datagram names, with its slot.
    pub(crate) fn session_by_index(&self, local_index: u32) -> Option<(u32, &Session)> {
        let slot = *self.by_index.get(&local_index)?;
        Some((slot, self.session(slot)?))
    }

    /// The peer that an inner address belongs to.
    pub(crate) fn peer_of(&self, address: core::net::IpAddr) -> Option<u32> {
        self.allowed.lookup(address)
    }

    /// MTU of the TUN device since it was changed; `None` = the one it was opened with.
    pub(crate) fn mtu(&self) -> Option<usize> {
        self.mtu
    }

    pub(crate) fn set_mtu(&mut self, mtu: usize) {
        self.mtu = Some(mtu);
    }

    /// How datagrams are disguised; `None` = plain WireGuard.
    pub(crate) fn concealment(&self) -> Option<&Concealment> {
        self.concealment.as_deref()
    }

    pub(crate) fn set_concealment(&mut self, concealment: Option<Box<Concealment>>) {
        self.concealment = concealment;
    }

    /// How long silence lasts before something is done about it.
    pub(crate) fn silence(&self) -> Silence {
        self.silence
    }

    /// Counts for timers that are armed from now on.
    pub(crate) fn set_silence(&mut self, silence: Silence) {
        self.silence = silence;
    }

    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Flows are judged anew at their next packet; nothing else is touched.
    pub(crate) fn set_filter(&mut self, mut filter: Box<Filter>) {
        filter.succeed(&self.filter);
        self.replaced = Some(core::mem::replace(&mut self.filter, filter));
    }

    pub(crate) fn take_replaced(&mut self) -> Option<Box<Filter>> {
        self.replaced.take()
    }

    pub(crate) fn add_peer(&mut self, index: u32) {
        let at = index as usize;
        if self.peers.len() <= at {
            self.peers.resize_with(at + 1, || None);
        }
        if let Some(place) = self.peers.get_mut(at) {
            self.peers_added = self.peers_added.wrapping_add(1);
            *place = Some(Box::new(Peer::new(index, self.peers_added)));
        }
    }

    /// Takes a peer out together with its sessions and addresses.
    pub(crate) fn remove_peer(&mut self, index: u32) -> Option<Box<Peer>> {
        let peer = self.peers.get_mut(index as usize)?.take()?;
        for slot in peer.sessions.all() {
            self.drop_session(slot);
        }
        for prefix in &peer.allowed {
            self.release(prefix, index);
        }
        while self.peers.last().is_some_and(Option::is_none) {
            self.peers.pop();
        }
        Some(peer)
    }

    /// Replaces a peer's addresses; one that another peer holds moves to this peer.
    pub(crate) fn set_allowed(&mut self, index: u32, prefixes: Vec<Prefix>) {
        let Some(peer) = self.peers.get_mut(index as usize).and_then(Option::as_mut) else {
            return;
        };
        let before = core::mem::take(&mut peer.allowed);
        for prefix in &before {
            self.release(prefix, index);
        }
        for prefix in &prefixes {
            self.allowed.insert(prefix, index);
        }
        if let Some(peer) = self.peers.get_mut(index as usize).and_then(Option::as_mut) {
            peer.allowed = prefixes;
        }
    }

    /// Sets how often the path is kept open; a new interval begins with a packet at once.
    pub(crate) fn set_keepalive(
        &mut self,
        index: u32,
        seconds: u16,
        now: Instant,
        timers: &mut NewTimers,
    ) {
        let Some(peer) = self.peers.get_mut(index as usize).and_then(Option::as_mut) else {
            return;
        };
        let wanted = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
        if peer.keepalive == wanted {
            return;
        }
        peer.keepalive = wanted;
        if wanted.is_none() {
            peer.persistent_keepalive.clear();
        } else if peer.persistent_keepalive.set(now) {
            timers.push((now, TimerKey::PersistentKeepalive { peer: index }));
        }
    }

    /// Puts new keys in their place; sessions that fall out are wiped.
    pub(crate) fn install(&mut self, keys: InstallSession, now: Instant, timers: &mut NewTimers) {
        let (peer, local_index, role) = (keys.peer, keys.local_index, keys.role);
        if keys.lanes > 1
            && let Some(peer) = self.peers.get_mut(peer as usize).and_then(Option::as_mut)
        {
            peer.lanes.get_or_insert_with(|| Box::new(PeerLanes::new()));
        }
        let session = Box::new(Session::new(keys, now));
        let end = session.end();
        let Some(slot) = self.sessions.insert(session) else {
            return;
        };
        self.by_index.insert(local_index, slot);
        timers.push((end, TimerKey::SessionEnd { slot, local_index }));
        let fallen = match self.peer(peer) {
            Some(peer) => match role {
                Role::Initiator => peer.sessions.install_initiated(slot),
                Role::Responder => peer.sessions.install_responded(slot),
            },
            None => [Some(slot), None],
        };
        self.drop_fallen(fallen);
    }

    fn drop_fallen(&mut self, fallen: Fallen) {
        fallen
            .into_iter()
            .flatten()
            .for_each(|slot| self.drop_session(slot));
    }

    /// What sessions that just fell out of their places are called. A slot alone names them only until the tables change.
    pub(crate) fn named(&self, fallen: Fallen) -> impl Iterator<Item = Ended> {
        fallen.into_iter().flatten().filter_map(|slot| {
            let local_index = self.session(slot)?.local_index;
            Some(Ended { slot, local_index })
        })
    }

    /// Wipes the session a slot holds, if it is still the one meant. Returns the peer it belonged to.
    pub(crate) fn end_session(&mut self, ended: Ended) -> Option<u32> {
        let Ended { slot, local_index } = ended;
        let session = self
            .session(slot)
            .filter(|session| session.local_index == local_index)?;
        let peer = session.peer;
        self.drop_session(slot);
        if let Some(peer) = self.peer(peer) {
            // The next packet may find no session; it must be able to ask for one.
            peer.handshake_wanted.store(false, Ordering::Release);
        }
        Some(peer)
    }

    /// Wipes a session by its index.
    pub(crate) fn retire(&mut self, local_index: u32) {
        if let Some(slot) = self.by_index.get(&local_index).copied() {
            self.drop_session(slot);
        }
    }

    pub(crate) fn has_session(&self, local_index: u32) -> bool {
        self.by_index.contains_key(&local_index)
    }

    fn drop_session(&mut self, slot: u32) {
        let Some(session) = self.sessions.remove(slot) else {
            return;
        };
        self.by_index.remove(&session.local_index);
        if let Some(peer) = self.peer(session.peer) {
            peer.sessions.forget(slot);
        }
    }

    fn release(&mut self, prefix: &Prefix, owner: u32) {
        if self.allowed.get(prefix) == Some(owner) {
            self.allowed.remove(prefix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(peer: u32, local_index: u32, role: Role) -> InstallSession {
        InstallSession {
            peer,
            local_index,
            remote_index: 1,
            role,
            cipher: wire::Cipher::ChaCha20Poly1305,
            elision: crate::command::Elision::Off,
            extensions: crate::command::Extensions::None,
            lanes: 1,
            age_ms: 0,
            ageing: crate::session::Ageing::default(),
            send_key: [1; 32].into(),
            receive_key: [2; 32].into(),
        }
    }

    fn prefix(text: &str) -> Prefix {
        Prefix::new(text.parse().unwrap(), 32).unwrap()
    }

    fn two_peers() -> State {
        let mut state = State::new();
        state.add_peer(0);
        state.add_peer(5);
        state
    }

    #[test]
    fn an_address_moves_to_the_peer_that_claimed_it_last() {
        let mut state = two_peers();
        let address = "10.0.0.1".parse().unwrap();
        state.set_allowed(0, vec![prefix("10.0.0.1")]);
        state.set_allowed(5, vec![prefix("10.0.0.1")]);
        assert_eq!(state.peer_of(address), Some(5));

        state.remove_peer(0);
        assert_eq!(
            state.peer_of(address),
            Some(5),
            "the earlier owner takes nothing with it"
        );
        state.set_allowed(5, vec![]);
        assert_eq!(state.peer_of(address), None);
    }

    #[test]
    fn removing_a_peer_takes_its_sessions_along() {
        let mut state = two_peers();
        let mut timers = NewTimers::new();
        state.install(
            keys(5, 77, Role::Initiator),
            Instant::default(),
            &mut timers,
        );
        assert!(state.has_session(77));
        assert_eq!(timers.len(), 1);

        state.remove_peer(5);

        assert!(!state.has_session(77));
        assert!(state.peer(5).is_none());
        assert!(state.peer(0).is_some());
    }

    #[test]
    fn at_most_three_sessions_of_a_peer_are_kept() {
        let mut state = two_peers();
        let mut timers = NewTimers::new();
        for index in 0..10 {
            state.install(
                keys(0, index, Role::Initiator),
                Instant::default(),
                &mut timers,
            );
        }
        state.install(
            keys(0, 50, Role::Responder),
            Instant::default(),
            &mut timers,
        );
        state.install(
            keys(0, 51, Role::Responder),
            Instant::default(),
            &mut timers,
        );

        let kept: Vec<u32> = (0..60).filter(|index| state.has_session(*index)).collect();
        assert_eq!(kept, [8, 9, 51]);
    }

    /// The shard that confirms a session lets the tables go before it wipes what fell out.
    #[test]
    fn what_fell_out_is_not_wiped_when_its_slot_was_given_to_another_peer_meanwhile() {
        let mut state = two_peers();
        let mut timers = NewTimers::new();
        let now = Instant::default();
        for (index, role) in [
            (1, Role::Initiator),
            (2, Role::Initiator),
            (3, Role::Responder),
        ] {
            state.install(keys(0, index, role), now, &mut timers);
        }
        let (oldest, _) = state.session_by_index(1).unwrap();
        let (waiting, _) = state.session_by_index(3).unwrap();
        let fallen = state.peer(0).unwrap().sessions.promote(waiting).unwrap();
        let named: Vec<Ended> = state.named(fallen).collect();
        assert_eq!(
            named,
            [Ended {
                slot: oldest,
                local_index: 1
            }]
        );

        state.retire(1);
        state.install(keys(5, 9, Role::Initiator), now, &mut timers);
        assert_eq!(
            state.session_by_index(9).unwrap().0,
            oldest,
            "the slot is used again"
        );
        for ended in named {
            assert_eq!(state.end_session(ended), None);
        }

        assert!(state.has_session(9));
        assert_eq!(state.peer(5).unwrap().sessions.current(), Some(oldest));
    }

    #[test]
    fn an_ended_session_is_only_ended_if_its_slot_was_not_reused() {
        let mut state = two_peers();
        let mut timers = NewTimers::new();
        state.install(keys(0, 1, Role::Initiator), Instant::default(), &mut timers);
        let (slot, _) = state.session_by_index(1).unwrap();
        state.retire(1);
        state.install(keys(0, 2, Role::Initiator), Instant::default(), &mut timers);

        assert_eq!(
            state.end_session(Ended {
                slot,
                local_index: 1
            }),
            None
        );
        assert_eq!(
            state.end_session(Ended {
                slot,
                local_index: 2
            }),
            Some(0)
        );
        assert_eq!(state.peer(0).unwrap().sessions.current(), None);
    }
}
