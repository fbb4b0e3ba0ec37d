//! Order inside flows with several workers, each on a thread of its own.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may stop at the first surprise"
)]

mod support;

use core::net::{SocketAddr, SocketAddrV4};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::collections::HashMap;

use engine::{Engine, EngineLimits, Shard, ShardLimits, ShardParts, StageTiming};
use offload::{ByteOrder, MergeLimits, SplitCursor, SplitLimits, VirtioHeader};
use ports::Clock;
use support::{FRAMING, INNER, TestClock, commands};
use testkit::{
    Impairment, MemoryDatagrams, MemoryHost, MemoryNetwork, MemoryTun, Random, memory_tun, udp_v4,
};

const SHARDS: [usize; 4] = [1, 2, 4, 8];
const PACKETS: u32 = 400;

/// ORD-07: workers open in parallel; what one peer sent is delivered in the order of its packet numbers.
#[test]
fn ord_07_parallel_workers_deliver_each_peer_in_counter_order() {
    for shards in SHARDS {
        let field = Field::new(shards, shards);
        for (peer, sender) in field.senders.iter().enumerate() {
            for number in 0..PACKETS {
                sender.hosts[0].send_packet(&numbered(peer, 0, number));
            }
        }

        let arrived = field.run(PACKETS as usize * shards);

        assert_eq!(arrived.len(), shards, "a flow from each of {shards} peers");
        for (flow, numbers) in arrived {
            assert_eq!(numbers, (0..PACKETS).collect::<Vec<_>>(), "{flow:?}");
        }
    }
}

/// ORD-09: with several TUN queues, each flow on the queue that its hash chose, every flow arrives in order and whole.
#[test]
fn ord_09_flows_on_several_queues_arrive_in_order() {
    for shards in SHARDS {
        let field = Field::new(1, shards);
        let mut random = Random::new(shards as u64);
        let mut next = [0; FLOWS];
        for _ in 0..PACKETS as usize * FLOWS {
            let flow = random.below(FLOWS);
            field.senders[0].hosts[flow % shards].send_packet(&numbered(0, flow, next[flow]));
            next[flow] += 1;
        }

        let arrived = field.run(PACKETS as usize * FLOWS);

        for (flow, sent) in next.iter().enumerate() {
            let numbers = &arrived[&(0, flow)];
            assert_eq!(numbers, &(0..*sent).collect::<Vec<_>>(), "flow {flow}");
        }
    }
}

/// ORD-09: a flow that the kernel moves to another queue once its first queue is empty is not reordered: a worker
/// holds nothing back between turns.
#[test]
fn ord_09_a_flow_that_moves_to_another_queue_is_not_reordered() {
    let mut field = Field::new(1, 8);
    for number in 0..PACKETS {
        let queue = (number / 50) as usize % 8;
        field.senders[0].hosts[queue].send_packet(&numbered(0, 0, number));
        if number % 50 == 49 {
            field.senders[0].shards[queue].turn(support::EVERYTHING);
        }
    }

    let arrived = field.run(PACKETS as usize);

    assert_eq!(arrived[&(0, 0)], (0..PACKETS).collect::<Vec<_>>());
}

const FLOWS: usize = 24;

type TestShard = Shard<MemoryTun, MemoryDatagrams, TestClock>;

/// Some senders, and one receiver with a worker per sender or one worker for all queues of one sender.
struct Field {
    senders: Vec<Side>,
    receiver: Side,
}

/// One engine with its workers and the hosts behind its TUN queues.
struct Side {
    engine: Engine,
    shards: Vec<TestShard>,
    hosts: Vec<MemoryHost>,
}

impl Field {
    /// Each of `peers` senders has a worker of its own at the receiver. A single sender has `queues` queues, each with
    /// its worker; several senders have one each.
    fn new(peers: usize, queues: usize) -> Self {
        let clock = TestClock::default();
        clock.0.advance(Duration::from_secs(1_000));
        let network = MemoryNetwork::new(Impairment::default(), clock.0.clone());
        let queues = if peers == 1 { queues } else { 1 };
        let receiver = Side::new(
            &network,
            &clock,
            &(0..peers).map(at_receiver).collect::<Vec<_>>(),
        );
        let senders = (0..peers)
            .map(|peer| {
                let places: Vec<_> = (0..queues).map(|queue| at_sender(peer, queue)).collect();
                let side = Side::new(&network, &clock, &places);
                let index = 100 * u32::try_from(peer + 1).unwrap();
                receiver.connect(
                    (index, index + 1, commands::RESPONDER, [2, 1]),
                    (at_sender(peer, 0), &inner(peer)),
                    &clock,
                );
                side.connect(
                    (index + 1, index, commands::INITIATOR, [1, 2]),
                    (at_receiver(peer), INNER[1]),
                    &clock,
                );
                side
            })
            .collect();
        Field { senders, receiver }
    }

