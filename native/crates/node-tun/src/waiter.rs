//! A shard's wait for its descriptors, and the clock it reads.

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::lanes::WorkerLanes;
use engine::{LaneFamily, Ready, ShardClock, Wait, WantRoom, lane_bit};
use ports::{Clock, Instant};
use sys::udp::ShardSockets;
use sys::{Interest, Monotonic, UdpSocket, Waker, Watch};

/// Waits for one TUN queue, two sockets and a waker.
pub(crate) struct Waiter {
    watch: Box<dyn Watch + Send>,
    waker: Arc<Waker>,
    v4: Option<OwnedFd>,
    v6: Option<OwnedFd>,
    tun: OwnedFd,
    device: Device,
    room: WantRoom,
    /// Sockets of the lanes behind the first; watched only while one of them is full.
    lanes: Vec<[Option<Arc<OwnedFd>>; 2]>,
}

/// Whether the TUN queue is still watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    There,
    Forgotten,
}

impl Waiter {
    /// Watches second descriptors of the same files, so that the shard can own the first ones.
    pub(crate) fn new(
        mut watch: Box<dyn Watch + Send>,
        tun: &impl AsFd,
        (sockets, lanes): (&ShardSockets, &WorkerLanes),
        waker: Arc<Waker>,
    ) -> io::Result<Self> {
        let mut add = |fd: OwnedFd, token: u64| {
            watch.add(fd.as_fd(), token, Interest::Readable)?;
            io::Result::Ok(fd)
        };
        let tun = add(tun.as_fd().try_clone_to_owned()?, TUN)?;
        let v4 = sockets
            .v4
            .as_ref()
            .map(|socket| add(socket.as_fd().try_clone_to_owned()?, V4))
            .transpose()?;
        let v6 = sockets
            .v6
            .as_ref()
            .map(|socket| add(socket.as_fd().try_clone_to_owned()?, V6))
            .transpose()?;
        watch.add(waker.as_fd(), WAKER, Interest::Readable)?;
        Ok(Waiter {
            watch,
            waker,
            v4,
            v6,
            tun,
            device: Device::There,
            room: WantRoom::default(),
            lanes: lanes
                .iter()
                .map(|lane| [&lane.v4, &lane.v6].map(|one| one.as_ref().map(UdpSocket::descriptor)))
                .collect(),
        })
    }

    fn watch_room(&mut self, wanted: WantRoom) -> io::Result<()> {
        let sides = [
            (&self.v4, self.room.v4, wanted.v4, V4),
            (&self.v6, self.room.v6, wanted.v6, V6),
        ];
        for (fd, before, now, token) in sides {
            if let Some(fd) = fd
                && before != now
            {
                let interest = if now {
                    Interest::Both
                } else {
                    Interest::Readable
                };
                self.watch.change(fd.as_fd(), token, interest)?;
            }
        }
        self.watch_lanes(wanted.lanes)?;
        let rests = wanted != WantRoom::default();
        if self.device == Device::There && rests != (self.room != WantRoom::default()) {
            let interest = if rests {
                Interest::Neither
            } else {
                Interest::Readable
            };
            self.watch.change(self.tun.as_fd(), TUN, interest)?;
        }
        self.room = wanted;
        Ok(())
    }
}

impl Waiter {
    /// Watches the sockets of lanes that came to be full, and those no more that have room again.
    fn watch_lanes(&mut self, wanted: u16) -> io::Result<()> {
        let changed = self.room.lanes ^ wanted;
        if changed == 0 {
            return Ok(());
        }
        for (lane, sockets) in (1_u8..).zip(&self.lanes) {
            for (fd, family) in sockets.iter().zip([LaneFamily::V4, LaneFamily::V6]) {
                let (Some(fd), bit) = (fd, lane_bit(lane, family)) else {
                    continue;
                };
                if changed & wanted & bit != 0 {
                    let token = LANES + u64::from(bit.trailing_zeros());
                    self.watch.add(fd.as_fd(), token, Interest::Writable)?;
                } else if changed & bit != 0 {
                    self.watch.remove(fd.as_fd())?;
                }
            }
        }
        Ok(())
    }
}

impl Wait for Waiter {
    fn wait(&mut self, timeout: Option<Duration>, room: WantRoom) -> io::Result<Ready> {
        if room != self.room {
            self.watch_room(room)?;
        }
        let mut ready = Ready::default();
        let mut rung = false;
        self.watch.wait(timeout, &mut |event| match event.token {
            TUN => ready.tun = event.readable,
            V4 => (ready.v4, ready.room_v4) = (event.readable, event.writable),
            V6 => (ready.v6, ready.room_v6) = (event.readable, event.writable),
            lane @ LANES.. => {
                let bit = 1_u16.checked_shl(u32::try_from(lane - LANES).unwrap_or(u32::MAX));
                ready.room_lanes |= bit.filter(|_| event.writable).unwrap_or(0);
            }
            _ => rung = true,
        })?;
        if rung {
            self.waker.drain();
        }
        Ok(ready)
    }

    fn rest(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    fn forget_tun(&mut self) {
        self.device = Device::Forgotten;
        // A second call finds nothing to remove.
        let _ = self.watch.remove(self.tun.as_fd());
    }
}

/// The clock of shards.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Monotonic.now()
    }
}

impl ShardClock for SystemClock {
    fn cycles(&self) -> u64 {
        sys::cycles()
    }

    fn unix_seconds(&self) -> u32 {
        sys::clock::unix_seconds()
    }
}

const TUN: u64 = 0;
const V4: u64 = 1;
const V6: u64 = 2;
const WAKER: u64 = 3;
/// The first of the tokens of lanes.
const LANES: u64 = 8;
