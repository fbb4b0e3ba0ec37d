//! Two engines in memory, driven by hand.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "part of tests; every test file uses another part of it"
)]

pub mod commands;
pub mod socket;

use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use engine::{
    Engine, EngineLimits, LaneSockets, Ready, Shard, ShardClock, ShardLimits, ShardParts,
    StageTiming,
};
use offload::{ByteOrder, MergeLimits, NEEDS_CHECKSUM, VirtioHeader, gso};
use ports::{ByteOrderTag, Clock, Framing, Instant};
use socket::{TestSocket, Wire};
use testkit::{ManualClock, MemoryHost, MemoryNetwork, MemoryTun, memory_tun, t4};

/// A clock moved by hand whose cycles are its nanoseconds.
#[derive(Clone, Default)]
pub struct TestClock(pub ManualClock);

impl Clock for TestClock {
    fn now(&self) -> Instant {
        self.0.now()
    }
}

impl ShardClock for TestClock {
    fn cycles(&self) -> u64 {
        self.0.now().as_nanoseconds()
    }

    fn unix_seconds(&self) -> u32 {
        UNIX_SECONDS
    }
}

pub const FRAMING: Framing = Framing::Header {
    len: 10,
    order: ByteOrderTag::Little,
};
pub const EVERYTHING: Ready = Ready {
    tun: true,
    v4: true,
    v6: true,
    room_v4: false,
    room_v6: false,
    room_lanes: 0,
};
pub const OUTER: [&str; 2] = ["192.0.2.1:51820", "192.0.2.2:51820"];
/// Inner addresses as the packet fixtures have them: the first host sends, the second receives.
pub const INNER: [&str; 2] = ["10.9.0.2", "10.9.0.1"];
pub const PEER: u32 = 3;
/// What every test takes for the time.
pub const UNIX_SECONDS: u32 = 1_700_000_000;

/// A TCP super-frame of `payload` bytes as the kernel hands it over, seed in its checksum field.
pub fn super_frame(payload: usize) -> Vec<u8> {
    let packet = t4(1_000, payload);
    let mut header = [0; 10];
    VirtioHeader {
        flags: NEEDS_CHECKSUM,
        gso_type: gso::TCP4,
        header_len: 52,
        segment_size: 1368,
        checksum_start: 20,
        checksum_offset: 16,
    }
    .write(&mut header, ByteOrder::Little);
    assert_eq!(FRAMING.header_len(), header.len());
    [&header[..], &packet].concat()
}

/// One engine with one shard.
pub struct Node {
    pub engine: Engine,
    pub shard: Shard<MemoryTun, TestSocket, TestClock>,
    /// Set it and the socket takes nothing more.
    pub socket_full: Arc<AtomicBool>,
    pub host: MemoryHost,
    pub wire: Arc<Wire>,
    pub wakes: Arc<AtomicUsize>,
    pub clock: TestClock,
}

impl Node {
    pub fn new(network: &MemoryNetwork, clock: &TestClock, outer: &str) -> Self {
        Node::over(network, clock, outer, Wire::default())
    }

