//! Fallbacks, with errors injected below the socket: a set of calls that refuses some and passes the others on.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use ports::{Ecn, Endpoint, FeatureState, Instant, OffReason, Received};

use super::bind::gro_is_reliable;
use super::calls::{Calls, Incoming, LinuxCalls, Outgoing};
use super::control_message::ControlValues;
use super::option;
use super::socket::Socket;
use super::{EqualTail, Switch, UdpOptions};
use crate::netlink::add_address;
use crate::testing::in_namespace;
use crate::{KernelVersion, Tun, TunOffload, TunOptions};

/// P-58, FBK-03: a refused segmented send goes again singly and GSO is off.
#[test]
fn fbk_03_a_refused_segmented_send_goes_again_singly_and_gso_is_off() {
    for errno in [libc::EIO, libc::EINVAL] {
        let mut pair = Pair::new(&UdpOptions::default());
        pair.refuse(move |attempt| (attempt.kind == Kind::Segmented).then_some(errno));

        let outcome = pair.send(10);

        assert_eq!((outcome.accepted, outcome.handled), (10, 10));
        assert!(outcome.error.is_none(), "nothing was lost");
        assert_eq!(pair.receive(), batch(10));
        let off = FeatureState::Off(OffReason::Fallback { errno });
        assert_eq!(pair.alice.state().gso, off);
        assert_eq!(pair.alice.counters.send_fallback, 1);

        pair.log_clear();
        pair.send(10);
        assert_eq!(pair.kinds(), [Kind::Each], "it stays off");
        assert_eq!(pair.receive(), batch(10));
    }
}

/// P-60, FBK-03: GSO is tried again after ten minutes or a route change.
#[test]
fn fbk_03_gso_is_tried_again_after_ten_minutes_or_a_route_change() {
    static NOW: AtomicU64 = AtomicU64::new(0);
    let now = || Instant::from_nanoseconds(NOW.load(Ordering::Relaxed));
    let mut pair = Pair::new(&UdpOptions::default());
    pair.alice.now = now;
    pair.refuse(|attempt| (attempt.kind == Kind::Segmented).then_some(libc::EIO));
    pair.send(4);
    pair.refuse(|_| None);

    NOW.store(599_999_999_999, Ordering::Relaxed);
    pair.send(4);
    assert!(!pair.alice.gso.is_on());

    NOW.store(600_000_000_000, Ordering::Relaxed);
    pair.send(4);
    assert!(pair.alice.gso.is_on());
    assert_eq!(pair.kinds().last(), Some(&Kind::Segmented));

    pair.refuse(|attempt| (attempt.kind == Kind::Segmented).then_some(libc::EIO));
    pair.send(4);
    assert!(!pair.alice.gso.is_on());
    pair.alice.retry_gso();
    assert!(pair.alice.gso.is_on());
}

/// FBK-03, P-59: a socket the kernel refuses segmentation for falls back.
#[test]
fn fbk_03_p_59_a_socket_the_kernel_refuses_segmentation_for_falls_back() {
    // Without UDP checksums every kernel refuses to segment.
    let mut pair = Pair::new(&UdpOptions::default());
    option::set(
        pair.alice.fd.as_fd(),
        libc::SOL_SOCKET,
        libc::SO_NO_CHECK,
        1,
    )
    .unwrap();

    let outcome = pair.send(10);

    assert_eq!(outcome.accepted, 10);
    assert_eq!(pair.receive(), batch(10));
    assert_eq!(
        pair.alice.state().gso,
        FeatureState::Off(OffReason::Fallback {
            errno: libc::EINVAL
        })
    );
}

/// FBK-04, LIM-05: a path that is too narrow is told and GSO stays.
#[test]
fn fbk_04_lim_05_a_path_that_is_too_narrow_is_told_and_gso_stays() {
    let mut pair = Pair::new(&UdpOptions::default());
    pair.refuse(|attempt| (attempt.kind == Kind::Segmented).then_some(libc::EMSGSIZE));

    let outcome = pair.send(10);

    assert_eq!(
        (outcome.accepted, outcome.handled),
        (10, 10),
        "fragments are better than nothing"
    );
    assert_eq!(outcome.error.unwrap().raw_os_error(), Some(libc::EMSGSIZE));
    assert_eq!(pair.receive(), batch(10));
    assert!(pair.alice.gso.is_on());
    assert_eq!(pair.alice.counters.send_too_big, 1);
}

