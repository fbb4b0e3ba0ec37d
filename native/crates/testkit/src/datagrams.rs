use core::net::SocketAddr;
use core::time::Duration;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use ports::{
    Carriage, Clock, DatagramCounters, DatagramState, Datagrams, Ecn, Endpoint, FeatureState,
    Instant, PathBound, Received, SendOutcome,
};

use crate::{ManualClock, Random};

/// A datagram network in memory: sockets by address, and what happens to datagrams on the way. Clones are the same
/// network.
#[derive(Clone, Debug)]
pub struct MemoryNetwork {
    wire: Arc<Mutex<Wire>>,
    clock: ManualClock,
}

/// What happens to datagrams on the way, per thousand, decided by a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impairment {
    /// How many are lost.
    pub loss_per_mille: u16,
    /// How many arrive twice.
    pub duplicate_per_mille: u16,
    /// How many arrive one delay later than those sent after them.
    pub reorder_per_mille: u16,
    /// Time on the way.
    pub delay: Duration,
    /// Largest payload; longer ones are refused with `EMSGSIZE`. 0 = no limit.
    pub payload_len_max: usize,
    /// Largest payload the sender's system believes in; longer ones are refused with `EMSGSIZE` where belief counts. 0 =
    /// it believes in any.
    pub believed_len_max: usize,
    /// Payload above which datagrams vanish without a word, unless they may be fragmented. 0 = no limit.
    pub black_hole_above: usize,
    /// What chance follows from.
    pub seed: u64,
}

impl Impairment {
    /// Payload above which the sender's system refuses datagrams; 0 = none.
    fn refused_above(&self, bound: PathBound) -> usize {
        let believed = match bound {
            PathBound::Believed => self.believed_len_max,
            PathBound::Proven => 0,
        };
        [self.payload_len_max, believed]
            .into_iter()
            .filter(|most| *most != 0)
            .min()
            .unwrap_or(0)
    }
}

impl MemoryNetwork {
    /// A network; datagrams with a delay arrive when `clock` has moved far enough.
    #[must_use]
    pub fn new(impairment: Impairment, clock: ManualClock) -> Self {
        let random = Random::new(impairment.seed);
        let wire = Wire {
            impairment,
            random,
            sockets: HashMap::new(),
            under_way: BTreeMap::new(),
            sent: 0,
        };
        Self {
            wire: Arc::new(Mutex::new(wire)),
            clock,
        }
    }

    /// A perfect network without delay.
    #[must_use]
    pub fn perfect() -> Self {
        Self::new(Impairment::default(), ManualClock::default())
    }

    /// Changes what happens to datagrams sent from now on; the seed is not looked at again.
    pub fn impair(&self, impairment: Impairment) {
        lock(&self.wire).impairment = impairment;
    }

    /// A socket at this address. One that was there before is cut off.
    #[must_use]
    pub fn socket(&self, local: SocketAddr) -> MemoryDatagrams {
        lock(&self.wire).sockets.insert(local, VecDeque::new());
        MemoryDatagrams {
            network: self.clone(),
            local,
            bound: PathBound::Believed,
            counters: DatagramCounters::default(),
        }
    }
}

/// A socket of a [`MemoryNetwork`].
#[derive(Debug)]
pub struct MemoryDatagrams {
    network: MemoryNetwork,
    local: SocketAddr,
    bound: PathBound,
    counters: DatagramCounters,
}

impl MemoryDatagrams {
    /// Its address.
    #[must_use]
    pub const fn local(&self) -> SocketAddr {
        self.local
    }

    /// When the next datagram under way to any socket arrives.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Instant> {
        lock(&self.network.wire)
            .under_way
            .keys()
            .next()
            .map(|(at, _)| *at)
    }
}

impl Datagrams for MemoryDatagrams {
    fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize> {
        if slot_size < 65_535 || arena.len() < slot_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if out.is_empty() {
            return Ok(0);
        }
        let mut wire = lock(&self.network.wire);
        wire.deliver(self.network.clock.now());
        let inbox = wire.sockets.entry(self.local).or_default();
        let mut filled = 0;
        for (slot, (place, bytes)) in out
            .iter_mut()
            .zip(arena.chunks_exact_mut(slot_size))
            .enumerate()
        {
            let Some(datagram) = inbox.pop_front() else {
                break;
            };
            let len = datagram.payload.len();
            for (target, byte) in bytes.iter_mut().zip(datagram.payload) {
                *target = byte;
            }
            let from = Endpoint {
                remote: datagram.from,
                local: Some(self.local.ip()),
                interface: 1,
            };
            *place = Received {
                slot,
                len,
                segment_size: len,
                from,
                ecn: datagram.ecn as u8,
            };
            self.counters.receive_datagrams += 1;
            self.counters.receive_bytes += len as u64;
            filled += 1;
        }
        if filled == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.counters.receive_calls += 1;
        Ok(filled)
    }

