//! What a datagram is, before anything else looks at it.

use core::ops::Range;

use conceal::Kind;
use wire::{DataHeader, Message};

use super::pass::Pass;
use crate::driver::ShardClock;

/// Which message a datagram holds, and where in the arena that the datagram starts at `start` of. Removes its header
/// protection. `known` is the index of a session that lives for certain.
pub(super) fn recognise<C: ShardClock>(
    pass: &Pass<'_, C>,
    datagram: &mut [u8],
    (start, known): (usize, Option<u32>),
) -> Option<(Message, Range<usize>)> {
    let Some(concealment) = pass.state.concealment() else {
        let whole = start..start + datagram.len();
        return Some((Message::try_from(&*datagram).ok()?, whole));
    };
    let opened = concealment.profile.open(datagram, |index| {
        known == Some(index) || pass.state.session_by_index(index).is_some()
    })?;
    let message = match opened.kind {
        Kind::Initiation => Message::Initiation,
        Kind::Response => Message::Response,
        Kind::CookieReply => Message::CookieReply,
        Kind::Transport => {
            let header = DataHeader::try_from(datagram.get(opened.range.clone())?);
            Message::Data(header.ok()?)
        }
    };
    Some((
        message,
        start + opened.range.start..start + opened.range.end,
    ))
}

/// Whether nothing but padding came (TMR-03): an IP packet never starts with a byte of zero.
pub(super) fn is_keepalive(plaintext: Option<&[u8]>) -> bool {
    matches!(plaintext, None | Some([] | [0, ..]))
}
