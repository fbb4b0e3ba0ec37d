//! Virtual link, packet builders and in-memory ports, for tests only.

mod clock;
mod datagrams;
mod packets;
mod random;
mod tun;

pub use clock::ManualClock;
pub use datagrams::{Impairment, MemoryDatagrams, MemoryNetwork};
pub use packets::{Segment, checksum_is_good, t4, t6, tcp_v4, tcp_v6, u4, u6, udp_v4, udp_v6};
pub use random::Random;
pub use tun::{MemoryHost, MemoryTun, memory_tun};
