//! Steady state allocates nothing, on either side.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "part of a test"
)]

mod support;

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex};

use engine::{Engine, EngineLimits, Shard, ShardLimits, ShardParts, StageTiming};
use offload::{ByteOrder, MergeLimits, NEEDS_CHECKSUM, VirtioHeader, gso};
use ports::{
    Carriage, DatagramCounters, DatagramState, Datagrams, Ecn, Endpoint, FeatureState, Framing,
    PathBound, Received, SendOutcome, TunQueue,
};
use support::{FRAMING, TestClock, commands};

/// A TUN queue that hands out the same frames again and again and counts what is written.
struct LoopTun {
    frames: Vec<Vec<u8>>,
    next: usize,
    left: usize,
    written: Arc<Mutex<(usize, usize)>>,
}

impl TunQueue for LoopTun {
    fn framing(&self) -> Framing {
        FRAMING
    }

    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.left = 16;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.left -= 1;
        let Some(source) = self.frames.get(self.next) else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        self.next = (self.next + 1) % self.frames.len();
        frame[..source.len()].copy_from_slice(source);
        Ok(source.len())
    }

    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let len = parts.iter().map(|part| part.len()).sum();
        let mut written = self.written.lock().unwrap();
        written.0 += 1;
        written.1 += len;
        Ok(len)
    }
}

/// One direction of a wire: filled buffers, and empty ones that come back.
#[derive(Clone, Default)]
struct Lane(Arc<Mutex<(VecDeque<Sent>, Vec<Sent>)>>);

struct Sent {
    bytes: Vec<u8>,
    segment: usize,
}

impl Lane {
    fn with_buffers(count: usize) -> Self {
        let lane = Lane::default();
        {
            let mut inner = lane.0.lock().unwrap();
            inner.0.reserve(count);
            inner.1.extend((0..count).map(|_| Sent {
                bytes: Vec::with_capacity(65_536),
                segment: 0,
            }));
        }
        lane
    }
}

/// A socket that keeps every send whole, as segmentation and merging by the kernel do.
struct LaneSocket {
    outgoing: Lane,
    incoming: Lane,
    counters: DatagramCounters,
    from: Endpoint,
}

impl Datagrams for LaneSocket {
    fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize> {
        let mut lane = self.incoming.0.lock().unwrap();
        let mut filled = 0;
        for (slot, place) in out.iter_mut().enumerate() {
            let Some(sent) = lane.0.pop_front() else {
                break;
            };
            let len = sent.bytes.len();
            arena[slot * slot_size..][..len].copy_from_slice(&sent.bytes);
            *place = Received {
                slot,
                len,
                segment_size: sent.segment,
                from: self.from,
                ecn: 0,
            };
            lane.1.push(sent);
            filled += 1;
        }
        if filled == 0 {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            Ok(filled)
        }
    }

    fn rely_on(&mut self, _: PathBound) {}

    fn send_alone(&mut self, to: &Endpoint, payload: &[u8], _: Carriage) -> SendOutcome {
        self.send(to, payload, payload.len())
    }

    fn path_payload(&self, _: SocketAddr) -> Option<usize> {
        None
    }

    fn send_marked(
        &mut self,
        _: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        _: Ecn,
    ) -> SendOutcome {
        let count = payload.len().div_ceil(segment_size);
        let mut lane = self.outgoing.0.lock().unwrap();
        if let Some(mut buffer) = lane.1.pop() {
            buffer.bytes.clear();
            buffer.bytes.extend_from_slice(payload);
            buffer.segment = segment_size;
            lane.0.push_back(buffer);
        }
        SendOutcome {
            accepted: count,
            handled: count,
            error: None,
            pin_lost: false,
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
            gso_segments_max: 64,
            receive_buffer_bytes: 0,
            send_buffer_bytes: 0,
        }
    }
}

type LoopShard = Shard<LoopTun, LaneSocket, TestClock>;

fn node(
    frames: Vec<Vec<u8>>,
    lanes: [&Lane; 2],
    at: usize,
    clock: &TestClock,
) -> (Engine, LoopShard, Arc<Mutex<(usize, usize)>>) {
    let engine = Engine::new(
        &EngineLimits {
            public_key: [7; 32],
            shards: 1,
            peers_max: 8,
            flows_max: 4_096,
        },
        Box::new(|| ()),
    );
    let written = Arc::new(Mutex::new((0, 0)));
    let tun = LoopTun {
        frames,
        next: 0,
        left: 16,
        written: Arc::clone(&written),
    };
    let from = Endpoint::unpinned(support::OUTER[1 - at].parse().unwrap());
    let socket = LaneSocket {
        outgoing: lanes[at].clone(),
        incoming: lanes[1 - at].clone(),
        counters: DatagramCounters::default(),
        from,
    };
    let parts = ShardParts {
        tun,
        v4: Some(socket),
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
    let shard = engine.shard(0, parts, limits);
    let keys = if at == 0 { [1, 2] } else { [2, 1] };
    let (local, remote) = if at == 0 { (100, 101) } else { (101, 100) };
    let batch = [
        commands::allow_all(),
        commands::add_peer(1, 25),
        commands::set_allowed_ips(1, &[(support::INNER[1 - at], 32)]),
        commands::set_endpoint(1, from.remote),
        commands::install_session(1, local, remote, u8::try_from(at).unwrap(), keys),
    ];
    engine
        .apply(&batch.concat(), ports::Clock::now(clock))
        .unwrap();
    (engine, shard, written)
}

/// Bulk super-frames, small packets and everything between.
fn frames() -> Vec<Vec<u8>> {
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
    let bulk = [&header[..], &testkit::t4(1, 44 * 1368)].concat();
    let small = |number| [&[0; 10][..], &testkit::u4(number, 64)].concat();
    vec![bulk.clone(), bulk, small(1), small(2), small(3)]
}

/// LIM-09, P-90: every buffer is used again: what moves packets allocates nothing, so it can leak nothing.
#[test]
fn moving_packets_both_ways_allocates_nothing_in_steady_state() {
    let clock = TestClock::default();
    clock.0.advance(Duration::from_secs(1));
    let (there, back) = (Lane::with_buffers(256), Lane::with_buffers(256));
    let (_first, mut sender, _) = node(frames(), [&there, &back], 0, &clock);
    let (receiver_engine, mut receiver, written) = node(Vec::new(), [&there, &back], 1, &clock);
    let mut work = || {
        for _ in 0..60 {
            sender.turn(support::EVERYTHING);
            receiver.turn(support::EVERYTHING);
            clock.0.advance(Duration::from_millis(1));
        }
    };
    work();
    let before = *written.lock().unwrap();

    let spent = allocation_counter::measure(work);

    let (frames, bytes) = *written.lock().unwrap();
    assert!(
        bytes - before.1 > 10_000_000,
        "{} bytes in {} frames really moved, after {}",
        bytes - before.1,
        frames - before.0,
        before.1
    );
    assert_eq!(spent.count_total, 0, "{spent:?}");
    let mut row = vec![0; engine::total_counter_names().len()];
    receiver_engine.read_totals(&mut row);
    let drops: u64 = row.iter().take(9).sum();
    assert_eq!(drops, 0);
}
