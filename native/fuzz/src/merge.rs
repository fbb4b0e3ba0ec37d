use offload::{ByteOrder, Checksum, ExpandScratch, MergeLimits, Merger, PushOutcome, expand};

/// Bytes are packets, each behind one byte of peer and elision and two bytes of length (big-endian).
///
/// Whatever comes in must come out of `expand` byte for byte, in any order of flows; only the identification of IPv4
/// packets with DF, and the form of a TCP zero, may differ.
pub fn merge(data: &[u8]) {
    let mut merger = Merger::new(MergeLimits {
        packets_max: 64,
        flows_max: 4,
        inner_mtu: 65_535,
        ..MergeLimits::default()
    });
    let mut arena = data.to_vec();
    let mut sent = Vec::new();
    let mut rest = data;
    while let Some(([tag, high, low], after)) = rest.split_first_chunk::<3>() {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let start = data.len() - after.len();
        let checksum = if tag & 1 == 0 {
            Checksum::Unverified
        } else {
            Checksum::Elided
        };
        let bytes = &after[..len];
        match merger.push(
            &arena,
            offset(start),
            offset(len),
            u32::from(tag >> 1),
            checksum,
        ) {
            PushOutcome::Queued if checksum == Checksum::Unverified => {
                sent.push(Some(normalised(cut(bytes))));
            }
            PushOutcome::Queued => sent.push(None),
            PushOutcome::Malformed => {}
            PushOutcome::Full => flush(&mut merger, &mut arena, &mut sent),
        }
        rest = &after[len..];
    }
    flush(&mut merger, &mut arena, &mut sent);
    assert!(merger.is_empty());
}

/// Flushes and compares; packets with an elided checksum are only counted.
fn flush(merger: &mut Merger, arena: &mut [u8], sent: &mut Vec<Option<Vec<u8>>>) {
    let (mut whole, mut piece) = (vec![0; 65_575], vec![0; 65_575]);
    let mut found = Vec::new();
    let mut packets = 0;
    merger.flush(arena, ByteOrder::Little, |arena, frame| {
        assert!(frame.parts.len() == frame.packets && frame.parts.len() <= 1023);
        let mut scratch = ExpandScratch {
            frame: &mut whole,
            piece: &mut piece,
        };
        let count = expand(arena, &frame, ByteOrder::Little, &mut scratch, |packet| {
            found.push(normalised(packet));
        });
        assert_eq!(count, Ok(frame.packets));
        packets += frame.packets;
    });
    assert_eq!(packets, sent.len(), "nothing is lost or doubled");
    found.sort();
    for packet in sent.drain(..).flatten() {
        assert!(
            found.binary_search(&packet).is_ok(),
            "a packet came out changed: {packet:02x?}"
        );
    }
}

fn cut(packet: &[u8]) -> &[u8] {
    packet::declared_len(packet)
        .and_then(|len| packet.get(..len))
        .unwrap_or(packet)
}

fn normalised(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    let Ok(ip) = packet::Ipv4::try_from(&packet[..]) else {
        return tcp_zero(packet, 40);
    };
    let header_len = ip.header().len();
    if ip.fragment_word() & packet::Ipv4::DONT_FRAGMENT != 0 && ip.header_checksum_valid() {
        packet[4..6].fill(0);
        packet[10..12].fill(0);
    }
    tcp_zero(packet, header_len)
}

fn tcp_zero(mut packet: Vec<u8>, at: usize) -> Vec<u8> {
    let protocol = if at == 40 && packet.first().is_some_and(|first| first >> 4 == 6) {
        packet.get(6)
    } else {
        packet.get(9)
    };
    if protocol == Some(&6) && packet.get(at + 16..at + 18) == Some(&[0xff, 0xff]) {
        packet[at + 16..at + 18].fill(0);
    }
    packet
}

fn offset(value: usize) -> u32 {
    u32::try_from(value).expect("fuzz inputs are short")
}