    /// A node over a network with properties.
    pub fn over(network: &MemoryNetwork, clock: &TestClock, outer: &str, wire: Wire) -> Self {
        let wire = Arc::new(wire);
        let wakes = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&wakes);
        let limits = EngineLimits {
            public_key: [7; 32],
            shards: 1,
            peers_max: 64,
            flows_max: 4_096,
        };
        let engine = Engine::new(
            &limits,
            Box::new(move || {
                seen.fetch_add(1, Ordering::SeqCst);
            }),
        );
        let socket_full = Arc::new(AtomicBool::new(false));
        let framing = if wire.plain_device {
            Framing::Plain
        } else {
            FRAMING
        };
        let (tun, host) = memory_tun(framing);
        let outer: SocketAddr = outer.parse().unwrap();
        let socket = |lane: u16| TestSocket {
            inner: network.socket(match lane {
                0 => outer,
                lane => SocketAddr::new(outer.ip(), 40_000 + lane),
            }),
            full: Arc::clone(&socket_full),
            wire: Arc::clone(&wire),
            lane: lane.into(),
        };
        let lane = |lane| LaneSockets {
            v4: Some(socket(lane)),
            v6: None,
        };
        let parts = ShardParts {
            tun,
            v4: Some(socket(0)),
            v6: None,
            lanes: (1..u16::try_from(wire.lanes.max(1)).unwrap())
                .map(lane)
                .collect(),
            clock: clock.clone(),
        };
        let limits = ShardLimits {
            mtu: 1420,
            send_segments_max: 64,
            merge: MergeLimits::default(),
            stage_timing: StageTiming::On,
        };
        let shard = engine.shard(0, parts, limits);
        Node {
            engine,
            shard,
            socket_full,
            host,
            wire,
            wakes,
            clock: clock.clone(),
        }
    }

    pub fn apply(&self, records: &[Vec<u8>]) {
        self.engine
            .apply(&records.concat(), self.clock.now())
            .unwrap();
    }

    pub fn turn(&mut self) {
        self.shard.turn(EVERYTHING);
    }

    /// All events as (kind, flags, body).
    pub fn events(&self) -> Vec<(u8, u8, Vec<u8>)> {
        let mut all = Vec::new();
        let mut into = [0; 4096];
        loop {
            let used = self.engine.take_events(&mut into);
            if used == 0 {
                return all;
            }
            let mut rest = &into[..used];
            while let [kind, flags, _, _, a, b, c, d, body @ ..] = rest {
                let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
                all.push((*kind, *flags, body[..len].to_vec()));
                rest = &body[len..];
            }
        }
    }

    pub fn event_kinds(&self) -> Vec<u8> {
        self.events().into_iter().map(|(kind, _, _)| kind).collect()
    }

    pub fn total(&self, name: &str) -> u64 {
        let names = engine::total_counter_names();
        let mut row = vec![0; names.len()];
        self.engine.read_totals(&mut row);
        row[names
            .iter()
            .position(|candidate| *candidate == name)
            .unwrap()]
    }

    pub fn peer(&self, name: &str) -> u64 {
        let names = engine::peer_counter_names();
        let mut rows = vec![0; names.len() * 64];
        self.engine.read_peer_counters(&mut rows, self.clock.now());
        rows[names
            .iter()
            .position(|candidate| *candidate == name)
            .unwrap()]
    }

    pub fn packets(&self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.host.receive_packet()).collect()
    }
}

/// Two nodes that know each other, with or without keys.
pub struct Pair {
    pub network: MemoryNetwork,
    pub clock: TestClock,
    pub nodes: [Node; 2],
}

impl Pair {
    /// Peers, addresses and an open policy, but no session.
    pub fn without_session() -> Self {
        Pair::over([Wire::default(), Wire::default()])
    }

    /// Without a session, over a network with properties.
    pub fn over(wires: [Wire; 2]) -> Self {
        let clock = TestClock::default();
        clock.0.advance(Duration::from_secs(1_000));
        let network = MemoryNetwork::new(testkit::Impairment::default(), clock.0.clone());
        let mut wires = wires.into_iter();
        let nodes = OUTER.map(|outer| Node::over(&network, &clock, outer, wires.next().unwrap()));
        for (at, node) in nodes.iter().enumerate() {
            let other: SocketAddr = OUTER[1 - at].parse().unwrap();
            node.apply(&[
                commands::allow_all(),
                commands::add_peer(PEER, 0),
                commands::set_allowed_ips(PEER, &[(INNER[1 - at], 32)]),
                commands::set_endpoint(PEER, other),
            ]);
        }
        Pair {
            network,
            clock,
            nodes,
        }
    }

    /// With a confirmed session that the first node initiated.
    pub fn with_session() -> Self {
        Pair::without_session().confirmed()
    }

    /// After a handshake that the first node initiated.
    pub fn confirmed(self) -> Self {
        let mut pair = self;
        pair.install(100);
        pair.exchange();
        for node in &pair.nodes {
            node.events();
        }
        pair
    }

    /// Gives both nodes keys of a handshake that the first one initiated.
    pub fn install(&mut self, index: u32) {
        self.install_with(index, [(0, 0); 2]);
    }

    /// The same, with cipher and flags for either node.
    pub fn install_with(&mut self, index: u32, [first, second]: [(u8, u16); 2]) {
        let session =
            commands::install_session(PEER, index + 1, index, commands::RESPONDER, [2, 1]);
        self.nodes[1].apply(&[commands::with_profile(session, second.0, second.1)]);
        let session =
            commands::install_session(PEER, index, index + 1, commands::INITIATOR, [1, 2]);
        self.nodes[0].apply(&[commands::with_profile(session, first.0, first.1)]);
    }

    /// Lets both nodes work until nothing moves any more.
    pub fn exchange(&mut self) {
        for _ in 0..4 {
            for node in &mut self.nodes {
                node.turn();
            }
        }
    }

    pub fn advance(&mut self, time: Duration) {
        self.clock.0.advance(time);
    }
}
