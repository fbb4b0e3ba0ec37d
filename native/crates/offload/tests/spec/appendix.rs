//! The byte vectors of the specification.

use std::fmt::Write;

use crate::common::fixture::{ACK, Field, PSH, t4, t6, u4, u6};
use crate::common::{Pushed, merge, run_burst, split, wide_limits};
use offload::{ByteOrder, Checksum, Merger, VirtioHeader};

const T4: &str = "4500003812344000400614780a0900020a0900019c40145100000001000003e8801001f4a6e300000101080a0000006f000000de01020304";

/// VEC-01: the first packet of every fixture.
#[test]
fn vec_01_fixtures_have_the_published_bytes() {
    assert_eq!(hex(&t4(1, 4).bytes()), T4);
    assert_eq!(
        hex(&t6(1, 4).bytes()),
        "6001234500240640fd090000000000000000000000000002fd0900000000000000000000000000019c40145100000001000003e8801001f4c0e100000101080a0000006f000000de01020304"
    );
    assert_eq!(
        hex(&u4(0, 5).bytes()),
        "4500002112344000401114840a0900020a09000117701771000db6da0001020304"
    );
    assert_eq!(
        hex(&u6(0, 5).bytes()),
        "60012345000d1140fd090000000000000000000000000002fd09000000000000000000000000000117701771000dd0d80001020304"
    );
}

/// VEC-02: a single packet as read with a partial checksum becomes VEC-01.
#[test]
fn vec_02_a_partial_checksum_is_finished() {
    let packet = unhex(
        "4500003812344000400614780a0900020a0900019c40145100000001000003e8801001f4143f00000101080a0000006f000000de01020304",
    );

    let pieces = split(&header("01000000000014001000"), &packet, 1420).unwrap();

    assert_eq!(
        pieces.iter().map(|piece| hex(piece)).collect::<Vec<_>>(),
        [T4]
    );
}

/// VEC-03: three TCP segments become one super-frame.
#[test]
fn vec_03_merged_tcp_has_the_published_bytes() {
    let burst = [
        t4(0, 8).bytes(),
        t4(8, 8).bytes(),
        t4(16, 4).flags(PSH | ACK).bytes(),
    ];

    let outs = merge(&burst);

    assert_eq!(outs.len(), 1);
    assert_eq!(hex(&outs[0].raw_header), "01013400080014001000");
    assert_eq!(
        hex(&outs[0].bytes),
        "4500004812344000400614680a0900020a0900019c40145100000000000003e8801801f4144f00000101080a0000006f000000de000102030405060708090a0b0c0d0e0f10111213"
    );
}

/// VEC-04: three UDP datagrams over IPv6 become one super-frame.
#[test]
fn vec_04_merged_udp_has_the_published_bytes() {
    let outs = merge(&[u6(0, 8).bytes(), u6(1, 8).bytes(), u6(2, 3).bytes()]);

    assert_eq!(outs.len(), 1);
    assert_eq!(hex(&outs[0].raw_header), "01053000080028000600");
    assert_eq!(
        hex(&outs[0].bytes),
        "60012345001b1140fd090000000000000000000000000002fd09000000000000000000000000000117701771001bfa4200010203040506071112131415161718222324"
    );
}

/// VEC-05: a read super-frame with CWR, FIN and PSH splits into three pieces.
#[test]
fn vec_05_flags_go_to_the_right_pieces() {
    let packet = unhex(
        "4500004812344000400614680a0900020a0900019c40145100000100000003e8809901f4144f00000101080a0000006f000000de05060708090a0b0c0d0e0f101112131415161718",
    );

    let pieces = split(&header("01813400080014001000"), &packet, 1420).unwrap();

    assert_eq!(
        pieces.iter().map(|piece| hex(piece)).collect::<Vec<_>>(),
        [
            "4500003c12344000400614740a0900020a0900019c40145100000100000003e8809001f4894200000101080a0000006f000000de05060708090a0b0c",
            "4500003c12354000400614730a0900020a0900019c40145100000108000003e8801001f4699a00000101080a0000006f000000de0d0e0f1011121314",
            "4500003812364000400614760a0900020a0900019c40145100000110000003e8801901f47da300000101080a0000006f000000de15161718",
        ]
    );
}

/// VEC-06: the elided packet of the vector, its mark cleared, leaves as a single with a partial checksum (ELI-07).
#[test]
fn vec_06_an_elided_packet_keeps_its_seed() {
    let mut packet = unhex(
        "c500003812344000400614780a0900020a0900019c40145100000001000003e8801001f4143f00000101080a0000006f000000de01020304",
    );
    let seeded = t4(1, 4).field(Field::Seed);
    let limits = offload::SplitLimits { inner_mtu: 1420 };
    let mut made = vec![0; packet.len()];
    let len = offload::SplitCursor::start(&seeded.virtio_single(), &seeded.bytes(), &limits)
        .unwrap()
        .elided(&seeded.virtio_single(), &seeded.bytes())
        .write_next(&seeded.bytes(), &mut made);
    assert_eq!(
        (len, &made),
        (Some(packet.len()), &packet),
        "as the sender makes it"
    );

    assert_eq!(offload::unmark(&mut packet), Ok(()));
    assert_eq!(packet, t4(1, 4).field(Field::Seed).bytes());
    let pushed = Pushed {
        bytes: packet.clone(),
        peer: 1,
        checksum: Checksum::Elided,
    };

    let outs = run_burst(&mut Merger::new(wide_limits()), &[pushed]);

    assert_eq!(hex(&outs[0].raw_header), "01000000000014001000");
    assert_eq!(outs[0].bytes, packet);
    assert_eq!(hex(&outs[0].expanded[0]), T4);
}

fn header(text: &str) -> VirtioHeader {
    VirtioHeader::read(&unhex(text), ByteOrder::Little).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
