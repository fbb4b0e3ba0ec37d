//! Section 13: checksum elision.

use offload::{
    ELISION_MARK, ElisionError, SplitCursor, SplitLimits, VirtioHeader, finish_elided, is_marked,
    unmark,
};

use crate::common::fixture::{
    FIN, Field, MF, PSH, Packet, fragment_extension, padding_extension, t4, t6, u4, u6,
};
use crate::common::judge::assert_well_formed;
use crate::common::split;

const MTU: usize = 1420;

/// Pieces of a frame whose checksums are left to the tunnel where that is allowed.
fn elided_pieces(header: &VirtioHeader, packet: &[u8]) -> (bool, Vec<Vec<u8>>) {
    let limits = SplitLimits { inner_mtu: MTU };
    let mut cursor = SplitCursor::start(header, packet, &limits)
        .unwrap()
        .elided(header, packet);
    let elided = cursor.is_elided();
    let mut out = vec![0; 65_535];
    let mut pieces = Vec::new();
    while let Some(len) = cursor.write_next(packet, &mut out) {
        pieces.push(out[..len].to_vec());
    }
    (elided, pieces)
}

/// Every kind of packet that may be elided, with its seed in place.
fn eligible() -> Vec<Packet> {
    let with_options = |packet: Packet| packet.with(|packet| packet.ip_options = vec![1; 8]);
    let with_extension =
        |packet: Packet| packet.with(|packet| packet.extensions = vec![(0, padding_extension())]);
    [
        t4(1, 1000),
        t6(1, 1000),
        u4(1, 1000),
        u6(1, 1000),
        t4(9, 0).flags(FIN | PSH),
        u4(0, 0),
        with_options(t4(1, 333)),
        with_extension(t6(1, 333)),
    ]
    .into_iter()
    .map(|packet| packet.field(Field::Seed))
    .collect()
}

/// ELI-02: a flagged packet whose field is its own TCP or UDP checksum gets the mark and keeps its seed.
#[test]
fn eli_02_flagged_tcp_and_udp_packets_are_marked_and_keep_their_seed() {
    for packet in eligible() {
        let (elided, pieces) = elided_pieces(&packet.virtio_single(), &packet.bytes());

        let mut expected = packet.bytes();
        expected[0] |= ELISION_MARK;
        assert!(elided);
        assert_eq!(pieces, [expected]);
        assert!(is_marked(&pieces[0]));
    }
}

/// ELI-03: unflagged frames, fragments and other protocols take the path of section 6 and stay unmarked.
#[test]
fn eli_03_what_is_not_eligible_is_finished_and_stays_unmarked() {
    let wrong = t4(0, 100).field(Field::Wrong);
    let first_fragment = u4(0, 800).with(|udp| udp.fragment = MF).field(Field::Seed);
    let fragment6 = u6(0, 800)
        .with(|udp| udp.extensions = vec![(44, fragment_extension(1))])
        .field(Field::Seed);
    let outer_of_tunnel = u4(0, 200);
    let inside = VirtioHeader {
        checksum_start: 60,
        ..outer_of_tunnel.virtio_single()
    };
    let icmp6 = t6(0, 100).with(|packet| packet.protocol = 58);
    let icmp6_header = VirtioHeader {
        checksum_offset: 2,
        ..icmp6.virtio_single()
    };
    let not_the_seed = t4(0, 100).field(Field::Zero);
    let cases = [
        (VirtioHeader::default(), wrong.bytes()),
        (first_fragment.virtio_single(), first_fragment.bytes()),
        (fragment6.virtio_single(), fragment6.bytes()),
        (inside, outer_of_tunnel.bytes()),
        (icmp6_header, icmp6.bytes()),
        (not_the_seed.virtio_single(), not_the_seed.bytes()),
    ];
    for (at, (header, packet)) in cases.into_iter().enumerate() {
        let (elided, pieces) = elided_pieces(&header, &packet);

        assert!(!elided, "case {at}");
        assert_eq!(pieces, split(&header, &packet, MTU).unwrap(), "case {at}");
        assert!(!is_marked(&pieces[0]), "case {at}");
    }
    let (_, pieces) = elided_pieces(&VirtioHeader::default(), &wrong.bytes());
    assert_eq!(pieces, [wrong.bytes()], "a wrong checksum survives");
}

/// ELI-04: each piece carries the seed for its own length; finished, the pieces are those of the plain splitter.
#[test]
fn eli_04_pieces_carry_the_seed_for_their_own_length() {
    for build in [t4 as fn(u32, usize) -> Packet, t6] {
        compare_pieces(
            &build(7, 3000).flags(FIN | PSH | 0x10).field(Field::Seed),
            1360,
        );
    }
    for build in [u4 as fn(usize, usize) -> Packet, u6] {
        compare_pieces(&build(7, 3000).field(Field::Seed), 1200);
    }
}

