//! The ciphers behind one trait, so that one can be negotiated and others can be measured.

use core::{fmt, hint};

use ring::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
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

/// What the packets of a session are sealed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cipher {
    /// WireGuard's own.
    #[default]
    ChaCha20Poly1305,
    /// Faster where the processor has instructions for it; only between agents that agreed on it.
    Aes256Gcm,
}

impl Cipher {
    /// Every cipher there is.
    pub const ALL: [Cipher; 2] = [Cipher::ChaCha20Poly1305, Cipher::Aes256Gcm];

    /// Whether this processor has instructions for the cipher, so that it runs fast and in constant time. `ChaCha20`
    /// needs none.
    #[must_use]
    pub fn has_instructions(self) -> bool {
        match self {
            Cipher::ChaCha20Poly1305 => true,
            Cipher::Aes256Gcm => has_aes_instructions(),
        }
    }

    fn algorithm(self) -> &'static Algorithm {
        match self {
            Cipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
            Cipher::Aes256Gcm => &AES_256_GCM,
        }
    }

    fn unbound(self, bytes: &[u8; KEY_LEN]) -> UnboundKey {
        UnboundKey::new(self.algorithm(), bytes)
            .expect("the key has the length that both algorithms want")
    }
}

/// The key of one direction under either cipher, through ring. It is wiped when the value is dropped.
///
/// ring keeps both kinds of expanded keys in one enum and calls through the algorithm's own function pointers, so a
/// second cipher adds no call and no branch of ours to a packet.
pub struct TransportKey {
    cipher: Cipher,
    key: LessSafeKey,
}

impl TransportKey {
    /// Takes the key and wipes the caller's copy.
    #[must_use]
    pub fn new(cipher: Cipher, bytes: &mut [u8; KEY_LEN]) -> Self {
        let key = LessSafeKey::new(cipher.unbound(bytes));
        bytes.zeroize();
        TransportKey { cipher, key }
    }

    /// What it seals with.
    #[must_use]
    pub fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Overwrites the expanded key with that of zeros: of the same kind, so that every byte is covered.
    fn wipe(&mut self) {
        self.key = LessSafeKey::new(self.cipher.unbound(&[0; KEY_LEN]));
        hint::black_box(&self.key);
    }
}

impl Aead for TransportKey {
    fn seal(&self, counter: u64, packet: &mut [u8], tag: &mut [u8; TAG_LEN]) {
        let computed = self
            .key
            .seal_in_place_separate_tag(nonce(counter), Aad::empty(), packet)
            .expect("ring refuses only packets of more than 64 GiB");
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

impl Drop for TransportKey {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl fmt::Debug for TransportKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TransportKey({:?}, [secret])", self.cipher)
    }
}

#[cfg(target_arch = "x86_64")]
fn has_aes_instructions() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes_instructions() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has_aes_instructions() -> bool {
    false
}

/// Four zero bytes, then the packet number, least significant byte first: the same for both ciphers.
fn nonce(counter: u64) -> Nonce {
    let [a, b, c, d, e, f, g, h] = counter.to_le_bytes();
    Nonce::assume_unique_for_key([0, 0, 0, 0, a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_packet_opens_under_its_own_counter_and_cipher_only() {
        for (cipher, other) in [
            (Cipher::ChaCha20Poly1305, Cipher::Aes256Gcm),
            (Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305),
        ] {
            let key = TransportKey::new(cipher, &mut [7; 32]);
            let mut sealed = *b"sixteen byte msg................";
            let (packet, tag) = sealed.split_at_mut(16);
            key.seal(9, packet, tag.try_into().unwrap());

            let mut wrong = sealed;
            assert_eq!(key.open(8, &mut wrong), Err(OpenError));
            wrong = sealed;
            let foreign = TransportKey::new(other, &mut [7; 32]);
            assert_eq!(foreign.open(9, &mut wrong), Err(OpenError));
            for byte in 0..sealed.len() {
                wrong = sealed;
                wrong[byte] ^= 0x40;
                assert_eq!(key.open(9, &mut wrong), Err(OpenError), "{byte}");
            }
            assert_eq!(key.open(9, &mut sealed), Ok(16));
            assert_eq!(&sealed[..16], b"sixteen byte msg");
        }
    }

    #[test]
    fn the_empty_packet_matches_the_published_construction() {
        // RFC 8439 with an empty text and no associated data: the tag is that of sixteen zero length bytes.
        assert_eq!(
            sealed(Cipher::ChaCha20Poly1305, [0; 32], 0, b""),
            hex("4eb972c9a8fb3a1b382bb4d3 6f5ffad1")
        );
        // GCM specification, test case 13.
        assert_eq!(
            sealed(Cipher::Aes256Gcm, [0; 32], 0, b""),
            hex("530f8afbc74536b9a963b4f1c4cb738b")
        );
    }

    #[test]
    fn aes_256_gcm_matches_published_answers() {
        // GCM specification, test case 14.
        assert_eq!(
            sealed(Cipher::Aes256Gcm, [0; 32], 0, &[0; 16]),
            hex("cea7403d4d606b6e074ec5d3baf39d18 d0d1c8a799996bf0265b98b5d48ab919")
        );
    }

    #[test]
    fn the_packet_number_stands_behind_four_zero_bytes_in_little_endian_order() {
        // Nonce 00000000 0807060504030201, computed with OpenSSL.
        let key = core::array::from_fn(|at| u8::try_from(at).unwrap());
        let counter = 0x0102_0304_0506_0708;
        assert_eq!(
            sealed(Cipher::Aes256Gcm, key, counter, b"sixteen byte msg"),
            hex("6f918731074aa66ef70a8a56be4349cd c3d2a75c37c2598d25950f1da44ca4e0")
        );
        assert_eq!(
            sealed(Cipher::ChaCha20Poly1305, key, counter, b"sixteen byte msg"),
            hex("8320d590ce5c843806d25ea9531512dfaef8d80f2d5f936747addfc1747424e4")
        );
    }

    #[test]
    fn the_callers_key_bytes_are_wiped() {
        for cipher in Cipher::ALL {
            let mut bytes = [9; 32];
            let _key = TransportKey::new(cipher, &mut bytes);
            assert_eq!(bytes, [0; 32]);
        }
    }

    #[test]
    fn what_drop_does_leaves_the_key_of_zeros() {
        for cipher in Cipher::ALL {
            let mut key = TransportKey::new(cipher, &mut [9; 32]);
            key.wipe();
            let mut tag = [0; TAG_LEN];
            key.seal(0, &mut [], &mut tag);
            assert_eq!(tag.to_vec(), sealed(cipher, [0; 32], 0, b""));
            assert!(format!("{key:?}").contains("[secret]"));
        }
    }

    fn sealed(cipher: Cipher, mut key: [u8; 32], counter: u64, text: &[u8]) -> Vec<u8> {
        let mut bytes = text.to_vec();
        let mut tag = [0; TAG_LEN];
        TransportKey::new(cipher, &mut key).seal(counter, &mut bytes, &mut tag);
        bytes.extend(tag);
        bytes
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }
}
