//! Several lanes to one peer: who uses them, when they are left, and that nothing is reordered or moved by them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may stop at the first surprise"
)]

mod support;

use core::net::{SocketAddr, SocketAddrV4};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::HashMap;
use std::io;

use engine::{Engine, EngineLimits, LaneSockets, Shard, ShardLimits, ShardParts, StageTiming};
use offload::{ByteOrder, MergeLimits, SplitCursor, SplitLimits, VirtioHeader};
use ports::{
    Carriage, Clock, DatagramCounters, DatagramState, Datagrams, Ecn, Endpoint, PathBound,
    Received, SendOutcome,
};
use support::commands::Disguise;
use support::socket::Wire;
use support::{FRAMING, INNER, OUTER, PEER, Pair, TestClock, commands};
use testkit::{
    Impairment, MemoryDatagrams, MemoryHost, MemoryNetwork, MemoryTun, Random, memory_tun, udp_v4,
};
use wire::{Aead, Cipher, DATA_HEADER_LEN, DataHeader, TAG_LEN, TransportKey};

const ENDPOINT_MOVED: u8 = 5;

/// Flags of a session with extension messages and so many lanes.
const fn lanes(count: u16) -> (u8, u16) {
    (0, 4 | count << 8)
}

/// Two nodes with sockets for so many lanes, under a session that says so.
fn pair_with(own: [usize; 2], agreed: (u8, u16)) -> Pair {
    settled(Pair::over(own.map(wire)), agreed)
}

fn wire(lanes: usize) -> Wire {
    Wire {
        lanes,
        ..Wire::default()
    }
}

fn settled(mut pair: Pair, agreed: (u8, u16)) -> Pair {
    pair.install_with(100, [agreed; 2]);
    pair.exchange();
    pair.advance(Duration::from_millis(100));
    for node in &pair.nodes {
        node.events();
    }
    pair
}

/// A packet of a flow with its number in it.
fn numbered(flow: u16, number: u32) -> Vec<u8> {
    let from = SocketAddrV4::new(INNER[0].parse().unwrap(), 5_000 + flow);
    let to = SocketAddrV4::new(INNER[1].parse().unwrap(), 9_000);
    udp_v4(from, to, &number.to_be_bytes())
}

/// Sends a packet of each of so many flows and returns how many arrived.
fn send_flows(pair: &mut Pair, flows: u16) -> usize {
    for flow in 0..flows {
        pair.nodes[0].host.send_packet(&numbered(flow, 0));
    }
    pair.exchange();
    pair.nodes[1].packets().len()
}

fn used(pair: &Pair) -> Vec<usize> {
    let sent = pair.nodes[0].wire.by_lane.iter();
    sent.map(|count| count.swap(0, Ordering::Relaxed)).collect()
}

#[test]
fn flows_spread_over_the_lanes_and_arrive_and_the_peer_stays_where_it_is() {
    let mut pair = pair_with([8, 8], lanes(8));
    used(&pair);

    let sent: usize = 200;
    let mut arrived = 0;
    for _ in 0..4 {
        arrived += send_flows(&mut pair, 50);
    }

    assert_eq!(arrived, sent);
    assert!(used(&pair).iter().all(|datagrams| *datagrams > 0));
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 8);
    assert!(!pair.nodes[1].event_kinds().contains(&ENDPOINT_MOVED));
    assert!(pair.nodes[1].total("laneReceiveDatagrams") > 100);
    assert_eq!(pair.nodes[1].peer("dropReplay"), 0);
}

#[test]
fn a_node_without_lane_sockets_sends_by_the_first_and_receives_by_all() {
    for own in [[8, 1], [1, 8], [3, 8]] {
        let mut pair = pair_with(own, lanes(8));
        used(&pair);
        assert_eq!(send_flows(&mut pair, 60), 60, "{own:?}");

        let carried = used(&pair).iter().filter(|count| **count > 0).count();
        assert_eq!(carried, own[0].max(1), "{own:?}");
        assert_eq!(pair.nodes[0].peer("lanesInUse"), own[0] as u64);
    }
}

