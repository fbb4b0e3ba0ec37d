//! Network namespaces, for tests and tools that must not touch the host's network.

use std::io;

use crate::errno;

/// Moves the calling thread into a new network namespace that holds only a loopback device, and brings that up.
///
/// Only this thread moves; threads it starts later are in the new namespace too. The namespace ends with the last
/// thread, socket and TUN descriptor in it.
///
/// # Errors
/// `PermissionDenied` without `CAP_SYS_ADMIN`.
pub fn enter_new() -> io::Result<()> {
    // SAFETY: the call changes only which namespace this thread uses; no memory or descriptor of ours is affected.
    errno::check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    crate::netlink::set_link(
        "lo",
        &crate::netlink::LinkChange {
            up: Some(true),
            ..Default::default()
        },
    )
    .map_err(io::Error::other)
}
