use ports::ByteOrderTag;

/// An offload family to probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Tcp,
    Udp,
}

/// One super-frame per IP version that the kernel accepts if it can carry the family, and then discards silently: IPv4
/// with a wrong header checksum, IPv6 from a multicast source. Three segments, the last of them short.
pub(super) fn frames(family: Family, header_len: usize, order: ByteOrderTag) -> [Vec<u8>; 2] {
    [
        frame(family, header_len, order, &ipv4_header(family)),
        frame(family, header_len, order, &ipv6_header(family)),
    ]
}

fn frame(family: Family, header_len: usize, order: ByteOrderTag, ip: &[u8]) -> Vec<u8> {
    let is_ipv4 = ip.len() == 20;
    let gso_type = match (family, is_ipv4) {
        (Family::Tcp, true) => 1,
        (Family::Tcp, false) => 4,
        (Family::Udp, _) => 5,
    };
    let checksum_offset = match family {
        Family::Tcp => 16,
        Family::Udp => 6,
    };
    let transport = transport_header(family);
    let number = |value: usize| {
        let value = u16::try_from(value).unwrap_or(u16::MAX);
        match order {
            ByteOrderTag::Little => value.to_le_bytes(),
            ByteOrderTag::Native => value.to_ne_bytes(),
            ByteOrderTag::Big => value.to_be_bytes(),
        }
    };
    let mut bytes = vec![NEEDS_CHECKSUM, gso_type];
    bytes.extend(number(ip.len() + transport.len()));
    bytes.extend(number(SEGMENT_LEN));
    bytes.extend(number(ip.len()));
    bytes.extend(number(checksum_offset));
    bytes.resize(header_len.max(10), 0);
    bytes.extend(ip);
    bytes.extend(transport);
    bytes.extend([0; PAYLOAD_LEN]);
    bytes
}

fn transport_header(family: Family) -> Vec<u8> {
    match family {
        // Ports 9 to 9, data offset 5, ACK. The checksum field stays 0: nobody gets to see it.
        Family::Tcp => vec![
            0, 9, 0, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0,
        ],
        Family::Udp => {
            let mut header = vec![0, 9, 0, 9];
            header.extend(be(8 + PAYLOAD_LEN));
            // Zero would mean that there is no checksum.
            header.extend([0xFF, 0xFF]);
            header
        }
    }
}

fn ipv4_header(family: Family) -> Vec<u8> {
    let mut header = vec![0x45, 0];
    header.extend(be(20 + transport_len(family) + PAYLOAD_LEN));
    header.extend([0, 0, 0x40, 0, 64, protocol(family)]);
    // From and to a documentation network; with these fields no header checksum of 0xDEAD is right.
    header.extend([0xDE, 0xAD, 192, 0, 2, 1, 192, 0, 2, 2]);
    header
}

fn ipv6_header(family: Family) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0];
    header.extend(be(transport_len(family) + PAYLOAD_LEN));
    header.extend([protocol(family), 64]);
    header.extend([0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    header.extend([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    header
}

fn transport_len(family: Family) -> usize {
    match family {
        Family::Tcp => 20,
        Family::Udp => 8,
    }
}

fn protocol(family: Family) -> u8 {
    match family {
        Family::Tcp => 6,
        Family::Udp => 17,
    }
}

fn be(value: usize) -> [u8; 2] {
    u16::try_from(value).unwrap_or(u16::MAX).to_be_bytes()
}

const NEEDS_CHECKSUM: u8 = 1;
const SEGMENT_LEN: usize = 64;
/// Two full segments and a short one.
const PAYLOAD_LEN: usize = 2 * SEGMENT_LEN + 17;

#[cfg(test)]
mod tests {
    use super::*;

    /// FBK-10, P-27: the probe ends in a short segment, which some kernels refuse.
    #[test]
    fn fbk_10_the_probe_has_a_short_tail() {
        let [frame, _] = frames(Family::Tcp, 10, ByteOrderTag::Little);
        let payload = frame.len() - 10 - 40;

        assert_eq!(frame[4..6], [64, 0]);
        assert!(payload > 64 && !payload.is_multiple_of(64));
    }

    /// FBK-10: the IPv4 probe has a wrong header checksum.
    #[test]
    fn fbk_10_the_ipv4_probe_has_a_wrong_header_checksum() {
        for family in [Family::Tcp, Family::Udp] {
            let header = ipv4_header(family);
            let sum: u32 = header
                .chunks(2)
                .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
                .sum();
            let folded = (sum & 0xFFFF) + (sum >> 16);

            assert_ne!((folded & 0xFFFF) + (folded >> 16), 0xFFFF);
        }
    }

    /// FBK-10: the IPv6 probe comes from a multicast source.
    #[test]
    fn fbk_10_the_ipv6_probe_comes_from_a_multicast_source() {
        assert_eq!(ipv6_header(Family::Udp)[8], 0xFF);
    }

    #[test]
    fn the_probe_follows_length_and_byte_order_of_the_header() {
        let [little, _] = frames(Family::Tcp, 12, ByteOrderTag::Little);
        let [big, _] = frames(Family::Tcp, 10, ByteOrderTag::Big);

        assert_eq!(little[..12], [1, 1, 40, 0, 64, 0, 20, 0, 16, 0, 0, 0]);
        assert_eq!(big[..10], [1, 1, 0, 40, 0, 64, 0, 20, 0, 16]);
        assert_eq!(little[12], 0x45);
        assert_eq!(
            usize::from(u16::from_be_bytes([little[14], little[15]])),
            little.len() - 12
        );
    }
}
