use core::net::SocketAddr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use ports::{DatagramCounters, FeatureState, OffReason, PathBound};

use super::address::Name;
use super::calls::{BATCH_MAX, Incoming};
use super::discovery::Discovery;
use super::option::{self, Buffer};
use super::socket::{Socket, real_now};
use super::{BindError, Direction, Family, Switch, UdpOptions, UdpSocket};
use crate::{KernelVersion, errno};

/// The sockets of all shards, on one port.
#[derive(Debug)]
pub struct Shards {
    /// The port all of them have.
    pub port: u16,
    /// One entry per shard.
    pub sockets: Vec<ShardSockets>,
}

/// The sockets of one shard; at least one of them is there.
#[derive(Debug)]
pub struct ShardSockets {
    /// IPv4; missing when the host has none.
    pub v4: Option<UdpSocket>,
    /// IPv6; missing when the host has none.
    pub v6: Option<UdpSocket>,
}

/// Opens a socket per family and shard, all on the port of `options` (0 = one that is free for both families). The
/// kernel spreads flows over the shards. `family` and `reuse_port` of `options` are not used.
///
/// # Errors
/// [`BindError::PortInUse`] also when another instance of the same user has the port; [`BindError::FamilyUnavailable`]
/// when the host has neither family; otherwise see [`BindError`].
pub fn bind_shards(options: &UdpOptions, shards: usize) -> Result<Shards, BindError> {
    let mut attempt = 0;
    let (port, first) = loop {
        match bind_first(options) {
            Err(BindError::PortInUse { .. })
                if options.port == 0 && attempt < FREE_PORT_ATTEMPTS =>
            {
                attempt += 1;
            }
            other => break other?,
        }
    };
    let mut sockets = vec![first];
    for _ in 1..shards {
        // The first sockets were bound alone, so a foreign one on the port was noticed. Now they may be shared.
        let [v4, v6] = [Family::V4, Family::V6].map(|family| UdpOptions {
            family,
            port,
            reuse_port: true,
            ..*options
        });
        let first = sockets.first();
        let v4 = first
            .and_then(|first| first.v4.as_ref())
            .map(|first| join(first, &v4))
            .transpose()?;
        let v6 = sockets
            .first()
            .and_then(|first| first.v6.as_ref())
            .map(|first| join(first, &v6))
            .transpose()?;
        sockets.push(ShardSockets { v4, v6 });
    }
    Ok(Shards { port, sockets })
}

fn bind_first(options: &UdpOptions) -> Result<(u16, ShardSockets), BindError> {
    let options = UdpOptions {
        reuse_port: false,
        ..*options
    };
    let v4 = match UdpSocket::bind(&UdpOptions {
        family: Family::V4,
        ..options
    }) {
        Err(BindError::FamilyUnavailable { .. }) => None,
        other => Some(other?),
    };
    let port = v4.as_ref().map_or(options.port, UdpSocket::local_port);
    let v6 = match UdpSocket::bind(&UdpOptions {
        family: Family::V6,
        port,
        ..options
    }) {
        Err(BindError::FamilyUnavailable { .. }) if v4.is_some() => None,
        other => Some(other?),
    };
    let port = v6.as_ref().map_or(port, UdpSocket::local_port);
    Ok((port, ShardSockets { v4, v6 }))
}

fn join(first: &UdpSocket, options: &UdpOptions) -> Result<UdpSocket, BindError> {
    option::set(first.as_fd(), libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)
        .map_err(|source| BindError::from_kernel("sharing a port", options.port, source))?;
    UdpSocket::bind(options)
}

impl<C> Socket<C> {
    pub(super) fn bind(options: &UdpOptions, calls: C) -> Result<Self, BindError> {
        check(
            "gso_max_segments",
            options.gso_segments_max,
            2,
            GSO_SEGMENTS_LIMIT,
        )?;
        let refused =
            |operation| move |source| BindError::from_kernel(operation, options.port, source);
        let fd = open(options.family).map_err(refused("opening a UDP socket"))?;
        set_up(fd.as_fd(), options)?;
        if options.direction == Direction::SendOnly {
            // Before the port is bound, so that nothing comes in between.
            option::refuse_all(fd.as_fd()).map_err(refused("refusing datagrams"))?;
        }
        bind(fd.as_fd(), any(options)).map_err(refused("binding a UDP port"))?;
        let port = local_port(fd.as_fd()).map_err(refused("reading the UDP port"))?;
        let buffer = |which| {
            option::set_buffer(fd.as_fd(), which, options.buffer_bytes)
                .map_err(refused("setting the socket buffers"))
        };
        let (receive_buffer_bytes, send_buffer_bytes) =
            (buffer(Buffer::Receive)?, buffer(Buffer::Send)?);
        let (gso, gro) = (
            gso_state(fd.as_fd(), options),
            turn_gro_on(fd.as_fd(), options),
        );
        Ok(Self {
            fd: Arc::new(fd),
            calls,
            family: options.family,
            port,
            mark: options.mark,
            connected: None,
            gso,
            gso_retry_at: None,
            gso_segments_max: options.gso_segments_max,
            gro,
            batch: switched(options.batch),
            marks: FeatureState::On,
            equal_tails: options.equal_tail.state(KernelVersion::running()),
            bound: PathBound::Believed,
            discovery: Discovery::USUAL,
            receive_buffer_bytes,
            send_buffer_bytes,
            counters: DatagramCounters::default(),
            incoming: Box::new([Incoming::EMPTY; BATCH_MAX]),
            now: real_now,
        })
    }

