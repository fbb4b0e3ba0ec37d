//! Receiving with what an old kernel offers, and cut messages.

use std::collections::VecDeque;

use ports::{FeatureState, OffReason};

use super::{Attempt, Kind, Pair, batch};
use crate::KernelVersion;
use crate::udp::bind::gro_is_reliable;
use crate::udp::{Switch, UdpOptions};

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