#[test]
fn a_session_without_lanes_uses_none_whatever_sockets_there_are() {
    let mut pair = pair_with([8, 8], (0, 4));
    assert_eq!(send_flows(&mut pair, 60), 60);

    assert_eq!(used(&pair)[1..], [0; 7]);
    assert_eq!(pair.nodes[0].total("laneProbesSent"), 0);
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 1);
}

#[test]
fn lost_lanes_are_left_within_a_second_and_come_back_when_they_arrive_again() {
    let mut pair = pair_with([8, 8], lanes(8));
    assert_eq!(send_flows(&mut pair, 40), 40);
    pair.nodes[0]
        .wire
        .lost_lanes
        .store(0b1111_1110, Ordering::Relaxed);

    let mut lost_until = 0;
    for step in 0..300 {
        pair.advance(Duration::from_millis(10));
        if send_flows(&mut pair, 40) < 40 {
            lost_until = 10 * step;
        }
    }
    assert!(lost_until <= 1_100, "lost until {lost_until} ms");
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 1);
    assert_eq!(pair.nodes[0].total("lanesDown"), 7);

    pair.nodes[0].wire.lost_lanes.store(0, Ordering::Relaxed);
    for _ in 0..400 {
        pair.advance(Duration::from_millis(100));
        assert_eq!(send_flows(&mut pair, 40), 40);
    }
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 8);
    assert!(used(&pair).iter().all(|datagrams| *datagrams > 0));
}

#[test]
fn a_lane_by_which_only_short_datagrams_arrive_never_comes_into_use() {
    let mut pair = Pair::over([wire(8), wire(8)]);
    pair.network.impair(Impairment {
        black_hole_above: 600,
        ..Impairment::default()
    });
    pair = settled(pair, lanes(8));
    assert_eq!(
        send_flows(&mut pair, 40),
        40,
        "short ones by the first lane"
    );
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 1);

    pair.nodes[0].apply(&[commands::set_path_mtu(PEER, 600, 0)]);
    for _ in 0..40 {
        pair.advance(Duration::from_millis(100));
        assert_eq!(send_flows(&mut pair, 40), 40);
    }
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 8, "now that we know it");
}

#[test]
fn idle_nodes_send_nothing_for_their_lanes() {
    let mut pair = pair_with([8, 8], lanes(8));
    assert_eq!(send_flows(&mut pair, 40), 40);
    for _ in 0..20 {
        pair.advance(Duration::from_millis(100));
        pair.exchange();
    }
    used(&pair);

    for _ in 0..50 {
        pair.advance(Duration::from_millis(100));
        pair.exchange();
    }

    assert_eq!(used(&pair), [0; 8]);
}

/// A data message of the first node as another program would make it.
fn sealed(counter: u64, packet: &[u8]) -> Vec<u8> {
    let mut message = vec![0; DATA_HEADER_LEN];
    DataHeader {
        receiver: 101,
        counter,
    }
    .write(message.first_chunk_mut().unwrap());
    message.extend(packet);
    message.resize(message.len().next_multiple_of(16), 0);
    let mut tag = [0; TAG_LEN];
    let key = TransportKey::new(Cipher::ChaCha20Poly1305, &mut [1; 32]);
    key.seal(counter, &mut message[DATA_HEADER_LEN..], &mut tag);
    message.extend(tag);
    message
}

#[test]
fn only_packets_of_the_first_lane_move_a_peer() {
    let mut pair = pair_with([8, 8], lanes(8));
    let stranger: SocketAddr = "192.0.2.77:7".parse().unwrap();
    let mut elsewhere = pair.network.socket(stranger);
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());

    for lane in 1..8_u64 {
        let message = sealed((lane << 56) + 5_000, &numbered(1, 1));
        elsewhere.send(&to, &message, message.len());
        pair.exchange();
        assert_eq!(pair.nodes[1].packets().len(), 1, "lane {lane}");
        assert!(!pair.nodes[1].event_kinds().contains(&ENDPOINT_MOVED));
    }

    let message = sealed(5_000, &numbered(1, 1));
    elsewhere.send(&to, &message, message.len());
    pair.exchange();
    assert!(pair.nodes[1].event_kinds().contains(&ENDPOINT_MOVED));
}

