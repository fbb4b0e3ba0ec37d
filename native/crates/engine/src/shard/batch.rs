//! Datagrams on their way out: laid back to back so that one send carries them.

use core::ops::Range;
use core::time::Duration;

use conceal::{Random, Shape};
use ports::Ecn;
use wire::{DATA_HEADER_LEN, DATA_OVERHEAD, padded_len};

use crate::concealment::Concealment;
use crate::lanes::Lane;
use crate::silence::Span;

/// Collects datagrams of one session. All but the last have the same size; a shorter one closes the batch.
#[derive(Debug)]
pub(crate) struct TxBatch {
    arena: Box<[u8]>,
    used: usize,
    segment: usize,
    datagrams: usize,
    inner_bytes: usize,
    data_packets: usize,
    last: Last,
    target: Option<Target>,
    carriage: Carriage,
    datagrams_max: usize,
    /// Keepalives that there must be room for behind every batch.
    tails: usize,
    /// Length of the longest packet.
    longest: usize,
    /// Random bytes in front of each message.
    front: usize,
    chance: Option<Chance>,
    /// The length drawn for a packet of this length that has not come yet.
    drawn: Option<(usize, usize)>,
}

/// The random numbers of one shard under one profile.
#[derive(Debug)]
struct Chance {
    seed: [u8; 32],
    random: Random,
}

/// Whom a batch is for, under which keys, and with which congestion mark: one send has one mark (SEG-14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) peer: u32,
    pub(crate) session: u32,
    /// Longest packet that its path carries: longer ones travel alone and in fragments, and padding stops here.
    pub(crate) inner_max: usize,
    pub(crate) shape: Shape,
    pub(crate) mark: Ecn,
    pub(crate) lane: Lane,
}

impl Target {
    /// The same, by another lane.
    pub(crate) fn by(self, lane: Lane) -> Self {
        Target { lane, ..self }
    }

    /// The same, with the congestion mark of a packet (RFC 6040).
    pub(crate) fn marked_as(self, packet: &[u8]) -> Self {
        Target {
            mark: Ecn::from_traffic_class(packet::ecn::mark(packet)),
            ..self
        }
    }
}

/// How the collected datagrams travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carriage {
    /// Back to back, as many as one send takes.
    Together,
    /// One, in a call of its own.
    Alone(ports::Carriage),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Full,
    Shorter,
}

impl TxBatch {
    /// Allocates the arena.
    pub(crate) fn new(datagrams_max: usize) -> Self {
        TxBatch {
            arena: vec![0; ARENA_LEN].into_boxed_slice(),
            used: 0,
            segment: 0,
            datagrams: 0,
            inner_bytes: 0,
            data_packets: 0,
            last: Last::Full,
            target: None,
            carriage: Carriage::Together,
            datagrams_max: datagrams_max.max(1),
            tails: 0,
            longest: 0,
            front: 0,
            chance: None,
            drawn: None,
        }
    }

    /// Takes over what the profile in force says about every datagram. Call it while nothing is collected.
    pub(crate) fn follow(&mut self, concealment: Option<&Concealment>, shard: u16) {
        let Some(concealment) = concealment else {
            (self.front, self.chance) = (0, None);
            return;
        };
        self.front = concealment.profile.padding(conceal::Kind::Transport);
        let needed = ARENA_LEN + self.front;
        if self.arena.len() < needed {
            self.arena = vec![0; needed].into_boxed_slice();
        }
        let is_same = |chance: &Chance| concealment.has_seed(&chance.seed);
        if !self.chance.as_ref().is_some_and(is_same) {
            self.chance = Some(Chance {
                seed: concealment.seed(),
                random: concealment.random(shard),
            });
        }
    }

    /// Room for a datagram of any length, and chance; `None` without a profile. Nothing may be collected.
    pub(crate) fn scratch(&mut self) -> Option<(&mut Random, &mut [u8])> {
        let chance = self.chance.as_mut()?;
        Some((&mut chance.random, &mut self.arena))
    }

    /// One time of a span, by the chance of the profile in force.
    pub(crate) fn draw(&mut self, span: Span) -> Duration {
        span.draw(self.chance.as_mut().map(|chance| &mut chance.random))
    }

    /// Keeps room for one keepalive behind every batch.
    pub(crate) fn leave_room_for_a_tail(&mut self) {
        self.datagrams_max = self.datagrams_max.saturating_sub(1).max(1);
        self.tails = 1;
    }

    /// Whether the last of several datagrams is as long as the others, and a keepalive would be shorter.
    pub(crate) fn has_equal_tail(&self) -> bool {
        self.datagrams > 1 && self.last == Last::Full && self.segment > self.front + DATA_OVERHEAD
    }

