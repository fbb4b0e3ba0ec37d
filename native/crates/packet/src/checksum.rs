//! The ones'-complement checksum of the Internet protocols.
//!
//! A *sum* is a `u64` that holds 16-bit big-endian words added up, not yet folded. Sums of parts may be added as long as
//! every part but the last has an even number of bytes.

use fearless_simd::{Level, Simd};

/// Adds `bytes` to `sum`; an odd last byte counts as the high half of a word.
#[must_use]
pub fn add(bytes: &[u8], sum: u64) -> u64 {
    let native = match vector_level(bytes.len()) {
        Some(avx2) => avx2.vectorize(
            #[inline(always)]
            || blocks_sum(bytes),
        ),
        None => blocks_sum(bytes),
    };
    sum + u64::from(fold(native).to_be())
}

/// Copies `source` to the start of `target` and adds it to `sum` in the same pass.
///
/// Copies and adds nothing but the common length if `target` is shorter.
#[must_use]
pub fn copy_add(source: &[u8], target: &mut [u8], sum: u64) -> u64 {
    let native = match vector_level(source.len()) {
        Some(avx2) => avx2.vectorize(
            #[inline(always)]
            || blocks_copy_sum(source, target),
        ),
        None => blocks_copy_sum(source, target),
    };
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

/// The widest vectors worth using for `len` bytes, if the machine has them beyond what the build assumes.
#[cfg(target_arch = "x86_64")]
fn vector_level(len: usize) -> Option<impl Simd> {
    if len < VECTOR_LEN_MIN {
        None
    } else {
        Level::new().as_avx2()
    }
}

/// Other machines have no wider vectors than the build assumes.
#[cfg(not(target_arch = "x86_64"))]
fn vector_level(_: usize) -> Option<impl Simd> {
    None::<fearless_simd::Fallback>
}

/// Sum over words in the machine's byte order; the order of the two bytes is put right after folding.
///
/// Lanes of 32 bits are added to lanes of 64, which cannot overflow and which compilers turn into vector code.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it has to be compiled with the vector features of its caller"
)]
fn blocks_sum(bytes: &[u8]) -> u64 {
    if bytes.len() < BLOCK_LEN {
        return tail_sum(bytes);
    }
    let (blocks, rest) = bytes.as_chunks::<BLOCK_LEN>();
    let mut lanes = [0_u64; LANES];
    for block in blocks {
        add_block(&mut lanes, block);
    }
    add_with_carry(lanes.iter().sum(), tail_sum(rest))
}

/// As [`blocks_sum`], and copies.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it has to be compiled with the vector features of its caller"
)]
fn blocks_copy_sum(source: &[u8], target: &mut [u8]) -> u64 {
    let len = source.len().min(target.len());
    let (Some(source), Some(target)) = (source.get(..len), target.get_mut(..len)) else {
        return 0;
    };
    let (blocks, rest) = source.as_chunks::<BLOCK_LEN>();
    let (to_blocks, to_rest) = target.as_chunks_mut::<BLOCK_LEN>();
    let mut lanes = [0_u64; LANES];
    for (to, block) in to_blocks.iter_mut().zip(blocks) {
        *to = *block;
        add_block(&mut lanes, block);
    }
    to_rest.copy_from_slice(rest);
    add_with_carry(lanes.iter().sum(), tail_sum(rest))
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it has to be compiled with the vector features of its caller"
)]
fn add_block(lanes: &mut [u64; LANES], block: &[u8; BLOCK_LEN]) {
    let (words, _) = block.as_chunks::<4>();
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane += u64::from(u32::from_ne_bytes(*word));
    }
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

const LANES: usize = 16;
const BLOCK_LEN: usize = 4 * LANES;
/// Below this, asking for the machine's features costs more than wider vectors bring.
#[cfg(target_arch = "x86_64")]
const VECTOR_LEN_MIN: usize = 256;
