use core::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use core::ops::Range;
use std::io;

use crate::FeatureState;

/// A datagram socket that moves batches.
pub trait Datagrams {
    /// Receives what is waiting, without blocking, and returns how many entries of `out` were filled.
    ///
    /// `arena` is cut into slots of `slot_size` bytes; each receive fills one slot with one datagram or with several
    /// merged ones of equal size ([`Received::segment_size`]). Datagrams that did not fit, or whose control data was cut
    /// off, are dropped and counted, so the filled slots need not be consecutive.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is waiting; `InvalidInput` when `slot_size` is below 65,535 or `arena` holds no slot;
    /// otherwise what the kernel says.
    fn receive(
        &mut self,
        arena: &mut [u8],
        slot_size: usize,
        out: &mut [Received],
    ) -> io::Result<usize>;

    /// Sends `payload` as datagrams of `segment_size` bytes, the last of which may be shorter, with the ECN mark `ecn`.
    ///
    /// Never blocks. After `WouldBlock` or `ENOBUFS` call again with what lies behind [`SendOutcome::handled`] datagrams.
    /// A `segment_size` of 0, or not below the length, means one datagram.
    fn send_marked(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        ecn: Ecn,
    ) -> SendOutcome;

    /// [`Datagrams::send_marked`] without a mark.
    fn send(&mut self, to: &Endpoint, payload: &[u8], segment_size: usize) -> SendOutcome {
        self.send_marked(to, payload, segment_size, Ecn::NotCapable)
    }

    /// Says which bound counts for what [`Datagrams::send_marked`] sends from now on; [`PathBound::Believed`] at first.
    fn rely_on(&mut self, bound: PathBound);

    /// Sends `payload` as one datagram that shares its call with nothing (SEG-15), in the way `carriage` says.
    fn send_alone(&mut self, to: &Endpoint, payload: &[u8], carriage: Carriage) -> SendOutcome;

    /// The largest payload of one datagram that the system believes fits the path to `remote`; `None` when it has no
    /// route or no belief. Sends nothing.
    fn path_payload(&self, remote: SocketAddr) -> Option<usize>;

    /// Counts since the socket was made.
    fn counters(&self) -> &DatagramCounters;

    /// What is in use, and what is not and why.
    fn state(&self) -> DatagramState;
}

/// Where a datagram comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The other side.
    pub remote: SocketAddr,
    /// Our own address the other side used; pins the source address on send.
    pub local: Option<IpAddr>,
    /// Index of the interface it came in by; 0 = unknown. On send it is used when no `local` is given, and always for
    /// link-local addresses, where it is needed; otherwise routing chooses, so that asymmetric paths work.
    pub interface: u32,
}

impl Endpoint {
    /// An endpoint with nothing pinned.
    #[must_use]
    pub const fn unpinned(remote: SocketAddr) -> Self {
        Self {
            remote,
            local: None,
            interface: 0,
        }
    }
}

/// How a datagram crosses a path that may be too narrow for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// Whole or not at all, whatever is believed of the path: a path-MTU probe.
    Whole,
    /// In fragments where the path needs them.
    Fragments,
}

/// Which size datagrams may have on a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathBound {
    /// What the system believes: larger ones are refused, or cross in fragments.
    #[default]
    Believed,
    /// What the caller has found out: up to the MTU of the device they go out whole, whatever routers are said to have
    /// reported.
    Proven,
}

/// The congestion mark in the IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable = 0,
    /// Capable, codepoint 1.
    Capable1 = 1,
    /// Capable, codepoint 0.
    Capable0 = 2,
    /// Congestion experienced.
    Congestion = 3,
}

impl Ecn {
    /// The mark in the low two bits of a traffic class.
    #[must_use]
    pub const fn from_traffic_class(traffic_class: u8) -> Self {
        match traffic_class & 3 {
            1 => Self::Capable1,
            2 => Self::Capable0,
            3 => Self::Congestion,
            _ => Self::NotCapable,
        }
    }
}

/// One filled slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Which slot of the arena.
    pub slot: usize,
    /// Bytes in the slot.
    pub len: usize,
    /// Size of every datagram in it but the last, which may be shorter. Equals `len` when there is only one.
    pub segment_size: usize,
    /// Where all of them came from.
    pub from: Endpoint,
    /// The congestion mark all of them carried, 0–3.
    pub ecn: u8,
}