fn compare_pieces(packet: &Packet, segment_size: u16) {
    let header = packet.virtio(segment_size);
    let plain = split(&header, &packet.bytes(), MTU).unwrap();

    let (elided, pieces) = elided_pieces(&header, &packet.bytes());

    assert!(elided);
    assert_eq!(pieces.len(), 3);
    for (mut piece, plain) in pieces.into_iter().zip(plain) {
        assert!(is_marked(&piece));
        assert_eq!(unmark(&mut piece), Ok(()));
        assert_ne!(piece, plain, "not finished yet");
        finish_elided(&mut piece);
        assert_well_formed(&piece);
        assert_eq!(piece, plain);
    }
}

/// ELI-05: the bit is cleared, and nothing else of the packet changes; padding behind it is no part of it.
#[test]
fn eli_05_the_mark_is_cleared_before_everything_else() {
    for packet in eligible() {
        let mut marked = packet.bytes();
        marked[0] |= ELISION_MARK;
        marked.extend([0; 9]);

        assert_eq!(unmark(&mut marked), Ok(()));

        assert_eq!(marked[..marked.len() - 9], packet.bytes());
        assert!(packet::addresses(&marked).is_some());
    }
}

/// ELI-06: a field that is not the seed of the headers is refused: every bit of addresses, lengths and field counts.
#[test]
fn eli_06_a_field_that_differs_from_the_seed_is_refused() {
    for packet in [t4(1, 40), t6(1, 40), u4(1, 40), u6(1, 40)] {
        let good = packet.clone().field(Field::Seed);
        let field_at = good.l3_len() + if good.protocol == 6 { 16 } else { 6 };
        let mut marked = good.bytes();
        marked[0] |= ELISION_MARK;
        let addresses = if good.version == 4 { 12..20 } else { 8..40 };
        for at in addresses.chain(field_at..field_at + 2) {
            let mut bad = marked.clone();
            bad[at] ^= 0x10;
            assert!(
                matches!(unmark(&mut bad), Err(ElisionError::WrongSeed { .. })),
                "byte {at}"
            );
        }
        let mut finished = packet.bytes();
        finished[0] |= ELISION_MARK;
        assert!(unmark(&mut finished).is_err(), "a finished checksum");
    }
}

/// ELI-09: for a plain device or a user-space stack the checksum is finished; UDP writes a zero as all ones.
#[test]
fn eli_09_finishing_gives_the_checksum_the_sender_left_out() {
    for packet in eligible() {
        let mut bytes = packet.bytes();
        bytes.extend([0xaa; 7]);

        finish_elided(&mut bytes);

        let finished = packet.field(Field::Valid).bytes();
        assert_eq!(bytes[..finished.len()], finished);
        assert_eq!(bytes[finished.len()..], [0xaa; 7], "padding is not summed");
    }
}

/// ELI-10: fragments, other protocols, cut-off headers and what is no IP packet are refused.
#[test]
fn eli_10_marked_packets_that_cannot_be_elided_are_refused() {
    let fragment = u4(0, 100).with(|packet| packet.fragment = MF);
    let later = u4(0, 100).with(|packet| packet.fragment = 9);
    let gre = t4(0, 100).with(|packet| packet.protocol = 47);
    let sctp = t6(0, 100).with(|packet| packet.protocol = 132);
    for packet in [fragment, later, gre, sctp] {
        let mut marked = packet.field(Field::Seed).bytes();
        marked[0] |= ELISION_MARK;
        assert_eq!(unmark(&mut marked), Err(ElisionError::NotEligible));
    }
    for len in 0..40 {
        let mut cut = t4(0, 100).field(Field::Seed).bytes()[..len].to_vec();
        if let Some(first) = cut.first_mut() {
            *first |= ELISION_MARK;
        }
        assert!(unmark(&mut cut).is_err(), "{len} bytes");
    }
}

/// ELI-11: UDP over IPv4 without a checksum is read without the flag: it stays unmarked and stays 0.
#[test]
fn eli_11_a_udp_checksum_that_was_switched_off_stays_off() {
    let packet = u4(0, 2000).field(Field::Zero);
    for header in [packet.virtio_single(), packet.virtio(1200)] {
        let header = VirtioHeader { flags: 0, ..header };

        let (elided, pieces) = elided_pieces(&header, &packet.bytes());

        assert!(!elided);
        assert!(
            pieces
                .iter()
                .all(|piece| piece[26..28] == [0, 0] && !is_marked(piece))
        );
    }
}
