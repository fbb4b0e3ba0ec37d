//! Lanes: several UDP source ports towards one peer, so that its packets reach several of its cores.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use core::time::Duration;

use ports::Instant;

use crate::timers::Deadline;

/// A lane by its number. Lane 0 is the port that handshakes leave from; it is never out of use.
pub(crate) type Lane = u8;

/// More lanes than this are never used.
pub const LANES_MAX: u8 = 8;

/// Which lane a packet number belongs to, and its place among those of the lane: each lane has its own numbers, in the
/// same 64 bits that the tag covers.
pub(crate) fn lane_and_place(counter: u64) -> (u8, u64) {
    let [lane, ..] = counter.to_be_bytes();
    (lane, counter & PLACE_MASK)
}

/// The packet number of a place on a lane.
pub(crate) fn packet_number(lane: Lane, place: u64) -> u64 {
    (u64::from(lane) << PLACE_BITS) | place
}

const PLACE_BITS: u32 = 56;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
/// Places at or above this are neither sent nor accepted on a lane.
pub(crate) const PLACES_MAX: u64 = PLACE_MASK - (1 << 13);

/// What one side knows about its lanes to one peer, changed by all shards.
#[derive(Debug)]
pub(crate) struct PeerLanes {
    /// Lanes that are in use, one bit each; that of lane 0 is always set.
    usable: AtomicU8,
    /// Lanes the last round was about.
    wanted: AtomicU8,
    health: [LaneHealth; LANES_MAX as usize],
    flows: [AtomicU64; FLOWS],
    /// When lanes are probed next.
    pub(crate) round: Deadline,
    /// Lanes that data went out by since the last round.
    busy: AtomicU8,
    rounds: AtomicU32,
}

/// Times in nanoseconds; 0 = never.
#[derive(Debug, Default)]
struct LaneHealth {
    up_since: AtomicU64,
    /// First probe that no later answer followed.
    unanswered_since: AtomicU64,
    /// Last probe while the lane was out of use.
    tried_at: AtomicU64,
    /// Answers to earlier probes than this say nothing.
    heed_from: AtomicU32,
    /// When a lane that is out of use is probed again.
    retry_at: AtomicU64,
    /// How often in a row it went out of use, or stayed so.
    failures: AtomicU8,
}

/// What an answer or a failure changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Nothing,
    Up,
    Down,
}

/// One look at all lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Comes back in the answers.
    pub(crate) id: u32,
    now: Instant,
    busy: u8,
    is_first: bool,
}

impl Round {
    /// Whether data went by other lanes only: then something must go by the first one, which shows where we are.
    pub(crate) fn spares_first(self) -> bool {
        self.busy != 0 && self.busy & FIRST == 0
    }
}

/// What a round does about one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Rest,
    /// It is in use: asks in few bytes.
    Probe,
    /// It is not: asks in a datagram as long as the path is taken to carry, so that no lane comes into use by which only short
    /// ones arrive.
    Try,
    Down,
}

impl PeerLanes {
    pub(crate) fn new() -> Self {
        PeerLanes {
            usable: AtomicU8::new(FIRST),
            wanted: AtomicU8::new(FIRST),
            health: core::array::from_fn(|_| LaneHealth::default()),
            flows: [const { AtomicU64::new(0) }; FLOWS],
            round: Deadline::default(),
            busy: AtomicU8::new(0),
            rounds: AtomicU32::new(0),
        }
    }

