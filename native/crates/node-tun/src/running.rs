//! An engine whose threads run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use engine::{Engine, EngineLimits, Shard, ShardLimits, ShardParts};
use offload::MergeLimits;
use sys::clock::CycleScale;
use sys::netlink::{LinkChange, set_link};
use sys::tun::Granted;
use sys::udp::{ShardSockets, bind_shards};
use sys::{KernelVersion, Tun, TunFd, UdpSocket, Waker};

use crate::error::Failure;
use crate::options::Checked;
use crate::waiter::{EpollWaiter, SystemClock};

type LinuxShard = Shard<TunFd, UdpSocket, SystemClock>;

/// Threads, their wakers and what was agreed with the kernel.
pub(crate) struct Running {
    pub(crate) engine: Engine,
    pub(crate) tun_name: String,
    pub(crate) granted: Granted,
    pub(crate) port: u16,
    pub(crate) scale: CycleScale,
    pub(crate) niceness: Option<i32>,
    wakers: Vec<Arc<Waker>>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Opens the device and the sockets and starts a thread per shard.
    pub(crate) fn start(
        options: Checked,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Self, Failure> {
        let sockets = bind_shards(&options.udp, usize::from(options.shards))?;
        let mut tun = Tun::open(&options.tun)?;
        let (tun_name, granted) = (tun.name().to_owned(), tun.granted());
        limit_segments(&tun_name, options.mtu, options.segments_max);
        let engine = Engine::new(
            &EngineLimits {
                public_key: options.public_key,
                shards: options.shards,
                peers_max: options.peers_max,
            },
            wake,
        );
        let mut running = Running {
            engine,
            tun_name,
            granted,
            port: sockets.port,
            scale: CycleScale::start(),
            niceness: options.niceness,
            wakers: Vec::new(),
            threads: Vec::new(),
        };
        let limits = shard_limits(&options, granted);
        for ((index, tun), sockets) in (0..options.shards)
            .zip(tun.take_queues())
            .zip(sockets.sockets)
        {
            running.start_shard(index, tun, sockets, &limits)?;
        }
        Ok(running)
    }

    /// Wakes the first shard.
    pub(crate) fn wake_first(&self) {
        if let Some(waker) = self.wakers.first() {
            waker.wake();
        }
    }

    pub(crate) fn shard_count(&self) -> usize {
        self.threads.len()
    }

    fn start_shard(
        &mut self,
        index: u16,
        tun: TunFd,
        sockets: ShardSockets,
        limits: &ShardLimits,
    ) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            let errno = error.raw_os_error().unwrap_or(0);
            Failure::with_errno(
                "engine_start",
                errno,
                format!("a worker cannot be started: {error}"),
            )
        };
        let waker = Arc::new(Waker::new().map_err(failed)?);
        let mut waiter = EpollWaiter::new(&tun, &sockets, Arc::clone(&waker)).map_err(failed)?;
        let ShardSockets { v4, v6 } = sockets;
        let parts = ShardParts {
            tun,
            v4,
            v6,
            clock: SystemClock,
        };
        let mut shard: LinuxShard = self.engine.shard(index, parts, limits.clone());
        let (engine, niceness) = (self.engine.clone(), self.niceness);
        let work = move || {
            if let Some(niceness) = niceness {
                // Without the right to raise priority the thread works at the usual one; `status` tells.
                let _ = sys::thread::set_niceness(niceness);
            }
            // A fault in one worker must not end the process that hosts the addon.
            if catch_unwind(AssertUnwindSafe(|| shard.run(&mut waiter))).is_err() {
                engine.report_lost_shard(index);
            }
        };
        let thread = thread::Builder::new()
            .name(format!("weft-shard-{index}"))
            .spawn(work)
            .map_err(failed)?;
        self.wakers.push(waker);
        self.threads.push(thread);
        Ok(())
    }
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

fn shard_limits(options: &Checked, granted: Granted) -> ShardLimits {
    ShardLimits {
        mtu: options.mtu,
        send_segments_max: options.segments_max,
        merge: MergeLimits {
            tcp: granted.tcp.is_on(),
            udp: granted.udp.is_on(),
            segments_max: options.segments_max,
            flows_max: options.flows_max,
            inner_mtu: options.mtu,
            udp_equal_tail: if options.udp.equal_tail.is_avoided(KernelVersion::running()) {
                offload::EqualTail::Avoid
            } else {
                offload::EqualTail::Allow
            },
            ..MergeLimits::default()
        },
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
