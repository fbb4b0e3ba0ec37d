//! How fast the ciphers are here.

use engine::MEASURED_PACKET_LEN;
use napi_derive::napi;
use wire::Cipher;

use crate::waiter::SystemClock;

/// What one cipher costs on this machine.
#[napi(object)]
pub struct CipherSpeed {
    /// Its name: `chacha20-poly1305` or `aes-256-gcm`.
    #[napi(ts_type = "\"chacha20-poly1305\" | \"aes-256-gcm\"")]
    pub cipher: String,
    /// Nanoseconds to seal one packet of `packetBytes` bytes: the best of several rounds.
    pub nanoseconds: f64,
    /// Bytes of that packet.
    pub packet_bytes: u32,
    /// Whether the processor has instructions for it.
    pub has_instructions: bool,
}

/// Seals packets with every cipher for about three milliseconds altogether. It occupies the calling thread meanwhile.
#[napi]
#[must_use]
pub fn measure_ciphers() -> Vec<CipherSpeed> {
    engine::measure_ciphers(&SystemClock)
        .into_iter()
        .map(|speed| CipherSpeed {
            cipher: name(speed.cipher).to_owned(),
            nanoseconds: speed.per_packet.as_secs_f64() * 1e9,
            packet_bytes: u32::try_from(MEASURED_PACKET_LEN).unwrap_or(u32::MAX),
            has_instructions: speed.has_instructions,
        })
        .collect()
}

fn name(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::ChaCha20Poly1305 => "chacha20-poly1305",
        Cipher::Aes256Gcm => "aes-256-gcm",
    }
}
