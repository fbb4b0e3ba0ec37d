//! Views, flow questions, checksums and ICMP answers, judged by independent slow code.
#![cfg(test)]

mod checksum;
mod ecn;
mod icmp;
mod views;

/// Ones'-complement sum, word by word.
fn reference_sum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in bytes.chunks(2) {
        sum += u32::from(u16::from_be_bytes([
            pair[0],
            pair.get(1).copied().unwrap_or(0),
        ]));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).unwrap()
}
