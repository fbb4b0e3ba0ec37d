//! What a profile is made of, and what is wrong with it.

use core::fmt;

use crate::profile::{Cookies, Trailers};
use crate::protect::NONCE_LEN;
use crate::{DATAGRAM_MAX, HeaderKey, Kind, TagError, TypeRange};

/// Values of all keys; the default is plain WireGuard.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `jc`, `jmin`, `jmax`.
    pub junk: Junk,
    /// `s1` to `s4`, in the order of [`Kind::ALL`].
    pub paddings: [u16; 4],
    /// `h1` to `h4`.
    pub types: [TypeRange; 4],
    /// `i1` to `i5`; empty = none.
    pub signatures: [String; 5],
    /// `header_protection_key`.
    pub header_key: Option<HeaderKey>,
    /// `content_padding_addition`: least and most.
    pub content_padding: (u16, u16),
    /// `random_trailers`.
    pub trailers: Trailers,
    /// `disable_cookies`.
    pub cookies: Cookies,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            junk: Junk::default(),
            paddings: [0; 4],
            types: TypeRange::PLAIN,
            signatures: Default::default(),
            header_key: None,
            content_padding: (0, 0),
            trailers: Trailers::Off,
            cookies: Cookies::Given,
        }
    }
}

/// Datagrams without meaning in front of an initiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Junk {
    /// How many.
    pub count: u16,
    /// Bytes of the shortest; 0 = not set.
    pub len_min: u16,
    /// Bytes of the longest; 0 = not set.
    pub len_max: u16,
}

/// Why settings were refused: nothing of them is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// The key, as in the configuration protocol.
    pub key: &'static str,
    /// What is wrong with its value.
    pub problem: Problem,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Outside of what the key allows.
    OutOfRange {
        /// The least.
        min: usize,
        /// The most.
        max: usize,
        /// What it is.
        got: usize,
    },
    /// The least is above the most.
    Reversed {
        /// The least.
        low: u32,
        /// The most.
        high: u32,
    },
    /// Two kinds of messages would have a type in common.
    Overlaps {
        /// The other key.
        other: &'static str,
        /// Its range.
        range: TypeRange,
    },
    /// Header protection takes its nonce from the padding.
    TooShortToProtect {
        /// What it is.
        got: usize,
    },
    /// The tags of a signature packet.
    Tags(Vec<TagError>),
}

impl Settings {
    /// Checks everything but the signatures.
    pub(crate) fn check(&self) -> Result<(), ProfileError> {
        self.check_junk()?;
        for ((kind, key), padding) in Kind::ALL.into_iter().zip(PADDING_KEYS).zip(self.paddings) {
            let fail = |problem| Err(ProfileError { key, problem });
            let (got, max) = (usize::from(padding), DATAGRAM_MAX - kind.message_len());
            if got > max {
                return fail(Problem::OutOfRange { min: 0, max, got });
            }
            if self.header_key.is_some() && got < NONCE_LEN {
                return fail(Problem::TooShortToProtect { got });
            }
        }
        self.check_types()?;
        let (low, high) = self.content_padding;
        if low > high {
            return Err(ProfileError {
                key: "content_padding_addition",
                problem: Problem::Reversed {
                    low: low.into(),
                    high: high.into(),
                },
            });
        }
        Ok(())
    }

    fn check_junk(&self) -> Result<(), ProfileError> {
        let Junk {
            count,
            len_min,
            len_max,
        } = self.junk;
        let in_range = |key, (min, max), got: u16| {
            let got = usize::from(got);
            if (min..=max).contains(&got) {
                return Ok(());
            }
            let problem = Problem::OutOfRange { min, max, got };
            Err(ProfileError { key, problem })
        };
        in_range("jc", (0, JUNK_MAX), count)?;
        let least = usize::from(count > 0 || len_min > 0 || len_max > 0);
        in_range("jmin", (least, DATAGRAM_MAX), len_min)?;
        in_range("jmax", (least, DATAGRAM_MAX), len_max)?;
        if len_min > len_max {
            return Err(ProfileError {
                key: "jmin",
                problem: Problem::Reversed {
                    low: len_min.into(),
                    high: len_max.into(),
                },
            });
        }
        Ok(())
    }

    fn check_types(&self) -> Result<(), ProfileError> {
        let all = TYPE_KEYS.into_iter().zip(self.types);
        for (place, (key, range)) in all.clone().enumerate() {
            if let Some((other, range)) = all
                .clone()
                .skip(place + 1)
                .find(|(_, other)| range.overlaps(*other))
            {
                let problem = Problem::Overlaps { other, range };
                return Err(ProfileError { key, problem });
            }
        }
        Ok(())
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key;
        match &self.problem {
            Problem::OutOfRange { min, max, got } => {
                write!(f, "{key} must be {min} to {max}, not {got}")
            }
            Problem::Reversed { low, high } => {
                write!(f, "{key}: the least, {low}, is above the most, {high}")
            }
            Problem::Overlaps { other, range } => write!(
                f,
                "{key} has numbers in common with {other} ({range}); the four ranges must be disjoint"
            ),
            Problem::TooShortToProtect { got } => write!(
                f,
                "{key} must be ≥ {NONCE_LEN} with header protection, not {got}"
            ),
            Problem::Tags(errors) => {
                write!(f, "{key}: ")?;
                errors.iter().enumerate().try_for_each(|(place, error)| {
                    let between = if place == 0 { "" } else { "; " };
                    write!(f, "{between}{error}")
                })
            }
        }
    }
}

impl core::error::Error for ProfileError {}

const PADDING_KEYS: [&str; 4] = ["s1", "s2", "s3", "s4"];
const TYPE_KEYS: [&str; 4] = ["h1", "h2", "h3", "h4"];
const JUNK_MAX: usize = 128;
