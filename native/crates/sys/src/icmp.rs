//! Ping: one ICMP echo and its answer. Blocks the calling thread, so it belongs on a worker thread.

use core::net::{IpAddr, SocketAddr};
use core::sync::atomic::{AtomicU16, Ordering};
use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use ports::{Clock, Instant};

use crate::udp::Name;
use crate::{Interest, Monotonic, Poller, errno};

/// Sends one echo request with `payload_len` bytes (at least 14, by which the answer is recognised) and returns the time
/// until its answer.
///
/// Uses an unprivileged ping socket where the host allows it, otherwise a raw socket.
///
/// # Errors
/// See [`PingError`].
pub fn ping(address: IpAddr, timeout: Duration, payload_len: usize) -> Result<Duration, PingError> {
    if payload_len > PAYLOAD_LEN_MAX {
        return Err(PingError::PayloadTooLong {
            len: payload_len,
            len_max: PAYLOAD_LEN_MAX,
        });
    }
    let socket = Socket::open(address)?;
    let echo = Echo::new(address, payload_len);
    let request = echo.request();
    let start = Monotonic.now();
    socket
        .send(&request, address)
        .map_err(|source| PingError::from_kernel("sending the request", source))?;
    socket.wait_for(&echo, start, timeout)
}

/// Why there was no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum PingError {
    /// None came in time.
    TimedOut {
        /// How long was waited.
        waited: Duration,
    },
    /// There is no route, or the network says so.
    Unreachable {
        /// The kernel's refusal.
        source: io::Error,
    },
    /// Neither a ping socket nor a raw socket is allowed.
    Permission {
        /// The kernel's refusal.
        source: io::Error,
    },
    /// The payload exceeds one packet.
    PayloadTooLong {
        /// Bytes asked for.
        len: usize,
        /// The most allowed.
        len_max: usize,
    },
    /// The kernel refused for another reason.
    Refused {
        /// What was tried.
        operation: &'static str,
        /// The kernel's refusal.
        source: io::Error,
    },
}

impl PingError {
    /// A short fixed word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TimedOut { .. } => "ping_timeout",
            Self::Unreachable { .. } => "ping_unreachable",
            Self::Permission { .. } => "ping_permission",
            Self::PayloadTooLong { .. } => "invalid_option",
            Self::Refused { .. } => "ping_refused",
        }
    }

    /// The kernel's error number; 0 when the kernel is not the origin.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match self {
            Self::TimedOut { .. } | Self::PayloadTooLong { .. } => 0,
            Self::Unreachable { source }
            | Self::Permission { source }
            | Self::Refused { source, .. } => errno::of(source),
        }
    }

    fn from_kernel(operation: &'static str, source: io::Error) -> Self {
        match errno::of(&source) {
            libc::ENETUNREACH
            | libc::EHOSTUNREACH
            | libc::ENETDOWN
            | libc::EADDRNOTAVAIL
            | libc::ENOKEY => Self::Unreachable { source },
            libc::EPERM | libc::EACCES => Self::Permission { source },
            _ => Self::Refused { operation, source },
        }
    }
}

impl core::fmt::Display for PingError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TimedOut { waited } => write!(formatter, "no answer within {} ms", waited.as_millis()),
            Self::Unreachable { source } => write!(formatter, "the address cannot be reached: {source}"),
            Self::Permission { .. } => formatter.write_str(
                "ping is not permitted: it needs root, CAP_NET_RAW, or a group within net.ipv4.ping_group_range",
            ),
            Self::PayloadTooLong { len, len_max } => {
                write!(formatter, "a ping carries at most {len_max} bytes, not {len}")
            }
            Self::Refused { operation, source } => write!(formatter, "{operation}: {source}"),
        }
    }
}

impl core::error::Error for PingError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::TimedOut { .. } | Self::PayloadTooLong { .. } => None,
            Self::Unreachable { source }
            | Self::Permission { source }
            | Self::Refused { source, .. } => Some(source),
        }
    }
}

/// One request, recognised in its answer by a token of its own.
struct Echo {
    is_v4: bool,
    identifier: u16,
    sequence: u16,
    payload: Vec<u8>,
}

