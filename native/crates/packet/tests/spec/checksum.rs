use packet::checksum::{add, copy_add, finish, fold, pseudo_header_v4, pseudo_header_v6, replace};
use proptest::prelude::*;

use crate::reference_sum;

/// Bytes without a pattern.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}

/// CSM-09: every length 0 … 2,048 at every alignment; the reference sum of a prefix grows byte by byte.
#[test]
fn csm_09_every_length_and_alignment_equals_the_slow_sum() {
    let bytes = noise(2048 + 64);
    let mut target = vec![0; 2048];
    for alignment in 0..64 {
        let bytes = &bytes[alignment..alignment + 2048];
        let mut slow = 0_u32;
        for len in 0..=2048 {
            let (part, expected) = (&bytes[..len], u16::try_from(slow).unwrap());
            // Both passes run the same lengths; each alignment tries one of them, so that the test stays short.
            if (len + alignment) % 2 == 0 {
                assert_eq!(
                    fold(add(part, 0)),
                    expected,
                    "length {len}, alignment {alignment}"
                );
            } else {
                assert_eq!(
                    fold(copy_add(part, &mut target, 0)),
                    expected,
                    "length {len}, alignment {alignment}"
                );
                assert!(target[..len] == *part);
            }
            if let Some(byte) = bytes.get(len) {
                slow += if len % 2 == 0 {
                    u32::from(*byte) << 8
                } else {
                    u32::from(*byte)
                };
                slow = (slow & 0xffff) + (slow >> 16);
            }
        }
    }
}

/// CSM-09: a million random packets.
#[test]
fn csm_09_a_million_random_packets_equal_the_slow_sum() {
    let bytes = noise(4096);
    let mut state = 1_u32;
    for _ in 0..1_000_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let start = (state >> 8) as usize % 2048;
        let len = (state >> 20) as usize % 100;
        let packet = &bytes[start..start + len];
        assert_eq!(fold(add(packet, 0)), reference_sum(packet));
    }
}

/// CSM-03, CSM-09: sums that carry everywhere, and the odd byte.
#[test]
fn csm_09_all_ones_carry_through_every_lane() {
    for len in [0, 1, 2, 3, 63, 64, 65, 1500, 65_535, 70_001] {
        let bytes = vec![0xff; len];
        assert_eq!(fold(add(&bytes, 0)), reference_sum(&bytes), "{len}");
    }
    assert_eq!(fold(add(&[0x12], 0)), 0x1200);
}

/// Parts of even length may be summed one after the other.
#[test]
fn sums_of_parts_add_up() {
    let bytes = noise(999);
    for cut in (0..999).step_by(2) {
        let (front, back) = bytes.split_at(cut);
        assert_eq!(fold(add(back, add(front, 0))), reference_sum(&bytes));
    }
}

#[test]
fn pseudo_headers_equal_their_bytes() {
    for len in [0_usize, 8, 1400, 65_535, 70_000] {
        let long = u32::try_from(len).unwrap().to_be_bytes();
        let four = [&[10, 9, 0, 2, 10, 9, 0, 1, 0, 6][..], &long].concat();
        let six = [&[0xfd; 16][..], &[0x77; 16], &long, &[0, 0, 0, 17]].concat();
        assert_eq!(
            fold(pseudo_header_v4([10, 9, 0, 2], [10, 9, 0, 1], 6, len)),
            reference_sum(&four)
        );
        assert_eq!(
            fold(pseudo_header_v6([0xfd; 16], [0x77; 16], 17, len)),
            reference_sum(&six)
        );
    }
}

proptest! {
    /// A changed word gives the checksum that summing anew gives, up to the two forms of zero.
    #[test]
    fn replacing_a_word_equals_summing_again(mut bytes in prop::collection::vec(any::<u8>(), 2..200), at in 0_usize..99, new: u16) {
        let at = (at * 2).min(bytes.len() / 2 * 2 - 2);
        let old = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let before = finish(add(&bytes, 0));
        bytes[at..at + 2].copy_from_slice(&new.to_be_bytes());
        let after = finish(add(&bytes, 0));
        let replaced = replace(before, old, new);
        prop_assert!(replaced == after || (replaced.wrapping_add(1) <= 1 && after.wrapping_add(1) <= 1));
    }

    /// A target shorter than the source takes what fits, and only that is summed.
    #[test]
    fn copying_into_a_short_target_sums_what_was_copied(bytes in prop::collection::vec(any::<u8>(), 0..700), room in 0_usize..700) {
        let mut target = vec![0; room];
        let sum = copy_add(&bytes, &mut target, 7);
        let common = room.min(bytes.len());
        prop_assert_eq!(&target[..common], &bytes[..common]);
        prop_assert_eq!(sum, add(&bytes[..common], 7));
    }
}
