//! Datagrams that are too large for their path.

use ports::{Ecn, Endpoint};

use super::{Kind, Pair, SIZE, batch};
use crate::netlink::add_address;
use crate::testing::in_namespace;
use crate::udp::{Switch, UdpOptions};
use crate::{Tun, TunOffload, TunOptions};

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
