//! Views of the four message kinds.

use core::fmt;

/// Length of a handshake initiation.
pub const INITIATION_LEN: usize = 148;
/// Length of a handshake response.
pub const RESPONSE_LEN: usize = 92;
/// Length of a cookie reply.
pub const COOKIE_REPLY_LEN: usize = 64;
/// Length of the header in front of an encrypted packet.
pub const DATA_HEADER_LEN: usize = 16;
/// What a transport message adds to the padded packet: header and tag.
pub const DATA_OVERHEAD: usize = DATA_HEADER_LEN + crate::TAG_LEN;

/// What a datagram claims to be, its length checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// First message of a handshake.
    Initiation,
    /// Second message of a handshake.
    Response,
    /// Answer to a handshake message while under load.
    CookieReply,
    /// An encrypted packet.
    Data(DataHeader),
}

impl TryFrom<&[u8]> for Message {
    type Error = MessageError;

    fn try_from(datagram: &[u8]) -> Result<Self, MessageError> {
        let Some(kind) = datagram.first_chunk::<4>() else {
            return Err(MessageError::TooShort {
                needed: 4,
                got: datagram.len(),
            });
        };
        match u32::from_le_bytes(*kind) {
            KIND_DATA => DataHeader::try_from(datagram).map(Message::Data),
            KIND_INITIATION => exactly(datagram, INITIATION_LEN).map(|()| Message::Initiation),
            KIND_RESPONSE => exactly(datagram, RESPONSE_LEN).map(|()| Message::Response),
            KIND_COOKIE_REPLY => exactly(datagram, COOKIE_REPLY_LEN).map(|()| Message::CookieReply),
            kind => Err(MessageError::UnknownKind { kind }),
        }
    }
}

/// Header of a transport message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// Session number chosen by the receiver.
    pub receiver: u32,
    /// Packet number, also the nonce.
    pub counter: u64,
}

impl DataHeader {
    /// Writes the sixteen bytes in front of a packet.
    pub fn write(&self, out: &mut [u8; DATA_HEADER_LEN]) {
        let [kind, rest @ ..] = out.as_chunks_mut::<4>().0 else {
            return;
        };
        *kind = KIND_DATA.to_le_bytes();
        let [receiver, low, high] = rest else { return };
        *receiver = self.receiver.to_le_bytes();
        let [a, b, c, d, e, f, g, h] = self.counter.to_le_bytes();
        *low = [a, b, c, d];
        *high = [e, f, g, h];
    }
}

impl TryFrom<&[u8]> for DataHeader {
    type Error = MessageError;

    fn try_from(datagram: &[u8]) -> Result<Self, MessageError> {
        let too_short = MessageError::TooShort {
            needed: DATA_OVERHEAD,
            got: datagram.len(),
        };
        if datagram.len() < DATA_OVERHEAD {
            return Err(too_short);
        }
        let Some([_, _, _, _, r0, r1, r2, r3, c0, c1, c2, c3, c4, c5, c6, c7]) =
            datagram.first_chunk::<16>()
        else {
            return Err(too_short);
        };
        Ok(DataHeader {
            receiver: u32::from_le_bytes([*r0, *r1, *r2, *r3]),
            counter: u64::from_le_bytes([*c0, *c1, *c2, *c3, *c4, *c5, *c6, *c7]),
        })
    }
}

/// Why a datagram is not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// Fewer bytes than the kind needs.
    TooShort {
        /// Bytes the kind needs.
        needed: usize,
        /// Bytes that arrived.
        got: usize,
    },
    /// A handshake message of another length than its kind has.
    WrongLength {
        /// Bytes the kind has.
        expected: usize,
        /// Bytes that arrived.
        got: usize,
    },
    /// The first four bytes name no kind.
    UnknownKind {
        /// The four bytes as a little-endian number.
        kind: u32,
    },
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageError::TooShort { needed, got } => {
                write!(f, "{got} bytes where at least {needed} are needed")
            }
            MessageError::WrongLength { expected, got } => {
                write!(f, "{got} bytes where the kind has {expected}")
            }
            MessageError::UnknownKind { kind } => write!(f, "unknown message kind {kind}"),
        }
    }
}

impl core::error::Error for MessageError {}

/// Length of a packet after padding to sixteen bytes, which never makes it longer than the tunnel's MTU.
#[must_use]
pub fn padded_len(len: usize, mtu: usize) -> usize {
    len.next_multiple_of(16).min(mtu).max(len)
}

fn exactly(datagram: &[u8], expected: usize) -> Result<(), MessageError> {
    if datagram.len() == expected {
        return Ok(());
    }
    Err(MessageError::WrongLength {
        expected,
        got: datagram.len(),
    })
}

const KIND_INITIATION: u32 = 1;
const KIND_RESPONSE: u32 = 2;
const KIND_COOKIE_REPLY: u32 = 3;
const KIND_DATA: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_header_reads_back_as_written() {
        let header = DataHeader {
            receiver: 0x0102_0304,
            counter: 0x1122_3344_5566_7788,
        };
        let mut datagram = [0; DATA_OVERHEAD];
        let mut head = [0; DATA_HEADER_LEN];

        header.write(&mut head);
        datagram[..16].copy_from_slice(&head);

        assert_eq!(Message::try_from(&datagram[..]), Ok(Message::Data(header)));
        assert_eq!(
            head,
            [
                4, 0, 0, 0, 4, 3, 2, 1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11
            ]
        );
    }

    #[test]
    fn lengths_and_kinds_that_do_not_fit_are_refused_with_the_numbers() {
        assert_eq!(
            Message::try_from(&[1][..]),
            Err(MessageError::TooShort { needed: 4, got: 1 })
        );
        assert_eq!(
            Message::try_from(&[4, 0, 0, 0, 0][..]),
            Err(MessageError::TooShort { needed: 32, got: 5 })
        );
        assert_eq!(
            Message::try_from(&[1, 0, 0, 0, 0][..]),
            Err(MessageError::WrongLength {
                expected: INITIATION_LEN,
                got: 5
            })
        );
        assert_eq!(
            Message::try_from(&[5, 0, 0, 1][..]),
            Err(MessageError::UnknownKind { kind: 0x0100_0005 })
        );
    }

    #[test]
    fn padding_stops_at_the_mtu() {
        assert_eq!(padded_len(0, 1420), 0);
        assert_eq!(padded_len(1, 1420), 16);
        assert_eq!(padded_len(1409, 1420), 1420);
        assert_eq!(padded_len(1420, 1420), 1420);
        assert_eq!(
            padded_len(1450, 1420),
            1450,
            "a packet above the MTU keeps its length"
        );
    }
}