    fn send_marked(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        ecn: Ecn,
    ) -> SendOutcome {
        let whole = segment_size == 0 || segment_size >= payload.len();
        let size = if whole {
            payload.len().max(1)
        } else {
            segment_size
        };
        let total = payload.len().div_ceil(size).max(1);
        let mut outcome = SendOutcome {
            handled: total,
            ..SendOutcome::default()
        };
        if to.remote.is_ipv4() != self.local.is_ipv4() {
            outcome.error = Some(io::Error::from_raw_os_error(EAFNOSUPPORT));
            return outcome;
        }
        self.counters.send_calls += 1;
        let now = self.network.clock.now();
        let mut wire = lock(&self.network.wire);
        let payload_len_max = wire.impairment.refused_above(self.bound);
        for index in 0..total {
            let start = index * size;
            let payload = payload
                .get(start..(start + size).min(payload.len()))
                .unwrap_or_default();
            if payload_len_max != 0 && payload.len() > payload_len_max {
                self.counters.send_too_big += 1;
                outcome
                    .error
                    .get_or_insert_with(|| io::Error::from_raw_os_error(EMSGSIZE));
                continue;
            }
            wire.carry(
                to.remote,
                &Datagram {
                    from: self.local,
                    ecn,
                    payload: payload.to_vec(),
                },
                now,
            );
            self.counters.send_datagrams += 1;
            self.counters.send_bytes += payload.len() as u64;
            outcome.accepted += 1;
        }
        outcome
    }

    fn rely_on(&mut self, bound: PathBound) {
        self.bound = bound;
    }

    fn send_alone(&mut self, to: &Endpoint, payload: &[u8], carriage: Carriage) -> SendOutcome {
        let before = lock(&self.network.wire).impairment;
        let unbelieving = Impairment {
            believed_len_max: 0,
            ..before
        };
        self.network.impair(match carriage {
            Carriage::Whole => unbelieving,
            Carriage::Fragments => Impairment {
                payload_len_max: 0,
                black_hole_above: 0,
                ..unbelieving
            },
        });
        let outcome = self.send_marked(to, payload, payload.len(), Ecn::NotCapable);
        self.network.impair(before);
        outcome
    }

    fn path_payload(&self, _remote: SocketAddr) -> Option<usize> {
        match lock(&self.network.wire)
            .impairment
            .refused_above(PathBound::Believed)
        {
            0 => None,
            most => Some(most),
        }
    }

    fn counters(&self) -> &DatagramCounters {
        &self.counters
    }

    fn state(&self) -> DatagramState {
        DatagramState {
            gso: FeatureState::On,
            gro: FeatureState::On,
            batch: FeatureState::On,
            equal_tails: FeatureState::On,
            gso_segments_max: usize::MAX,
            receive_buffer_bytes: usize::MAX,
            send_buffer_bytes: usize::MAX,
        }
    }
}

#[derive(Debug)]
struct Wire {
    impairment: Impairment,
    random: Random,
    sockets: HashMap<SocketAddr, VecDeque<Datagram>>,
    /// By time of arrival, then by order of sending.
    under_way: BTreeMap<(Instant, u64), (SocketAddr, Datagram)>,
    sent: u64,
}

#[derive(Clone, Debug)]
struct Datagram {
    from: SocketAddr,
    ecn: Ecn,
    payload: Vec<u8>,
}

impl Wire {
    fn carry(&mut self, to: SocketAddr, datagram: &Datagram, now: Instant) {
        let impairment = self.impairment;
        let swallowed = impairment.black_hole_above != 0
            && datagram.payload.len() > impairment.black_hole_above;
        if swallowed || self.random.happens(impairment.loss_per_mille) {
            return;
        }
        let copies = 1 + usize::from(self.random.happens(impairment.duplicate_per_mille));
        for _ in 0..copies {
            let late = self.random.happens(impairment.reorder_per_mille);
            let delay = if late {
                impairment.delay * 2
            } else {
                impairment.delay
            };
            self.sent += 1;
            self.under_way
                .insert((now + delay, self.sent), (to, datagram.clone()));
        }
    }

