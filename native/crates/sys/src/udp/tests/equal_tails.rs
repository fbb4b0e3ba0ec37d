//! Last segments of full size (FBK-08).

use ports::{Ecn, FeatureState, OffReason};

use super::{Kind, Pair, SIZE};
use crate::KernelVersion;
use crate::udp::{EqualTail, UdpOptions};

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
