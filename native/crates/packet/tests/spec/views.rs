use std::net::IpAddr;

use packet::{
    Flow, IpVersion, Ipv4, Ipv6, PacketError, Tcp, Udp, UpperLayer, addresses, declared_len, flow,
};
use proptest::prelude::*;

const V4: [u8; 32] = [
    0x46, 0x2d, 0, 32, 0x12, 0x34, 0x40, 0, 64, 17, 0xaa, 0xbb, 10, 9, 0, 2, 10, 9, 0, 1, 1, 1, 1,
    0, 0x17, 0x70, 0x17, 0x71, 0, 8, 0xcc, 0xdd,
];

fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).unwrap().to_be_bytes();
    let mut packet = vec![0x61, 0x23, 0x45, 0x67, len[0], len[1], next, 9];
    packet.extend([0xfd; 16]);
    packet.extend([0xfe; 16]);
    packet.extend(payload);
    packet
}

#[test]
fn an_ipv4_view_reads_every_field() {
    let ip = Ipv4::try_from(&V4[..]).unwrap();

    assert_eq!(
        (ip.header().len(), ip.payload().len(), ip.total_len()),
        (24, 8, 32)
    );
    assert_eq!(
        (
            ip.tos(),
            ip.id(),
            ip.fragment_word(),
            ip.ttl(),
            ip.protocol()
        ),
        (0x2d, 0x1234, 0x4000, 64, 17)
    );
    assert_eq!(
        (ip.source().octets(), ip.destination().octets()),
        ([10, 9, 0, 2], [10, 9, 0, 1])
    );
    assert!(!ip.is_fragment() && !ip.is_later_fragment() && !ip.header_checksum_valid());
}

#[test]
fn an_ipv4_view_names_what_is_wrong() {
    let bent = |at: usize, value: u8| {
        let mut bytes = V4;
        bytes[at] = value;
        Ipv4::try_from(&bytes[..]).map(drop).unwrap_err()
    };

    assert_eq!(
        Ipv4::try_from(&V4[..19]).map(drop),
        Err(PacketError::TooShort {
            needed: 20,
            got: 19
        })
    );
    assert_eq!(
        bent(0, 0x66),
        PacketError::WrongVersion {
            expected: 4,
            got: 6
        }
    );
    assert_eq!(
        bent(0, 0x44),
        PacketError::HeaderLen {
            declared: 16,
            least: 20,
            most: 32
        }
    );
    assert_eq!(
        bent(0, 0x4f),
        PacketError::HeaderLen {
            declared: 60,
            least: 20,
            most: 32
        }
    );
    assert_eq!(
        bent(3, 33),
        PacketError::DeclaredLen {
            declared: 33,
            least: 24,
            most: 32
        }
    );
    assert_eq!(
        bent(3, 23),
        PacketError::DeclaredLen {
            declared: 23,
            least: 24,
            most: 32
        }
    );
    assert_eq!(
        bent(3, 23).to_string(),
        "declared length 23 outside 24 to 32"
    );
}

#[test]
fn both_fragment_masks_count() {
    for (word, fragment, later) in [
        (0x4000_u16, false, false),
        (0x8000, false, false),
        (0x2000, true, false),
        (0x0001, true, true),
        (0x1000, true, true),
        (0x3fff, true, true),
    ] {
        let mut bytes = V4;
        bytes[6..8].copy_from_slice(&word.to_be_bytes());
        let ip = Ipv4::try_from(&bytes[..]).unwrap();
        assert_eq!(
            (ip.is_fragment(), ip.is_later_fragment()),
            (fragment, later),
            "{word:#x}"
        );
        assert_eq!(flow(&bytes).is_some(), !fragment);
    }
}