    /// Runs all workers in parallel until `packets` arrived, and returns the numbers of each flow in the order in which
    /// they arrived.
    fn run(self, packets: usize) -> HashMap<(usize, usize), Vec<u32>> {
        let done = AtomicBool::new(false);
        let hosts = self.receiver.hosts;
        let mut seen = HashMap::<(usize, usize), Vec<u32>>::new();
        std::thread::scope(|scope| {
            let work = |mut shard: TestShard| {
                let done = &done;
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        shard.turn(support::EVERYTHING);
                        std::thread::yield_now();
                    }
                });
            };
            let senders = self.senders.into_iter().flat_map(|side| side.shards);
            senders.chain(self.receiver.shards).for_each(work);
            let (mut arrived, mut in_vain) = (0, 0);
            // The second bound ends the test when a packet is lost.
            while arrived < packets && in_vain < 1_000_000 {
                let before = arrived;
                for frame in hosts.iter().filter_map(MemoryHost::receive_frame) {
                    arrived += note(&frame, &mut seen);
                }
                in_vain = if arrived == before { in_vain + 1 } else { 0 };
                std::thread::yield_now();
            }
            done.store(true, Ordering::Relaxed);
        });
        seen
    }
}

impl Side {
    fn new(network: &MemoryNetwork, clock: &TestClock, places: &[SocketAddr]) -> Self {
        let limits = EngineLimits {
            public_key: [7; 32],
            shards: u16::try_from(places.len()).unwrap(),
            peers_max: 1_024,
            flows_max: 1_024,
        };
        let engine = Engine::new(&limits, Box::new(|| {}));
        let (shards, hosts) = (0..)
            .zip(places)
            .map(|(index, place)| {
                let (tun, host) = memory_tun(FRAMING);
                let parts = ShardParts {
                    tun,
                    v4: Some(network.socket(*place)),
                    v6: None,
                    lanes: Vec::new(),
                    clock: clock.clone(),
                };
                let limits = ShardLimits {
                    mtu: 1420,
                    send_segments_max: 64,
                    merge: MergeLimits::default(),
                    stage_timing: StageTiming::On,
                };
                (engine.shard(index, parts, limits), host)
            })
            .unzip();
        engine.apply(&commands::allow_all(), clock.now()).unwrap();
        Side {
            engine,
            shards,
            hosts,
        }
    }

    /// Adds a peer with a session: own index, the other's, role and keys; where it is, and the address inside.
    fn connect(
        &self,
        (own, other, role, keys): (u32, u32, u8, [u8; 2]),
        (place, inner): (SocketAddr, &str),
        clock: &TestClock,
    ) {
        let records = [
            commands::add_peer(own, 0),
            commands::set_allowed_ips(own, &[(inner, 32)]),
            commands::set_endpoint(own, place),
            commands::install_session(own, own, other, role, keys),
        ];
        self.engine.apply(&records.concat(), clock.now()).unwrap();
    }
}

fn at_receiver(peer: usize) -> SocketAddr {
    format!("192.0.2.1:{}", 6_000 + peer).parse().unwrap()
}

/// In the kernel all workers share a port; in memory each has its own, which the receiver does not mind.
fn at_sender(peer: usize, queue: usize) -> SocketAddr {
    format!("198.51.100.{}:{}", peer + 1, 7_000 + queue)
        .parse()
        .unwrap()
}

fn inner(peer: usize) -> String {
    format!("10.9.1.{}", peer + 1)
}

/// A packet of a flow with its number in it.
fn numbered(peer: usize, flow: usize, number: u32) -> Vec<u8> {
    let from = SocketAddrV4::new(
        inner(peer).parse().unwrap(),
        u16::try_from(5_000 + flow).unwrap(),
    );
    let to = SocketAddrV4::new(INNER[1].parse().unwrap(), 9_000);
    udp_v4(from, to, &number.to_be_bytes())
}

/// Notes every packet of a frame, which may be merged, and returns how many there are.
fn note(frame: &[u8], seen: &mut HashMap<(usize, usize), Vec<u32>>) -> usize {
    let header = VirtioHeader::read(frame, ByteOrder::Little).unwrap();
    let packet = &frame[FRAMING.header_len()..];
    let mut cursor = SplitCursor::start(&header, packet, &SplitLimits { inner_mtu: 1420 }).unwrap();
    let (mut piece, mut count) = ([0; 1500], 0);
    while let Some(len) = cursor.write_next(packet, &mut piece) {
        let (source, port) = (
            usize::from(piece[15]),
            u16::from_be_bytes([piece[20], piece[21]]),
        );
        let number = u32::from_be_bytes(piece[28..len].try_into().unwrap());
        let flow = (source - 1, usize::from(port) - 5_000);
        seen.entry(flow).or_default().push(number);
        count += 1;
    }
    count
}
