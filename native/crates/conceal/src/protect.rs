//! Header protection.

use core::fmt;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use wire::DATA_HEADER_LEN;
use zeroize::Zeroizing;

/// Bytes of a header protection key.
pub const HEADER_KEY_LEN: usize = 32;
/// What the nonce is taken from: the least padding in front of a protected message.
pub(crate) const NONCE_LEN: usize = 12;

/// Hides types, indices and counters; shared by all who speak with a device.
#[derive(Clone)]
pub struct HeaderKey(Zeroizing<[u8; HEADER_KEY_LEN]>);

/// The first bytes of a datagram's keystream.
pub(crate) type Mask = [u8; DATA_HEADER_LEN];

impl HeaderKey {
    /// `None` for the key of zeros, which means "off" (HDP-01).
    #[must_use]
    pub fn new(bytes: &[u8; HEADER_KEY_LEN]) -> Option<Self> {
        let mut key = Zeroizing::new([0; HEADER_KEY_LEN]);
        key.copy_from_slice(bytes);
        (*bytes != [0; HEADER_KEY_LEN]).then_some(HeaderKey(key))
    }

    /// The keystream of a datagram; `None` when it is too short to hold a nonce.
    pub(crate) fn stream(&self, datagram: &[u8]) -> Option<ChaCha20> {
        let nonce = datagram.first_chunk::<NONCE_LEN>()?;
        Some(ChaCha20::new((&*self.0).into(), nonce.into()))
    }
}

/// What a header is combined with, and what continues behind it.
pub(crate) fn mask_of(stream: &mut ChaCha20) -> Mask {
    let mut mask = [0; DATA_HEADER_LEN];
    stream.apply_keystream(&mut mask);
    mask
}

pub(crate) fn combine(bytes: &mut [u8], mask: &Mask) {
    for (byte, mask) in bytes.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

impl fmt::Debug for HeaderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeaderKey([secret])")
    }
}
