//! Checksum elision: the mark on the first byte, and the seed in place of the checksum.
//!
//! The tag of the tunnel protects an inner packet from one host's memory to the other's. The sender leaves the seed in
//! the checksum field and marks the packet; the receiver compares the seed and lets its kernel finish the checksum if
//! the packet travels on.

use core::fmt;

use packet::{IpVersion, Ipv4, Ipv6, Tcp, Udp, checksum, protocol};

use crate::finish::upper_layer;
use crate::split::cut_to_declared;

/// The bit of a packet's first byte that says: the checksum field holds the seed.
pub const ELISION_MARK: u8 = 0x80;

/// Why a marked packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElisionError {
    /// Not an IP packet, or its length field contradicts its bytes.
    NotIp,
    /// A fragment, a protocol other than TCP and UDP, or a header that is cut off.
    NotEligible,
    /// The checksum field does not hold the seed that the headers give.
    WrongSeed {
        /// What the headers give.
        expected: u16,
        /// What the field holds.
        found: u16,
    },
}

impl fmt::Display for ElisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotIp => f.write_str("a marked packet is no IP packet"),
            Self::NotEligible => f.write_str("a marked packet is no whole TCP or UDP packet"),
            Self::WrongSeed { expected, found } => {
                write!(
                    f,
                    "checksum field {found:#06x} where the seed is {expected:#06x}"
                )
            }
        }
    }
}

impl core::error::Error for ElisionError {}

/// Says whether a packet carries the mark. Anything but an IP packet may have this bit for reasons of its own.
#[must_use]
pub fn is_marked(packet: &[u8]) -> bool {
    matches!(
        packet.first().map(|byte| byte >> 4),
        Some(MARKED_V4 | MARKED_V6)
    )
}

/// Clears the mark and compares the seed with the headers; no payload is read. Bytes behind the declared length are
/// ignored.
///
/// # Errors
/// Says why the packet has to be dropped and counted.
pub fn unmark(packet: &mut [u8]) -> Result<(), ElisionError> {
    let first = packet.first_mut().ok_or(ElisionError::NotIp)?;
    *first &= !ELISION_MARK;
    let packet = cut_to_declared(packet).map_err(|_| ElisionError::NotIp)?;
    let field = field_of(packet).ok_or(ElisionError::NotEligible)?;
    if field.found == field.seed {
        return Ok(());
    }
    Err(ElisionError::WrongSeed {
        expected: field.seed,
        found: field.found,
    })
}

/// Finishes the checksum of a packet that [`unmark`] accepted, for a device or a stack that takes finished packets only.
pub fn finish_elided(packet: &mut [u8]) {
    let Some((len, field)) = cut_to_declared(packet)
        .ok()
        .and_then(|packet| Some((packet.len(), field_of(packet)?)))
    else {
        return;
    };
    let Some(packet) = packet.get_mut(..len) else {
        return;
    };
    let sum = packet
        .get(field.l4_at..)
        .map_or(0, |l4| checksum::add(l4, 0));
    let value = match checksum::finish(sum) {
        0 => field.zero,
        value => value,
    };
    write_field(packet, field.at, value);
}

/// Where the checksum of a whole TCP or UDP packet lies, what it holds, and the seed that belongs there.
#[derive(Clone, Copy)]
struct Field {
    l4_at: usize,
    at: usize,
    found: u16,
    seed: u16,
    /// How a finished checksum of zero is written.
    zero: u16,
}

/// Whether the checksum field of a packet, cut to its declared length, holds its seed.
pub(crate) fn holds_seed(packet: &[u8]) -> bool {
    field_of(packet).is_some_and(|field| field.found == field.seed)
}

fn field_of(packet: &[u8]) -> Option<Field> {
    let upper = upper_layer(packet).filter(|upper| !upper.is_fragment)?;
    let l4 = packet.get(upper.offset..)?;
    let (offset, zero) = match upper.protocol {
        protocol::TCP => Tcp::try_from(l4).ok().map(|_| (Tcp::CHECKSUM_OFFSET, 0))?,
        protocol::UDP => Udp::try_from(l4)
            .ok()
            .map(|_| (Udp::CHECKSUM_OFFSET, 0xffff))?,
        _ => return None,
    };
    let pseudo = match IpVersion::of(packet)? {
        IpVersion::V4 => Ipv4::try_from(packet).ok()?.pseudo_header(l4.len()),
        IpVersion::V6 => Ipv6::try_from(packet)
            .ok()?
            .pseudo_header(upper.protocol, l4.len()),
    };
    let at = upper.offset + offset;
    let found = packet.get(at..)?.first_chunk().copied()?;
    Some(Field {
        l4_at: upper.offset,
        at,
        found: u16::from_be_bytes(found),
        seed: checksum::fold(pseudo),
        zero,
    })
}

fn write_field(packet: &mut [u8], at: usize, value: u16) {
    if let Some(field) = packet.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *field = value.to_be_bytes();
    }
}

const MARKED_V4: u8 = 0xc;
const MARKED_V6: u8 = 0xe;
