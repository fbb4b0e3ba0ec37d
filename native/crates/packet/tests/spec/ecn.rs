//! Congestion marks between inner and outer header (SEG-14, P-80).

use packet::Ipv4;
use packet::ecn::{Carried, carry, mark};
use testkit::{Segment, tcp_v4, tcp_v6};

fn packets(inner: u8, class: u8) -> [Vec<u8>; 2] {
    let segment = Segment {
        traffic_class: class << 2 | inner,
        ..Segment::default()
    };
    [
        tcp_v4(
            "10.9.0.2:1".parse().unwrap(),
            "10.9.0.1:2".parse().unwrap(),
            &segment,
            b"abc",
        ),
        tcp_v6(
            "[fd09::2]:1".parse().unwrap(),
            "[fd09::1]:2".parse().unwrap(),
            &segment,
            b"abc",
        ),
    ]
}

/// SEG-14, P-80: every combination of inner and outer mark ends as RFC 6040 says, and nothing else of the packet
/// changes.
#[test]
fn marks_are_combined_as_the_table_says() {
    // Rows: inner mark. Columns: outer mark. 9 = the packet is dropped.
    let table = [[0, 0, 0, 9], [1, 1, 1, 3], [2, 1, 2, 3], [3, 3, 3, 3]];
    for (inner, row) in (0_u8..).zip(table) {
        for (outer, expected) in (0_u8..).zip(row) {
            for class in [0, 0b10_1110, 0b11_1111] {
                for (mut packet, wanted) in packets(inner, class)
                    .into_iter()
                    .zip(packets(expected & 3, class))
                {
                    assert_eq!(mark(&packet), inner);

                    let carried = carry(outer, &mut packet);

                    if expected == 9 {
                        assert_eq!(carried, Carried::Impossible, "{inner} {outer}");
                        continue;
                    }
                    assert_eq!(carried, Carried::Yes);
                    assert_eq!(
                        packet, wanted,
                        "inner {inner}, outer {outer}, class {class}"
                    );
                }
            }
        }
    }
}

/// P-80: a wrong IPv4 header checksum stays wrong.
#[test]
fn a_wrong_header_checksum_is_not_repaired() {
    let [mut packet, _] = packets(2, 0);
    packet[10] ^= 0x40;

    assert_eq!(carry(3, &mut packet), Carried::Yes);

    assert_eq!(mark(&packet), 3);
    assert!(!Ipv4::try_from(&packet[..]).unwrap().header_checksum_valid());
}

/// P-80: what is no packet has no mark and is left alone.
#[test]
fn bytes_that_are_no_packet_are_left_alone() {
    for bytes in [
        vec![],
        vec![0x45],
        vec![0x60],
        vec![0x45, 3],
        vec![0x6f, 0xff, 1],
        vec![9; 60],
    ] {
        for outer in 0..=3 {
            let mut changed = bytes.clone();
            let _ = carry(outer, &mut changed);
            assert!(changed == bytes || bytes.len() >= 20, "{bytes:02x?}");
        }
    }
    assert_eq!(mark(&[9; 60]), 0);
}
