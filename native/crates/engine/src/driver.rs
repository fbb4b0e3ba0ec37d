//! What a shard needs from its driver beside the ports.

use core::time::Duration;
use std::io;

use ports::Clock;

/// A clock that can also be read very cheaply, for stage timing.
pub trait ShardClock: Clock {
    /// A count that grows at a constant rate of its own.
    fn cycles(&self) -> u64;

    /// Seconds since 1970, modulo 2³²; only decoys tell the time.
    fn unix_seconds(&self) -> u32;
}

/// Waits for a shard's descriptors and for its waker.
pub trait Wait {
    /// Waits until something is ready, at most `timeout` (`None` = for ever). `room` says which sockets must have room
    /// again before they are reported; while there are any, the TUN queue is not waited for.
    ///
    /// # Errors
    /// What the kernel says; the shard stops, because it can never wait again.
    fn wait(&mut self, timeout: Option<Duration>, room: WantRoom) -> io::Result<Ready>;

    /// Looks away for `time`, whatever becomes ready.
    fn rest(&mut self, time: Duration);

    /// Never reports the TUN queue again: its device was deleted.
    fn forget_tun(&mut self);
}

/// Whether the wait should also end when a socket that was full has room again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantRoom {
    /// The IPv4 socket was full.
    pub v4: bool,
    /// The IPv6 socket was full.
    pub v6: bool,
    /// Sockets of lanes that were full; see [`lane_bit`].
    pub lanes: u16,
}

/// What is ready.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one descriptor and one kind of readiness"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// The TUN queue has frames.
    pub tun: bool,
    /// The IPv4 socket has datagrams.
    pub v4: bool,
    /// The IPv6 socket has datagrams.
    pub v6: bool,
    /// The IPv4 socket has room again.
    pub room_v4: bool,
    /// The IPv6 socket has room again.
    pub room_v6: bool,
    /// Sockets of lanes that have room again; see [`lane_bit`].
    pub room_lanes: u16,
}

/// The bit of a lane's socket for IPv4 or IPv6.
#[must_use]
pub fn lane_bit(lane: u8, family: LaneFamily) -> u16 {
    let place = 2 * u32::from(lane) + u32::from(family == LaneFamily::V6);
    1_u16.checked_shl(place).unwrap_or(0)
}

/// Address family of a lane's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}