/// LIM-05, P-81: an older kernel that calls a wide segment invalid is understood.
#[test]
fn lim_05_p_81_an_older_kernel_that_calls_a_wide_segment_invalid_is_understood() {
    in_namespace(|| {
        let options = TunOptions {
            mtu: Some(1_280),
            offload: TunOffload::Off,
            ..TunOptions::default()
        };
        let tun = Tun::open(&options).unwrap();
        add_address(tun.name(), "10.9.0.2/24".parse().unwrap()).unwrap();
        let to = Endpoint::unpinned("10.9.0.1:6001".parse().unwrap());
        for (size, too_wide) in [(1_252, false), (1_253, true)] {
            let mut pair = Pair::new(&UdpOptions::default());
            pair.refuse(|attempt| (attempt.kind == Kind::Segmented).then_some(libc::EINVAL));

            let outcome = pair
                .alice
                .send_marked(&to, &vec![1; 3 * size], size, Ecn::NotCapable);

            assert_eq!(outcome.accepted, 3);
            assert_eq!(outcome.error.is_some(), too_wide, "{size}");
            assert_eq!(
                pair.alice.gso.is_on(),
                too_wide,
                "GSO is to blame only for what would fit"
            );
            assert_eq!(pair.alice.counters.send_too_big, u64::from(too_wide));
        }
    });
}

/// FBK-05, P-78: a full buffer stops at the first unsent datagram.
#[test]
fn fbk_05_p_78_a_full_buffer_stops_at_the_first_unsent_datagram() {
    for errno in [libc::EAGAIN, libc::ENOBUFS, libc::ENOMEM] {
        for gso in [Switch::Auto, Switch::Off] {
            // Of each three calls two are refused; the one between takes four datagrams at most.
            let options = UdpOptions {
                gso,
                gso_segments_max: 4,
                ..UdpOptions::default()
            };
            let mut pair = Pair::new(&options);
            pair.partial(4);
            let mut calls = 0;
            pair.refuse(move |_| {
                calls += 1;
                (calls % 3 != 2).then_some(errno)
            });
            let payload = payload(25);

            let mut sent = 0;
            let mut stops = 0;
            while sent < 25 {
                let outcome = pair.alice.send_marked(
                    &pair.to_bob,
                    &payload[sent * SIZE..],
                    SIZE,
                    Ecn::NotCapable,
                );
                assert_eq!(outcome.accepted, outcome.handled);
                if sent + outcome.handled < 25 {
                    assert_eq!(outcome.error.unwrap().raw_os_error(), Some(errno));
                    stops += 1;
                }
                sent += outcome.handled;
            }

            assert!(stops > 5, "{stops}");
            assert_eq!(pair.receive(), batch(25), "each exactly once, in order");
            let counters = &pair.alice.counters;
            assert_eq!(counters.send_would_block + counters.send_no_buffers, stops);
            assert_eq!(counters.send_datagrams, 25);
        }
    }
}

/// FBK-05, P-87: a partial count is continued within the call.
#[test]
fn fbk_05_p_87_a_partial_count_is_continued_within_the_call() {
    let mut pair = Pair::new(&UdpOptions {
        gso: Switch::Off,
        ..UdpOptions::default()
    });
    pair.partial(3);

    let outcome = pair.send(20);

    assert_eq!((outcome.accepted, outcome.handled), (20, 20));
    assert_eq!(pair.receive(), batch(20));
    assert_eq!(pair.kinds().len(), 7, "six threes and the last two");
}

#[test]
fn an_interrupted_call_is_made_again() {
    for gso in [Switch::Auto, Switch::Off] {
        let mut pair = Pair::new(&UdpOptions {
            gso,
            ..UdpOptions::default()
        });
        let mut left = 3;
        pair.refuse(move |_| {
            left -= i32::from(left > 0);
            (left > 0).then_some(libc::EINTR)
        });

        assert_eq!(pair.send(10).accepted, 10);
        assert_eq!(pair.receive(), batch(10));
        assert!(pair.alice.state().gso.is_on() == (gso == Switch::Auto));
    }
}

