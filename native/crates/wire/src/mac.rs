//! MAC1 and MAC2: what a handshake message must carry before anybody spends work on it.

use core::fmt;
use core::net::SocketAddr;

use blake2::digest::consts::U16;
use blake2::digest::{Digest, KeyInit, Mac};
use blake2::{Blake2s256, Blake2sMac};
use chacha20poly1305::{AeadInPlace, XChaCha20Poly1305};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::message::COOKIE_REPLY_LEN;

/// Length of a cookie and of either MAC.
pub const COOKIE_LEN: usize = 16;
/// Length of the nonce of a cookie reply.
pub const COOKIE_NONCE_LEN: usize = 24;
/// What the engine hands out as a cookie: bound to the sender's address for as long as the secret lives.
pub type Cookie = [u8; COOKIE_LEN];

/// Checks MAC1: proof that the sender knows our public key.
#[derive(Clone, Copy, Debug)]
pub struct Mac1Key([u8; 32]);

impl Mac1Key {
    /// Derives the key from our own static public key.
    #[must_use]
    pub fn new(public_key: &[u8; 32]) -> Self {
        let mut hash = Blake2s256::new();
        hash.update(b"mac1----");
        hash.update(public_key);
        Mac1Key(hash.finalize().into())
    }

    /// Says whether the message ends in a valid MAC1 followed by sixteen bytes for MAC2.
    #[must_use]
    pub fn verifies(&self, message: &[u8]) -> bool {
        let Some((covered, tail)) = split_tail(message, 2 * COOKIE_LEN) else {
            return false;
        };
        let Some(mac1) = tail.first_chunk::<COOKIE_LEN>() else {
            return false;
        };
        keyed(&self.0, &[covered]).ct_eq(mac1).into()
    }
}

/// Answers messages with cookies instead of work.
#[derive(Clone, Copy, Debug)]
pub struct CookieKey([u8; 32]);

impl CookieKey {
    /// Derives the key from our own static public key.
    #[must_use]
    pub fn new(public_key: &[u8; 32]) -> Self {
        let mut hash = Blake2s256::new();
        hash.update(b"cookie--");
        hash.update(public_key);
        CookieKey(hash.finalize().into())
    }

    /// The message that hands a cookie to the sender of an initiation or response; only who knows that message's MAC1 can
    /// open it. `nonce` must be unpredictable. `None` when the message is too short to be one of these.
    #[must_use]
    pub fn reply(
        &self,
        message: &[u8],
        cookie: &Cookie,
        nonce: [u8; COOKIE_NONCE_LEN],
    ) -> Option<[u8; COOKIE_REPLY_LEN]> {
        let (_, both) = split_tail(message, 2 * COOKIE_LEN)?;
        let mac1 = both.first_chunk::<COOKIE_LEN>()?;
        let sender = message.get(4..8)?;
        let mut sealed = *cookie;
        let tag = XChaCha20Poly1305::new(&self.0.into())
            .encrypt_in_place_detached(&nonce.into(), mac1, &mut sealed)
            .ok()?;
        let mut reply = [0; COOKIE_REPLY_LEN];
        let parts = [
            [3, 0, 0, 0].as_slice(),
            sender,
            &nonce,
            &sealed,
            tag.as_slice(),
        ];
        reply
            .iter_mut()
            .zip(parts.into_iter().flatten())
            .for_each(|(to, from)| *to = *from);
        Some(reply)
    }
}

/// The two secrets cookies are made from: the one in use and the one before it.
#[derive(Clone)]
pub struct CookieSecrets {
    current: [u8; 32],
    previous: [u8; 32],
}

impl CookieSecrets {
    /// Takes both secrets.
    #[must_use]
    pub fn new(current: [u8; 32], previous: [u8; 32]) -> Self {
        CookieSecrets { current, previous }
    }

    /// The cookie of an address: keyed BLAKE2s-128 of the address bytes (4 or 16) and the big-endian port.
    #[must_use]
    pub fn cookie(&self, source: SocketAddr) -> Cookie {
        cookie_under(&self.current, source)
    }

    /// A nonce that nobody can predict and that never comes again as long as `number` does not.
    #[must_use]
    pub fn nonce(&self, number: u64) -> [u8; COOKIE_NONCE_LEN] {
        let number = number.to_le_bytes();
        let mut nonce = [0; COOKIE_NONCE_LEN];
        let (low, high) = nonce.split_at_mut(COOKIE_LEN);
        low.copy_from_slice(&keyed(
            &self.current,
            &[b"nonce of a cookie reply", &number],
        ));
        high.copy_from_slice(&number);
        nonce
    }

