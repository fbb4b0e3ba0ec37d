use std::net::IpAddr;

use packet::icmp::{TOO_BIG_LEN_MAX, write_too_big};
use packet::{Ipv4, Ipv6, addresses};

use crate::reference_sum;

const ROUTER4: [u8; 4] = [10, 9, 0, 254];

fn v4(len: usize) -> Vec<u8> {
    let total = u16::try_from(len).unwrap().to_be_bytes();
    let mut packet = vec![
        0x45, 0, total[0], total[1], 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 9, 0, 2, 10, 9, 0, 1,
    ];
    packet.resize(len, 0x5a);
    packet
}

fn v6(len: usize) -> Vec<u8> {
    let payload = u16::try_from(len - 40).unwrap().to_be_bytes();
    let mut packet = vec![0x60, 0, 0, 0, payload[0], payload[1], 17, 64];
    packet.extend([0xfd; 16]);
    packet.extend([0xfe; 16]);
    packet.resize(len, 0x5a);
    packet
}

/// SPL-19
#[test]
fn spl_19_fragmentation_needed_tells_the_mtu_to_the_source() {
    let packet = v4(1428);
    let mut out = [0; TOO_BIG_LEN_MAX];

    let len = write_too_big(&packet, 1280, ROUTER4.into(), &mut out).unwrap();

    let ip = Ipv4::try_from(&out[..len]).unwrap();
    assert!(ip.header_checksum_valid());
    assert_eq!(ip.total_len(), 576);
    assert_eq!(
        addresses(&out[..len]),
        Some((ROUTER4.into(), IpAddr::from([10, 9, 0, 2])))
    );
    assert_eq!(ip.payload()[..2], [3, 4]);
    assert_eq!(ip.payload()[6..8], 1280_u16.to_be_bytes());
    assert_eq!(ip.payload()[8..], packet[..548]);
    assert_eq!(reference_sum(ip.payload()), 0xffff);
}

/// SPL-19
#[test]
fn spl_19_packet_too_big_tells_the_mtu_to_the_source() {
    let packet = v6(1500);
    let mut out = [0; TOO_BIG_LEN_MAX];

    let len = write_too_big(&packet, 1280, IpAddr::from([0xfc; 16]), &mut out).unwrap();

    let ip = Ipv6::try_from(&out[..len]).unwrap();
    assert_eq!((len, ip.next_header()), (1280, 58));
    assert_eq!(
        addresses(&out[..len]),
        Some((IpAddr::from([0xfc; 16]), IpAddr::from([0xfd; 16])))
    );
    assert_eq!(
        (ip.payload()[0], &ip.payload()[4..8]),
        (2, &1280_u32.to_be_bytes()[..])
    );
    assert_eq!(ip.payload()[8..], packet[..1232]);
    let icmp_len = u32::try_from(ip.payload().len()).unwrap().to_be_bytes();
    assert_eq!(
        reference_sum(&[&out[8..40], &icmp_len, &[0, 0, 0, 58], ip.payload()].concat()),
        0xffff
    );
}

#[test]
fn nothing_is_answered_to_errors_fragments_multicast_or_the_wrong_family() {
    let mut out = [0; TOO_BIG_LEN_MAX];
    let mut answer = |packet: &[u8], router: IpAddr| write_too_big(packet, 1280, router, &mut out);
    let bent = |mut packet: Vec<u8>, at: usize, bytes: &[u8]| {
        packet[at..at + bytes.len()].copy_from_slice(bytes);
        packet
    };

    assert!(answer(&v4(100), ROUTER4.into()).is_some());
    assert_eq!(answer(&v4(100), IpAddr::from([0xfd; 16])), None);
    assert_eq!(
        answer(&bent(v4(100), 6, &[0, 9]), ROUTER4.into()),
        None,
        "later fragment"
    );
    assert_eq!(
        answer(&bent(v4(100), 12, &[0, 0, 0, 0]), ROUTER4.into()),
        None,
        "unspecified source"
    );
    assert_eq!(
        answer(&bent(v4(100), 16, &[224, 0, 0, 1]), ROUTER4.into()),
        None,
        "multicast"
    );
    let icmp = bent(v4(100), 9, &[1]);
    assert_eq!(
        answer(&bent(icmp.clone(), 20, &[3]), ROUTER4.into()),
        None,
        "an error"
    );
    assert!(
        answer(&bent(icmp, 20, &[8]), ROUTER4.into()).is_some(),
        "an echo request"
    );
    let icmp6 = bent(v6(100), 6, &[58]);
    assert_eq!(
        answer(&bent(icmp6.clone(), 40, &[1]), IpAddr::from([0xfc; 16])),
        None,
        "an error"
    );
    assert!(
        answer(&bent(icmp6, 40, &[128]), IpAddr::from([0xfc; 16])).is_some(),
        "an echo request"
    );
    assert_eq!(
        write_too_big(&v4(100), 1280, ROUTER4.into(), &mut [0; 127]),
        None,
        "no room"
    );
}