    /// Says whether a packet of at most `len` bytes may follow what is collected.
    pub(crate) fn accepts(&mut self, target: Target, len: usize) -> bool {
        if self.datagrams == 0 {
            return true;
        }
        let may_follow = self.target == Some(target)
            && self.carriage == Carriage::Together
            && len <= target.inner_max
            && self.last == Last::Full
            && self.datagrams < self.datagrams_max;
        if !may_follow {
            return false;
        }
        let datagram = self.measure(target, len);
        if target.shape.is_random(len) {
            // What was drawn counts, whether the packet may follow or not: another draw would favour what fits.
            self.drawn = Some((len, datagram));
        }
        datagram <= self.segment
            && self.used + datagram + self.tails * target.shape.overhead() <= PAYLOAD_MAX
    }

    /// Bytes of the datagram for a packet of `len` bytes.
    fn measure(&mut self, target: Target, len: usize) -> usize {
        match &mut self.chance {
            Some(chance) => target
                .shape
                .datagram_len(len, target.inner_max, &mut chance.random),
            None => padded_len(len, target.inner_max) + target.shape.overhead(),
        }
    }

    /// Where the next packet is written.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.arena
            .get_mut(self.used + self.front + DATA_HEADER_LEN..)
            .unwrap_or_default()
    }

    /// Takes the packet of `len` bytes that was written to [`TxBatch::room`].
    pub(crate) fn commit(&mut self, target: Target, len: usize) {
        let datagram = self.datagram_for(target, len);
        self.take(target, len, datagram);
        self.inner_bytes += len;
        self.data_packets += usize::from(len > 0);
        if len > target.inner_max {
            self.carriage = Carriage::Alone(ports::Carriage::Fragments);
        }
    }

    /// Takes the path-MTU probe of `len` bytes that was written to [`TxBatch::room`]; it stays alone (SEG-15).
    pub(crate) fn commit_probe(&mut self, target: Target, len: usize) {
        self.take(target, len, len + target.shape.overhead());
        self.carriage = Carriage::Alone(ports::Carriage::Whole);
    }

    /// Takes an extension message of `len` bytes, which counts as no packet.
    pub(crate) fn commit_extension(&mut self, target: Target, len: usize) {
        let datagram = self.datagram_for(target, len);
        self.take(target, len, datagram);
    }

    /// The length that was drawn when the packet was announced, or one that still fits.
    fn datagram_for(&mut self, target: Target, len: usize) -> usize {
        if let Some((of, datagram)) = self.drawn.take()
            && of == len
        {
            return datagram;
        }
        let datagram = self.measure(target, len);
        if self.datagrams == 0 {
            datagram
        } else {
            datagram.min(self.segment)
        }
    }

    fn take(&mut self, target: Target, len: usize, datagram: usize) {
        let start = self.used + self.front + DATA_HEADER_LEN;
        self.longest = self.longest.max(len);
        if let Some(padding) = self.arena.get_mut(start + len..self.used + datagram) {
            padding.fill(0);
        }
        if self.datagrams == 0 {
            self.segment = datagram;
            self.target = Some(target);
            self.last = Last::Full;
        } else if datagram < self.segment {
            self.last = Last::Shorter;
        }
        self.used += datagram;
        self.datagrams += 1;
    }

    pub(crate) fn carriage(&self) -> Carriage {
        self.carriage
    }

    pub(crate) fn target(&self) -> Option<Target> {
        self.target
    }

    pub(crate) fn datagrams(&self) -> usize {
        self.datagrams
    }

    /// Datagrams that carry a packet; the others are keepalives.
    pub(crate) fn data_packets(&self) -> usize {
        self.data_packets
    }

    pub(crate) fn inner_bytes(&self) -> usize {
        self.inner_bytes
    }

    pub(crate) fn segment(&self) -> usize {
        self.segment
    }

    /// What is collected.
    pub(crate) fn payload(&self) -> &[u8] {
        self.arena.get(..self.used).unwrap_or_default()
    }

    /// Bytes of the datagram around the longest packet, without its padding.
    pub(crate) fn longest_datagram(&self) -> usize {
        self.front + DATA_OVERHEAD + self.longest
    }

    /// Disguises the sealed datagrams.
    pub(crate) fn conceal(&mut self, concealment: &Concealment) {
        let Some(chance) = &mut self.chance else {
            return;
        };
        let sealed = self.arena.get_mut(..self.used).unwrap_or_default();
        concealment
            .profile
            .finish_transports(sealed, self.segment, &mut chance.random);
    }

    /// Each message: header, packet and tag.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let (used, segment, front) = (self.used, self.segment.max(1), self.front);
        self.arena
            .get_mut(..used)
            .unwrap_or_default()
            .chunks_mut(segment)
            .map(move |datagram| datagram.get_mut(front..).unwrap_or_default())
    }

    /// The bytes of the datagrams behind the first `handled` ones.
    pub(crate) fn behind(&self, handled: usize) -> Range<usize> {
        (handled * self.segment).min(self.used)..self.used
    }

    pub(crate) fn clear(&mut self) {
        self.used = 0;
        self.datagrams = 0;
        self.inner_bytes = 0;
        self.longest = 0;
        self.data_packets = 0;
        self.target = None;
        self.carriage = Carriage::Together;
    }
}

