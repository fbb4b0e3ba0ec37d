use core::net::SocketAddr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use ports::{
    Carriage, Clock, DatagramCounters, DatagramState, Datagrams, Ecn, Endpoint, FeatureState,
    Instant, OffReason, PathBound, Received, SendOutcome,
};

use super::BindError;
use super::calls::{BATCH_MAX, Incoming, LinuxCalls};
use super::discovery::Discovery;
use super::path_mtu::path_mtu;
use crate::{KernelVersion, Monotonic};

/// How to open a UDP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpOptions {
    /// IPv4 or IPv6; an IPv6 socket takes IPv6 only.
    pub family: Family,
    /// Local port on all addresses; 0 = any free one.
    pub port: u16,
    /// Whether other sockets of this user may have the same port and share its traffic.
    pub reuse_port: bool,
    /// Size to ask for, of each of the two socket buffers.
    pub buffer_bytes: usize,
    /// Segmentation by the kernel on send.
    pub gso: Switch,
    /// Merging by the kernel on receive.
    pub gro: Switch,
    /// Several datagrams per call without GSO.
    pub batch: Switch,
    /// Most segments of one send, 2 to 128. Above 64 it falls back to 64 when the kernel refuses.
    pub gso_segments_max: usize,
    /// What to do about last segments of full size.
    pub equal_tail: EqualTail,
    /// Firewall mark of everything sent.
    pub mark: Option<u32>,
    /// Whether it receives anything.
    pub direction: Direction,
}

/// What a socket is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Sends and receives.
    #[default]
    Both,
    /// Only sends: the kernel drops what arrives, so that nothing waits for a reader that never comes.
    SendOnly,
}

impl Default for UdpOptions {
    fn default() -> Self {
        Self {
            family: Family::V4,
            port: 0,
            reuse_port: false,
            buffer_bytes: 7 << 20,
            gso: Switch::Auto,
            gro: Switch::Auto,
            batch: Switch::Auto,
            gso_segments_max: 64,
            equal_tail: EqualTail::Auto,
            mark: None,
            direction: Direction::Both,
        }
    }
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of an address.
    #[must_use]
    pub const fn of(address: &SocketAddr) -> Self {
        match address {
            SocketAddr::V4(_) => Self::V4,
            SocketAddr::V6(_) => Self::V6,
        }
    }

    /// The most UDP payload one IP packet of this family carries (LIM-03).
    #[must_use]
    pub const fn payload_len_max(self) -> usize {
        match self {
            Self::V4 => 65_507,
            Self::V6 => 65_527,
        }
    }

    /// IP and UDP header.
    pub(super) const fn overhead(self) -> usize {
        match self {
            Self::V4 => 28,
            Self::V6 => 48,
        }
    }
}

/// Whether to use something that the kernel may offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// Where it works.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// What to do about GSO sends whose last segment has full size, which Linux 7.0 to 7.1.4 mangles on some devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EqualTail {
    /// Avoid them on those kernels.
    #[default]
    Auto,
    /// Send them.
    Allow,
    /// Send such batches as single datagrams. A caller that appends a shorter datagram keeps GSO.
    Avoid,
}

impl EqualTail {
    /// Whether equal tails are used on this kernel (FBK-08).
    #[must_use]
    pub fn state(self, kernel: Option<KernelVersion>) -> FeatureState {
        match self {
            Self::Auto if kernel.is_some_and(|version| EQUAL_TAIL_BROKEN.contains(&version)) => {
                FeatureState::Off(OffReason::Unsupported { errno: 0 })
            }
            Self::Auto | Self::Allow => FeatureState::On,
            Self::Avoid => FeatureState::Off(OffReason::Switch),
        }
    }
}

/// A UDP socket that uses what the kernel offers and falls back at run time.
#[derive(Debug)]
pub struct UdpSocket {
    pub(super) inner: Socket<LinuxCalls>,
}

impl UdpSocket {
    /// Opens a socket on a port of all local addresses.
    ///
    /// # Errors
    /// See [`BindError`].
    pub fn bind(options: &UdpOptions) -> Result<Self, BindError> {
        Socket::bind(options, LinuxCalls::new()).map(|inner| Self { inner })
    }