    /// The lane for a packet of a flow, of `lanes`. A flow stays where it is; it goes to its own lane when that is in use
    /// and either nothing of it can be on the way any more, or it stood elsewhere for long.
    pub(crate) fn lane_of(&self, flow: u64, lanes: u8, now: Instant) -> Lane {
        let usable = self.usable.load(Ordering::Relaxed);
        let own = u8::try_from(flow % u64::from(lanes.max(1))).unwrap_or(0);
        let wanted = if usable & bit(own) == 0 { 0 } else { own };
        let place =
            usize::try_from(flow / u64::from(lanes.max(1)) % FLOWS_PER_LANE as u64).unwrap_or(0);
        let Some(cell) = self.flows.get(usize::from(own) * FLOWS_PER_LANE + place) else {
            return wanted;
        };
        let now_ms = now.as_nanoseconds() / 1_000_000;
        let before = cell.load(Ordering::Relaxed);
        let [stood_on, ..] = before.to_le_bytes();
        let last_ms = before >> 8;
        let stays = before != 0
            && stood_on != wanted
            && usable & bit(stood_on) != 0
            && now_ms.saturating_sub(last_ms) < FLOW_GAP_MS
            && !self.is_up_for_long(wanted, now);
        let lane = if stays { stood_on } else { wanted };
        let after = (now_ms << 8) | u64::from(lane);
        if after != before {
            cell.store(after, Ordering::Relaxed);
        }
        lane
    }

    fn is_up_for_long(&self, lane: Lane, now: Instant) -> bool {
        let since = self
            .at(lane)
            .map_or(0, |health| health.up_since.load(Ordering::Relaxed));
        since != 0 && now >= Instant::from_nanoseconds(since) + MOVED_ANYWAY_AFTER
    }

    /// Notes that data went out by a lane.
    pub(crate) fn note_sent(&self, lane: Lane) {
        if self.busy.load(Ordering::Relaxed) & bit(lane) == 0 {
            self.busy.fetch_or(bit(lane), Ordering::Relaxed);
        }
    }

    /// Whether no round was made yet.
    pub(crate) fn is_new(&self) -> bool {
        self.rounds.load(Ordering::Relaxed) == 0
    }

    /// Begins a round over so many lanes.
    pub(crate) fn begin_round(&self, lanes: u8, now: Instant) -> Round {
        self.wanted.store(mask(lanes), Ordering::Relaxed);
        let is_first = self.is_new();
        let id = self.rounds.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        Round {
            id,
            now,
            busy: self.busy.swap(0, Ordering::Relaxed),
            is_first,
        }
    }

    /// When the next round is; `None` = when data goes out again.
    pub(crate) fn next_round(&self, round: Round) -> Option<Instant> {
        let waits = (1..LANES_MAX)
            .filter_map(|lane| self.at(lane))
            .any(|health| health.unanswered_since.load(Ordering::Relaxed) != 0);
        (round.busy != 0 || waits).then(|| round.now + ROUND_EVERY)
    }

    /// Whether a lane is probed in a round, or goes out of use because nothing came back.
    pub(crate) fn look(&self, lane: Lane, round: Round) -> Look {
        let now = round.now;
        let Some(health) = self.at(lane).filter(|_| lane > 0) else {
            return Look::Rest;
        };
        if self.usable.load(Ordering::Relaxed) & bit(lane) == 0 {
            let due = health.retry_at.load(Ordering::Relaxed) <= now.as_nanoseconds();
            if !due || (round.busy == 0 && !round.is_first) {
                return Look::Rest;
            }
            health.heed_from.store(round.id, Ordering::Relaxed);
            health
                .tried_at
                .store(now.as_nanoseconds(), Ordering::Relaxed);
            plan_retry(health, now);
            return Look::Try;
        }
        match health.unanswered_since.load(Ordering::Relaxed) {
            0 if round.busy & bit(lane) == 0 => Look::Rest,
            0 => {
                health
                    .unanswered_since
                    .store(now.as_nanoseconds().max(1), Ordering::Relaxed);
                Look::Probe
            }
            since if now < Instant::from_nanoseconds(since) + SILENT_AFTER => Look::Probe,
            _ => match self.fail(lane, now) {
                Turn::Down => Look::Down,
                Turn::Up | Turn::Nothing => Look::Rest,
            },
        }
    }

