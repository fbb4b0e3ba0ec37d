//! The tag grammar of signature packets: text with `<…>` in it says which bytes a packet is made of.

use core::fmt;

use crate::{DATAGRAM_MAX, Random};

/// A signature packet, built anew each time it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
    len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Bytes(Vec<u8>),
    Random(usize),
    Digits(usize),
    Letters(usize),
    UnixSeconds,
}

impl Template {
    /// Reads a value. Text outside of tags is ignored; a value without any tag is an empty template.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Vec<TagError>> {
        let (mut template, mut errors) = (Template::default(), Vec::new());
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once('<') {
            let Some((content, next)) = behind.split_once('>') else {
                errors.push(TagError::Unclosed {
                    at: text.len() - behind.len() - 1,
                });
                break;
            };
            match Part::parse(content) {
                Ok(part) => template.push(part),
                Err(error) => errors.push(error),
            }
            rest = next;
        }
        if template.len > DATAGRAM_MAX {
            errors.push(TagError::TooLong { len: template.len });
        }
        if errors.is_empty() {
            Ok(template)
        } else {
            Err(errors)
        }
    }

    fn push(&mut self, part: Option<Part>) {
        if let Some(part) = part {
            self.len = self.len.saturating_add(part.len());
            self.parts.push(part);
        }
    }

    /// Whether nothing is to be sent (TAG-04).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of every packet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Builds a packet at the start of `out`. `None` when `out` is shorter than [`Template::len`].
    pub fn write<'a>(
        &self,
        unix_seconds: u32,
        random: &mut Random,
        out: &'a mut [u8],
    ) -> Option<&'a [u8]> {
        let packet = out.get_mut(..self.len)?;
        let mut rest = &mut *packet;
        for part in &self.parts {
            let (here, behind) = rest.split_at_mut_checked(part.len())?;
            match part {
                Part::Bytes(bytes) => here.copy_from_slice(bytes),
                Part::Random(_) => random.fill(here),
                Part::Digits(_) => random.fill_from(b"0123456789", here),
                Part::Letters(_) => random.fill_from(LETTERS, here),
                Part::UnixSeconds => here.copy_from_slice(&unix_seconds.to_be_bytes()),
            }
            rest = behind;
        }
        Some(packet)
    }
}

/// The form that every implementation reads (TAG-06).
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Bytes(bytes) => {
                f.write_str("<b 0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(">")
            }
            Part::Random(len) => write!(f, "<r {len}>"),
            Part::Digits(len) => write!(f, "<rd {len}>"),
            Part::Letters(len) => write!(f, "<rc {len}>"),
            Part::UnixSeconds => f.write_str("<t>"),
        })
    }
}

impl Part {
    /// Reads what stands between the brackets; `None` for what yields no bytes.
    fn parse(content: &str) -> Result<Option<Self>, TagError> {
        let mut words = content.split_ascii_whitespace();
        let Some(tag) = words.next() else {
            return Err(TagError::Empty);
        };
        let argument = words.next();
        let number = || number(tag, argument);
        let part = match tag {
            "b" => Part::Bytes(hex(argument)?),
            "r" => Part::Random(number()?),
            "rd" => Part::Digits(number()?),
            "rc" => Part::Letters(number()?),
            "t" => Part::UnixSeconds,
            // The data of a signature packet is empty, and so is its text; its length is a number of that many zeros.
            "d" | "ds" => return Ok(None),
            "dz" => Part::Bytes(vec![0; number()?]),
            "c" | "wt" => return Err(TagError::OtherVersion { tag: tag.into() }),
            _ => return Err(TagError::Unknown { tag: tag.into() }),
        };
        Ok(Some(part).filter(|part| part.len() > 0))
    }

    fn len(&self) -> usize {
        match self {
            Part::Bytes(bytes) => bytes.len(),
            Part::Random(len) | Part::Digits(len) | Part::Letters(len) => *len,
            Part::UnixSeconds => 4,
        }
    }
}

fn number(tag: &str, argument: Option<&str>) -> Result<usize, TagError> {
    let Some(text) = argument else {
        return Err(TagError::NoArgument { tag: tag.into() });
    };
    Some(text)
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .filter(|value| *value <= DATAGRAM_MAX)
        .ok_or_else(|| TagError::BadNumber {
            tag: tag.into(),
            text: text.into(),
        })
}

fn hex(argument: Option<&str>) -> Result<Vec<u8>, TagError> {
    let Some(text) = argument else {
        return Err(TagError::NoArgument { tag: "b".into() });
    };
    let bad = || TagError::BadHex { text: text.into() };
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(bad());
    }
    let byte = |pair| u8::from_str_radix(core::str::from_utf8(pair).ok()?, 16).ok();
    pairs
        .iter()
        .map(|pair| byte(pair).ok_or_else(bad))
        .collect()
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// What is wrong with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagError {
    /// A `<` without a `>` behind it.
    Unclosed {
        /// Byte of the value where it stands.
        at: usize,
    },
    /// Nothing between the brackets.
    Empty,
    /// No such tag.
    Unknown {
        /// Its name.
        tag: String,
    },
    /// A tag of another version.
    OtherVersion {
        /// Its name.
        tag: String,
    },
    /// A tag without the argument it needs.
    NoArgument {
        /// Its name.
        tag: String,
    },
    /// An argument that is no number in range.
    BadNumber {
        /// Name of the tag.
        tag: String,
        /// The argument.
        text: String,
    },
    /// An argument that is no even number of hex digits.
    BadHex {
        /// The argument.
        text: String,
    },
    /// More bytes than a datagram carries.
    TooLong {
        /// Bytes the packet would have.
        len: usize,
    },
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TagError::Unclosed { at } => write!(f, "the < at byte {at} is never closed by >"),
            TagError::Empty => f.write_str("<> holds no tag"),
            TagError::Unknown { tag } => {
                write!(f, "<{tag}> is no tag: use b, r, rd, rc, t, d, ds or dz")
            }
            TagError::OtherVersion { tag } => {
                write!(f, "<{tag}> belongs to other versions and is not supported")
            }
            TagError::NoArgument { tag } => write!(f, "<{tag}> needs an argument"),
            TagError::BadNumber { tag, text } => {
                write!(
                    f,
                    "<{tag} {text}>: the argument must be 0 to {DATAGRAM_MAX}"
                )
            }
            TagError::BadHex { text } => write!(
                f,
                "<b {text}>: the argument must be an even number of hex digits, at least 2, with or without 0x"
            ),
            TagError::TooLong { len } => write!(
                f,
                "{len} bytes in all; one datagram carries at most {DATAGRAM_MAX}"
            ),
        }
    }
}

impl core::error::Error for TagError {}
