use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::io;
use std::net::UdpSocket as StdSocket;
use std::os::fd::AsFd;

use super::option;

/// The largest IP packet the kernel believes fits the path to `remote`: the MTU of the route, lowered by what routers
/// reported. Sends nothing.
///
/// # Errors
/// What the kernel says; `NetworkUnreachable` when there is no route.
pub fn path_mtu(remote: SocketAddr) -> io::Result<usize> {
    let (any, level, name): (SocketAddr, _, _) = match remote {
        SocketAddr::V4(_) => (
            (Ipv4Addr::UNSPECIFIED, 0).into(),
            libc::IPPROTO_IP,
            libc::IP_MTU,
        ),
        SocketAddr::V6(_) => (
            (Ipv6Addr::UNSPECIFIED, 0).into(),
            libc::IPPROTO_IPV6,
            libc::IPV6_MTU,
        ),
    };
    let socket = StdSocket::bind(any)?;
    socket.connect(remote)?;
    let mtu = option::get(socket.as_fd(), level, name)?;
    usize::try_from(mtu).map_err(io::Error::other)
}
