use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::os::fd::AsFd;

use ports::{Ecn, Endpoint, FeatureState, OffReason, SendOutcome};

use super::address::Name;
use super::calls::{Calls, Outgoing};
use super::control_message::ControlWriter;
use super::path_mtu::path_mtu;
use super::socket::{Family, Socket};
use crate::errno;

impl<C: Calls> Socket<C> {
    /// Sends datagrams under the rule about fragments that the socket has.
    pub(super) fn send_under_rule(
        &mut self,
        to: &Endpoint,
        payload: &[u8],
        segment_size: usize,
        ecn: Ecn,
    ) -> SendOutcome {
        let mut job = Job::new(to, payload, segment_size);
        if Family::of(&to.remote) != self.family {
            job.refuse_rest(io::Error::from_raw_os_error(libc::EAFNOSUPPORT));
            return job.outcome;
        }
        if self.marks.is_on() {
            job.extras.ecn = ecn;
        }
        self.retry_gso_when_due();
        while job.outcome.handled < job.total {
            let flow = match self.next_chunk(&job) {
                Chunk::Segmented(count) => self.send_segmented(&mut job, count),
                Chunk::Singly(count) => self.send_singly(&mut job, count),
            };
            if flow == Flow::Stop {
                break;
            }
        }
        job.outcome
    }

    /// The next datagrams that go the same way. A segmented send stays within the segment and payload limits (LIM-03,
    /// LIM-04) and has at least two segments (SEG-05, SEG-12).
    fn next_chunk(&self, job: &Job<'_>) -> Chunk {
        let left = job.total - job.outcome.handled;
        if !self.gso.is_on() || left < 2 {
            return Chunk::Singly(left);
        }
        let fitting = self.family.payload_len_max() / job.segment_size.max(1);
        let count = left.min(self.gso_segments_max).min(fitting);
        let bytes = job.slice(count).len();
        let equal_tail = bytes == count * job.segment_size;
        if count < 2 || (equal_tail && !self.equal_tails.is_on()) {
            return Chunk::Singly(count.max(1));
        }
        Chunk::Segmented(count)
    }

    /// Sends `count` datagrams in one call with a segment size. When the kernel refuses, what else the message carries is
    /// left out one by one to find the cause (P-62); the last suspect is GSO itself (FBK-03).
    fn send_segmented(&mut self, job: &mut Job<'_>, count: usize) -> Flow {
        let mut extras = job.extras;
        loop {
            let mut control = extras.control(self.family);
            let Ok(segment) = u16::try_from(job.segment_size) else {
                return self.send_singly(job, count);
            };
            control.segment(segment);
            self.counters.send_calls += 1;
            self.counters.send_gso += 1;
            let payload = job.slice(count);
            let Err(error) = self.call(job, payload, control.as_bytes(), Call::Whole) else {
                self.accept(job, count, extras);
                return Flow::Continue;
            };
            let errno = errno::of(&error);
            match Refusal::of(errno) {
                Refusal::Interrupted => {}
                Refusal::Busy => return self.stop(job, error),
                Refusal::TooBig => return self.send_in_fragments(job, count, error),
                Refusal::Unreachable | Refusal::Invalid if extras.pin.is_some() => {
                    extras.pin = None;
                }
                Refusal::Unreachable | Refusal::Forbidden => return self.refuse_rest(job, error),
                Refusal::Invalid if extras.ecn != Ecn::NotCapable => extras.ecn = Ecn::NotCapable,
                Refusal::Invalid if count > SEGMENTS_EVERYWHERE => {
                    self.gso_segments_max = SEGMENTS_EVERYWHERE;
                    return Flow::Continue;
                }
                // Before Linux 6.14 a segment above the MTU is called invalid too (LIM-05).
                Refusal::Invalid if self.exceeds_path(job) => {
                    let error = io::Error::from_raw_os_error(libc::EMSGSIZE);
                    return self.send_in_fragments(job, count, error);
                }
                Refusal::Invalid => {
                    self.counters.send_fallback += 1;
                    self.gso = FeatureState::Off(OffReason::Fallback { errno });
                    self.gso_retry_at = Some((self.now)() + GSO_RETRY_AFTER);
                    return self.send_singly(job, count);
                }
                Refusal::Other => return self.send_singly(job, count),
            }
        }
    }

    /// The segments exceed the MTU of the path. The caller learns it and should send smaller ones; these leave as
    /// datagrams that the kernel may fragment, unless a proven path is relied on. GSO stays on (FBK-04).
    fn send_in_fragments(&mut self, job: &mut Job<'_>, count: usize, error: io::Error) -> Flow {
        self.count(&error);
        job.note(error);
        self.send_singly(job, count)
    }

