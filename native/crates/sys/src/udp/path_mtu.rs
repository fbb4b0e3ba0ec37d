use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::io;
use std::net::UdpSocket as StdSocket;
use std::os::fd::AsFd;

use super::option;

/// The largest IP packet the kernel believes fits the path to `remote`: the MTU of the route, lowered by what routers
/// reported. With a firewall mark it is the route that datagrams with this mark take. Sends nothing.
///
/// # Errors
/// What the kernel says; `NetworkUnreachable` when there is no route, `PermissionDenied` when a mark needs `CAP_NET_ADMIN`.
pub fn path_mtu(remote: SocketAddr, mark: Option<u32>) -> io::Result<usize> {
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
    if let Some(mark) = mark {
        let (level, name) = (libc::SOL_SOCKET, libc::SO_MARK);
        option::set(socket.as_fd(), level, name, mark.cast_signed())?;
    }
    socket.connect(remote)?;
    let mtu = option::get(socket.as_fd(), level, name)?;
    usize::try_from(mtu).map_err(io::Error::other)
}