/// FBK-09, P-61: the switch really stops segmentation.
#[test]
fn fbk_09_p_61_the_switch_really_stops_segmentation() {
    let mut pair = Pair::new(&UdpOptions {
        gso: Switch::Off,
        ..UdpOptions::default()
    });

    pair.send(10);

    assert_eq!(pair.kinds(), [Kind::Each]);
    assert_eq!(pair.alice.counters.send_gso, 0);
    assert_eq!(pair.alice.state().gso, FeatureState::Off(OffReason::Switch));
    let on_socket = option::get(pair.alice.fd.as_fd(), libc::SOL_UDP, libc::UDP_SEGMENT).unwrap();
    assert_eq!(on_socket, 0, "the size is never set on the socket");
    let mut other = Pair::new(&UdpOptions::default());
    other.send(10);
    let on_socket = option::get(other.alice.fd.as_fd(), libc::SOL_UDP, libc::UDP_SEGMENT).unwrap();
    assert_eq!(on_socket, 0, "nor when it is used");
}

/// SEG-03, P-63, SEG-01, SEG-02, SEG-05, P-82: equal datagrams and a shorter last are one send.
#[test]
fn seg_01_02_05_p_82_equal_datagrams_and_a_shorter_last_are_one_send() {
    let mut pair = Pair::new(&UdpOptions::default());
    let cases = [
        (10 * SIZE, 10),
        (9 * SIZE + 1, 10),
        (2 * SIZE, 2),
        (SIZE, 1),
        (1, 1),
    ];
    for (len, count) in cases {
        pair.log_clear();
        let payload = vec![7; len];

        let outcome = pair
            .alice
            .send_marked(&pair.to_bob, &payload, SIZE, Ecn::NotCapable);

        assert_eq!(outcome.accepted, count);
        let kind = if count > 1 {
            Kind::Segmented
        } else {
            Kind::Whole
        };
        assert_eq!(pair.kinds(), [kind], "{len} bytes");
        assert_eq!(pair.receive().len(), count);
    }
    assert_eq!(pair.alice.counters.send_gso, 3);
}

/// SEG-12: a size of zero is never attached.
#[test]
fn seg_12_a_size_of_zero_is_never_attached() {
    let mut pair = Pair::new(&UdpOptions::default());
    for size in [0, 100, 101] {
        pair.alice
            .send_marked(&pair.to_bob, &[1; 100], size, Ecn::NotCapable);
    }

    assert_eq!(pair.kinds(), [Kind::Whole; 3]);
    assert_eq!(pair.receive(), [vec![1; 100], vec![1; 100], vec![1; 100]]);
}

/// LIM-03, P-76: no send exceeds what one packet could carry.
#[test]
fn lim_03_p_76_no_send_exceeds_what_one_packet_could_carry() {
    let mut pair = Pair::new(&UdpOptions::default());
    let payload = vec![5; 64 * 1_320];

    let outcome = pair
        .alice
        .send_marked(&pair.to_bob, &payload, 1_320, Ecn::NotCapable);

    assert_eq!(outcome.accepted, 64);
    let attempts = pair.attempts();
    assert!(
        attempts.iter().all(|attempt| attempt.bytes <= 65_507),
        "{attempts:?}"
    );
    assert_eq!(attempts.len(), 2, "49 and 15 segments");
    assert_eq!(pair.receive().len(), 64);
}

/// LIM-04: a cap above 64 falls back to 64 when refused.
#[test]
fn lim_04_a_cap_above_64_falls_back_to_64_when_refused() {
    let mut pair = Pair::new(&UdpOptions {
        gso_segments_max: 128,
        ..UdpOptions::default()
    });
    pair.refuse(|attempt| {
        (attempt.kind == Kind::Segmented && attempt.bytes > 64 * SIZE).then_some(libc::EINVAL)
    });

    let outcome = pair.send(128);

    assert_eq!(outcome.accepted, 128);
    assert_eq!(pair.receive(), batch(128));
    assert!(pair.alice.gso.is_on(), "GSO itself works");
    assert_eq!(pair.alice.state().gso_segments_max, 64);
}

/// P-62: a mark the kernel refuses is left out before GSO is blamed.
#[test]
fn p_62_a_mark_the_kernel_refuses_is_left_out_before_gso_is_blamed() {
    let mut pair = Pair::new(&UdpOptions::default());
    pair.refuse(|attempt| (attempt.ecn != 0).then_some(libc::EIO));

    let outcome = pair
        .alice
        .send_marked(&pair.to_bob, &payload(10), SIZE, Ecn::Capable0);

    assert_eq!(outcome.accepted, 10);
    assert!(pair.alice.gso.is_on());
    assert_eq!(pair.kinds(), [Kind::Segmented, Kind::Segmented]);
    pair.log_clear();
    pair.alice
        .send_marked(&pair.to_bob, &payload(10), SIZE, Ecn::Capable0);
    assert_eq!(
        pair.kinds(),
        [Kind::Segmented],
        "no second attempt with the mark"
    );
}

