//! How fast the ciphers are on this machine.

use core::hint;
use core::time::Duration;

use ports::Clock;
use wire::{Aead, Cipher, KEY_LEN, TAG_LEN, TransportKey};

/// What sealing one packet of [`MEASURED_PACKET_LEN`] bytes takes with one cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CipherSpeed {
    /// The cipher.
    pub cipher: Cipher,
    /// Time for one packet, the best of several rounds.
    pub per_packet: Duration,
    /// Whether the processor has instructions for it.
    pub has_instructions: bool,
}

/// Seals packets with every cipher in turn for about three milliseconds. The best round counts: what else the machine
/// does can only make a round slower.
#[must_use]
pub fn measure_ciphers(clock: &impl Clock) -> [CipherSpeed; Cipher::ALL.len()] {
    let keys = Cipher::ALL.map(|cipher| TransportKey::new(cipher, &mut [0x5a; KEY_LEN]));
    let mut best = [Duration::MAX; Cipher::ALL.len()];
    let mut packet = vec![0; MEASURED_PACKET_LEN];
    for _ in 0..ROUNDS {
        for (key, best) in keys.iter().zip(&mut best) {
            *best = (*best).min(round(clock, key, &mut packet));
        }
    }
    let mut best = best.into_iter();
    Cipher::ALL.map(|cipher| CipherSpeed {
        cipher,
        per_packet: best.next().unwrap_or(Duration::MAX) / PACKETS_PER_ROUND,
        has_instructions: cipher.has_instructions(),
    })
}

fn round(clock: &impl Clock, key: &TransportKey, packet: &mut [u8]) -> Duration {
    let mut tag = [0; TAG_LEN];
    let start = clock.now();
    for counter in 0..PACKETS_PER_ROUND {
        key.seal(counter.into(), packet, &mut tag);
        hint::black_box(&tag);
    }
    clock.now().saturating_since(start)
}

/// Bytes of the packets that are sealed: a full one of the default MTU.
pub const MEASURED_PACKET_LEN: usize = 1420;
const ROUNDS: u32 = 24;
const PACKETS_PER_ROUND: u32 = 64;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ports::Instant;

    use super::*;

    /// Every reading is one microsecond later than the one before, and the tenth pair takes a second.
    struct Steps(Cell<u64>);

    impl Clock for Steps {
        fn now(&self) -> Instant {
            let reading = self.0.get();
            self.0.set(reading + 1);
            let hiccup = if reading > 20 { 1_000_000_000 } else { 0 };
            Instant::from_nanoseconds(reading * 6_400 + hiccup)
        }
    }

    #[test]
    fn the_best_round_of_each_cipher_counts() {
        let speeds = measure_ciphers(&Steps(Cell::new(0)));

        for (speed, cipher) in speeds.iter().zip(Cipher::ALL) {
            assert_eq!(speed.cipher, cipher);
            assert_eq!(speed.per_packet, Duration::from_nanos(100));
        }
        assert!(speeds[0].has_instructions, "ChaCha20 needs none");
    }
}