#[test]
fn numbers_of_lanes_that_were_not_agreed_on_are_dropped_before_they_are_opened() {
    let mut pair = pair_with([8, 8], lanes(4));
    let mut first = pair.network.socket(OUTER[0].parse().unwrap());
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());
    for counter in [4 << 56, 200 << 56, u64::MAX, (1 << 56) - 1] {
        let message = sealed(counter, &numbered(1, 1));
        first.send(&to, &message, message.len());
    }
    pair.exchange();

    assert_eq!(pair.nodes[1].packets().len(), 0);
    assert_eq!(pair.nodes[1].peer("dropNoSession"), 4);
    assert_eq!(pair.nodes[1].peer("dropBadTag"), 0);
}

#[test]
fn a_number_of_one_lane_is_accepted_once() {
    let mut pair = pair_with([8, 8], lanes(8));
    let mut first = pair.network.socket("192.0.2.1:40003".parse().unwrap());
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());
    let message = sealed((3 << 56) + 700, &numbered(1, 1));
    for _ in 0..3 {
        first.send(&to, &message, message.len());
    }
    pair.exchange();

    assert_eq!(pair.nodes[1].packets().len(), 1);
    assert_eq!(pair.nodes[1].peer("dropReplay"), 2);
}

#[test]
fn when_all_data_goes_by_other_lanes_the_first_still_shows_where_we_are() {
    let mut pair = pair_with([8, 8], lanes(8));
    let flow = (0..64)
        .find(|flow| {
            used(&pair);
            pair.nodes[0].host.send_packet(&numbered(*flow, 0));
            pair.exchange();
            used(&pair)[0] == 0
        })
        .unwrap();
    used(&pair);
    for _ in 0..40 {
        pair.advance(Duration::from_millis(50));
        pair.nodes[0].host.send_packet(&numbered(flow, 0));
        pair.exchange();
    }
    let first = used(&pair)[0];
    assert!((5..=12).contains(&first), "{first} in two seconds");
}

#[test]
fn lanes_work_under_a_disguise() {
    let pair = Pair::over([wire(8), wire(8)]);
    let disguise = Disguise {
        paddings: [15, 18, 20, 25],
        types: [
            (1_001, 1_900),
            (2_001, 2_900),
            (3_001, 3_900),
            (4_001, 4_900),
        ],
        header_key: [9; 32],
        trailers: true,
        ..Disguise::default()
    };
    for (seed, node) in (1_u8..).zip(&pair.nodes) {
        node.apply(&[commands::set_conceal(&disguise, seed)]);
    }
    let mut pair = settled(pair, lanes(8));
    for _ in 0..4 {
        assert_eq!(send_flows(&mut pair, 50), 50);
    }
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 8);
}

#[test]
fn a_new_session_keeps_the_lanes_and_one_without_lanes_leaves_them() {
    let mut pair = pair_with([8, 8], lanes(8));
    pair.install_with(200, [lanes(8); 2]);
    pair.exchange();
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 8);
    assert_eq!(send_flows(&mut pair, 40), 40);

    pair.install_with(300, [(0, 4); 2]);
    pair.exchange();
    used(&pair);
    assert_eq!(send_flows(&mut pair, 40), 40);
    assert_eq!(used(&pair)[1..], [0; 7]);
    assert_eq!(pair.nodes[0].peer("lanesInUse"), 1);
}

