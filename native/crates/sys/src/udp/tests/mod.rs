//! Fallbacks, with errors injected below the socket: a set of calls that refuses some and passes the others on.

mod equal_tails;
mod errors;
mod extras;
mod path_mtu;
mod receives;
mod segmentation;

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;

use ports::{Ecn, Endpoint, Received};

use super::UdpOptions;
use super::calls::{Calls, Incoming, LinuxCalls, Outgoing};
use super::control_message::ControlValues;
use super::socket::Socket;

/// What one call was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attempt {
    kind: Kind,
    bytes: usize,
    pinned: bool,
    ecn: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One message with a segment size.
    Segmented,
    /// One message.
    Whole,
    /// Several messages.
    Each,
}

type Verdict = Box<dyn FnMut(&Attempt) -> Option<i32>>;

/// Calls of Linux, some of which fail.
struct Refusing {
    linux: LinuxCalls,
    refuse: Verdict,
    most_per_call: usize,
    attempts: Vec<Attempt>,
    refuse_receive: VecDeque<i32>,
    flag_receives: VecDeque<i32>,
}

impl Refusing {
    fn new() -> Self {
        Self {
            linux: LinuxCalls::new(),
            refuse: Box::new(|_| None),
            most_per_call: usize::MAX,
            attempts: Vec::new(),
            refuse_receive: VecDeque::new(),
            flag_receives: VecDeque::new(),
        }
    }

    fn admit(&mut self, kind: Kind, message: &Outgoing<'_>) -> io::Result<()> {
        // What is written for a send reads like what comes with a receive.
        let values = ControlValues::read(message.control);
        let attempt = Attempt {
            kind,
            bytes: message.payload.len(),
            pinned: values.local.is_some(),
            ecn: values.ecn,
        };
        self.attempts.push(attempt);
        (self.refuse)(&attempt).map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
    }
}

impl Calls for Refusing {
    fn send(&mut self, fd: BorrowedFd<'_>, message: &Outgoing<'_>) -> io::Result<usize> {
        // The segment size is the last control message: a header of 16 bytes and 8 for the value.
        let kind = message
            .control
            .len()
            .checked_sub(12)
            .and_then(|at| message.control.get(at..at + 4));
        let segmented = kind == Some(&libc::UDP_SEGMENT.to_ne_bytes());
        self.admit(
            if segmented {
                Kind::Segmented
            } else {
                Kind::Whole
            },
            message,
        )?;
        self.linux.send(fd, message)
    }

    fn send_each(
        &mut self,
        fd: BorrowedFd<'_>,
        message: &Outgoing<'_>,
        segment_size: usize,
    ) -> io::Result<usize> {
        self.admit(Kind::Each, message)?;
        let len = message
            .payload
            .len()
            .min(self.most_per_call.saturating_mul(segment_size));
        let message = Outgoing {
            payload: &message.payload[..len],
            ..*message
        };
        self.linux.send_each(fd, &message, segment_size)
    }

    fn receive(
        &mut self,
        fd: BorrowedFd<'_>,
        slot: &mut [u8],
        incoming: &mut Incoming,
    ) -> io::Result<()> {
        self.linux.receive(fd, slot, incoming)
    }

    fn receive_each(
        &mut self,
        fd: BorrowedFd<'_>,
        arena: (&mut [u8], usize),
        incoming: &mut [Incoming],
    ) -> io::Result<usize> {
        if let Some(errno) = self.refuse_receive.pop_front() {
            return Err(io::Error::from_raw_os_error(errno));
        }
        let received = self.linux.receive_each(fd, arena, incoming)?;
        for (incoming, flag) in incoming
            .iter_mut()
            .take(received)
            .zip(self.flag_receives.drain(..))
        {
            incoming.flags |= flag;
        }
        Ok(received)
    }
}

/// Two sockets on the loopback.
struct Pair {
    alice: Socket<Refusing>,
    bob: Socket<Refusing>,
    to_bob: Endpoint,
}

impl Pair {
    fn new(options: &UdpOptions) -> Self {
        let alice = Socket::bind(options, Refusing::new()).unwrap();
        let bob = Socket::bind(options, Refusing::new()).unwrap();
        let to_bob = Endpoint::unpinned(([127, 0, 0, 1], bob.port).into());
        Self { alice, bob, to_bob }
    }

    /// Lets calls of the sender fail with the number the rule gives.
    fn refuse(&mut self, rule: impl FnMut(&Attempt) -> Option<i32> + 'static) {
        self.alice.calls.refuse = Box::new(rule);
    }

    /// Lets a call with several messages take only so many.
    fn partial(&mut self, most: usize) {
        self.alice.calls.most_per_call = most;
    }

    fn send(&mut self, count: usize) -> ports::SendOutcome {
        self.alice
            .send_marked(&self.to_bob, &payload(count), SIZE, Ecn::NotCapable)
    }

    /// All that has arrived.
    fn receive(&mut self) -> Vec<Vec<u8>> {
        let mut arena = vec![0; 65_536 * 4];
        let mut out = [Received::EMPTY; 4];
        let mut all = Vec::new();
        while let Ok(filled) = self.bob.receive(&mut arena, 65_536, &mut out) {
            for received in &out[..filled] {
                let slot = &arena[received.slot * 65_536..][..received.len];
                all.extend(received.datagrams().map(|range| slot[range].to_vec()));
            }
        }
        all
    }

    fn attempts(&self) -> &[Attempt] {
        &self.alice.calls.attempts
    }

    fn kinds(&self) -> Vec<Kind> {
        self.attempts().iter().map(|attempt| attempt.kind).collect()
    }

    fn log_clear(&mut self) {
        self.alice.calls.attempts.clear();
    }
}

/// Bytes of one datagram.
const SIZE: usize = 200;

/// `count` datagrams, each filled with its number.
fn payload(count: usize) -> Vec<u8> {
    batch(count).concat()
}

fn batch(count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|number| vec![u8::try_from(number % 251).unwrap(); SIZE])
        .collect()
}