impl Echo {
    fn new(address: IpAddr, payload_len: usize) -> Self {
        let sequence = NEXT_SEQUENCE.fetch_add(1, Ordering::Relaxed);
        // The low bits of process id and clock tell concurrent pings of several programs apart.
        let started = Monotonic.now().as_nanoseconds().to_ne_bytes();
        let process = std::process::id().to_ne_bytes();
        let token = started
            .iter()
            .chain(&process)
            .chain(&sequence.to_ne_bytes())
            .copied()
            .collect::<Vec<u8>>();
        let payload = token
            .iter()
            .copied()
            .cycle()
            .take(payload_len.max(token.len()))
            .collect();
        let identifier = u16::try_from(std::process::id() & 0xFFFF).unwrap_or(0);
        Self {
            is_v4: address.is_ipv4(),
            identifier,
            sequence,
            payload,
        }
    }

    /// The request. The kernel fills in the identifier of ping sockets, and the checksum of both but raw IPv4.
    fn request(&self) -> Vec<u8> {
        let kind = if self.is_v4 { ECHO_V4 } else { ECHO_V6 };
        let mut bytes = vec![kind, 0, 0, 0];
        bytes.extend(self.identifier.to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(&self.payload);
        if self.is_v4 {
            let checksum = checksum(&bytes).to_be_bytes();
            for (slot, byte) in bytes.iter_mut().skip(2).zip(checksum) {
                *slot = byte;
            }
        }
        bytes
    }

    /// Whether `packet` answers this request. Raw IPv4 sockets give the IP header too.
    fn is_answered_by(&self, packet: &[u8]) -> bool {
        let answer = match packet.first() {
            Some(first) if self.is_v4 && first >> 4 == 4 => packet
                .get(usize::from(first & 15) * 4..)
                .unwrap_or_default(),
            _ => packet,
        };
        let kind = if self.is_v4 {
            ECHO_REPLY_V4
        } else {
            ECHO_REPLY_V6
        };
        answer.first() == Some(&kind)
            && answer.get(6..8) == Some(&self.sequence.to_be_bytes())
            && answer.get(8..) == Some(&self.payload)
    }
}

struct Socket {
    fd: OwnedFd,
}

impl Socket {
    fn open(address: IpAddr) -> Result<Self, PingError> {
        let (domain, protocol) = match address {
            IpAddr::V4(_) => (libc::AF_INET, libc::IPPROTO_ICMP),
            IpAddr::V6(_) => (libc::AF_INET6, libc::IPPROTO_ICMPV6),
        };
        let open = |kind| {
            // SAFETY: the call takes numbers only.
            let returned = unsafe {
                libc::socket(
                    domain,
                    kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
                    protocol,
                )
            };
            errno::check(returned)
        };
        let raw = open(libc::SOCK_DGRAM)
            .or_else(|_| open(libc::SOCK_RAW))
            .map_err(|source| PingError::from_kernel("opening a socket", source))?;
        // SAFETY: the kernel just gave us this descriptor and nobody else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        Ok(Self { fd })
    }

    fn send(&self, request: &[u8], address: IpAddr) -> io::Result<()> {
        let (name, len) = Name::encode(SocketAddr::new(address, 0));
        // SAFETY:
        // - the descriptor is ours and open;
        // - both pointers, with their lengths, describe live bytes the kernel only reads.
        let returned = unsafe {
            libc::sendto(
                self.fd.as_raw_fd(),
                request.as_ptr().cast(),
                request.len(),
                0,
                name.bytes.as_ptr().cast(),
                len,
            )
        };
        errno::check_size(returned).map(drop)
    }