#[test]
fn an_ipv6_view_cuts_surplus_and_refuses_missing_bytes() {
    let mut bytes = v6(6, &[7; 20]);
    bytes.extend([0xee; 3]);

    let ip = Ipv6::try_from(&bytes[..]).unwrap();

    assert_eq!(
        (
            ip.payload(),
            ip.total_len(),
            ip.next_header(),
            ip.hop_limit()
        ),
        (&[7; 20][..], 60, 6, 9)
    );
    assert_eq!(ip.version_class_flow(), 0x6123_4567);
    assert_eq!(
        (ip.source().octets(), ip.destination().octets()),
        ([0xfd; 16], [0xfe; 16])
    );
    assert_eq!(
        Ipv6::try_from(&bytes[..59]).map(drop),
        Err(PacketError::DeclaredLen {
            declared: 60,
            least: 40,
            most: 59
        })
    );
    assert_eq!(
        Ipv6::try_from(&bytes[..39]).map(drop),
        Err(PacketError::TooShort {
            needed: 40,
            got: 39
        })
    );
    assert_eq!(
        Ipv6::try_from(&V4[..]).map(drop),
        Err(PacketError::TooShort {
            needed: 40,
            got: 32
        })
    );
}

/// SPL-10, CSM-02: the upper layer behind extension headers.
#[test]
fn the_walk_finds_the_upper_layer_behind_extension_headers() {
    let hop = [43, 0, 0, 0, 0, 0, 0, 0];
    let routing = [60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let destination = [17, 0, 0, 0, 0, 0, 0, 0];
    let udp = [0x17, 0x70, 0x17, 0x71, 0, 8, 0, 0];
    let packet = v6(0, &[&hop[..], &routing, &destination, &udp].concat());

    let upper = Ipv6::try_from(&packet[..]).unwrap().upper_layer();

    assert_eq!(
        upper,
        Some(UpperLayer {
            protocol: 17,
            offset: 72,
            is_fragment: false,
            is_later_fragment: false
        })
    );
    assert_eq!(
        flow(&packet),
        Some(Flow {
            protocol: 17,
            source_port: 6000,
            destination_port: 6001
        })
    );
    let cut = v6(0, &hop[..7]);
    assert_eq!(Ipv6::try_from(&cut[..]).unwrap().upper_layer(), None);
}

#[test]
fn the_longer_walk_also_passes_authentication_and_mobility() {
    let authentication = [135, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mobility = [44, 0, 0, 0, 0, 0, 0, 0];
    let fragment = [6, 0, 0, 1, 0, 0, 0, 1];
    let packet = v6(51, &[&authentication[..], &mobility, &fragment].concat());
    let ip = Ipv6::try_from(&packet[..]).unwrap();

    assert_eq!(
        ip.last_header(),
        Some(UpperLayer {
            protocol: 6,
            offset: 68,
            is_fragment: true,
            is_later_fragment: false
        })
    );
    assert_eq!(ip.upper_layer().map(|upper| upper.protocol), Some(51));
    assert_eq!(packet::last_header(51, &authentication[..11]), None);
    let endless = [60, 0, 0, 0, 0, 0, 0, 0].repeat(packet::CHAIN_MAX + 1);
    assert_eq!(packet::last_header(60, &endless), None);
    let long = [60, 0, 0, 0, 0, 0, 0, 0].repeat(packet::CHAIN_MAX);
    assert_eq!(
        packet::last_header(59, &long).map(|upper| upper.offset),
        Some(40)
    );
}

#[test]
fn fragment_headers_of_ipv6_are_seen() {
    for (word, fragment, later) in [
        (0_u16, false, false),
        (1, true, false),
        (8, true, true),
        (0xfff9, true, true),
    ] {
        let [high, low] = word.to_be_bytes();
        let packet = v6(
            44,
            &[
                17, 0, high, low, 0, 0, 0, 1, 0x17, 0x70, 0x17, 0x71, 0, 8, 0, 0,
            ],
        );

        let upper = Ipv6::try_from(&packet[..]).unwrap().upper_layer().unwrap();

        assert_eq!((upper.protocol, upper.offset), (17, 48));
        assert_eq!(
            (upper.is_fragment, upper.is_later_fragment),
            (fragment, later)
        );
        assert_eq!(flow(&packet).is_some(), !fragment);
    }
}

#[test]
fn a_tcp_view_reads_every_field_and_checks_its_offset() {
    let mut bytes: Vec<u8> = (0..30).collect();
    bytes[12] = 0x61;

    let tcp = Tcp::try_from(&bytes[..]).unwrap();

    assert_eq!((tcp.header().len(), tcp.payload()), (24, &bytes[24..]));
    assert_eq!(
        (tcp.source_port(), tcp.destination_port()),
        (0x0001, 0x0203)
    );
    assert_eq!(
        (tcp.sequence(), tcp.acknowledgement()),
        (0x0405_0607, 0x0809_0a0b)
    );
    assert_eq!(
        (tcp.reserved_bits(), tcp.flags(), tcp.window()),
        (1, 13, 0x0e0f)
    );
    assert_eq!((tcp.checksum(), tcp.urgent_pointer()), (0x1011, 0x1213));
    for (nibble, declared) in [(4, 16), (8, 32), (15, 60)] {
        bytes[12] = nibble << 4;
        let error = PacketError::HeaderLen {
            declared,
            least: 20,
            most: 30,
        };
        assert_eq!(Tcp::try_from(&bytes[..]).map(drop), Err(error));
    }
    assert_eq!(
        Tcp::try_from(&bytes[..19]).map(drop),
        Err(PacketError::TooShort {
            needed: 20,
            got: 19
        })
    );
}

#[test]
fn a_udp_view_cuts_to_its_length_field() {
    let bytes = [0x17, 0x70, 0x17, 0x71, 0, 10, 0xab, 0xcd, 1, 2, 3];

    let udp = Udp::try_from(&bytes[..]).unwrap();

    assert_eq!(
        (udp.source_port(), udp.destination_port(), udp.checksum()),
        (6000, 6001, 0xabcd)
    );
    assert_eq!(
        (udp.payload(), udp.len(), udp.is_empty()),
        (&[1, 2][..], 10, false)
    );
    assert_eq!(
        Udp::try_from(&bytes[..9]).map(drop),
        Err(PacketError::DeclaredLen {
            declared: 10,
            least: 8,
            most: 9
        })
    );
    assert_eq!(
        Udp::try_from(&bytes[..7]).map(drop),
        Err(PacketError::TooShort { needed: 8, got: 7 })
    );
}

#[test]
fn addresses_and_lengths_need_only_the_fixed_header() {
    let six = v6(59, &[0; 5]);

    assert_eq!(
        addresses(&V4[..20]),
        Some((IpAddr::from([10, 9, 0, 2]), IpAddr::from([10, 9, 0, 1])))
    );
    assert_eq!(
        addresses(&six[..40]),
        Some((IpAddr::from([0xfd; 16]), IpAddr::from([0xfe; 16])))
    );
    assert_eq!(
        (declared_len(&V4[..20]), declared_len(&six[..40])),
        (Some(32), Some(45))
    );
    for bytes in [&V4[..19], &six[..39], &[], &[0x55; 60]] {
        assert_eq!(
            (addresses(bytes), declared_len(bytes), flow(bytes)),
            (None, None, None)
        );
    }
    assert_eq!(IpVersion::of(&[0x45]), Some(IpVersion::V4));
    assert_eq!(
        IpVersion::of(&[0xc5]),
        None,
        "the elision mark is not part of a version"
    );
}

proptest! {
    /// P-88, E2E-04: arbitrary bytes, with a version nibble that makes them look like a packet.
    #[test]
    fn no_bytes_make_a_view_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), nibble in prop::sample::select(vec![4_u8, 6, 5]), declare: bool) {
        if let Some(first) = bytes.first_mut() {
            *first = nibble << 4 | *first & 0x0f;
        }
        if declare && bytes.len() >= 40 {
            let (at, len) = if nibble == 4 { (2, bytes.len()) } else { (4, bytes.len() - 40) };
            bytes[at..at + 2].copy_from_slice(&u16::try_from(len).unwrap().to_be_bytes());
        }
        let _ = (addresses(&bytes), declared_len(&bytes), flow(&bytes), Tcp::try_from(&bytes[..]).is_ok(), Udp::try_from(&bytes[..]).is_ok());
        if let Ok(ip) = Ipv4::try_from(&bytes[..]) {
            prop_assert!(ip.total_len() <= bytes.len());
            let _ = (ip.header_checksum_valid(), ip.pseudo_header(bytes.len()));
        }
        if let Ok(ip) = Ipv6::try_from(&bytes[..]) {
            prop_assert!(ip.upper_layer().is_none_or(|upper| upper.offset <= bytes.len()));
        }
        let mut out = [0; packet::icmp::TOO_BIG_LEN_MAX];
        for router in [IpAddr::from([10, 0, 0, 1]), IpAddr::from([0xfd; 16])] {
            let _ = packet::icmp::write_too_big(&bytes, 1280, router, &mut out);
        }
    }
}
