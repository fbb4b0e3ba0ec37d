//! What a worker waits with and reads its TUN queue through: epoll and plain calls, or a ring.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use ports::{FeatureState, Framing, OffReason, TunQueue};
use sys::udp::ShardSockets;
use sys::{Poller, RingHealth, RingPoller, RingTun, TunFd, Waker};

use crate::lanes::WorkerLanes;
use crate::waiter::Waiter;

/// Which driver is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The one that measures faster: epoll (decision 0180).
    Auto,
    /// Epoll.
    Epoll,
    /// A ring, where the kernel grants one.
    IoUring,
}

/// Whether a worker works through a ring, and if not, why.
pub(crate) enum RingUse {
    Off(OffReason),
    On(Arc<RingHealth>),
}

impl RingUse {
    pub(crate) fn state(&self) -> FeatureState {
        match self {
            Self::Off(reason) => FeatureState::Off(*reason),
            Self::On(health) => health.state(),
        }
    }
}

/// The descriptors of a worker behind one of the drivers.
pub(crate) struct Driver {
    pub(crate) tun: Queue,
    pub(crate) waiter: Waiter,
    pub(crate) ring: RingUse,
}

impl Driver {
    /// Sets a driver up. Where a ring is refused, epoll takes its place (FBK-07).
    pub(crate) fn open(
        wish: Wish,
        tun: TunFd,
        sockets: (&ShardSockets, &WorkerLanes),
        waker: Arc<Waker>,
    ) -> io::Result<Self> {
        let reason = match wish {
            Wish::Auto => OffReason::NotFaster,
            Wish::Epoll => OffReason::Switch,
            Wish::IoUring => match rings(&tun) {
                Ok(Rings {
                    poller,
                    queue,
                    health,
                }) => {
                    return Ok(Driver {
                        waiter: Waiter::new(Box::new(poller), &queue, sockets, waker)?,
                        tun: Queue::Ring(Box::new(queue)),
                        ring: RingUse::On(health),
                    });
                }
                Err(error) => OffReason::Unsupported {
                    errno: error.raw_os_error().unwrap_or(0),
                },
            },
        };
        Ok(Driver {
            waiter: Waiter::new(Box::new(Poller::new(4)?), &tun, sockets, waker)?,
            tun: Queue::Plain(tun),
            ring: RingUse::Off(reason),
        })
    }
}

struct Rings {
    poller: RingPoller,
    queue: RingTun,
    health: Arc<RingHealth>,
}

fn rings(tun: &TunFd) -> io::Result<Rings> {
    let health = Arc::new(RingHealth::default());
    Ok(Rings {
        poller: RingPoller::open(Arc::clone(&health))?,
        queue: RingTun::open(tun, Arc::clone(&health))?,
        health,
    })
}

/// A TUN queue behind one of the drivers.
pub(crate) enum Queue {
    Plain(TunFd),
    Ring(Box<RingTun>),
}

impl TunQueue for Queue {
    fn framing(&self) -> Framing {
        match self {
            Self::Plain(queue) => queue.framing(),
            Self::Ring(queue) => queue.framing(),
        }
    }

    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(queue) => queue.read(frame),
            Self::Ring(queue) => queue.read(frame),
        }
    }

    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(queue) => queue.write(parts),
            Self::Ring(queue) => queue.write(parts),
        }
    }

    fn holds_frames(&self) -> bool {
        match self {
            Self::Plain(queue) => queue.holds_frames(),
            Self::Ring(queue) => queue.holds_frames(),
        }
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(queue) => queue.as_fd(),
            Self::Ring(queue) => queue.as_fd(),
        }
    }
}