    /// The local port.
    #[must_use]
    pub const fn local_port(&self) -> u16 {
        self.inner.port
    }

    /// Sends to one remote from now on, and receives from it only. The kernel then caches the route.
    ///
    /// # Errors
    /// What the kernel says; `NetworkUnreachable` when there is no route.
    pub fn connect(&mut self, remote: SocketAddr) -> io::Result<()> {
        self.inner.connect(remote)
    }

    /// Its descriptor, which stays open as long as somebody holds it.
    #[must_use]
    pub fn descriptor(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.inner.fd)
    }

    /// Tries GSO again if it was turned off after a failed call; for use after a route change. It is also tried again
    /// by itself after ten minutes.
    pub fn retry_gso(&mut self) {
        self.inner.retry_gso();
    }
}

impl Datagrams for UdpSocket {
    fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize> {
        self.inner.receive(arena, slot_size, out)
    }

    fn send_marked(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        ecn: Ecn,
    ) -> SendOutcome {
        self.inner.send_marked(to, payload, segment_size, ecn)
    }

    fn rely_on(&mut self, bound: PathBound) {
        self.inner.bound = bound;
    }

    fn send_alone(&mut self, to: &Endpoint, payload: &[u8], carriage: Carriage) -> SendOutcome {
        self.inner.send_alone(to, payload, carriage)
    }

    fn path_payload(&self, remote: SocketAddr) -> Option<usize> {
        let overhead = Family::of(&remote).overhead();
        path_mtu(remote, self.inner.mark)
            .ok()?
            .checked_sub(overhead)
    }

    fn counters(&self) -> &DatagramCounters {
        &self.inner.counters
    }

    fn state(&self) -> DatagramState {
        self.inner.state()
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.fd.as_fd()
    }
}

/// The socket over any set of calls.
pub(super) struct Socket<C> {
    pub(super) fd: Arc<OwnedFd>,
    pub(super) calls: C,
    pub(super) family: Family,
    pub(super) port: u16,
    pub(super) mark: Option<u32>,
    pub(super) connected: Option<SocketAddr>,
    pub(super) gso: FeatureState,
    pub(super) gso_retry_at: Option<Instant>,
    pub(super) gso_segments_max: usize,
    pub(super) gro: FeatureState,
    pub(super) batch: FeatureState,
    pub(super) marks: FeatureState,
    pub(super) equal_tails: FeatureState,
    /// What counts for datagrams that share their calls.
    pub(super) bound: PathBound,
    /// The rule about fragments that the kernel has for this socket at present.
    pub(super) discovery: Discovery,
    pub(super) receive_buffer_bytes: usize,
    pub(super) send_buffer_bytes: usize,
    pub(super) counters: DatagramCounters,
    pub(super) incoming: Box<[Incoming; BATCH_MAX]>,
    pub(super) now: fn() -> Instant,
}

impl<C> Socket<C> {
    pub(super) fn state(&self) -> DatagramState {
        DatagramState {
            gso: self.gso,
            gro: self.gro,
            batch: self.batch,
            equal_tails: self.equal_tails,
            gso_segments_max: self.gso_segments_max,
            receive_buffer_bytes: self.receive_buffer_bytes,
            send_buffer_bytes: self.send_buffer_bytes,
        }
    }

    pub(super) fn retry_gso(&mut self) {
        if let FeatureState::Off(OffReason::Fallback { .. }) = self.gso {
            self.gso = FeatureState::On;
            self.gso_retry_at = None;
        }
    }
}

impl<C> core::fmt::Debug for Socket<C> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("Socket")
            .field("fd", &self.fd)
            .field("family", &self.family)
            .field("port", &self.port)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// The moment, for sockets outside tests.
pub(super) fn real_now() -> Instant {
    Monotonic.now()
}

/// The kernels that may mangle GSO sends with an equal tail.
const EQUAL_TAIL_BROKEN: core::ops::RangeInclusive<KernelVersion> =
    KernelVersion::new(7, 0, 0)..=KernelVersion::new(7, 1, 4);
