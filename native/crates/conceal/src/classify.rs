//! What a received datagram is.

use core::ops::Range;

use chacha20::ChaCha20;
use chacha20::cipher::StreamCipher;
use wire::DATA_OVERHEAD;

use crate::profile::{Profile, Trailers};
use crate::protect::{Mask, combine, mask_of};
use crate::{Kind, TypeRange};

/// A message in a datagram, its protection removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// What it is.
    pub kind: Kind,
    /// Where it is: padding and trailer lie outside.
    pub range: Range<usize>,
}

impl Profile {
    /// Finds the message in a datagram and removes its header protection in place. `is_live` says whether a session of ours
    /// has this receiver index. `None` = drop without an answer.
    pub fn open(&self, datagram: &mut [u8], is_live: impl Fn(u32) -> bool) -> Option<Opened> {
        if datagram.len() < DATA_OVERHEAD {
            return None;
        }
        let mut stream = match self.header_key() {
            Some(key) => Some(key.stream(datagram)?),
            None => None,
        };
        let mask = stream.as_mut().map(mask_of);
        let clear = Clear {
            datagram,
            mask: mask.unwrap_or_default(),
        };
        let kind = self.classify(&clear, is_live)?;
        let start = self.padding(kind);
        let end = match kind {
            Kind::Transport => datagram.len(),
            Kind::Initiation | Kind::Response | Kind::CookieReply => start + kind.message_len(),
        };
        if let (Some(mut stream), Some(mask)) = (stream, mask) {
            unprotect(kind, datagram.get_mut(start..end)?, (&mut stream, &mask));
        }
        Some(Opened {
            kind,
            range: start..end,
        })
    }

    fn classify(&self, clear: &Clear<'_>, is_live: impl Fn(u32) -> bool) -> Option<Kind> {
        let transport_at = self.padding(Kind::Transport);
        let may_be_transport = clear.datagram.len() >= transport_at + DATA_OVERHEAD
            && clear.has_type(transport_at, self.types(Kind::Transport));
        if may_be_transport && clear.receiver(transport_at).is_some_and(is_live) {
            return Some(Kind::Transport);
        }
        let handshakes = [Kind::Initiation, Kind::Response, Kind::CookieReply];
        let handshake = handshakes.into_iter().find(|kind| {
            let start = self.padding(*kind);
            let whole = start + kind.message_len();
            let fits = match self.trailers() {
                Trailers::Off => clear.datagram.len() == whole,
                Trailers::On => clear.datagram.len() >= whole,
            };
            fits && clear.has_type(start, self.types(*kind))
        });
        handshake.or(may_be_transport.then_some(Kind::Transport))
    }
}

/// A datagram as it was before its header was protected.
struct Clear<'a> {
    datagram: &'a [u8],
    /// Zeros without protection.
    mask: Mask,
}

impl Clear<'_> {
    fn has_type(&self, at: usize, types: TypeRange) -> bool {
        let [a, b, c, d, ..] = self.mask;
        self.word(at, [a, b, c, d])
            .is_some_and(|value| types.contains(value))
    }

    fn receiver(&self, at: usize) -> Option<u32> {
        let [_, _, _, _, a, b, c, d, ..] = self.mask;
        self.word(at + 4, [a, b, c, d])
    }

    fn word(&self, at: usize, mask: [u8; 4]) -> Option<u32> {
        let bytes = self.datagram.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes) ^ u32::from_le_bytes(mask))
    }
}

/// A transport message hides its header only, the others all of themselves (HDP-04, HDP-05).
fn unprotect(kind: Kind, message: &mut [u8], (stream, mask): (&mut ChaCha20, &Mask)) {
    combine(message, mask);
    match kind {
        Kind::Transport => {}
        Kind::Initiation | Kind::Response | Kind::CookieReply => {
            stream.apply_keystream(message.get_mut(mask.len()..).unwrap_or_default());
        }
    }
}