    /// Sends `count` datagrams without a segment size: several per call, or one by one.
    fn send_singly(&mut self, job: &mut Job<'_>, count: usize) -> Flow {
        let end = job.outcome.handled + count;
        let mut extras = job.extras;
        while job.outcome.handled < end {
            let left = end - job.outcome.handled;
            let call = if left > 1 && self.batch.is_on() {
                Call::Cut
            } else {
                Call::Whole
            };
            let payload = job.slice(if call == Call::Cut { left } else { 1 });
            self.counters.send_calls += 1;
            let error = match self.call(job, payload, extras.control(self.family).as_bytes(), call)
            {
                Ok(sent) => {
                    self.accept(job, if call == Call::Cut { sent } else { 1 }, extras);
                    continue;
                }
                Err(error) => error,
            };
            let errno = errno::of(&error);
            match Refusal::of(errno) {
                Refusal::Interrupted => {}
                Refusal::Busy => return self.stop(job, error),
                Refusal::Unreachable | Refusal::Invalid if extras.pin.is_some() => {
                    extras.pin = None;
                }
                Refusal::Unreachable | Refusal::Forbidden => return self.refuse_rest(job, error),
                Refusal::Invalid if extras.ecn != Ecn::NotCapable => extras.ecn = Ecn::NotCapable,
                Refusal::Other if errno == libc::ENOSYS && call == Call::Cut => {
                    self.batch = FeatureState::Off(OffReason::Unsupported { errno });
                }
                Refusal::TooBig => {
                    self.count(&error);
                    job.skip_full_size(end, error);
                }
                // This datagram is refused; those after it get their chance.
                Refusal::Invalid | Refusal::Other => {
                    self.count(&error);
                    job.note(error);
                    job.outcome.handled += 1;
                }
            }
        }
        Flow::Continue
    }

    fn call(
        &mut self,
        job: &Job<'_>,
        payload: &[u8],
        control: &[u8],
        call: Call,
    ) -> io::Result<usize> {
        let name = if self.connected == Some(job.remote) {
            None
        } else {
            Some((&job.name, job.name_len))
        };
        let message = Outgoing {
            name,
            payload,
            control,
        };
        match call {
            Call::Whole => self.calls.send(self.fd.as_fd(), &message),
            Call::Cut => self
                .calls
                .send_each(self.fd.as_fd(), &message, job.segment_size),
        }
    }

    /// Notes datagrams the kernel took, and what had to be left out for that.
    fn accept(&mut self, job: &mut Job<'_>, count: usize, extras: Extras) {
        self.counters.send_datagrams += count as u64;
        self.counters.send_bytes += job.slice(count).len() as u64;
        job.outcome.accepted += count;
        job.outcome.handled += count;
        if job.extras.pin.is_some() && extras.pin.is_none() {
            job.outcome.pin_lost = true;
        }
        if job.extras.ecn != extras.ecn {
            self.marks = FeatureState::Off(OffReason::Fallback {
                errno: libc::EINVAL,
            });
        }
        job.extras = extras;
    }

    fn stop(&mut self, job: &mut Job<'_>, error: io::Error) -> Flow {
        self.count(&error);
        // The caller must see why the rest is unsent, whatever came before.
        job.outcome.error = Some(error);
        Flow::Stop
    }

    fn refuse_rest(&mut self, job: &mut Job<'_>, error: io::Error) -> Flow {
        self.count(&error);
        job.refuse_rest(error);
        Flow::Stop
    }

    fn count(&mut self, error: &io::Error) {
        let counters = &mut self.counters;
        let counter = match Refusal::of(errno::of(error)) {
            Refusal::Busy if errno::of(error) == libc::EAGAIN => &mut counters.send_would_block,
            Refusal::Busy => &mut counters.send_no_buffers,
            Refusal::TooBig => &mut counters.send_too_big,
            Refusal::Unreachable => &mut counters.send_unreachable,
            Refusal::Forbidden => &mut counters.send_refused,
            Refusal::Interrupted | Refusal::Invalid | Refusal::Other => &mut counters.send_other,
        };
        *counter += 1;
    }

    fn exceeds_path(&self, job: &Job<'_>) -> bool {
        let packet_len = job.segment_size + self.family.overhead();
        path_mtu(job.remote, self.mark).is_ok_and(|mtu| packet_len > mtu)
    }

