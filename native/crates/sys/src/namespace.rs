//! Network namespaces, for tests and tools that must not touch the host's network.

use std::io;

use crate::errno;
use crate::netlink::{LinkChange, set_link};

/// Runs `work` on a thread of its own in a new network namespace that holds only a loopback device, which is up.
///
/// Threads that `work` starts are in the namespace too. It ends with its last thread, socket and TUN descriptor.
///
/// # Errors
/// `PermissionDenied` without `CAP_SYS_ADMIN`.
///
/// # Panics
/// When `work` does.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            enter_new()?;
            Ok(work())
        });
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Moves the calling thread into a new network namespace that holds only a loopback device, and brings that up.
///
/// # Errors
/// `PermissionDenied` without `CAP_SYS_ADMIN`.
pub fn enter_new() -> io::Result<()> {
    // SAFETY: the call changes only which namespace this thread uses; no memory or descriptor of ours is affected.
    errno::check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    set_link(
        "lo",
        &LinkChange {
            up: Some(true),
            ..LinkChange::default()
        },
    )
    .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use crate::netlink::{link, links};
    use crate::testing::in_namespace;

    #[test]
    fn a_new_namespace_holds_only_a_loopback_that_is_up() {
        in_namespace(|| {
            let all = links().unwrap();

            assert_eq!(all.len(), 1, "{all:?}");
            assert!(all[0].loopback && all[0].up);
        });
    }

    #[test]
    fn what_happens_inside_is_not_seen_outside() {
        in_namespace(|| {
            let tun = crate::Tun::open(&crate::TunOptions::default()).unwrap();
            let name = tun.name().to_owned();
            assert!(link(&name).unwrap().is_some());

            in_namespace(|| assert_eq!(links().unwrap().len(), 1));

            assert!(link(&name).unwrap().is_some());
        });
    }
}
