//! Values of the type field.

use core::fmt;

use crate::Random;

/// The numbers that mean one kind of message, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRange {
    low: u32,
    high: u32,
}

impl TypeRange {
    /// What plain WireGuard has.
    pub const PLAIN: [TypeRange; 4] = [
        TypeRange { low: 1, high: 1 },
        TypeRange { low: 2, high: 2 },
        TypeRange { low: 3, high: 3 },
        TypeRange { low: 4, high: 4 },
    ];

    /// `None` when `low` is above `high`.
    #[must_use]
    pub const fn new(low: u32, high: u32) -> Option<Self> {
        if low <= high {
            Some(TypeRange { low, high })
        } else {
            None
        }
    }

    /// The lowest number.
    #[must_use]
    pub const fn low(self) -> u32 {
        self.low
    }

    /// The highest number.
    #[must_use]
    pub const fn high(self) -> u32 {
        self.high
    }

    /// Whether a number is in it.
    #[must_use]
    pub const fn contains(self, value: u32) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether both have a number in common.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// One of its numbers, each as likely as the others (WIR-07).
    pub fn draw(self, random: &mut Random) -> u32 {
        random.draw(self.low, self.high)
    }
}

impl fmt::Display for TypeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{}-{}", self.low, self.high)
        }
    }
}
