//! Datagrams on their way out.

use chacha20::cipher::StreamCipher;
use wire::DATA_HEADER_LEN;

use crate::profile::{Profile, Trailers};
use crate::protect::{combine, mask_of};
use crate::window::WINDOW_START;
use crate::{Kind, Random};

impl Profile {
    /// The kind a message of this type is, by all four bytes.
    #[must_use]
    pub fn kind_of(&self, message: &[u8]) -> Option<Kind> {
        let value = u32::from_le_bytes(*message.first_chunk()?);
        Kind::ALL
            .into_iter()
            .find(|kind| self.types(*kind).contains(value))
    }

    /// Writes the datagram of a handshake message to `out`: padding, the message protected, trailer. Types and MACs are the
    /// caller's business. `window` is that of the peer. Returns the length; `None` for what is no handshake message, or does
    /// not fit.
    pub fn frame(
        &self,
        message: &[u8],
        window: usize,
        random: &mut Random,
        out: &mut [u8],
    ) -> Option<usize> {
        let kind = self
            .kind_of(message)
            .filter(|kind| *kind != Kind::Transport && kind.message_len() == message.len())?;
        let front = self.padding(kind);
        let whole = front + message.len();
        let window = match kind {
            Kind::CookieReply => WINDOW_START,
            Kind::Initiation | Kind::Response | Kind::Transport => window,
        };
        let trailer = match self.trailers() {
            Trailers::Off => 0,
            Trailers::On => random.below(u64::try_from(window.saturating_sub(whole)).ok()?),
        };
        let datagram = out.get_mut(..whole + usize::try_from(trailer).ok()?)?;
        random.fill(datagram.get_mut(..front)?);
        datagram.get_mut(front..whole)?.copy_from_slice(message);
        if let Some(key) = self.header_key() {
            key.stream(datagram)?
                .apply_keystream(datagram.get_mut(front..whole)?);
        }
        random.fill(datagram.get_mut(whole..)?);
        Some(datagram.len())
    }

    /// Finishes the datagram of a sealed transport message, room for its padding in front: type, header protection, padding.
    pub fn finish_transport(&self, datagram: &mut [u8], random: &mut Random) {
        let front = self.padding(Kind::Transport);
        let Some((padding, message)) = datagram.split_at_mut_checked(front) else {
            return;
        };
        random.fill(padding);
        if let Some(value) = message.first_chunk_mut() {
            *value = self.types(Kind::Transport).draw(random).to_le_bytes();
        }
        if let Some(mut stream) = self.header_key().and_then(|key| key.stream(padding)) {
            let header = message.get_mut(..DATA_HEADER_LEN).unwrap_or_default();
            combine(header, &mask_of(&mut stream));
        }
    }

    /// The same for a whole batch: datagrams of `segment` bytes back to back, the last of which may be shorter, as one UDP
    /// send with segmentation offload takes them.
    pub fn finish_transports(&self, batch: &mut [u8], segment: usize, random: &mut Random) {
        for datagram in batch.chunks_mut(segment.max(1)) {
            self.finish_transport(datagram, random);
        }
    }

    /// Hands every datagram that precedes an initiation to `send`: signature packets, then junk (WIR-11). Each is built in
    /// `scratch`, which holds any datagram; those that do not fit are left out.
    pub fn prelude(
        &self,
        unix_seconds: u32,
        random: &mut Random,
        scratch: &mut [u8],
        mut send: impl FnMut(&[u8]),
    ) {
        for signature in self.signatures() {
            if let Some(packet) = signature.write(unix_seconds, random, scratch)
                && !packet.is_empty()
            {
                send(packet);
            }
        }
        let junk = self.junk();
        for _ in 0..junk.count {
            let len = random.draw(junk.len_min.into(), junk.len_max.into());
            let Some(packet) = scratch.get_mut(..usize::try_from(len).unwrap_or(usize::MAX)) else {
                continue;
            };
            random.fill(packet);
            send(packet);
        }
    }
}