#[test]
fn a_pin_the_kernel_refuses_is_left_out_and_reported() {
    for errno in [
        libc::EINVAL,
        libc::ENODEV,
        libc::ENETUNREACH,
        libc::EADDRNOTAVAIL,
    ] {
        for gso in [Switch::Auto, Switch::Off] {
            let mut pair = Pair::new(&UdpOptions {
                gso,
                ..UdpOptions::default()
            });
            pair.refuse(move |attempt| attempt.pinned.then_some(errno));
            let to = Endpoint {
                local: Some([127, 0, 0, 1].into()),
                ..pair.to_bob
            };

            let outcome = pair
                .alice
                .send_marked(&to, &payload(10), SIZE, Ecn::NotCapable);

            assert_eq!(outcome.accepted, 10, "{errno}");
            assert!(outcome.pin_lost && outcome.error.is_none());
            assert_eq!(
                pair.alice.gso.is_on(),
                gso == Switch::Auto,
                "GSO is not to blame"
            );
            assert_eq!(pair.receive(), batch(10));
        }
    }
}

#[test]
fn a_pin_survives_when_gso_was_the_cause() {
    let mut pair = Pair::new(&UdpOptions::default());
    pair.refuse(|attempt| (attempt.kind == Kind::Segmented).then_some(libc::EINVAL));
    let to = Endpoint {
        local: Some([127, 0, 0, 1].into()),
        ..pair.to_bob
    };

    let outcome = pair
        .alice
        .send_marked(&to, &payload(10), SIZE, Ecn::NotCapable);

    assert_eq!(outcome.accepted, 10);
    assert!(!outcome.pin_lost);
    assert!(!pair.alice.gso.is_on());
    assert!(pair.attempts().last().unwrap().pinned);
}

/// P-84: what follows a datagram that is too large still goes.
#[test]
fn p_84_what_follows_a_datagram_that_is_too_large_still_goes() {
    let mut pair = Pair::new(&UdpOptions {
        gso: Switch::Off,
        ..UdpOptions::default()
    });
    pair.refuse(|attempt| (attempt.bytes >= SIZE).then_some(libc::EMSGSIZE));

    let outcome = pair
        .alice
        .send_marked(&pair.to_bob, &[3; 4 * SIZE + 9], SIZE, Ecn::NotCapable);

    assert_eq!((outcome.accepted, outcome.handled), (1, 5));
    assert_eq!(outcome.error.unwrap().raw_os_error(), Some(libc::EMSGSIZE));
    assert_eq!(pair.receive(), [vec![3; 9]]);
}

#[test]
fn a_send_that_cannot_succeed_is_over_at_once_and_counted_by_cause() {
    type Counter = fn(&ports::DatagramCounters) -> u64;
    let unreachable: Counter = |counters: &ports::DatagramCounters| counters.send_unreachable;
    let refused: Counter = |counters: &ports::DatagramCounters| counters.send_refused;
    let cases: [(i32, Counter); 4] = [
        (libc::ENETUNREACH, unreachable),
        (libc::EHOSTUNREACH, unreachable),
        (libc::EPERM, refused),
        (libc::EACCES, refused),
    ];
    for (errno, counter) in cases {
        for gso in [Switch::Auto, Switch::Off] {
            let mut pair = Pair::new(&UdpOptions {
                gso,
                ..UdpOptions::default()
            });
            pair.refuse(move |_| Some(errno));

            let outcome = pair.send(200);

            assert_eq!((outcome.accepted, outcome.handled), (0, 200));
            assert_eq!(outcome.error.unwrap().raw_os_error(), Some(errno));
            assert_eq!(counter(&pair.alice.counters), 1);
            assert_eq!(pair.kinds().len(), 1);
        }
    }
}

