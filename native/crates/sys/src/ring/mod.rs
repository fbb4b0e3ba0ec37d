//! The second driver: waiting and reading through `io_uring`. Whatever the kernel refuses, at the start or later, leaves
//! the first driver in its place.

mod health;
mod poller;
mod tun;

use std::io;

use io_uring::IoUring;

pub use health::RingHealth;
pub use poller::RingPoller;
pub use tun::RingTun;

/// Makes a ring that interrupts nobody for its own work where the kernel knows how to (5.19), and a plain one elsewhere.
fn open(entries: u32) -> io::Result<IoUring> {
    let polite = IoUring::builder()
        .dontfork()
        .setup_coop_taskrun()
        .setup_taskrun_flag()
        .build(entries);
    match polite {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            IoUring::builder().dontfork().build(entries)
        }
        other => other,
    }
}
