//! An engine whose threads run.

use core::sync::atomic::{AtomicI32, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use engine::{Engine, EngineLimits, Shard, ShardEnd, ShardLimits, ShardParts};
use offload::MergeLimits;
use ports::FeatureState;
use sys::clock::CycleScale;
use sys::netlink::{LinkChange, set_link};
use sys::tun::Granted;
use sys::udp::{ShardSockets, bind_shards};
use sys::{KernelVersion, Tun, TunFd, UdpSocket, Waker};

use crate::driver::{Driver, Queue, RingUse, Wish};
use crate::error::Failure;
use crate::lanes::{LanePorts, WorkerLanes, open_lanes};
use crate::options::Checked;
use crate::waiter::SystemClock;

type LinuxShard = Shard<Queue, UdpSocket, SystemClock>;

/// Threads, their wakers and what was agreed with the kernel.
pub(crate) struct Running {
    pub(crate) engine: Engine,
    pub(crate) tun_name: String,
    pub(crate) granted: Granted,
    pub(crate) port: u16,
    pub(crate) scale: CycleScale,
    niceness: Arc<AtomicI32>,
    pub(crate) merging: Merging,
    /// Whether each worker works through a ring.
    pub(crate) rings: Vec<RingUse>,
    /// Ports of the lanes behind the first.
    pub(crate) lanes: LanePorts,
    io: Wish,
    wakers: Arc<[Arc<Waker>]>,
    threads: Vec<JoinHandle<()>>,
}

/// What status says about merging and queueing besides the offloads.
pub(crate) struct Merging {
    pub(crate) flows_max: usize,
    pub(crate) ports_never_merged: Vec<u16>,
    pub(crate) tun_queue_len: u32,
}

impl Running {
    /// Opens the device and the sockets and starts a thread per shard.
    pub(crate) fn start(
        options: Checked,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Self, Failure> {
        let sockets = bind_shards(&options.udp, usize::from(options.shards))?;
        let (lanes, worker_lanes) =
            open_lanes(&options.udp, options.lanes, usize::from(options.shards));
        let mut tun = Tun::open(&options.tun)?;
        let (tun_name, granted) = (tun.name().to_owned(), tun.granted());
        limit_segments(&tun_name, options.mtu, options.segments_max);
        let engine = Engine::new(
            &EngineLimits {
                public_key: options.public_key,
                shards: options.shards,
                peers_max: options.peers_max,
                flows_max: options.remembered_flows_max,
            },
            wake,
        );
        let mut running = Running {
            engine,
            tun_name,
            granted,
            port: sockets.port,
            scale: CycleScale::start(),
            niceness: Arc::new(AtomicI32::new(options.niceness)),
            merging: Merging {
                flows_max: options.flows_max,
                ports_never_merged: options.ports_never_merged.clone(),
                tun_queue_len: options.tun.transmit_queue_len,
            },
            rings: Vec::new(),
            lanes,
            io: options.io,
            wakers: wakers(options.shards)?,
            threads: Vec::new(),
        };
        let limits = shard_limits(&options, granted);
        for (((index, tun), sockets), lanes) in (0..options.shards)
            .zip(tun.take_queues())
            .zip(sockets.sockets)
            .zip(worker_lanes)
        {
            running.start_shard(index, tun, (sockets, lanes), &limits)?;
        }
        Ok(running)
    }

    /// Makes a worker panic.
    pub(crate) fn inject_panic(&self, shard: u16) {
        self.engine.inject_panic(shard);
        self.wakers.iter().for_each(|waker| waker.wake());
    }

    /// Wakes the first shard.
    pub(crate) fn wake_first(&self) {
        if let Some(waker) = self.wakers.first() {
            waker.wake();
        }
    }

    /// Niceness the workers have.
    pub(crate) fn niceness(&self) -> i32 {
        self.niceness.load(Ordering::Relaxed)
    }

    pub(crate) fn shard_count(&self) -> usize {
        self.threads.len()
    }

    fn start_shard(
        &mut self,
        index: u16,
        tun: TunFd,
        (sockets, lanes): (ShardSockets, WorkerLanes),
        limits: &ShardLimits,
    ) -> Result<(), Failure> {
        let wakers = Arc::clone(&self.wakers);
        let Some(waker) = wakers.get(usize::from(index)) else {
            return Ok(());
        };
        let Driver { tun, waiter, ring } =
            Driver::open(self.io, tun, (&sockets, &lanes), Arc::clone(waker))
                .map_err(not_started)?;
        self.rings.push(ring);
        let ShardSockets { v4, v6 } = sockets;
        let parts = ShardParts {
            tun,
            v4,
            v6,
            lanes,
            clock: SystemClock,
        };
        let shard: LinuxShard = self.engine.shard(index, parts, limits.clone());
        let (engine, niceness) = (self.engine.clone(), Arc::clone(&self.niceness));
        let work = move || {
            set_priority(&niceness);
            // A fault in one worker must not end the process that hosts the addon, nor leave half an engine at work.
            if engine.run_guarded(shard, waiter) == ShardEnd::Panicked {
                wakers.iter().for_each(|waker| waker.wake());
            }
        };
        let thread = thread::Builder::new()
            .name(format!("weft-shard-{index}"))
            .spawn(work)
            .map_err(not_started)?;
        self.threads.push(thread);
        Ok(())
    }
}

/// Gives the calling worker its priority. Without the right to raise it the worker has the usual one; `niceness` then
/// says so.
fn set_priority(niceness: &AtomicI32) {
    let wanted = niceness.load(Ordering::Relaxed);
    if sys::thread::set_niceness(wanted).is_ok() {
        if wanted < 0 {
            // Refused for the same reasons as the niceness of threads, which was just granted.
            let _ = sys::thread::set_session_niceness(wanted);
        }
    } else if let Ok(usual) = sys::thread::niceness() {
        niceness.store(usual, Ordering::Relaxed);
    }
    // Rests last 150 µs; a wake-up 50 µs late, as is usual, would be a third more.
    let _ = sys::thread::set_timer_slack(Duration::from_micros(1));
}

impl Drop for Running {
    fn drop(&mut self) {
        self.engine.stop();
        self.wakers.iter().for_each(|waker| waker.wake());
        for thread in self.threads.drain(..) {
            // A worker that panicked has told so already.
            let _ = thread.join();
        }
    }
}

fn wakers(shards: u16) -> Result<Arc<[Arc<Waker>]>, Failure> {
    (0..shards)
        .map(|_| Waker::new().map(Arc::new).map_err(not_started))
        .collect()
}

fn not_started(error: std::io::Error) -> Failure {
    let errno = error.raw_os_error().unwrap_or(0);
    let sentence = format!("a worker cannot be started: {error}");
    Failure::with_errno("engine_start", errno, sentence)
}

fn shard_limits(options: &Checked, granted: Granted) -> ShardLimits {
    ShardLimits {
        mtu: options.mtu,
        send_segments_max: options.segments_max,
        merge: MergeLimits {
            tcp: granted.tcp.is_on(),
            udp: granted.udp.is_on(),
            segments_max: options.segments_max,
            flows_max: options.flows_max,
            udp_ports_never_merged: options.ports_never_merged.clone(),
            inner_mtu: options.mtu,
            udp_equal_tail: match options.udp.equal_tail.state(KernelVersion::running()) {
                FeatureState::On => offload::EqualTail::Allow,
                FeatureState::Off(_) => offload::EqualTail::Avoid,
            },
            ..MergeLimits::default()
        },
        stage_timing: options.stage_timing,
    }
}

/// Keeps super-frames so small that one send carries all their segments; the device works without it, too.
fn limit_segments(tun_name: &str, mtu: usize, segments_max: usize) {
    let fitting = UDP_PAYLOAD_MAX / (mtu + DATAGRAM_OVERHEAD);
    let segments = u32::try_from(fitting.clamp(1, segments_max)).ok();
    let change = LinkChange {
        gso_segments_max: segments,
        ..LinkChange::default()
    };
    let _ = set_link(tun_name, &change);
}

const UDP_PAYLOAD_MAX: usize = 65_507;
const DATAGRAM_OVERHEAD: usize = 32;
