//! Chance: unpredictable bytes and unbiased draws from a seed.

use core::fmt;

use chacha20::ChaCha12Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// A cryptographic generator; its sequence follows from seed and stream and from nothing else.
pub struct Random(ChaCha12Rng);

impl Random {
    /// Streams of one seed are independent of each other.
    #[must_use]
    pub fn new(seed: &[u8; 32], stream: u64) -> Self {
        let mut generator = ChaCha12Rng::from_seed(*seed);
        generator.set_stream(stream);
        Random(generator)
    }

    /// Overwrites all of `out`.
    pub fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }

    /// A number below `bound`, each as likely as the others; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let (mut high, mut low) = halves(self.0.next_u64(), bound);
        if low < bound {
            let unfair = bound.wrapping_neg() % bound;
            while low < unfair {
                (high, low) = halves(self.0.next_u64(), bound);
            }
        }
        high
    }

    /// A number from `low` to `high`, both included.
    pub fn draw(&mut self, low: u32, high: u32) -> u32 {
        if low >= high {
            return low;
        }
        let width = u64::from(high) - u64::from(low) + 1;
        low.saturating_add(u32::try_from(self.below(width)).unwrap_or(0))
    }

    /// Fills `out` with characters of `alphabet`, each as likely as the others (TAG-05).
    pub(crate) fn fill_from(&mut self, alphabet: &[u8], out: &mut [u8]) {
        let Ok(count) = u8::try_from(alphabet.len()) else {
            return;
        };
        let Some(fair) = 256_u16.checked_rem(u16::from(count)).map(|rest| 256 - rest) else {
            return;
        };
        let mut drawn = [0; 64];
        let mut next = drawn.len();
        for to in out {
            *to = loop {
                if next == drawn.len() {
                    self.0.fill_bytes(&mut drawn);
                    next = 0;
                }
                let byte = drawn.get(next).copied().unwrap_or(u8::MAX);
                next += 1;
                if u16::from(byte) < fair {
                    let place = usize::from(byte % count);
                    break alphabet.get(place).copied().unwrap_or_default();
                }
            };
        }
    }
}

/// The two halves of a product: the high one is a number below `bound`, the low one says whether it is a fair draw.
fn halves(bits: u64, bound: u64) -> (u64, u64) {
    let product = u128::from(bits) * u128::from(bound);
    let high = u64::try_from(product >> 64).unwrap_or(0);
    let low = u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0);
    (high, low)
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random([secret])")
    }
}
