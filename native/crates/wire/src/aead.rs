//! The cipher behind one trait, so that another one can be negotiated or measured.

use core::{fmt, hint};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroize;

/// Length of a session key.
pub const KEY_LEN: usize = 32;
/// Length of the tag behind a sealed packet.
pub const TAG_LEN: usize = 16;

/// One direction of a session: seals or opens packets in place.
pub trait Aead: Send + Sync {
    /// Encrypts `packet` in place and writes its tag. A counter is used once per key: the caller guarantees it.
    fn seal(&self, counter: u64, packet: &mut [u8], tag: &mut [u8; TAG_LEN]);

    /// Decrypts in place; `sealed` is the encrypted packet with its tag. The packet starts where `sealed` starts.
    ///
    /// # Errors
    /// The tag does not belong to the packet, the counter and the key; `sealed` then holds garbage.
    fn open(&self, counter: u64, sealed: &mut [u8]) -> Result<usize, OpenError>;
}

/// The tag of a packet did not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenError;

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the authentication tag does not verify")
    }
}

impl core::error::Error for OpenError {}

/// WireGuard's cipher through ring. The key is wiped when the value is dropped.
pub struct ChaCha20Poly1305 {
    key: LessSafeKey,
}

impl ChaCha20Poly1305 {
    /// Takes the key and wipes the caller's copy.
    #[must_use]
    pub fn new(bytes: &mut [u8; KEY_LEN]) -> Self {
        let key = LessSafeKey::new(unbound(bytes));
        bytes.zeroize();
        ChaCha20Poly1305 { key }
    }
}

impl Aead for ChaCha20Poly1305 {
    fn seal(&self, counter: u64, packet: &mut [u8], tag: &mut [u8; TAG_LEN]) {
        let computed = self
            .key
            .seal_in_place_separate_tag(nonce(counter), Aad::empty(), packet)
            .expect("ring refuses only packets of more than 256 GiB");
        tag.copy_from_slice(computed.as_ref());
    }

    fn open(&self, counter: u64, sealed: &mut [u8]) -> Result<usize, OpenError> {
        let opened = self
            .key
            .open_in_place(nonce(counter), Aad::empty(), sealed)
            .map_err(|_| OpenError)?;
        Ok(opened.len())
    }
}

impl Drop for ChaCha20Poly1305 {
    fn drop(&mut self) {
        self.key = LessSafeKey::new(unbound(&[0; KEY_LEN]));
        hint::black_box(&self.key);
    }
}

impl fmt::Debug for ChaCha20Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChaCha20Poly1305([secret])")
    }
}

fn unbound(bytes: &[u8; KEY_LEN]) -> UnboundKey {
    UnboundKey::new(&CHACHA20_POLY1305, bytes)
        .expect("the key has the length that the algorithm wants")
}

fn nonce(counter: u64) -> Nonce {
    let [a, b, c, d, e, f, g, h] = counter.to_le_bytes();
    Nonce::assume_unique_for_key([0, 0, 0, 0, a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_packet_opens_under_its_own_counter_only() {
        let key = ChaCha20Poly1305::new(&mut [7; 32]);
        let mut sealed = *b"sixteen byte msg................";
        let (packet, tag) = sealed.split_at_mut(16);
        key.seal(9, packet, tag.try_into().unwrap());

        let mut wrong = sealed;
        assert_eq!(key.open(8, &mut wrong), Err(OpenError));
        assert_eq!(key.open(9, &mut sealed), Ok(16));
        assert_eq!(&sealed[..16], b"sixteen byte msg");
    }

    #[test]
    fn the_empty_packet_matches_the_published_construction() {
        // RFC 8439 with an empty text and no associated data: the tag is that of sixteen zero length bytes.
        let key = ChaCha20Poly1305::new(&mut [0; 32]);
        let mut tag = [0; 16];
        key.seal(0, &mut [], &mut tag);
        assert_eq!(
            tag,
            [
                0x4e, 0xb9, 0x72, 0xc9, 0xa8, 0xfb, 0x3a, 0x1b, 0x38, 0x2b, 0xb4, 0xd3, 0x6f, 0x5f,
                0xfa, 0xd1
            ]
        );
    }

    #[test]
    fn the_callers_key_bytes_are_wiped() {
        let mut bytes = [9; 32];
        let _key = ChaCha20Poly1305::new(&mut bytes);
        assert_eq!(bytes, [0; 32]);
    }
}