    /// Says whether the message ends in a MAC2 made with a cookie that we gave to this address.
    #[must_use]
    pub fn verifies(&self, message: &[u8], source: SocketAddr) -> bool {
        let Some((covered, mac2)) = split_tail(message, COOKIE_LEN) else {
            return false;
        };
        [&self.current, &self.previous].into_iter().any(|secret| {
            keyed(&cookie_under(secret, source), &[covered])
                .ct_eq(mac2)
                .into()
        })
    }
}

impl Drop for CookieSecrets {
    fn drop(&mut self) {
        self.current.zeroize();
        self.previous.zeroize();
    }
}

impl fmt::Debug for CookieSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieSecrets([secret])")
    }
}

fn cookie_under(secret: &[u8; 32], source: SocketAddr) -> Cookie {
    let port = source.port().to_be_bytes();
    match source {
        SocketAddr::V4(v4) => keyed(secret, &[&v4.ip().octets(), &port]),
        SocketAddr::V6(v6) => keyed(secret, &[&v6.ip().octets(), &port]),
    }
}

fn keyed(key: &[u8], parts: &[&[u8]]) -> [u8; COOKIE_LEN] {
    let mut mac = <Blake2sMac<U16> as KeyInit>::new_from_slice(key)
        .expect("keys of 16 and 32 bytes are allowed");
    for part in parts {
        Mac::update(&mut mac, part);
    }
    mac.finalize().into_bytes().into()
}

fn split_tail(message: &[u8], tail: usize) -> Option<(&[u8], &[u8])> {
    message
        .len()
        .checked_sub(tail)
        .and_then(|at| message.split_at_checked(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(public_key: &[u8; 32]) -> Vec<u8> {
        let mut message = vec![0x5a; 148];
        let key = Mac1Key::new(public_key);
        let mac1 = keyed(&key.0, &[&message[..116]]);
        message[116..132].copy_from_slice(&mac1);
        message[132..].fill(0);
        message
    }

    #[test]
    fn mac1_verifies_for_its_own_key_and_breaks_with_any_bit() {
        let message = signed(&[3; 32]);
        assert!(Mac1Key::new(&[3; 32]).verifies(&message));
        assert!(!Mac1Key::new(&[4; 32]).verifies(&message));
        for at in [0, 60, 115, 116, 131] {
            let mut bad = message.clone();
            bad[at] ^= 1;
            assert!(!Mac1Key::new(&[3; 32]).verifies(&bad), "byte {at}");
        }
        assert!(!Mac1Key::new(&[3; 32]).verifies(&message[..31]));
    }

    #[test]
    fn nonces_of_cookie_replies_differ_by_number_and_by_secret() {
        let secrets = CookieSecrets::new([1; 32], [0; 32]);
        let nonces = [
            secrets.nonce(0),
            secrets.nonce(1),
            CookieSecrets::new([2; 32], [1; 32]).nonce(0),
        ];

        for (index, nonce) in nonces.iter().enumerate() {
            assert!(!nonces[..index].contains(nonce));
        }
    }

    #[test]
    fn a_cookie_reply_opens_for_the_sender_of_the_message_and_nobody_else() {
        let message = signed(&[3; 32]);
        let cookie = [9; COOKIE_LEN];
        let key = CookieKey::new(&[3; 32]);
        let reply = key.reply(&message, &cookie, [7; 24]).unwrap();
        let open = |mac1: &[u8]| {
            let mut text: [u8; 16] = reply[32..48].try_into().unwrap();
            let tag: [u8; 16] = reply[48..].try_into().unwrap();
            XChaCha20Poly1305::new(&key.0.into())
                .decrypt_in_place_detached(&[7; 24].into(), mac1, &mut text, &tag.into())
                .map(|()| text)
        };

        assert_eq!(reply[..4], [3, 0, 0, 0]);
        assert_eq!(reply[4..8], message[4..8], "names the sender's index");
        assert_eq!(open(&message[116..132]), Ok(cookie));
        assert!(open(&[0; 16]).is_err(), "another message's MAC1");
        assert_eq!(key.reply(&message[..31], &cookie, [7; 24]), None);
    }

    #[test]
    fn mac2_verifies_for_the_address_that_got_the_cookie_and_survives_one_rotation() {
        let from: SocketAddr = "192.0.2.7:51820".parse().unwrap();
        let secrets = CookieSecrets::new([1; 32], [0; 32]);
        let mut message = signed(&[3; 32]);
        let mac2 = keyed(&secrets.cookie(from), &[&message[..132]]);
        message[132..].copy_from_slice(&mac2);

        assert!(secrets.verifies(&message, from));
        assert!(!secrets.verifies(&message, "192.0.2.7:51821".parse().unwrap()));
        assert!(!secrets.verifies(&message, "[2001:db8::7]:51820".parse().unwrap()));
        assert!(CookieSecrets::new([2; 32], [1; 32]).verifies(&message, from));
        assert!(!CookieSecrets::new([3; 32], [2; 32]).verifies(&message, from));
    }
}
