//! One call with a segment size, its limits, and the way back when the kernel refuses.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use ports::{Ecn, FeatureState, Instant, OffReason};

use super::{Kind, Pair, SIZE, batch};
use crate::udp::option;
use crate::udp::{Switch, UdpOptions};

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