/// Each flow on the queue that its hash chose, each lane at the worker that its port chose: no flow is reordered.
#[test]
fn flows_over_lanes_between_several_workers_arrive_in_order() {
    for shards in [1, 2, 4, 8] {
        let field = Field::new(shards);
        let mut random = Random::new(shards as u64);
        let mut next = [0; FLOWS];
        for _ in 0..PACKETS * FLOWS {
            let flow = random.below(FLOWS);
            let packet = numbered(u16::try_from(flow).unwrap(), next[flow]);
            field.hosts[0][flow % shards].send_packet(&packet);
            next[flow] += 1;
        }

        let (arrived, busy) = field.run(PACKETS * FLOWS);

        assert!(busy >= shards.min(4), "{busy} workers of {shards} received");
        for (flow, sent) in next.iter().enumerate() {
            assert_eq!(
                arrived[&flow],
                (0..*sent).collect::<Vec<_>>(),
                "flow {flow}"
            );
        }
    }
}

const FLOWS: usize = 32;
const PACKETS: usize = 300;

type FieldShard = Shard<MemoryTun, Steered, TestClock>;

/// Two engines with several workers each and eight lanes between them, all in use.
struct Field {
    shards: [Vec<FieldShard>; 2],
    hosts: [Vec<MemoryHost>; 2],
}

impl Field {
    fn new(shards: usize) -> Self {
        let clock = TestClock::default();
        clock.0.advance(Duration::from_secs(1_000));
        let network = MemoryNetwork::new(Impairment::default(), clock.0.clone());
        let mut sides = [0, 1].map(|side| Self::side(&network, &clock, side, shards));
        for (side, (engine, ..)) in sides.iter().enumerate() {
            let other = 1 - side;
            let role = [commands::INITIATOR, commands::RESPONDER][side];
            let keys = [[1, 2], [2, 1]][side];
            let index = 100 + u32::try_from(side).unwrap();
            let session = commands::install_session(PEER, index, 201 - index, role, keys);
            let records = [
                commands::allow_all(),
                commands::add_peer(PEER, 0),
                commands::set_allowed_ips(PEER, &[(INNER[other], 32)]),
                commands::set_endpoint(PEER, place(other, 0)),
                commands::with_profile(session, 0, lanes(8).1),
            ];
            engine.apply(&records.concat(), clock.now()).unwrap();
        }
        for _ in 0..8 {
            for (_, shards, _) in &mut sides {
                for shard in shards {
                    shard.turn(support::EVERYTHING);
                }
            }
        }
        let mut row = vec![0; engine::peer_counter_names().len()];
        for (engine, ..) in &sides {
            engine.read_peer_counters(&mut row, clock.now());
            assert_eq!(row[8], 8, "lanes in use");
        }
        clock.0.advance(Duration::from_millis(100));
        let [(_, first, first_hosts), (_, second, second_hosts)] = sides;
        Field {
            shards: [first, second],
            hosts: [first_hosts, second_hosts],
        }
    }

    fn side(
        network: &MemoryNetwork,
        clock: &TestClock,
        side: usize,
        count: usize,
    ) -> (Engine, Vec<FieldShard>, Vec<MemoryHost>) {
        let limits = EngineLimits {
            public_key: [7; 32],
            shards: u16::try_from(count).unwrap(),
            peers_max: 16,
            flows_max: 1_024,
        };
        let engine = Engine::new(&limits, Box::new(|| {}));
        let (shards, hosts) = (0..count)
            .map(|shard| {
                let socket = |lane: usize| Steered {
                    inner: network.socket(match lane {
                        0 => place(side, shard),
                        lane => place(side, 100 * lane + shard),
                    }),
                    to: place(1 - side, lane % count),
                };
                let (tun, host) = memory_tun(FRAMING);
                let parts = ShardParts {
                    tun,
                    v4: Some(socket(0)),
                    v6: None,
                    lanes: (1..8)
                        .map(|lane| LaneSockets {
                            v4: Some(socket(lane)),
                            v6: None,
                        })
                        .collect(),
                    clock: clock.clone(),
                };
                let limits = ShardLimits {
                    mtu: 1420,
                    send_segments_max: 64,
                    merge: MergeLimits::default(),
                    stage_timing: StageTiming::On,
                };
                let index = u16::try_from(shard).unwrap();
                (engine.shard(index, parts, limits), host)
            })
            .unzip();
        (engine, shards, hosts)
    }

