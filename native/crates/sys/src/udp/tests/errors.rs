//! Full buffers, partial counts and refusals.

use ports::Ecn;

use super::{Pair, SIZE, batch, payload};
use crate::udp::{Switch, UdpOptions};

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
