//! Linux system calls: TUN, UDP, poll, netlink, threads. The home of unsafe.

pub mod clock;
mod errno;
#[cfg(test)]
extern crate self as sys;
pub mod icmp;
pub mod namespace;
pub mod netlink;
pub mod perf;
pub mod poll;
pub mod ring;
#[cfg(test)]
mod testing;
pub mod thread;
pub mod tun;
pub mod udp;
mod version;

pub use clock::{Monotonic, cycles};
pub use poll::{Event, Interest, Poller, Waker, Watch};
pub use ring::{RingHealth, RingPoller, RingTun};
pub use tun::{Granted, OpenError, Tun, TunFd, TunOffload, TunOptions};
pub use udp::{BindError, UdpOptions, UdpSocket};
pub use version::KernelVersion;