impl Received {
    /// A value to fill arrays with before a receive.
    pub const EMPTY: Self = Self {
        slot: 0,
        len: 0,
        segment_size: 0,
        from: Endpoint::unpinned(SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0))),
        ecn: 0,
    };

    /// The byte range of every datagram, counted from the start of the slot. One empty range for an empty datagram.
    pub fn datagrams(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let Self {
            len, segment_size, ..
        } = *self;
        let step = if segment_size == 0 {
            len.max(1)
        } else {
            segment_size
        };
        let count = len.div_ceil(step).max(1);
        (0..count).map(move |index| {
            let start = index * step;
            start..(start + step).min(len)
        })
    }
}

impl Default for Received {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// What became of one send.
#[derive(Debug, Default)]
pub struct SendOutcome {
    /// Datagrams the kernel took.
    pub accepted: usize,
    /// Datagrams that need no further attempt: taken, or refused for good. Always from the start of the payload; less
    /// than all only when `error` is `WouldBlock` or `ENOBUFS`.
    pub handled: usize,
    /// The first error met. May be set although all were accepted: `EMSGSIZE` says that segments exceed the path MTU
    /// ([`Datagrams::path_payload`] tells by how much) even if the kernel then carried them in fragments (FBK-04).
    pub error: Option<io::Error>,
    /// The source address or interface of the endpoint no longer exists; the datagrams left with the kernel's choice.
    /// Forget the pin.
    pub pin_lost: bool,
}

/// Counts since a socket was made; they never go back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramCounters {
    /// System calls that sent.
    pub send_calls: u64,
    /// Of these, calls with a segment size.
    pub send_gso: u64,
    /// Datagrams accepted by the kernel.
    pub send_datagrams: u64,
    /// Bytes of these datagrams.
    pub send_bytes: u64,
    /// Calls that failed because the socket buffer was full (`EAGAIN`).
    pub send_would_block: u64,
    /// Calls that failed for want of memory (`ENOBUFS`, `ENOMEM`).
    pub send_no_buffers: u64,
    /// Calls that failed because a datagram exceeds the path MTU (`EMSGSIZE`).
    pub send_too_big: u64,
    /// Calls that failed for want of a route (`ENETUNREACH`, `EHOSTUNREACH`, `ENETDOWN`).
    pub send_unreachable: u64,
    /// Calls that failed because a firewall refused (`EPERM`, `EACCES`).
    pub send_refused: u64,
    /// Calls that failed with any other error.
    pub send_other: u64,
    /// Times GSO was switched off because the kernel refused to carry it.
    pub send_fallback: u64,
    /// System calls that received something.
    pub receive_calls: u64,
    /// Slots filled with more than one datagram.
    pub receive_gro: u64,
    /// Datagrams received.
    pub receive_datagrams: u64,
    /// Bytes of these datagrams.
    pub receive_bytes: u64,
    /// Receives dropped because data or control data was cut off.
    pub receive_truncated: u64,
}

/// What a socket uses, and what not and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramState {
    /// `UDP_SEGMENT` on send.
    pub gso: FeatureState,
    /// `UDP_GRO` on receive.
    pub gro: FeatureState,
    /// Several datagrams per system call without GSO (`sendmmsg`, `recvmmsg`).
    pub batch: FeatureState,
    /// Batches may end in a segment of full size (FBK-08). Where they must not, a shorter datagram behind them keeps GSO.
    pub equal_tails: FeatureState,
    /// Most segments in one send.
    pub gso_segments_max: usize,
    /// Receive buffer the kernel granted, in bytes of payload and bookkeeping as asked (half of what it reports).
    pub receive_buffer_bytes: usize,
    /// Send buffer the kernel granted, same unit.
    pub send_buffer_bytes: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(len: usize, segment_size: usize) -> Vec<Range<usize>> {
        Received {
            len,
            segment_size,
            ..Received::EMPTY
        }
        .datagrams()
        .collect()
    }

    /// SEG-07: a merged slot yields each datagram and a shorter last.
    #[test]
    fn seg_07_a_merged_slot_yields_each_datagram_and_a_shorter_last() {
        assert_eq!(received(25, 10), [0..10, 10..20, 20..25]);
        assert_eq!(received(20, 10), [0..10, 10..20]);
    }

    /// SEG-12: a size of zero or not below the length is one datagram.
    #[test]
    fn seg_12_a_size_of_zero_or_not_below_the_length_is_one_datagram() {
        assert_eq!(received(25, 0), [Range { start: 0, end: 25 }]);
        assert_eq!(received(25, 25), [Range { start: 0, end: 25 }]);
        assert_eq!(received(25, 99), [Range { start: 0, end: 25 }]);
        assert_eq!(received(0, 0), [Range { start: 0, end: 0 }]);
    }

    #[test]
    fn a_mark_is_the_low_two_bits_of_a_traffic_class() {
        for class in 0..=u8::MAX {
            assert_eq!(Ecn::from_traffic_class(class) as u8, class & 3);
        }
    }
}