/// Most payload of one send over IPv4; the bound for IPv6 is a little higher.
const PAYLOAD_MAX: usize = 65_507;
/// Room for the largest packet with header, padding and tag.
const ARENA_LEN: usize = 65_535 + 2 * DATA_OVERHEAD + 16;

#[cfg(test)]
mod tests {
    use super::*;

    const A: Target = Target {
        peer: 1,
        session: 1,
        inner_max: 1420,
        shape: Shape {
            front: 0,
            padding: conceal::Padding::Sixteen,
        },
        mark: Ecn::NotCapable,
        lane: 0,
    };
    const B: Target = Target {
        peer: 2,
        session: 2,
        inner_max: 1420,
        shape: Shape {
            front: 0,
            padding: conceal::Padding::Sixteen,
        },
        mark: Ecn::NotCapable,
        lane: 0,
    };

    fn with(lengths: &[usize]) -> TxBatch {
        let mut batch = TxBatch::new(64);
        for len in lengths {
            assert!(batch.accepts(A, *len));
            batch.commit(A, *len);
        }
        batch
    }

    /// SEG-02: a shorter datagram closes the batch.
    #[test]
    fn seg_02_a_shorter_datagram_closes_the_batch() {
        let mut batch = with(&[1420, 1420, 100]);

        assert!(!batch.accepts(A, 100));
        assert_eq!(batch.segment(), 1452);
        assert_eq!(batch.payload().len(), 1452 * 2 + 112 + 32);
    }

    /// SEG-03: a longer datagram needs a new batch.
    #[test]
    fn seg_03_a_longer_datagram_needs_a_new_batch() {
        assert!(!with(&[100]).accepts(A, 1420));
        assert!(with(&[100]).accepts(A, 98), "the same size after padding");
    }

    /// SEG-04, SEG-14: another target or another congestion mark needs a new batch.
    #[test]
    fn seg_04_another_target_or_mark_needs_a_new_batch() {
        assert!(!with(&[100]).accepts(B, 100));
        let marked = Target {
            mark: Ecn::Capable0,
            ..A
        };
        assert!(!with(&[100]).accepts(marked, 100));
        assert!(!with(&[100]).accepts(A.by(1), 100), "another lane");
    }

    /// LIM-03: a batch never exceeds what one send can carry.
    #[test]
    fn lim_03_a_batch_never_exceeds_what_one_send_can_carry() {
        let mut batch = with(&[]);
        while batch.accepts(A, 1420) {
            batch.commit(A, 1420);
        }
        assert_eq!(batch.datagrams(), 45);
        assert!(batch.payload().len() <= 65_507);
    }

    #[test]
    fn seg_15_a_path_mtu_probe_shares_its_send_with_nothing() {
        let mut batch = with(&[]);
        batch.commit_probe(A, 1420);
        assert_eq!(batch.carriage(), Carriage::Alone(ports::Carriage::Whole));
        assert_eq!(batch.payload().len(), 1452);
        assert!(!batch.accepts(A, 1420));
        assert!(!batch.accepts(A, 0));

        batch.clear();
        assert_eq!(batch.carriage(), Carriage::Together);
        assert!(batch.accepts(A, 1420));
    }

    #[test]
    fn a_packet_too_long_for_its_path_travels_alone_in_fragments() {
        let mut batch = with(&[100]);
        assert!(!batch.accepts(A, 1421));
        batch.clear();
        assert!(batch.accepts(A, 1421));
        batch.commit(A, 1421);
        assert_eq!(
            batch.carriage(),
            Carriage::Alone(ports::Carriage::Fragments)
        );
        assert!(!batch.accepts(A, 100));
    }

    #[test]
    fn padding_stops_at_what_the_path_carries() {
        let narrow = Target {
            inner_max: 1243,
            ..A
        };
        let mut batch = with(&[]);
        batch.commit(narrow, 1242);
        assert_eq!(batch.payload().len(), 1243 + 32);
    }

    #[test]
    fn stale_bytes_never_become_padding() {
        let mut batch = with(&[]);
        batch.room().fill(0xff);
        batch.commit(A, 1);
        assert!(batch.payload()[17..32].iter().all(|byte| *byte == 0));
    }
}
