//! An independent checksum and the comparison rules for packets.

use std::collections::BTreeMap;

/// Ones'-complement sum, word by word.
pub(crate) fn reference_sum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
        if sum > 0xffff {
            sum = (sum & 0xffff) + 1;
        }
    }
    sum as u16
}

pub(crate) fn reference_checksum(bytes: &[u8]) -> u16 {
    !reference_sum(bytes)
}

/// Offset of the upper layer and its protocol.
pub(crate) fn upper(packet: &[u8]) -> (usize, u8) {
    if packet[0] >> 4 == 4 {
        return (usize::from(packet[0] & 15) * 4, packet[9]);
    }
    let (mut at, mut kind) = (40, packet[6]);
    while matches!(kind, 0 | 43 | 60) {
        kind = packet[at];
        at += (usize::from(packet[at + 1]) + 1) * 8;
    }
    (at, kind)
}

/// Whether IPv4 header and TCP or UDP checksums are right, by the slow sum.
pub(crate) fn checksums_valid(packet: &[u8]) -> bool {
    let (at, protocol) = upper(packet);
    let l4 = &packet[at..];
    let len = u16::try_from(l4.len()).unwrap().to_be_bytes();
    let addresses = if packet[0] >> 4 == 4 {
        &packet[12..20]
    } else {
        &packet[8..40]
    };
    let ip_valid = packet[0] >> 4 == 6 || reference_checksum(&packet[..at]) == 0;
    let pseudo = [addresses, &[0, protocol], &len].concat();
    ip_valid && reference_checksum(&[&pseudo, l4].concat()) == 0
}

/// Asserts that lengths agree with the bytes and that every checksum is right.
pub(crate) fn assert_well_formed(packet: &[u8]) {
    if packet[0] >> 4 == 4 {
        assert_eq!(
            usize::from(u16::from_be_bytes([packet[2], packet[3]])),
            packet.len()
        );
    } else {
        assert_eq!(
            40 + usize::from(u16::from_be_bytes([packet[4], packet[5]])),
            packet.len()
        );
    }
    let (at, protocol) = upper(packet);
    if protocol == 17 {
        assert_eq!(
            usize::from(u16::from_be_bytes([packet[at + 4], packet[at + 5]])),
            packet.len() - at
        );
        assert_ne!(
            &packet[at + 6..at + 8],
            &[0, 0],
            "a computed UDP checksum is never 0"
        );
    }
    assert!(checksums_valid(packet), "checksum of {packet:02x?}");
}

/// [`assert_well_formed`] for every packet.
pub(crate) fn assert_all_well_formed(packets: &[Vec<u8>]) {
    for packet in packets {
        assert_well_formed(packet);
    }
}

/// The packet with everything cleared that may differ after merging and splitting: the identification of IPv4 packets
/// with DF, and the choice between the two zeros of a TCP checksum.
pub(crate) fn normalised(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if packet.len() < 20 || !matches!(packet[0] >> 4, 4 | 6) {
        return packet;
    }
    if packet[0] >> 4 == 4 && packet[6] & 0x40 != 0 && reference_checksum(&packet[..20]) == 0 {
        packet[4..6].fill(0);
        packet[10..12].fill(0);
    }
    let (at, protocol) = if packet[0] >> 4 == 6 && packet.len() < 40 {
        return packet;
    } else {
        upper_or_end(&packet)
    };
    if protocol == 6 && packet.len() >= at + 18 && packet[at + 16..at + 18] == [0xff, 0xff] {
        packet[at + 16..at + 18].fill(0);
    }
    packet
}

/// Asserts that each flow has the same packets in the same order.
pub(crate) fn assert_same_per_flow(input: &[Vec<u8>], output: &[Vec<u8>]) {
    assert_eq!(input.len(), output.len(), "number of packets");
    let (input, output) = (per_flow(input), per_flow(output));
    for (flow, packets) in &input {
        assert_eq!(Some(packets), output.get(flow), "flow {flow:02x?}");
    }
}

fn per_flow(packets: &[Vec<u8>]) -> BTreeMap<Vec<u8>, Vec<Vec<u8>>> {
    let mut flows: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for packet in packets {
        let packet = normalised(cut(packet));
        flows.entry(flow_of(&packet)).or_default().push(packet);
    }
    flows
}

/// Address pair and protocol: coarser than ports, except that two whole packets with different ports may change places.
fn flow_of(packet: &[u8]) -> Vec<u8> {
    let (at, protocol) = upper_or_end(packet);
    let addresses = if packet[0] >> 4 == 4 {
        &packet[12..20]
    } else {
        &packet[8..40]
    };
    let fragment =
        packet[0] >> 4 == 4 && (packet[6] & 0x3f != 0 || packet[7] != 0) || protocol == 44;
    let ports = if fragment || !matches!(protocol, 6 | 17) {
        &[][..]
    } else {
        packet.get(at..at + 4).unwrap_or(&[])
    };
    [addresses, &[protocol], ports].concat()
}

fn upper_or_end(packet: &[u8]) -> (usize, u8) {
    if packet[0] >> 4 == 6 && matches!(packet[6], 0 | 43 | 60) && packet.len() < 48 {
        return (packet.len(), 59);
    }
    upper(packet)
}

fn cut(packet: &[u8]) -> &[u8] {
    let declared = if packet[0] >> 4 == 4 {
        usize::from(u16::from_be_bytes([packet[2], packet[3]]))
    } else {
        40 + usize::from(u16::from_be_bytes([packet[4], packet[5]]))
    };
    &packet[..declared.min(packet.len())]
}
