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
#[cfg(test)]
mod testing;
pub mod thread;
pub mod tun;
pub mod udp;
mod version;

pub use clock::{Monotonic, cycles};
pub use poll::{Event, Interest, Poller, Waker};
pub use tun::{Granted, OpenError, Tun, TunFd, TunOffload, TunOptions};
pub use udp::{BindError, UdpOptions, UdpSocket};
pub use version::KernelVersion;