    fn wait_for(
        &self,
        echo: &Echo,
        start: Instant,
        timeout: Duration,
    ) -> Result<Duration, PingError> {
        let refused = |source| PingError::from_kernel("waiting for the answer", source);
        let mut poller = Poller::new(1).map_err(refused)?;
        poller
            .add(self.fd.as_fd(), 0, Interest::Readable)
            .map_err(refused)?;
        let mut buffer = vec![0; echo.payload.len() + HEADERS_LEN_MAX];
        loop {
            let waited = Monotonic.now().saturating_since(start);
            let Some(left) = timeout.checked_sub(waited).filter(|left| !left.is_zero()) else {
                return Err(PingError::TimedOut { waited });
            };
            let ready = poller.wait(Some(left)).map_err(refused)?.next().is_some();
            if !ready {
                continue;
            }
            match receive(self.fd.as_fd(), &mut buffer) {
                Ok(len) if echo.is_answered_by(buffer.get(..len).unwrap_or_default()) => {
                    return Ok(Monotonic.now().saturating_since(start));
                }
                // Somebody else's answer.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(refused(error)),
            }
        }
    }
}

fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the descriptor is borrowed, so it stays open; pointer and length describe bytes exclusively ours.
    let returned =
        unsafe { libc::recv(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    errno::check_size(returned)
}

fn checksum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes
        .chunks(2)
        .map(|pair| {
            let high = pair.first().copied().unwrap_or(0);
            u32::from(u16::from_be_bytes([
                high,
                pair.get(1).copied().unwrap_or(0),
            ]))
        })
        .sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    let folded = (folded & 0xFFFF) + (folded >> 16);
    !u16::try_from(folded).unwrap_or(u16::MAX)
}

static NEXT_SEQUENCE: AtomicU16 = AtomicU16::new(1);

const ECHO_V4: u8 = 8;
const ECHO_REPLY_V4: u8 = 0;
const ECHO_V6: u8 = 128;
const ECHO_REPLY_V6: u8 = 129;
/// An IPv4 header with all options, and the ICMP header.
const HEADERS_LEN_MAX: usize = 68;
const PAYLOAD_LEN_MAX: usize = 65_507;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_loopback_answers_on_both_versions() {
        crate::testing::in_namespace(|| {
            for address in ["127.0.0.1", "::1"] {
                for payload_len in [0, 56, 1_400] {
                    let time = ping(address.parse().unwrap(), SECOND, payload_len).unwrap();
                    assert!(time < SECOND, "{address} took {time:?}");
                }
            }
        });
    }

    #[test]
    fn an_address_without_route_is_unreachable_at_once() {
        crate::testing::in_namespace(|| {
            for address in ["192.0.2.1", "2001:db8::1"] {
                let error = ping(address.parse().unwrap(), SECOND, 8).unwrap_err();
                assert_eq!(error.code(), "ping_unreachable", "{error}");
            }
        });
    }

    #[test]
    fn silence_ends_with_the_timeout() {
        crate::testing::in_namespace(|| {
            let tun = crate::Tun::open(&crate::TunOptions::default()).unwrap();
            crate::netlink::add_route(tun.name(), "192.0.2.0/24".parse().unwrap()).unwrap();
            crate::netlink::add_address(tun.name(), "192.0.2.9/32".parse().unwrap()).unwrap();

            let error =
                ping("192.0.2.1".parse().unwrap(), Duration::from_millis(30), 8).unwrap_err();

            assert!(
                matches!(error, PingError::TimedOut { waited } if waited >= Duration::from_millis(30))
            );
        });
    }

    #[test]
    fn a_ping_that_is_too_long_is_refused_with_its_numbers() {
        let error = ping("127.0.0.1".parse().unwrap(), SECOND, 65_508).unwrap_err();

        assert!(matches!(
            error,
            PingError::PayloadTooLong {
                len: 65_508,
                len_max: 65_507
            }
        ));
    }

    #[test]
    fn only_the_own_answer_counts() {
        let echo = Echo::new("127.0.0.1".parse().unwrap(), 20);
        let mut answer = echo.request();
        assert!(!echo.is_answered_by(&answer), "a request is no answer");

        answer[0] = ECHO_REPLY_V4;
        assert!(echo.is_answered_by(&answer));

        let mut with_ip_header = vec![0x46; 24];
        with_ip_header.extend(&answer);
        assert!(echo.is_answered_by(&with_ip_header));

        answer[7] ^= 1;
        assert!(!echo.is_answered_by(&answer), "another sequence number");
        assert!(!Echo::new("127.0.0.1".parse().unwrap(), 20).is_answered_by(&answer));
        for len in 0..answer.len() {
            assert!(!echo.is_answered_by(&answer[..len]));
        }
    }
}
