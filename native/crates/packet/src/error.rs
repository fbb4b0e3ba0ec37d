//! Why bytes are not the packet they were taken for.

use core::fmt;

/// Why bytes are not the packet they were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PacketError {
    /// Fewer bytes than the fixed header needs.
    TooShort {
        /// Bytes the fixed header has.
        needed: usize,
        /// Bytes there are.
        got: usize,
    },
    /// The first nibble names another IP version.
    WrongVersion {
        /// The version of the view.
        expected: u8,
        /// The first nibble found.
        got: u8,
    },
    /// The header's own length field is smaller than the fixed header or larger than the bytes.
    HeaderLen {
        /// Length in bytes that the field states.
        declared: usize,
        /// Smallest valid length.
        least: usize,
        /// Largest valid length.
        most: usize,
    },
    /// The packet's length field is smaller than its header or larger than the bytes.
    DeclaredLen {
        /// Length in bytes that the field states.
        declared: usize,
        /// Smallest valid length.
        least: usize,
        /// Largest valid length.
        most: usize,
    },
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { needed, got } => {
                write!(f, "{got} bytes where a header needs {needed}")
            }
            Self::WrongVersion { expected, got } => {
                write!(f, "IP version {got} instead of {expected}")
            }
            Self::HeaderLen {
                declared,
                least,
                most,
            } => {
                write!(f, "header length {declared} outside {least} to {most}")
            }
            Self::DeclaredLen {
                declared,
                least,
                most,
            } => {
                write!(f, "declared length {declared} outside {least} to {most}")
            }
        }
    }
}

impl core::error::Error for PacketError {}

/// Accepts a length inside `least..=most`.
pub(crate) fn check_header_len(
    declared: usize,
    least: usize,
    most: usize,
) -> Result<usize, PacketError> {
    if (least..=most).contains(&declared) {
        Ok(declared)
    } else {
        Err(PacketError::HeaderLen {
            declared,
            least,
            most,
        })
    }
}

/// Accepts a length inside `least..=most`.
pub(crate) fn check_declared_len(
    declared: usize,
    least: usize,
    most: usize,
) -> Result<usize, PacketError> {
    if (least..=most).contains(&declared) {
        Ok(declared)
    } else {
        Err(PacketError::DeclaredLen {
            declared,
            least,
            most,
        })
    }
}
