//! Pins and marks that the kernel refuses.

use ports::{Ecn, Endpoint};

use super::{Kind, Pair, SIZE, batch, payload};
use crate::udp::{Switch, UdpOptions};

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