    fn retry_gso_when_due(&mut self) {
        if self.gso_retry_at.is_some_and(|due| (self.now)() >= due) {
            self.retry_gso();
        }
    }
}

/// One send, and how far it got.
struct Job<'a> {
    payload: &'a [u8],
    segment_size: usize,
    total: usize,
    remote: SocketAddr,
    name: Name,
    name_len: libc::socklen_t,
    extras: Extras,
    outcome: SendOutcome,
}

impl<'a> Job<'a> {
    fn new(to: &Endpoint, payload: &'a [u8], segment_size: usize) -> Self {
        let whole = segment_size == 0 || segment_size >= payload.len();
        let segment_size = if whole { payload.len() } else { segment_size };
        let total = if whole {
            1
        } else {
            payload.len().div_ceil(segment_size)
        };
        let (name, name_len) = Name::encode(to.remote);
        let extras = Extras {
            pin: Pin::of(to),
            ecn: Ecn::NotCapable,
        };
        let outcome = SendOutcome::default();
        Self {
            payload,
            segment_size,
            total,
            remote: to.remote,
            name,
            name_len,
            extras,
            outcome,
        }
    }

    /// The next `count` datagrams.
    fn slice(&self, count: usize) -> &'a [u8] {
        let start = (self.outcome.handled * self.segment_size).min(self.payload.len());
        let end = (start + count * self.segment_size).min(self.payload.len());
        self.payload.get(start..end).unwrap_or_default()
    }

    fn note(&mut self, error: io::Error) {
        self.outcome.error.get_or_insert(error);
    }

    fn refuse_rest(&mut self, error: io::Error) {
        self.note(error);
        self.outcome.handled = self.total;
    }

    /// What is too big once is so for all of full size; a shorter last one gets its chance (P-84).
    fn skip_full_size(&mut self, end: usize, error: io::Error) {
        self.note(error);
        let last = end - 1;
        let last_is_shorter =
            end == self.total && last * self.segment_size + self.segment_size > self.payload.len();
        let was_last = self.outcome.handled == last;
        self.outcome.handled = if last_is_shorter && !was_last {
            last
        } else {
            end
        };
    }
}

/// What a message carries besides name, payload and segment size.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extras {
    pin: Option<Pin>,
    ecn: Ecn,
}

impl Extras {
    fn control(self, family: Family) -> ControlWriter {
        let mut control = ControlWriter::new();
        if let Some(pin) = self.pin {
            control.pin(pin.source, pin.interface);
        }
        match (self.ecn, family) {
            (Ecn::NotCapable, _) => {}
            (ecn, Family::V4) => control.mark_v4(ecn),
            (ecn, Family::V6) => control.mark_v6(ecn),
        }
        control
    }
}

/// A source address and interface to use.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pin {
    source: IpAddr,
    interface: u32,
}

impl Pin {
    fn of(endpoint: &Endpoint) -> Option<Self> {
        let any = match endpoint.remote {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let source = endpoint
            .local
            .filter(|source| source.is_ipv4() == any.is_ipv4());
        let link_local = match endpoint.remote.ip() {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        let interface = if source.is_none() || link_local {
            endpoint.interface
        } else {
            0
        };
        if source.is_none() && interface == 0 {
            return None;
        }
        Some(Self {
            source: source.unwrap_or(any),
            interface,
        })
    }
}

/// What an error number of a send means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Interrupted,
    Busy,
    TooBig,
    Unreachable,
    Forbidden,
    Invalid,
    Other,
}

impl Refusal {
    const fn of(errno: i32) -> Self {
        match errno {
            libc::EINTR => Self::Interrupted,
            libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM => Self::Busy,
            libc::EMSGSIZE => Self::TooBig,
            libc::ENETUNREACH
            | libc::EHOSTUNREACH
            | libc::ENETDOWN
            | libc::ENODEV
            | libc::EADDRNOTAVAIL => Self::Unreachable,
            libc::EPERM | libc::EACCES => Self::Forbidden,
            libc::EINVAL | libc::EIO => Self::Invalid,
            _ => Self::Other,
        }
    }
}

/// The next datagrams and how they go.
enum Chunk {
    Segmented(usize),
    Singly(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    /// The payload in one message.
    Whole,
    /// The payload cut into one message per datagram.
    Cut,
}

#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    Stop,
}

/// Segments every kernel with GSO takes.
const SEGMENTS_EVERYWHERE: usize = 64;
/// Until GSO is tried again after the kernel refused it.
const GSO_RETRY_AFTER: Duration = Duration::from_secs(600);