    pub(super) fn connect(&mut self, remote: SocketAddr) -> io::Result<()> {
        let (name, len) = Name::encode(remote);
        // SAFETY:
        // - the descriptor is ours and open;
        // - pointer and length describe a live address the kernel only reads.
        let returned =
            unsafe { libc::connect(raw(self.fd.as_fd()), name.bytes.as_ptr().cast(), len) };
        errno::check(returned)?;
        self.connected = Some(remote);
        Ok(())
    }
}

/// Everything but GSO, GRO and buffers. Packet information and traffic class come with every receive.
fn set_up(fd: BorrowedFd<'_>, options: &UdpOptions) -> Result<(), BindError> {
    let set = |operation, level, name, value| {
        option::set(fd, level, name, value)
            .map_err(|source| BindError::from_kernel(operation, options.port, source))
    };
    match options.family {
        Family::V4 => {
            set(
                "asking for packet information",
                libc::IPPROTO_IP,
                libc::IP_PKTINFO,
                1,
            )?;
            set(
                "asking for the traffic class",
                libc::IPPROTO_IP,
                libc::IP_RECVTOS,
                1,
            )?;
        }
        Family::V6 => {
            set(
                "separating IPv6 from IPv4",
                libc::IPPROTO_IPV6,
                libc::IPV6_V6ONLY,
                1,
            )?;
            set(
                "asking for packet information",
                libc::IPPROTO_IPV6,
                libc::IPV6_RECVPKTINFO,
                1,
            )?;
            set(
                "asking for the traffic class",
                libc::IPPROTO_IPV6,
                libc::IPV6_RECVTCLASS,
                1,
            )?;
        }
    }
    if options.reuse_port {
        set("sharing a port", libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)?;
    }
    match options.mark {
        Some(mark) => set(
            "setting a firewall mark",
            libc::SOL_SOCKET,
            libc::SO_MARK,
            mark.cast_signed(),
        ),
        None => Ok(()),
    }
}

/// Whether the kernel knows the segment size option. It is only read here: set on the socket it would cut every datagram,
/// so sends carry it one by one (P-61).
fn gso_state(fd: BorrowedFd<'_>, options: &UdpOptions) -> FeatureState {
    match options.gso {
        Switch::Off => FeatureState::Off(OffReason::Switch),
        Switch::Auto => state_of(option::get(fd, libc::SOL_UDP, libc::UDP_SEGMENT).map(drop)),
    }
}

/// Turns merging on where it can be relied on (FBK-06).
fn turn_gro_on(fd: BorrowedFd<'_>, options: &UdpOptions) -> FeatureState {
    match options.gro {
        Switch::Off => FeatureState::Off(OffReason::Switch),
        Switch::Auto if !gro_is_reliable(KernelVersion::running()) => {
            FeatureState::Off(OffReason::Unsupported { errno: 0 })
        }
        Switch::Auto => state_of(option::set(fd, libc::SOL_UDP, libc::UDP_GRO, 1)),
    }
}

/// Before Linux 5.12 merging loses datagrams now and then, which cannot be noticed.
pub(super) fn gro_is_reliable(kernel: Option<KernelVersion>) -> bool {
    kernel.is_none_or(|version| version >= KernelVersion::new(5, 12, 0))
}

fn state_of(asked: io::Result<()>) -> FeatureState {
    match asked {
        Ok(()) => FeatureState::On,
        Err(error) => FeatureState::Off(OffReason::Unsupported {
            errno: errno::of(&error),
        }),
    }
}

fn switched(switch: Switch) -> FeatureState {
    match switch {
        Switch::Auto => FeatureState::On,
        Switch::Off => FeatureState::Off(OffReason::Switch),
    }
}

fn check(option: &'static str, value: usize, least: usize, most: usize) -> Result<(), BindError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(BindError::InvalidOption {
            option,
            value,
            least,
            most,
        })
    }
}

fn open(family: Family) -> io::Result<OwnedFd> {
    let domain = match family {
        Family::V4 => libc::AF_INET,
        Family::V6 => libc::AF_INET6,
    };
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the call takes numbers only.
    let raw = errno::check(unsafe { libc::socket(domain, kind, 0) })?;
    // SAFETY: the kernel just gave us this descriptor and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

fn any(options: &UdpOptions) -> SocketAddr {
    match options.family {
        Family::V4 => (core::net::Ipv4Addr::UNSPECIFIED, options.port).into(),
        Family::V6 => (core::net::Ipv6Addr::UNSPECIFIED, options.port).into(),
    }
}

fn bind(fd: BorrowedFd<'_>, address: SocketAddr) -> io::Result<()> {
    let (name, len) = Name::encode(address);
    // SAFETY:
    // - the descriptor is borrowed, so it stays open for the call;
    // - pointer and length describe a live address the kernel only reads.
    let returned = unsafe { libc::bind(raw(fd), name.bytes.as_ptr().cast(), len) };
    errno::check(returned).map(drop)
}

fn local_port(fd: BorrowedFd<'_>) -> io::Result<u16> {
    let mut name = Name::EMPTY;
    let mut len = Name::CAPACITY_FOR_KERNEL;
    // SAFETY:
    // - the descriptor is borrowed, so it stays open for the call;
    // - pointer and length describe bytes exclusively ours, and the kernel writes no more than the length.
    let returned =
        unsafe { libc::getsockname(raw(fd), name.bytes.as_mut_ptr().cast(), &raw mut len) };
    errno::check(returned)?;
    name.decode(len as usize)
        .map(|address| address.port())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn raw(fd: BorrowedFd<'_>) -> libc::c_int {
    fd.as_raw_fd()
}

/// The kernel's own limit since 6.9.
const GSO_SEGMENTS_LIMIT: usize = 128;
/// Ports tried until one is free for both families.
const FREE_PORT_ATTEMPTS: usize = 16;