#[test]
fn an_error_of_one_datagram_does_not_stop_the_others() {
    let mut pair = Pair::new(&UdpOptions {
        gso: Switch::Off,
        batch: Switch::Off,
        ..UdpOptions::default()
    });
    let mut calls = 0;
    pair.refuse(move |_| {
        calls += 1;
        (calls == 3).then_some(libc::ECONNREFUSED)
    });

    let outcome = pair.send(5);

    assert_eq!((outcome.accepted, outcome.handled), (4, 5));
    assert_eq!(
        outcome.error.unwrap().raw_os_error(),
        Some(libc::ECONNREFUSED)
    );
    assert_eq!(pair.receive().len(), 4);
    assert_eq!(pair.alice.counters.send_other, 1);
}

#[test]
fn a_kernel_without_the_batch_calls_gets_single_ones() {
    let mut pair = Pair::new(&UdpOptions {
        gso: Switch::Off,
        gro: Switch::Off,
        ..UdpOptions::default()
    });
    let missing = |attempt: &Attempt| (attempt.kind == Kind::Each).then_some(libc::ENOSYS);
    pair.refuse(missing);
    pair.bob.calls.refuse_receive = VecDeque::from([libc::ENOSYS]);

    assert_eq!(pair.send(5).accepted, 5);
    assert_eq!(pair.receive(), batch(5));

    let off = FeatureState::Off(OffReason::Unsupported {
        errno: libc::ENOSYS,
    });
    assert_eq!(pair.alice.state().batch, off);
    assert_eq!(pair.bob.state().batch, off);
    assert_eq!(
        pair.kinds(),
        [
            Kind::Each,
            Kind::Whole,
            Kind::Whole,
            Kind::Whole,
            Kind::Whole,
            Kind::Whole
        ]
    );
}

/// P-70, SEG-10, P-65: a cut receive is dropped and counted and the next is whole.
#[test]
fn seg_10_p_65_a_cut_receive_is_dropped_and_counted_and_the_next_is_whole() {
    for flag in [libc::MSG_TRUNC, libc::MSG_CTRUNC] {
        let mut pair = Pair::new(&UdpOptions {
            gso: Switch::Off,
            gro: Switch::Off,
            ..UdpOptions::default()
        });
        pair.bob.calls.flag_receives = VecDeque::from([0, flag, 0]);

        pair.send(3);

        let expected = batch(3);
        assert_eq!(pair.receive(), [expected[0].clone(), expected[2].clone()]);
        assert_eq!(pair.bob.counters.receive_truncated, 1);
        assert_eq!(pair.bob.counters.receive_datagrams, 2);
    }
}

/// FBK-08: an equal tail is sent singly where it is avoided.
#[test]
fn fbk_08_an_equal_tail_is_sent_singly_where_it_is_avoided() {
    let options = UdpOptions {
        equal_tail: EqualTail::Avoid,
        ..UdpOptions::default()
    };
    let mut pair = Pair::new(&options);

    pair.send(10);
    assert_eq!(pair.kinds(), [Kind::Each]);

    pair.log_clear();
    pair.alice
        .send_marked(&pair.to_bob, &[1; 9 * SIZE + 32], SIZE, Ecn::NotCapable);
    assert_eq!(pair.kinds(), [Kind::Segmented], "a shorter tail keeps GSO");
    assert_eq!(pair.receive().len(), 20);
}

/// FBK-08: equal tails are avoided on the kernels that mangle them.
#[test]
fn fbk_08_equal_tails_are_avoided_on_the_kernels_that_mangle_them() {
    let cases = [
        ("6.19.9", false),
        ("7.0.0", true),
        ("7.0.99", true),
        ("7.1.4", true),
        ("7.1.5", false),
        ("8.0.0", false),
    ];
    for (release, avoided) in cases {
        assert_eq!(
            !EqualTail::Auto.state(KernelVersion::parse(release)).is_on(),
            avoided,
            "{release}"
        );
    }
    assert!(EqualTail::Auto.state(None).is_on());
    assert!(
        EqualTail::Allow
            .state(KernelVersion::parse("7.0.0"))
            .is_on()
    );
    assert_eq!(
        EqualTail::Avoid.state(None),
        FeatureState::Off(OffReason::Switch)
    );
}

/// P-71, FBK-06: merging is not trusted before Linux 5.12.
#[test]
fn fbk_06_merging_is_not_trusted_before_linux_5_12() {
    for (release, reliable) in [
        ("5.4.250", false),
        ("5.11.22", false),
        ("5.12.0", true),
        ("6.18.0", true),
    ] {
        assert_eq!(
            gro_is_reliable(KernelVersion::parse(release)),
            reliable,
            "{release}"
        );
    }
    assert!(gro_is_reliable(None));
}

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
