//! The tag grammar of signature packets.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests of fixed bytes"
)]

use conceal::{DATAGRAM_MAX, Random, TagError, Template};

fn built(text: &str) -> Vec<u8> {
    let template = Template::parse(text).unwrap();
    let mut out = vec![0xee; DATAGRAM_MAX];
    let packet = template.write(0x0102_0304, &mut Random::new(&[5; 32], 0), &mut out);
    packet.unwrap().to_vec()
}

fn errors(text: &str) -> Vec<TagError> {
    Template::parse(text).unwrap_err()
}

#[test]
fn each_tag_yields_its_bytes() {
    for (text, bytes) in [
        ("<b 0xdeadBEEF>", &[0xde, 0xad, 0xbe, 0xef][..]),
        ("<b 00ff>", &[0, 0xff]),
        ("<t>", &[1, 2, 3, 4]),
        ("<t ignored>", &[1, 2, 3, 4]),
        ("<d><ds>", &[]),
        ("<dz 3>", &[0, 0, 0]),
        ("before<b 01>between<b\t 0x02  more words>behind", &[1, 2]),
        ("< b 0x01>", &[1]),
    ] {
        assert_eq!(built(text), bytes, "{text}");
    }
    assert_eq!(built("<r 1000>").len(), 1_000);
    assert!(built("<rd 1000>").iter().all(u8::is_ascii_digit));
}

#[test]
fn b_16_rc_writes_letters_only() {
    // B-16
    let template = Template::parse("<rc 100>").unwrap();
    let mut random = Random::new(&[9; 32], 0);
    let mut out = [0; 100];
    for _ in 0..1_000 {
        let packet = template.write(0, &mut random, &mut out).unwrap();
        assert!(packet.iter().all(u8::is_ascii_alphabetic));
    }
}

#[test]
fn tag_01_all_errors_of_a_value_are_reported_together() {
    // TAG-01
    assert_eq!(
        errors("<x 1><><r><rd two><b 0x123><b>and <rc 4"),
        [
            TagError::Unknown { tag: "x".into() },
            TagError::Empty,
            TagError::NoArgument { tag: "r".into() },
            TagError::BadNumber {
                tag: "rd".into(),
                text: "two".into()
            },
            TagError::BadHex {
                text: "0x123".into()
            },
            TagError::NoArgument { tag: "b".into() },
            TagError::Unclosed { at: 34 },
        ]
    );
}

#[test]
fn an_upper_case_prefix_and_empty_or_odd_hex_are_refused() {
    for text in ["<b 0X01>", "<b 0x>", "<b 0x1>", "<b 0xgg>", "<b +1>"] {
        assert!(
            matches!(errors(text)[..], [TagError::BadHex { .. }]),
            "{text}"
        );
    }
}

#[test]
fn tag_02_cfg_12_b_11_b_12_counts_are_bounded_when_set() {
    // TAG-02, CFG-12, B-11, B-12
    for text in [
        "<r -1>",
        "<rc -5>",
        "<rd -5>",
        "<dz -1>",
        "<r +1>",
        "<r 0x10>",
        "<r 65508>",
        "<r 100000>",
        "<r 99999999999999999999999>",
    ] {
        assert!(
            matches!(errors(text)[..], [TagError::BadNumber { .. }]),
            "{text}"
        );
    }
    assert_eq!(built("<r 65507>").len(), DATAGRAM_MAX);
    assert_eq!(
        errors("<r 65507><b 00>"),
        [TagError::TooLong { len: 65_508 }]
    );
}

#[test]
fn tag_03_b_14_tags_of_other_versions_are_refused_as_such() {
    // TAG-03, B-14
    let [error] = &errors("<b 0x01><c>")[..] else {
        panic!("one error")
    };
    assert_eq!(
        error.to_string(),
        "<c> belongs to other versions and is not supported"
    );
    assert!(matches!(
        errors("<wt 100>")[..],
        [TagError::OtherVersion { .. }]
    ));
}

#[test]
fn tag_04_values_without_output_are_empty() {
    // TAG-04
    for text in ["", "text", "<r 0>", "<d>", "<dz 0>", "> text"] {
        assert!(Template::parse(text).unwrap().is_empty(), "{text}");
    }
}

#[test]
fn tag_05_digits_and_letters_are_equally_likely() {
    // TAG-05: 100,000 draws; a share that is off by 8 % of itself would be 8 standard deviations away.
    for (text, alphabet) in [("<rd 50000>", 10_usize), ("<rc 50000>", 52)] {
        let mut counts = [0_usize; 256];
        let template = Template::parse(text).unwrap();
        let mut random = Random::new(&[3; 32], 1);
        let mut out = vec![0; 50_000];
        for _ in 0..20 {
            for byte in template.write(0, &mut random, &mut out).unwrap() {
                counts[usize::from(*byte)] += 1;
            }
        }
        let expected = 1_000_000 / alphabet;
        let seen: Vec<usize> = counts.into_iter().filter(|count| *count > 0).collect();
        assert_eq!(seen.len(), alphabet);
        for count in seen {
            assert!(
                count.abs_diff(expected) < expected / 12,
                "{count} where {expected} are expected"
            );
        }
    }
}

#[test]
fn tag_06_templates_are_written_in_the_portable_form() {
    // TAG-06
    for (text, portable) in [
        ("x<b  DEAD><d><r   7>", "<b 0xdead><r 7>"),
        ("<rd 3><rc 3><t 9>", "<rd 3><rc 3><t>"),
        ("<dz 2><ds>", "<b 0x0000>"),
    ] {
        let template = Template::parse(text).unwrap();
        assert_eq!(template.to_string(), portable);
        assert_eq!(Template::parse(portable), Ok(template));
    }
}
