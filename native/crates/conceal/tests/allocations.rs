//! Nothing is allocated once a profile was made.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use conceal::{HeaderKey, Junk, Profile, Random, Settings, Trailers, TypeRange};

#[test]
fn framing_finishing_decoys_and_opening_allocate_nothing() {
    let mut settings = Settings {
        junk: Junk {
            count: 3,
            len_min: 10,
            len_max: 20,
        },
        paddings: [15, 18, 20, 25],
        types: [10_u32, 20, 30, 40].map(|low| TypeRange::new(low, low + 5).unwrap()),
        header_key: HeaderKey::new(&[7; 32]),
        trailers: Trailers::On,
        ..Settings::default()
    };
    settings.signatures[0] = "<b 0x0102><r 4><rd 3><rc 3><t>".into();
    let profile = Profile::new(settings).unwrap();
    let mut random = Random::new(&[1; 32], 0);
    let mut out = vec![0; 65_507];
    let mut message = [0; 148];
    message[0] = 12;
    let mut batch = vec![0; 64 * 1_477];

    let counted = allocation_counter::measure(|| {
        for _ in 0..10 {
            profile.prelude(0, &mut random, &mut out, |_| {});
            let len = profile.frame(&message, 900, &mut random, &mut out).unwrap();
            assert!(profile.open(&mut out[..len], |_| false).is_some());
            profile.finish_transports(&mut batch, 1_477, &mut random);
            for datagram in batch.chunks_mut(1_477) {
                assert!(profile.open(datagram, |_| true).is_some());
            }
        }
    });

    assert_eq!(counted.count_total, 0);
}
