//! Section 8: merging UDP.

use offload::{EqualTail, Family, MergeLimits, Merger};

use crate::common::fixture::{Field, MF, Packet, padding_extension, t4, t6, u4, u6};
use crate::common::judge::{assert_all_well_formed, checksums_valid, reference_sum};
use crate::common::{Pushed, counts, merge, merge_with, run_burst, wide_limits};

fn bytes(packets: &[Packet]) -> Vec<Vec<u8>> {
    packets.iter().map(Packet::bytes).collect()
}

fn merged(packets: &[Packet]) -> Vec<usize> {
    counts(&merge(&bytes(packets)))
}

fn both(check: impl Fn(fn(usize, usize) -> Packet)) {
    check(u4);
    check(u6);
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// COU-01, WRH-10, WRH-12
#[test]
fn cou_01_datagrams_become_one_frame_with_a_seed() {
    let outs = merge(&bytes(&[u4(0, 1200), u4(1, 1200), u4(2, 1200), u4(3, 400)]));

    let frame = &outs[0];
    assert_eq!(counts(&outs), [4]);
    assert_eq!(frame.header, u4(0, 0).virtio(1200));
    assert_eq!(
        (
            frame.header.flags,
            frame.header.gso_type,
            frame.header.checksum_offset
        ),
        (1, 5, 6)
    );
    assert_eq!(word(&frame.bytes, 2), 28 + 4000);
    assert_eq!(word(&frame.bytes, 24), 8 + 4000);
    assert_eq!(
        word(&frame.bytes, 26),
        reference_sum(&u4(0, 0).pseudo_header(4008))
    );
    assert_eq!(frame.family, Some(Family::Udp));
    assert_all_well_formed(&frame.expanded);
}

/// COU-02
#[test]
fn cou_02_the_same_over_ipv6() {
    let outs = merge(&bytes(&[u6(0, 1200), u6(1, 1200), u6(2, 1200), u6(3, 400)]));

    assert_eq!(counts(&outs), [4]);
    assert_eq!(outs[0].header, u6(0, 0).virtio(1200));
    assert_eq!(word(&outs[0].bytes, 4), 8 + 4000);
    assert_eq!(word(&outs[0].bytes, 44), 8 + 4000);
}

/// COU-03
#[test]
fn cou_03_a_longer_datagram_opens_a_new_frame() {
    both(|u| assert_eq!(merged(&[u(0, 400), u(1, 1200)]), [1, 1]));
}

/// COU-04
#[test]
fn cou_04_nothing_follows_a_short_datagram() {
    both(|u| {
        for len in [1, 399, 400, 401, 1200] {
            assert_eq!(merged(&[u(0, 1200), u(1, 400), u(2, len)]), [2, 1]);
        }
    });
}

/// COU-05, P-57
#[test]
fn cou_05_a_datagram_joins_only_the_newest_frame_of_its_flow() {
    both(|u| {
        let other = |d, n| u(d, n).with(|packet| packet.source_port = 7000);
        let outs = merge(&bytes(&[
            u(0, 400),
            other(1, 300),
            u(2, 500),
            u(3, 400),
            other(4, 300),
            u(5, 500),
        ]));

        assert_eq!(counts(&outs), [1, 2, 2, 1]);
        assert_eq!(outs[3].bytes, u(5, 500).bytes());
    });
}

/// COU-06, P-32
#[test]
fn cou_06_ipv4_without_checksum_is_unchanged() {
    let bare = u4(1, 1200).field(Field::Zero);

    let outs = merge(&bytes(&[u4(0, 1200), bare.clone(), u4(2, 1200)]));

    assert_eq!(counts(&outs), [1, 1, 1]);
    assert_eq!(
        (outs[1].raw_header, &outs[1].bytes),
        ([0; 10], &bare.bytes())
    );
}

/// COU-07
#[test]
fn cou_07_ipv6_without_checksum_is_unchanged() {
    let bare = u6(1, 1200).field(Field::Zero);

    let outs = merge(&bytes(&[u6(0, 1200), bare.clone(), u6(2, 1200)]));

    assert_eq!(counts(&outs), [1, 1, 1]);
    assert_eq!(
        (outs[1].raw_header, &outs[1].bytes),
        ([0; 10], &bare.bytes())
    );
}

/// COU-06, COU-07: a field of 0 means "none" even where a computed checksum would have come out as 0.
#[test]
fn cou_06_a_zero_field_over_a_zero_sum_still_means_no_checksum() {
    both(|u| {
        let blank = u(1, 1200)
            .with(|packet| packet.payload[..2].fill(0))
            .field(Field::Zero);
        let l4 = blank.bytes()[blank.l3_len()..].to_vec();
        let sum = !reference_sum(&[blank.pseudo_header(l4.len()), l4].concat());
        let bare = blank.with(|packet| packet.payload[..2].copy_from_slice(&sum.to_be_bytes()));
        assert!(
            checksums_valid(&bare.bytes()),
            "the sum is right, and yet there is no checksum"
        );

        assert_eq!(merged(&[u(0, 1200), bare.clone(), u(2, 1200)]), [1, 1, 1]);
        assert_eq!(merged(&[bare, u(2, 1200), u(3, 1200)]), [1, 2]);
    });
}

/// COU-08
#[test]
fn cou_08_a_wrong_checksum_stays_wrong() {
    both(|u| {
        let bad = u(1, 1200).field(Field::Wrong);

        let outs = merge(&bytes(&[u(0, 1200), bad.clone(), u(2, 1200), u(3, 1200)]));

        assert_eq!(counts(&outs), [1, 1, 2]);
        assert_eq!(
            (outs[1].raw_header, &outs[1].bytes),
            ([0; 10], &bad.bytes())
        );
    });
}

/// COU-09
#[test]
fn cou_09_a_disagreeing_udp_length_stands_alone() {
    both(|u| {
        for error in [-1, 1, -1200] {
            let odd = u(1, 1200).with(|packet| packet.udp_len_error = error);
            assert_eq!(merged(&[u(0, 1200), odd, u(2, 1200)]), [1, 1, 1], "{error}");
        }
    });
}

/// COU-10
#[test]
fn cou_10_an_empty_datagram_closes_the_run() {
    both(|u| {
        assert_eq!(
            merged(&[u(0, 1200), u(1, 1200), u(2, 0), u(3, 1200), u(4, 1200)]),
            [2, 1, 2]
        );
    });
}

/// COU-11, LIM-02, WRH-11
#[test]
fn cou_11_the_cap_opens_a_new_frame() {
    both(|u| {
        let packets: Vec<Packet> = (0..130).map(|d| u(d, 100)).collect();
        for (segments_max, expected) in [
            (64, vec![64, 64, 2]),
            (128, vec![128, 2]),
            (5000, vec![128, 2]),
        ] {
            let limits = MergeLimits {
                segments_max,
                ..wide_limits()
            };
            assert_eq!(counts(&merge_with(limits, &bytes(&packets))), expected);
        }
    });
}

/// COU-12
#[test]
fn cou_12_fragments_options_and_extension_headers_stand_alone() {
    let fragment = |d| u4(d, 1200).with(|packet| packet.fragment = MF);
    let options = |d| u4(d, 1200).with(|packet| packet.ip_options = vec![1, 1, 1, 0]);
    let extension =
        |d| u6(d, 1200).with(|packet| packet.extensions = vec![(0, padding_extension())]);

    assert_eq!(merged(&[fragment(0), fragment(1)]), [1, 1]);
    assert_eq!(merged(&[options(0), options(1)]), [1, 1]);
    assert_eq!(merged(&[extension(0), extension(1)]), [1, 1]);
}

/// COU-13, P-28
#[test]
fn cou_13_tunnel_ports_are_never_merged() {
    both(|u| {
        for port in [4789, 6081, 8472] {
            let to = |d| u(d, 1200).with(|packet| packet.destination_port = port);
            let from = |d| u(d, 1200).with(|packet| packet.source_port = port);
            assert_eq!(merged(&[to(0), to(1)]), [1, 1]);
            assert_eq!(merged(&[from(0), from(1)]), [2]);
        }
        let limits = MergeLimits {
            udp_ports_never_merged: vec![6001],
            ..wide_limits()
        };
        assert_eq!(
            counts(&merge_with(limits, &bytes(&[u(0, 9), u(1, 9)]))),
            [1, 1]
        );
    });
}

/// COU-14, FBK-01, P-47: after `disable` a family leaves as singles, and `expand` gives the packets of a refused frame.
#[test]
fn cou_14_a_family_can_be_switched_off_at_run_time() {
    let mut merger = Merger::new(wide_limits());
    let burst: Vec<Pushed> = [u4(0, 100), u4(1, 100), t4(0, 100), t4(100, 100)]
        .iter()
        .map(|p| Pushed::plain(p.bytes()))
        .collect();

    let before = run_burst(&mut merger, &burst);
    merger.disable(Family::Udp);
    let without_udp = run_burst(&mut merger, &burst);
    merger.disable(Family::Tcp);
    let without_both = run_burst(&mut merger, &burst);

    assert_eq!(counts(&before), [2, 2]);
    assert_eq!(
        before[0].expanded[1],
        u4(1, 100).with(|packet| packet.id += 1).bytes()
    );
    assert_eq!(counts(&without_udp), [1, 1, 2]);
    assert_eq!(counts(&without_both), [1, 1, 1, 1]);
}

/// COU-15: the kernel splits at the segment size, so boundaries are those of the sender.
#[test]
fn cou_15_datagram_boundaries_survive() {
    both(|u| {
        let sizes = [1200, 1200, 7, 1200, 1, 900, 900, 900, 0, 900];
        let packets: Vec<Packet> = sizes.iter().enumerate().map(|(d, n)| u(d, *n)).collect();

        let outs = merge(&bytes(&packets));

        let lens: Vec<usize> = outs
            .iter()
            .flat_map(|out| out.expanded.iter().map(Vec::len))
            .collect();
        assert_eq!(lens, sizes.map(|n| n + packets[0].header_len()));
    });
}

/// COU-01: joining needs equal network headers, as for TCP.
#[test]
fn cou_01_network_headers_must_agree() {
    both(|u| {
        let pair = |change: &dyn Fn(&mut Packet)| merged(&[u(0, 1200), u(1, 1200).with(change)]);
        assert_eq!(pair(&|_| ()), [2]);
        assert_eq!(pair(&|packet| packet.tos = 3), [1, 1]);
        assert_eq!(pair(&|packet| packet.ttl -= 1), [1, 1]);
        assert_eq!(pair(&|packet| packet.destination_port += 1), [1, 1]);
    });
    let counting = |d, id| u4(d, 10).with(|packet| (packet.fragment, packet.id) = (0, id));
    assert_eq!(
        merged(&[counting(0, 5), counting(1, 6), counting(2, 6)]),
        [2, 1]
    );
    assert_eq!(
        merged(&[u6(0, 10), u6(1, 10).with(|packet| packet.flow_label = 0)]),
        [1, 1]
    );
    assert_eq!(merged(&[t6(0, 10), u6(1, 10)]), [1, 1]);
}

/// COU-16, P-31, FBK-08: with `avoid`, a frame whose last datagram has full size leaves as singles.
#[test]
fn cou_16_equal_tails_can_be_avoided() {
    both(|u| {
        let limits = MergeLimits {
            udp_equal_tail: EqualTail::Avoid,
            ..wide_limits()
        };
        let other = |d, n| u(d, n).with(|packet| packet.source_port = 7000);
        let equal = [u(0, 1200), u(1, 1200), u(2, 1200)];
        let short = [u(0, 1200), u(1, 1200), u(2, 1199)];
        let mixed = [u(0, 900), other(1, 900), u(2, 900), other(3, 1)];

        let singles = merge_with(limits.clone(), &bytes(&equal));

        assert_eq!(counts(&singles), [1, 1, 1]);
        assert!(
            singles
                .iter()
                .zip(&equal)
                .all(|(out, packet)| out.bytes == packet.bytes() && out.raw_header == [0; 10])
        );
        assert_eq!(counts(&merge_with(limits.clone(), &bytes(&short))), [3]);
        assert_eq!(
            counts(&merge_with(limits.clone(), &bytes(&mixed))),
            [1, 1, 2]
        );
        let tcp = [t4(0, 100), t4(100, 100)];
        assert_eq!(
            counts(&merge_with(limits, &bytes(&tcp))),
            [2],
            "TCP is not concerned"
        );
    });
}