    /// A probe of the lane was answered.
    pub(crate) fn note_answer(&self, lane: u32, id: u32, now: Instant) -> Turn {
        let lane = Lane::try_from(lane).unwrap_or(LANES_MAX);
        let wanted = self.wanted.load(Ordering::Relaxed);
        let Some(health) = self
            .at(lane)
            .filter(|_| lane > 0 && wanted & bit(lane) != 0)
        else {
            return Turn::Nothing;
        };
        let newest = self.rounds.load(Ordering::Relaxed);
        let heed_from = health.heed_from.load(Ordering::Relaxed);
        if !(heed_from..=newest).contains(&id) {
            return Turn::Nothing;
        }
        let tried_at = Instant::from_nanoseconds(health.tried_at.load(Ordering::Relaxed));
        let is_usable = self.usable.load(Ordering::Relaxed) & bit(lane) != 0;
        if !is_usable && now > tried_at + SLOW_FROM {
            return Turn::Nothing;
        }
        health.unanswered_since.store(0, Ordering::Relaxed);
        health.failures.store(0, Ordering::Relaxed);
        if self.usable.fetch_or(bit(lane), Ordering::Relaxed) & bit(lane) != 0 {
            return Turn::Nothing;
        }
        health
            .up_since
            .store(now.as_nanoseconds().max(1), Ordering::Relaxed);
        Turn::Up
    }

    /// Takes a lane out of use; its flows go on by the first one.
    pub(crate) fn fail(&self, lane: Lane, now: Instant) -> Turn {
        let Some(health) = self.at(lane).filter(|_| lane > 0) else {
            return Turn::Nothing;
        };
        if self.usable.fetch_and(!bit(lane), Ordering::Relaxed) & bit(lane) == 0 {
            return Turn::Nothing;
        }
        let next = self.rounds.load(Ordering::Relaxed).wrapping_add(1);
        health.heed_from.store(next, Ordering::Relaxed);
        health.unanswered_since.store(0, Ordering::Relaxed);
        health.up_since.store(0, Ordering::Relaxed);
        plan_retry(health, now);
        Turn::Down
    }

    /// The peer is somewhere else: nothing is known of the lanes there.
    pub(crate) fn reset(&self) {
        self.usable.store(FIRST, Ordering::Relaxed);
        let next = self.rounds.load(Ordering::Relaxed).wrapping_add(1);
        for health in &self.health {
            health.heed_from.store(next, Ordering::Relaxed);
            health.up_since.store(0, Ordering::Relaxed);
            health.unanswered_since.store(0, Ordering::Relaxed);
            health.retry_at.store(0, Ordering::Relaxed);
            health.failures.store(0, Ordering::Relaxed);
        }
    }

    /// How many of `lanes` are in use.
    pub(crate) fn in_use(&self, lanes: u8) -> u32 {
        (self.usable.load(Ordering::Relaxed) & mask(lanes)).count_ones()
    }

    fn at(&self, lane: Lane) -> Option<&LaneHealth> {
        self.health.get(usize::from(lane))
    }
}

fn plan_retry(health: &LaneHealth, now: Instant) {
    let before = health.failures.load(Ordering::Relaxed);
    let failures = before.saturating_add(1).min(RETRY_DOUBLINGS_MAX);
    health.failures.store(failures, Ordering::Relaxed);
    let due = now + RETRY_FIRST * (1 << (failures - 1));
    health
        .retry_at
        .store(due.as_nanoseconds(), Ordering::Relaxed);
}

/// A number that both directions of a flow have in common; fragments and packets without ports go by their addresses.
pub(crate) fn flow_number(packet: &[u8]) -> u64 {
    let Some((source, destination)) = packet::addresses(packet) else {
        return 0;
    };
    let ports = packet::flow(packet);
    let end = |address: core::net::IpAddr, port: u16| match address {
        core::net::IpAddr::V4(v4) => stir(u64::from(v4.to_bits()), u64::from(port)),
        core::net::IpAddr::V6(v6) => {
            let bits = v6.to_bits();
            let [high, low] = halves(bits);
            stir(stir(high, low), u64::from(port))
        }
    };
    let from = end(source, ports.map_or(0, |ports| ports.source_port));
    let to = end(destination, ports.map_or(0, |ports| ports.destination_port));
    stir(
        from.wrapping_add(to),
        ports.map_or(0, |ports| u64::from(ports.protocol)),
    )
}