    /// Runs all workers in parallel until `packets` arrived. Returns the numbers of each flow in the order in which they
    /// arrived, and how many workers received.
    fn run(self, packets: usize) -> (HashMap<usize, Vec<u32>>, usize) {
        let done = AtomicBool::new(false);
        let [_, hosts] = self.hosts;
        let mut seen = HashMap::<usize, Vec<u32>>::new();
        let busy: Vec<_> = hosts.iter().map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            let work = |mut shard: FieldShard| {
                let done = &done;
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        shard.turn(support::EVERYTHING);
                        std::thread::yield_now();
                    }
                });
            };
            self.shards.into_iter().flatten().for_each(work);
            let (mut arrived, mut in_vain) = (0, 0);
            // The second bound ends the test when a packet is lost.
            while arrived < packets && in_vain < 1_000_000 {
                let before = arrived;
                for (host, busy) in hosts.iter().zip(&busy) {
                    if let Some(frame) = host.receive_frame() {
                        arrived += note(&frame, &mut seen);
                        busy.store(1, Ordering::Relaxed);
                    }
                }
                in_vain = if arrived == before { in_vain + 1 } else { 0 };
                std::thread::yield_now();
            }
            done.store(true, Ordering::Relaxed);
        });
        let busy = busy.iter().map(|one| one.load(Ordering::Relaxed)).sum();
        (seen, busy)
    }
}

fn place(side: usize, worker: usize) -> SocketAddr {
    format!("192.0.2.{}:{}", side + 1, 6_000 + worker)
        .parse()
        .unwrap()
}

/// Notes every packet of a frame, which may be merged, and returns how many there are.
fn note(frame: &[u8], seen: &mut HashMap<usize, Vec<u32>>) -> usize {
    let header = VirtioHeader::read(frame, ByteOrder::Little).unwrap();
    let packet = &frame[FRAMING.header_len()..];
    let mut cursor = SplitCursor::start(&header, packet, &SplitLimits { inner_mtu: 1420 }).unwrap();
    let (mut piece, mut count) = ([0; 1500], 0);
    while let Some(len) = cursor.write_next(packet, &mut piece) {
        let port = u16::from_be_bytes([piece[20], piece[21]]);
        let number = u32::from_be_bytes(piece[28..len].try_into().unwrap());
        seen.entry(usize::from(port) - 5_000)
            .or_default()
            .push(number);
        count += 1;
    }
    count
}

/// A socket as the kernel has them: all workers of a side share the port of a lane, and its datagrams reach one worker of
/// the other side.
struct Steered {
    inner: MemoryDatagrams,
    to: SocketAddr,
}

impl Steered {
    fn steer(&self, to: &Endpoint) -> Endpoint {
        Endpoint {
            remote: self.to,
            ..*to
        }
    }
}

impl Datagrams for Steered {
    fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize> {
        let count = self.inner.receive(arena, slot_size, out)?;
        for slot in &mut out[..count] {
            let port = slot.from.remote.port();
            slot.from.remote.set_port(port / 100 * 100);
        }
        Ok(count)
    }

    fn send_marked(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        ecn: Ecn,
    ) -> SendOutcome {
        let to = self.steer(to);
        self.inner.send_marked(&to, payload, segment_size, ecn)
    }

    fn rely_on(&mut self, bound: PathBound) {
        self.inner.rely_on(bound);
    }

    fn send_alone(&mut self, to: &Endpoint, payload: &[u8], carriage: Carriage) -> SendOutcome {
        let to = self.steer(to);
        self.inner.send_alone(&to, payload, carriage)
    }

    fn path_payload(&self, remote: SocketAddr) -> Option<usize> {
        self.inner.path_payload(remote)
    }

    fn counters(&self) -> &DatagramCounters {
        self.inner.counters()
    }

    fn state(&self) -> DatagramState {
        self.inner.state()
    }
}