    fn deliver(&mut self, now: Instant) {
        while let Some(entry) = self.under_way.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let (to, datagram) = entry.remove();
            if let Some(inbox) = self.sockets.get_mut(&to) {
                inbox.push_back(datagram);
            }
        }
    }
}

fn lock(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

const EMSGSIZE: i32 = 90;
const EAFNOSUPPORT: i32 = 97;

#[cfg(test)]
mod tests {
    use super::*;
    use ports::contract::{DatagramPair, datagram_contract};

    const SLOT: usize = 65_535;

    fn network(
        impairment: Impairment,
    ) -> (ManualClock, MemoryDatagrams, MemoryDatagrams, Endpoint) {
        let clock = ManualClock::default();
        let network = MemoryNetwork::new(impairment, clock.clone());
        let alice = network.socket("10.0.0.1:1".parse().unwrap());
        let bob = network.socket("10.0.0.2:2".parse().unwrap());
        let to = Endpoint::unpinned(bob.local());
        (clock, alice, bob, to)
    }

    fn receive_all(socket: &mut MemoryDatagrams) -> Vec<Vec<u8>> {
        let mut arena = vec![0; SLOT * 4];
        let mut out = [Received::EMPTY; 4];
        let mut all = Vec::new();
        while let Ok(count) = socket.receive(&mut arena, SLOT, &mut out) {
            for received in &out[..count] {
                all.push(arena[received.slot * SLOT..][..received.len].to_vec());
            }
        }
        all
    }

    #[test]
    fn the_memory_network_keeps_the_contract_of_a_datagram_socket() {
        for [alice, bob] in [["10.0.0.1:1", "10.0.0.2:2"], ["[fd00::1]:1", "[fd00::2]:2"]] {
            datagram_contract(|| {
                let network = MemoryNetwork::perfect();
                let alice = network.socket(alice.parse().unwrap());
                let bob = network.socket(bob.parse().unwrap());
                let (to_alice, to_bob) = (
                    Endpoint::unpinned(alice.local()),
                    Endpoint::unpinned(bob.local()),
                );
                DatagramPair {
                    alice,
                    bob,
                    to_alice,
                    to_bob,
                }
            });
        }
    }

    #[test]
    fn a_delay_holds_datagrams_until_the_clock_has_moved() {
        let delay = Duration::from_millis(10);
        let (clock, mut alice, mut bob, to) = network(Impairment {
            delay,
            ..Impairment::default()
        });
        alice.send(&to, b"hello", 0);

        clock.advance(Duration::from_millis(9));
        assert!(receive_all(&mut bob).is_empty());
        assert!(bob.next_arrival().is_some());

        clock.advance(Duration::from_millis(1));
        assert_eq!(receive_all(&mut bob), [b"hello"]);
    }

    #[test]
    fn loss_duplicates_and_reordering_happen_at_their_rates() {
        let impairment = Impairment {
            loss_per_mille: 100,
            duplicate_per_mille: 50,
            reorder_per_mille: 100,
            delay: Duration::from_millis(1),
            seed: 3,
            ..Impairment::default()
        };
        let (clock, mut alice, mut bob, to) = network(impairment);
        for number in 0..10_000_u32 {
            alice.send(&to, &number.to_be_bytes(), 0);
        }
        clock.advance(Duration::from_millis(5));

        let arrived: Vec<u32> = receive_all(&mut bob)
            .iter()
            .map(|payload| u32::from_be_bytes(payload.as_slice().try_into().unwrap()))
            .collect();

        let distinct = arrived
            .iter()
            .collect::<std::collections::HashSet<_>>()
            .len();
        assert!(
            (8_800..9_200).contains(&distinct),
            "{distinct} of 10,000 arrived"
        );
        assert!(
            (300..600).contains(&(arrived.len() - distinct)),
            "{} duplicates",
            arrived.len() - distinct
        );
        assert!(
            arrived.windows(2).any(|pair| pair[0] > pair[1]),
            "some are late"
        );
    }

    #[test]
    fn what_is_too_big_is_refused_and_the_shorter_rest_carried() {
        let (_, mut alice, mut bob, to) = network(Impairment {
            payload_len_max: 100,
            ..Impairment::default()
        });

        let outcome = alice.send(&to, &[1; 250], 101);

        assert_eq!((outcome.accepted, outcome.handled), (1, 3));
        assert_eq!(outcome.error.unwrap().raw_os_error(), Some(EMSGSIZE));
        assert_eq!(receive_all(&mut bob), [vec![1; 48]]);
    }
}