fn halves(bits: u128) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, low @ ..] = bits.to_be_bytes();
    [
        u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        u64::from_be_bytes(low),
    ]
}

/// Mixes two words (the finalizer of `MurmurHash3`). Who knows it can put his own flows on one lane, and nothing else.
fn stir(left: u64, right: u64) -> u64 {
    let mut word = left.rotate_left(32) ^ right.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

fn bit(lane: Lane) -> u8 {
    1_u8.checked_shl(lane.into()).unwrap_or(0)
}

fn mask(lanes: u8) -> u8 {
    if lanes >= LANES_MAX {
        u8::MAX
    } else {
        bit(lanes).wrapping_sub(1) | FIRST
    }
}

const FIRST: u8 = 1;
/// Flows of one lane that are told apart when they move; those with the same place move together.
const FLOWS_PER_LANE: usize = 32;
const FLOWS: usize = FLOWS_PER_LANE * LANES_MAX as usize;
/// After such a pause nothing of a flow is on the way by another lane.
const FLOW_GAP_MS: u64 = 50;
/// A flow without a pause goes to its own lane when that was in use for so long.
const MOVED_ANYWAY_AFTER: Duration = Duration::from_secs(5);
/// How often lanes are probed while data goes out.
pub(crate) const ROUND_EVERY: Duration = Duration::from_millis(250);
/// A lane without an answer for so long is out of use.
const SILENT_AFTER: Duration = Duration::from_millis(750);
/// A path whose answers take longer than this is too slow to tell a lost lane from a slow one: it keeps to the first.
const SLOW_FROM: Duration = Duration::from_millis(400);
/// A lane out of use is probed again after this, then after twice, four times … as long.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// The longest wait is 32 s.
const RETRY_DOUBLINGS_MAX: u8 = 6;

#[cfg(test)]
mod tests {
    use testkit::{Random, t4, u4};

    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::default() + Duration::from_millis(100_000 + milliseconds)
    }

    /// Lanes of which these are in use since the start.
    fn with(answered: &[u32]) -> PeerLanes {
        let lanes = PeerLanes::new();
        let round = lanes.begin_round(8, at(0));
        for lane in 1..8 {
            assert_eq!(lanes.look(lane, round), Look::Try, "the first round");
        }
        for lane in answered {
            assert_eq!(lanes.note_answer(*lane, round.id, at(1)), Turn::Up);
        }
        lanes
    }

    /// One round in which data goes by a lane.
    fn round(lanes: &PeerLanes, lane: Lane, now: Instant) -> (Round, Look) {
        lanes.note_sent(lane);
        let round = lanes.begin_round(8, now);
        (round, lanes.look(lane, round))
    }

    #[test]
    fn packet_numbers_of_lanes_are_apart_and_never_run_into_each_other() {
        for lane in 0..LANES_MAX {
            for place in [0, 1, PLACES_MAX - 1] {
                let number = packet_number(lane, place);
                assert_eq!(lane_and_place(number), (lane, place));
            }
            assert!(packet_number(lane, PLACES_MAX) < packet_number(lane + 1, 0));
        }
        assert_eq!(packet_number(0, 7), 7, "the first lane has WireGuard's own");
    }

    #[test]
    fn no_lane_is_used_before_a_probe_of_it_was_answered() {
        let lanes = with(&[3]);
        for flow in 0..1_000 {
            let lane = lanes.lane_of(flow, 8, at(2));
            assert_eq!(lane, if flow % 8 == 3 { 3 } else { 0 });
        }
        assert_eq!(lanes.in_use(8), 2);
        assert_eq!(lanes.note_answer(0, 1, at(2)), Turn::Nothing);
        assert_eq!(
            lanes.note_answer(8, 1, at(2)),
            Turn::Nothing,
            "no such lane"
        );
        assert_eq!(lanes.note_answer(u32::MAX, 1, at(2)), Turn::Nothing);
        assert_eq!(lanes.note_answer(4, 9, at(2)), Turn::Nothing, "never asked");
    }

    #[test]
    fn a_lane_that_falls_silent_is_left_within_a_second_and_its_flows_go_by_the_first() {
        let lanes = with(&[3, 4]);
        assert_eq!(lanes.lane_of(3, 8, at(2)), 3);
        let mut now = 250;
        let left = loop {
            match round(&lanes, 3, at(now)).1 {
                Look::Probe => now += 250,
                Look::Down => break now,
                Look::Rest | Look::Try => panic!("data goes by it"),
            }
        };
        assert!(left <= 1_000, "{left} ms");
        assert_eq!(lanes.lane_of(3, 8, at(left)), 0);
        assert_eq!(lanes.lane_of(4, 8, at(left)), 4, "others are not touched");
    }

    #[test]
    fn a_lost_probe_or_two_take_no_lane_out_of_use() {
        let lanes = with(&[3]);
        for number in 1..100 {
            let (made, look) = round(&lanes, 3, at(250 * number));
            assert_eq!(look, Look::Probe);
            if number % 3 == 0 {
                assert_eq!(
                    lanes.note_answer(3, made.id, at(250 * number + 1)),
                    Turn::Nothing
                );
            }
        }
        assert_eq!(lanes.in_use(8), 2);
    }

    #[test]
    fn a_lane_out_of_use_is_tried_more_and_more_seldom_and_comes_back_by_an_answer() {
        let lanes = with(&[3]);
        lanes.fail(3, at(0));
        let mut tries = Vec::new();
        for second in 0..200 {
            let (made, look) = round(&lanes, 3, at(1_000 * second));
            if look == Look::Try {
                tries.push((second, made.id));
            }
        }
        let seconds: Vec<_> = tries.iter().map(|(second, _)| *second).collect();
        assert_eq!(seconds, [1, 3, 7, 15, 31, 63, 95, 127, 159, 191]);
        let (second, id) = tries[9];
        let (_, earlier) = tries[8];
        let soon = at(1_000 * second + 3);
        assert_eq!(
            lanes.note_answer(3, earlier, soon),
            Turn::Nothing,
            "too late"
        );
        assert_eq!(lanes.note_answer(3, id, soon), Turn::Up);
        assert_eq!(lanes.lane_of(11, 8, soon), 3);
    }

    #[test]
    fn a_slow_path_keeps_to_the_first_lane() {
        let lanes = PeerLanes::new();
        let round = lanes.begin_round(8, at(0));
        assert_eq!(lanes.look(3, round), Look::Try);
        assert_eq!(lanes.note_answer(3, round.id, at(401)), Turn::Nothing);
        assert_eq!(lanes.in_use(8), 1);
    }

    #[test]
    fn a_flow_goes_to_its_lane_in_a_pause_or_when_it_stood_elsewhere_for_long() {
        let lanes = with(&[]);
        assert_eq!(lanes.lane_of(3, 8, at(0)), 0);
        assert_eq!(lanes.note_answer(3, 1, at(10)), Turn::Up);
        for milliseconds in (10..5_010).step_by(10) {
            assert_eq!(lanes.lane_of(3, 8, at(milliseconds)), 0, "{milliseconds}");
        }
        assert_eq!(lanes.lane_of(3, 8, at(5_010)), 3, "it never paused");

        let lanes = with(&[]);
        assert_eq!(lanes.lane_of(3, 8, at(0)), 0);
        assert_eq!(lanes.note_answer(3, 1, at(10)), Turn::Up);
        assert_eq!(lanes.lane_of(3, 8, at(49)), 0);
        assert_eq!(lanes.lane_of(3, 8, at(99)), 3);
        assert_eq!(lanes.lane_of(3 + 8, 8, at(99)), 3, "a new flow");
    }

    #[test]
    fn rounds_end_when_nothing_goes_out_and_nothing_is_unanswered() {
        let lanes = with(&[3]);
        let (made, _) = round(&lanes, 3, at(250));
        assert_eq!(lanes.next_round(made), Some(at(500)));
        lanes.note_answer(3, made.id, at(251));
        let last = lanes.begin_round(8, at(500));
        for lane in 1..8 {
            assert_eq!(lanes.look(lane, last), Look::Rest);
        }
        assert_eq!(lanes.next_round(last), None);
    }

    #[test]
    fn when_the_peer_moved_all_lanes_must_be_probed_again() {
        let lanes = with(&[1, 2, 3]);
        lanes.reset();
        assert_eq!(lanes.in_use(8), 1);
        assert_eq!(
            lanes.note_answer(1, 1, at(5)),
            Turn::Nothing,
            "of the old place"
        );
        let (made, look) = round(&lanes, 1, at(6));
        assert_eq!(look, Look::Try);
        assert_eq!(lanes.note_answer(1, made.id, at(7)), Turn::Up);
    }

    #[test]
    fn both_directions_of_a_flow_have_one_number_and_flows_spread_over_the_lanes() {
        let mut there = u4(7, 100);
        let number = flow_number(&there);
        let mut back = there.clone();
        back[12..16].copy_from_slice(&there[16..20]);
        back[16..20].copy_from_slice(&there[12..16]);
        back[20..22].copy_from_slice(&there[22..24]);
        back[22..24].copy_from_slice(&there[20..22]);
        assert_eq!(flow_number(&back), number);
        assert_ne!(flow_number(&t4(1, 100)), number);

        let mut seen = [0; 8];
        for port in 0..800_u16 {
            there[20..22].copy_from_slice(&(20_000 + port).to_be_bytes());
            seen[usize::try_from(flow_number(&there) % 8).unwrap()] += 1;
        }
        assert!(
            seen.iter().all(|flows| (50..150).contains(flows)),
            "{seen:?}"
        );
    }

    #[test]
    fn all_fragments_of_a_datagram_have_one_number() {
        let mut first = u4(7, 100);
        first[6] = 0x20;
        let mut second = first.clone();
        second[6..8].copy_from_slice(&[0, 100]);
        second[20..24].copy_from_slice(&[9, 9, 9, 9]);
        assert_eq!(flow_number(&first), flow_number(&second));
    }

    /// Whatever lanes do, a flow that sends without pauses moves only when its lane went out of use or it stood elsewhere
    /// for long.
    #[test]
    fn a_busy_flow_never_moves_without_need() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let lanes = with(&[1, 2, 3, 4, 5, 6, 7]);
            let (mut stood, mut up_since) = ([None::<Lane>; 8], [0; 8]);
            for step in 1..200_u64 {
                let (now, at_lane) = (40 * step, 1 + random.below(7));
                let lane = Lane::try_from(at_lane).unwrap();
                match random.below(6) {
                    0 if lanes.fail(lane, at(now)) == Turn::Down => {
                        stood[at_lane] = stood[at_lane].filter(|on| *on != lane);
                    }
                    1 => {
                        let made = lanes.begin_round(8, at(now));
                        lanes.look(lane, made);
                        if lanes.note_answer(lane.into(), made.id, at(now)) == Turn::Up {
                            up_since[at_lane] = now;
                        }
                    }
                    _ => {}
                }
                for flow in 0..8_u8 {
                    let place = usize::from(flow);
                    let on = lanes.lane_of(flow.into(), 8, at(now));
                    assert!(on == flow || on == 0);
                    let before = stood[place].replace(on);
                    let stood_long = now - up_since[place] >= 5_000;
                    assert!(
                        before.is_none_or(|before| before == on) || stood_long,
                        "seed {seed}, step {step}, flow {flow}"
                    );
                }
            }
        }
    }
}
