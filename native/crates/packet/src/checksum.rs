//! The ones'-complement checksum of the Internet protocols.
//!
//! A *sum* is a `u64` that holds 16-bit big-endian words added up, not yet folded. Sums of parts may be added as long as
//! every part but the last has an even number of bytes.

/// Adds `bytes` to `sum`; an odd last byte counts as the high half of a word.
#[must_use]
pub fn add(bytes: &[u8], sum: u64) -> u64 {
    sum + u64::from(fold_native(native_sum(bytes)).to_be())
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
    target.copy_from_slice(source);
    add(source, sum)
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

/// Sum over words in the machine's byte order; the order of the two bytes is put right after folding.
fn native_sum(bytes: &[u8]) -> u64 {
    let (lanes, rest) = bytes.as_chunks::<8>();
    let mut sum = 0_u64;
    for lane in lanes {
        sum = add_with_carry(sum, u64::from_ne_bytes(*lane));
    }
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    add_with_carry(sum, u64::from_ne_bytes(last))
}

const fn add_with_carry(sum: u64, lane: u64) -> u64 {
    let (sum, carry) = sum.overflowing_add(lane);
    sum + carry as u64
}

const fn fold_native(sum: u64) -> u16 {
    fold(sum)
}
