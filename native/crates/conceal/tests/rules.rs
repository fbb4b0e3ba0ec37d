//! What a profile may say.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use conceal::{HeaderKey, Junk, Kind, Problem, Profile, Random, Settings, TypeRange};

fn problem(settings: Settings) -> (&'static str, Problem, String) {
    let error = Profile::new(settings).unwrap_err();
    (error.key, error.problem.clone(), error.to_string())
}

fn range(low: u32, high: u32) -> TypeRange {
    TypeRange::new(low, high).unwrap()
}

fn junk(count: u16, len_min: u16, len_max: u16) -> Settings {
    Settings {
        junk: Junk {
            count,
            len_min,
            len_max,
        },
        ..Settings::default()
    }
}

#[test]
fn str_01_the_default_is_plain_wireguard_without_any_framing() {
    // STR-01
    let profile = Profile::new(Settings::default()).unwrap();
    for (kind, value) in Kind::ALL.into_iter().zip(1..) {
        assert_eq!(profile.padding(kind), 0);
        assert_eq!(profile.types(kind), range(value, value));
    }
}

#[test]
fn cfg_04_b_10_junk_needs_both_lengths_in_order() {
    // CFG-04, B-10
    assert_eq!(problem(junk(3, 0, 0)).0, "jmin");
    assert_eq!(problem(junk(3, 10, 0)).0, "jmax");
    assert_eq!(problem(junk(0, 0, 5)).0, "jmin");
    assert_eq!(
        problem(junk(3, 50, 40)).1,
        Problem::Reversed { low: 50, high: 40 }
    );
    assert_eq!(problem(junk(129, 1, 1)).2, "jc must be 0 to 128, not 129");
    assert_eq!(
        problem(junk(1, 1, 65_508)).2,
        "jmax must be 1 to 65507, not 65508"
    );
    assert!(Profile::new(junk(128, 1, 65_507)).is_ok());
    assert!(Profile::new(junk(0, 0, 0)).is_ok());
}

#[test]
fn cfg_06_a_padding_leaves_room_for_its_message() {
    // CFG-06
    for (place, most) in [65_359, 65_415, 65_443, 65_475].into_iter().enumerate() {
        let with = |value: u16| {
            let mut settings = Settings::default();
            if let Some(padding) = settings.paddings.get_mut(place) {
                *padding = value;
            }
            Profile::new(settings)
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(with(most), Ok(()));
        assert_eq!(
            with(most + 1),
            Err(format!(
                "s{} must be 0 to {most}, not {}",
                place + 1,
                most + 1
            ))
        );
    }
}

#[test]
fn cfg_07_padded_sizes_may_be_equal() {
    // CFG-07
    let settings = Settings {
        paddings: [15, 71, 0, 0],
        ..Settings::default()
    };
    assert!(Profile::new(settings).is_ok());
}

#[test]
fn cfg_08_b_32_header_protection_needs_twelve_bytes_of_every_padding() {
    // CFG-08, B-32
    for place in 0..4 {
        let mut settings = Settings {
            paddings: [12; 4],
            header_key: HeaderKey::new(&[1; 32]),
            ..Settings::default()
        };
        if let Some(padding) = settings.paddings.get_mut(place) {
            *padding = 11;
        }
        assert_eq!(
            problem(settings).2,
            format!("s{} must be ≥ 12 with header protection, not 11", place + 1)
        );
    }
    assert!(HeaderKey::new(&[0; 32]).is_none(), "HDP-01: zeros mean off");
}

#[test]
fn cfg_10_b_17_b_19_types_are_disjoint_defaults_included() {
    // CFG-10, B-17, B-19
    let with = |types: [TypeRange; 4]| {
        Profile::new(Settings {
            types,
            ..Settings::default()
        })
        .map(|_| ())
        .map_err(|error| error.to_string())
    };
    let [one, two, three, four] = TypeRange::PLAIN;
    assert_eq!(
        with([two, two, three, four]),
        Err("h1 has numbers in common with h2 (2); the four ranges must be disjoint".to_owned())
    );
    assert_eq!(with([two, one, three, four]), Ok(()));
    assert!(
        with([one, range(10, 20), range(20, 30), four]).is_err(),
        "touching"
    );
    assert!(
        with([one, range(10, 20), range(12, 13), four]).is_err(),
        "inside"
    );
    assert_eq!(
        with([range(0, 0), range(5, 9), range(10, 20), four]),
        Ok(()),
        "0 is legal"
    );
}

#[test]
fn b_18_the_full_range_overlaps_but_can_be_drawn_from() {
    // B-18, WIR-07: both halves of the range come up, and no draw panics.
    let full = range(0, u32::MAX);
    let mut random = Random::new(&[8; 32], 0);
    let high = (0..10_000)
        .filter(|_| full.draw(&mut random) > u32::MAX / 2)
        .count();
    assert!((4_000..6_000).contains(&high), "{high}");
    let settings = Settings {
        types: [full, range(2, 2), range(3, 3), range(4, 4)],
        ..Settings::default()
    };
    assert_eq!(problem(settings).0, "h1");
}

#[test]
fn wir_07_draws_are_uniform_over_the_whole_range() {
    // WIR-07: each of 7 values about 10,000 times; 5 % off would be more than 5 standard deviations.
    let narrow = range(1_000, 1_006);
    let mut random = Random::new(&[2; 32], 0);
    let mut counts = [0_u32; 7];
    for _ in 0..70_000 {
        let at = usize::try_from(narrow.draw(&mut random) - 1_000).unwrap();
        if let Some(count) = counts.get_mut(at) {
            *count += 1;
        }
    }
    assert!(
        counts.iter().all(|count| count.abs_diff(10_000) < 500),
        "{counts:?}"
    );
    assert_eq!(random.below(0), 0);
    assert_eq!(random.below(1), 0);
}

#[test]
fn every_range_keeps_its_low_end_below_its_high_end() {
    assert_eq!(TypeRange::new(2, 1), None);
    let settings = Settings {
        content_padding: (9, 5),
        ..Settings::default()
    };
    assert_eq!(
        problem(settings).2,
        "content_padding_addition: the least, 9, is above the most, 5"
    );
}

#[test]
fn a_signature_that_does_not_parse_is_refused_by_its_key() {
    let mut settings = Settings::default();
    settings.signatures[2] = "<c><r -1>".into();
    assert_eq!(
        problem(settings).2,
        "i3: <c> belongs to other versions and is not supported; <r -1>: the argument must be 0 to 65507"
    );
}
