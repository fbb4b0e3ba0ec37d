//! The ones'-complement checksum of the Internet protocols.
//!
//! A *sum* is a `u64` that holds 16-bit big-endian words added up, not yet folded. Sums of parts may be added as long as
//! every part but the last has an even number of bytes.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, u8x32, u16x16, u32x8};

/// Adds `bytes` to `sum`; an odd last byte counts as the high half of a word.
#[inline]
#[must_use]
pub fn add(bytes: &[u8], sum: u64) -> u64 {
    // Headers take the short way, which shrinks to a few additions where the length is a constant.
    let native = if bytes.len() < BLOCK_LEN {
        tail_sum(bytes)
    } else {
        long_sum(bytes)
    };
    sum + u64::from(fold(native).to_be())
}

/// Copies `source` to the start of `target` and adds it to `sum` in the same pass.
///
/// Copies and adds nothing but the common length if `target` is shorter.
#[must_use]
pub fn copy_add(source: &[u8], target: &mut [u8], sum: u64) -> u64 {
    let len = source.len().min(target.len());
    let (Some(source), Some(target)) = (source.get(..len), target.get_mut(..len)) else {
        return sum;
    };
    let native = source
        .chunks(STRETCH_LEN)
        .zip(target.chunks_mut(STRETCH_LEN))
        .fold(0, |sum, (from, to)| {
            add_with_carry(
                sum,
                dispatch!(Level::new(), simd => copy_stretch(simd, from, to)),
            )
        });
    sum + u64::from(fold(native).to_be())
}

/// Folds a sum to 16 bits; not inverted, so it is what a seed looks like.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "four folds leave at most 16 bits"
)]
pub const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

/// Folds and inverts a sum: the value of a checksum field, or 0 when a packet that includes its checksum is valid.
#[must_use]
pub const fn finish(sum: u64) -> u16 {
    !fold(sum)
}

/// Sum of the IPv4 pseudo-header.
#[must_use]
pub fn pseudo_header_v4(source: [u8; 4], destination: [u8; 4], protocol: u8, l4_len: usize) -> u64 {
    let words = |[a, b, c, d]: [u8; 4]| {
        u64::from(u16::from_be_bytes([a, b])) + u64::from(u16::from_be_bytes([c, d]))
    };
    words(source) + words(destination) + u64::from(protocol) + length_words(l4_len)
}

/// Sum of the IPv6 pseudo-header.
#[must_use]
pub fn pseudo_header_v6(
    source: [u8; 16],
    destination: [u8; 16],
    protocol: u8,
    l4_len: usize,
) -> u64 {
    add(&destination, add(&source, 0)) + u64::from(protocol) + length_words(l4_len)
}

/// The checksum field after one 16-bit word under it changed from `old` to `new` (RFC 1624).
#[must_use]
pub const fn replace(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(!checksum as u64 + !old as u64 + new as u64)
}

const fn length_words(len: usize) -> u64 {
    let len = len as u64;
    (len >> 16) + (len & 0xffff)
}

fn long_sum(bytes: &[u8]) -> u64 {
    bytes.chunks(STRETCH_LEN).fold(0, |sum, stretch| {
        add_with_carry(
            sum,
            dispatch!(Level::new(), simd => sum_stretch(simd, stretch)),
        )
    })
}

/// Sum over words in the machine's byte order; the order of the two bytes is put right after folding.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it has to be compiled with the vector features of its caller"
)]
fn sum_stretch<S: Simd>(simd: S, bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<BLOCK_LEN>();
    let mut lanes = [u32x8::splat(simd, 0); 2];
    for block in blocks {
        add_block(simd, &mut lanes, block);
    }
    add_with_carry(lanes_sum(lanes), tail_sum(rest))
}

/// As [`sum_stretch`], and copies; both slices have the same length.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it has to be compiled with the vector features of its caller"
)]
fn copy_stretch<S: Simd>(simd: S, source: &[u8], target: &mut [u8]) -> u64 {
    let (blocks, rest) = source.as_chunks::<BLOCK_LEN>();
    let (to_blocks, to_rest) = target.as_chunks_mut::<BLOCK_LEN>();
    let mut lanes = [u32x8::splat(simd, 0); 2];
    for (to, block) in to_blocks.iter_mut().zip(blocks) {
        add_block(simd, &mut lanes, block);
        *to = *block;
    }
    to_rest.copy_from_slice(rest);
    add_with_carry(lanes_sum(lanes), tail_sum(rest))
}

/// Adds pairs of 16-bit words to lanes of 32 bits.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it has to be compiled with the vector features of its caller"
)]
fn add_block<S: Simd>(simd: S, lanes: &mut [u32x8<S>; 2], block: &[u8; BLOCK_LEN]) {
    let (halves, _) = block.as_chunks::<{ BLOCK_LEN / 2 }>();
    for (lane, half) in lanes.iter_mut().zip(halves) {
        let words = u16x16::from_bytes(u8x32::load_array(simd, *half));
        *lane += simd.pairwise_widening_add_u16x16(words);
    }
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it has to be compiled with the vector features of its caller"
)]
fn lanes_sum<S: Simd>([first, second]: [u32x8<S>; 2]) -> u64 {
    let (first, second): ([u32; 8], [u32; 8]) = (first.into(), second.into());
    first
        .iter()
        .chain(&second)
        .map(|lane| u64::from(*lane))
        .sum()
}

/// Sum of fewer bytes than a block.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a call costs more than the few additions"
)]
fn tail_sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = words.iter().fold(0, |sum, word| {
        add_with_carry(sum, u64::from_ne_bytes(*word))
    });
    let (words, rest) = rest.as_chunks::<4>();
    for word in words {
        sum = add_with_carry(sum, u32::from_ne_bytes(*word).into());
    }
    let (words, rest) = rest.as_chunks::<2>();
    for word in words {
        sum = add_with_carry(sum, u16::from_ne_bytes(*word).into());
    }
    match rest {
        [last] => add_with_carry(sum, u16::from_ne_bytes([*last, 0]).into()),
        _ => sum,
    }
}

const fn add_with_carry(sum: u64, word: u64) -> u64 {
    let (sum, carry) = sum.overflowing_add(word);
    sum + carry as u64
}

/// Two vectors of 32 bytes.
const BLOCK_LEN: usize = 64;
/// Half of what lanes of 32 bits can take without overflow.
const STRETCH_LEN: usize = 1 << 20;
