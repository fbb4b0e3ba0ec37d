//! Packets between two engines.

mod support;

use core::sync::atomic::Ordering;

use offload::{ByteOrder, NEEDS_CHECKSUM, VirtioHeader, gso};
use ports::{Clock, Datagrams, Endpoint};
use support::{INNER, OUTER, PEER, Pair, commands, super_frame};
use testkit::{Segment, t4, tcp_v4, u4};

/// A UDP super-frame whose pieces have `segment` bytes of payload.
fn udp_super_frame(segment: u16) -> Vec<u8> {
    let packet = u4(1, 3 * usize::from(segment));
    let mut header = [0; 10];
    VirtioHeader {
        flags: NEEDS_CHECKSUM,
        gso_type: gso::UDP,
        header_len: 28,
        segment_size: segment,
        checksum_start: 20,
        checksum_offset: 6,
    }
    .write(&mut header, ByteOrder::Little);
    [&header[..], &packet].concat()
}

#[test]
fn a_packet_crosses_and_is_counted_on_both_sides() {
    let mut pair = Pair::with_session();
    let packet = u4(1, 100);

    pair.nodes[0].host.send_packet(&packet);
    pair.exchange();

    assert_eq!(pair.nodes[1].packets(), std::slice::from_ref(&packet));
    let len = packet.len() as u64;
    assert_eq!(
        (
            pair.nodes[0].peer("txPackets"),
            pair.nodes[0].peer("txBytes")
        ),
        (1, len)
    );
    assert_eq!(
        (
            pair.nodes[1].peer("rxPackets"),
            pair.nodes[1].peer("rxBytes")
        ),
        (1, len)
    );
}

#[test]
fn a_super_frame_crosses_as_datagrams_and_is_one_frame_again() {
    let mut pair = Pair::with_session();

    pair.nodes[0].host.send_frame(super_frame(10 * 1368 + 7));
    pair.exchange();

    assert_eq!(pair.nodes[0].peer("txPackets"), 11);
    let packets = pair.nodes[1].packets();
    assert_eq!(packets.len(), 1, "merged");
    let payload = t4(1_000, 10 * 1368 + 7);
    assert_eq!(packets[0][52..], payload[52..], "every byte in order");
    assert_eq!(pair.nodes[1].total("tunWriteMerged"), 11);
}

#[test]
fn packets_of_many_sizes_keep_their_order() {
    let mut pair = Pair::with_session();
    let sent: Vec<Vec<u8>> = (0..150).map(|i| u4(i, (i * 37) % 1300)).collect();

    for packet in &sent {
        pair.nodes[0].host.send_packet(packet);
    }
    (0..4).for_each(|_| pair.exchange());

    // Datagrams of one flow may arrive merged, so the payloads are compared as one stream.
    let stream = |packets: &[Vec<u8>]| -> Vec<u8> {
        packets
            .iter()
            .flat_map(|packet| packet[28..].to_vec())
            .collect()
    };
    assert_eq!(stream(&pair.nodes[1].packets()), stream(&sent));
    assert_eq!(pair.nodes[1].peer("rxPackets"), 150);
}

#[test]
fn a_replayed_datagram_is_dropped_and_counted() {
    let mut pair = Pair::with_session();
    pair.network.impair(testkit::Impairment {
        duplicate_per_mille: 1000,
        ..Default::default()
    });

    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();

    assert_eq!(pair.nodes[1].packets().len(), 1);
    assert_eq!(pair.nodes[1].peer("dropReplay"), 1);
}

#[test]
fn what_nobody_may_send_is_dropped_under_its_reason() {
    let mut pair = Pair::with_session();
    let mut stranger = pair.network.socket("203.0.113.9:1".parse().unwrap());
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());
    let mut forged = vec![4, 0, 0, 0];
    forged.extend(101_u32.to_le_bytes());
    forged.extend([0; 40]);
    let mut unknown = forged.clone();
    unknown[4] = 99;

    for datagram in [&forged[..], &unknown, &[4, 0, 0, 0, 1], &[9; 40]] {
        stranger.send(&to, datagram, datagram.len());
    }
    pair.exchange();

    let receiver = &pair.nodes[1];
    assert_eq!(receiver.peer("dropBadTag"), 1);
    assert_eq!(receiver.total("dropNoSession"), 1);
    assert_eq!(receiver.total("dropMalformed"), 2);
    assert!(receiver.packets().is_empty());
    assert!(
        receiver.events().is_empty(),
        "nothing authenticated: no move"
    );
}

#[test]
fn a_peer_may_only_send_from_its_own_addresses() {
    let mut pair = Pair::with_session();
    let foreign = tcp_v4(
        "10.66.0.1:1".parse().unwrap(),
        "10.9.0.1:2".parse().unwrap(),
        &Segment::default(),
        b"x",
    );

    pair.nodes[0].host.send_packet(&foreign);
    pair.exchange();

    assert!(pair.nodes[1].packets().is_empty());
    assert_eq!(pair.nodes[1].peer("dropSourceNotAllowed"), 1);
}

#[test]
fn without_rules_nothing_passes_in_either_direction() {
    let mut pair = Pair::with_session();
    pair.nodes[1].apply(&[commands::deny_all()]);

    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[1].peer("dropFilter"), 1, "incoming");

    pair.nodes[0].apply(&[commands::deny_all()]);
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[0].peer("dropFilter"), 1, "outgoing");
    assert!(pair.nodes[1].packets().is_empty());
}

#[test]
fn a_destination_that_nobody_has_is_counted() {
    let mut pair = Pair::with_session();
    let stray = tcp_v4(
        "10.9.0.2:1".parse().unwrap(),
        "10.200.0.1:2".parse().unwrap(),
        &Segment::default(),
        b"x",
    );

    pair.nodes[0].host.send_packet(&stray);
    pair.exchange();

    assert_eq!(pair.nodes[0].total("dropNoPeer"), 1);
}

#[test]
fn flows_end_with_their_peer_though_another_gets_its_number() {
    let mut pair = Pair::with_session();
    let (here, there) = ("10.9.0.2:40000", "10.9.0.1:5201");
    let segment = |from: &str, to: &str| {
        tcp_v4(
            from.parse().unwrap(),
            to.parse().unwrap(),
            &Segment::default(),
            b"text",
        )
    };
    let outgoing = commands::rule(1, commands::ALLOW, commands::OUT, 6, &[]);
    pair.nodes[0].apply(&[commands::set_filter(&[outgoing])]);
    let columns = engine::flow_names().len();
    let rows = |pair: &Pair| {
        let mut rows = vec![0; columns * 8];
        let node = &pair.nodes[0];
        node.engine.read_flows(0, &mut rows, node.clock.now())
    };
    pair.nodes[0].host.send_packet(&segment(here, there));
    pair.exchange();
    pair.nodes[1].host.send_packet(&segment(there, here));
    pair.exchange();
    assert_eq!((pair.nodes[0].packets().len(), rows(&pair)), (1, 1));

    pair.nodes[0].apply(&[
        commands::remove_peer(PEER),
        commands::add_peer(PEER, 0),
        commands::set_allowed_ips(PEER, &[(INNER[1], 32)]),
        commands::set_endpoint(PEER, OUTER[1].parse().unwrap()),
    ]);
    assert_eq!(rows(&pair), 0, "not shown as a flow of the new peer");
    pair.install(200);
    pair.exchange();
    pair.nodes[1].host.send_packet(&segment(there, here));
    pair.exchange();

    assert_eq!(pair.nodes[0].packets().len(), 0, "no answer to anything");
    assert_eq!(pair.nodes[0].total("dropFilter"), 1);
}

#[test]
fn a_peer_that_moved_is_followed_and_the_move_is_told_once() {
    let mut pair = Pair::with_session();
    let elsewhere = "198.51.100.5:4000";
    let moved = support::Node::new(&pair.network, &pair.clock, elsewhere);
    moved.apply(&[
        commands::allow_all(),
        commands::add_peer(PEER, 0),
        commands::set_allowed_ips(PEER, &[("10.9.0.1", 32)]),
        commands::set_endpoint(PEER, OUTER[1].parse().unwrap()),
        commands::install_session(PEER, 100, 101, commands::INITIATOR, [1, 2]),
    ]);
    pair.nodes[0] = moved;
    pair.nodes[0].turn();
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.nodes[0].host.send_packet(&u4(2, 10));
    pair.exchange();

    let events = pair.nodes[1].events();
    let told: Vec<_> = events.iter().filter(|(kind, _, _)| *kind == 5).collect();
    assert_eq!(told.len(), 1);
    let port = u16::from_le_bytes([told[0].2[6], told[0].2[7]]);
    assert_eq!((port, &told[0].2[8..12]), (4000, &[198, 51, 100, 5][..]));
    pair.nodes[1].host.send_packet(&tcp_v4(
        "10.9.0.1:5201".parse().unwrap(),
        "10.9.0.2:40000".parse().unwrap(),
        &Segment::default(),
        b"back",
    ));
    pair.exchange();
    assert_eq!(
        pair.nodes[0].packets().len(),
        1,
        "answers go to the new place"
    );
}

/// FBK-01: a refused super-frame is written packet by packet.
#[test]
fn fbk_01_a_refused_super_frame_is_written_packet_by_packet() {
    let mut pair = Pair::with_session();
    pair.nodes[1].host.fail_next_write(22);

    pair.nodes[0].host.send_frame(super_frame(3 * 1368));
    pair.exchange();
    pair.nodes[0].host.send_frame(super_frame(3 * 1368));
    pair.exchange();

    let packets = pair.nodes[1].packets();
    assert_eq!(
        packets.len(),
        6,
        "three pieces, then three that were never merged"
    );
    assert!(
        packets
            .iter()
            .all(|packet| testkit::checksum_is_good(packet))
    );
    assert_eq!(pair.nodes[1].total("tunWriteFallbacks"), 1);
    assert!(pair.nodes[1].engine.shard_states()[0].tcp_merge_refused);
}

/// FBK-02: a device that is down costs packets and nothing else.
#[test]
fn fbk_02_a_device_that_is_down_costs_packets_and_nothing_else() {
    let mut pair = Pair::with_session();
    pair.nodes[1].host.take_down();
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[1].total("dropIo"), 1);
    assert_eq!(pair.nodes[1].event_kinds(), [8]);

    pair.nodes[1].host.bring_up();
    pair.nodes[0].host.send_packet(&u4(2, 10));
    pair.exchange();
    assert_eq!(pair.nodes[1].packets().len(), 1);
}

#[test]
fn while_a_socket_is_full_the_queue_rests_and_goes_on_when_there_is_room() {
    let mut pair = Pair::with_session();
    let sender = &mut pair.nodes[0];
    sender.socket_full.store(true, Ordering::Relaxed);
    (0..3).for_each(|i| sender.host.send_packet(&u4(i, 10)));
    sender.host.send_packet(&u4(3, 900));
    sender.host.send_packet(&u4(4, 10));

    let more = sender.shard.turn(support::EVERYTHING);
    let lost = sender.peer("dropIo");
    assert!(!more.tun && sender.shard.wanted_room().v4);
    assert!(
        (1..5).contains(&lost),
        "what was sent into the full socket is counted"
    );

    sender.host.send_packet(&u4(5, 10));
    sender.turn();
    assert_eq!(sender.peer("dropIo"), lost, "nothing is read meanwhile");

    sender.socket_full.store(false, Ordering::Relaxed);
    sender.shard.turn(engine::Ready {
        room_v4: true,
        ..support::EVERYTHING
    });
    pair.exchange();
    assert_eq!(pair.nodes[0].peer("txPackets") + lost, 6);
    assert_eq!(pair.nodes[1].peer("rxPackets") + lost, 6);
}

/// SPL-19: UDP that does not fit is answered with our MTU.
#[test]
fn spl_19_udp_that_does_not_fit_is_answered_with_our_mtu() {
    let mut pair = Pair::with_session();

    pair.nodes[0].host.send_frame(udp_super_frame(1_400));
    pair.exchange();

    let answers = pair.nodes[0].packets();
    assert_eq!(answers.len(), 1);
    let answer = &answers[0];
    let addresses = packet::addresses(answer).map(|(from, to)| [from.to_string(), to.to_string()]);
    assert_eq!(
        addresses,
        Some([INNER[1], INNER[0]].map(str::to_owned)),
        "to the source, in the name of the destination"
    );
    assert_eq!(answer[9], packet::protocol::ICMP);
    assert_eq!(
        answer[20..22],
        [3, 4],
        "destination unreachable, fragmentation needed"
    );
    assert_eq!(answer[26..28], 1_420_u16.to_be_bytes());
    assert_eq!(
        answer[28..56],
        u4(1, 4_200)[..28],
        "the headers of what did not fit"
    );
    assert_eq!(pair.nodes[0].total("tunReadBadTooBig"), 1);
    assert_eq!(pair.nodes[0].peer("txPackets"), 0, "nothing was sent");
}

/// SPL-19: answers are bounded per second.
#[test]
fn spl_19_answers_are_bounded_per_second() {
    let mut pair = Pair::with_session();
    let flood = |pair: &mut Pair| {
        for _ in 0..250 {
            pair.nodes[0].host.send_frame(udp_super_frame(1_400));
        }
        (0..4).for_each(|_| pair.exchange());
    };

    flood(&mut pair);
    assert_eq!(pair.nodes[0].total("tunReadBadTooBig"), 250);
    assert_eq!(pair.nodes[0].total("tooBigAnswers"), 100);

    pair.clock.0.advance(core::time::Duration::from_secs(1));
    flood(&mut pair);
    assert_eq!(pair.nodes[0].total("tooBigAnswers"), 200);
}

/// SPL-19: UDP that just fits is sent.
#[test]
fn spl_19_udp_that_just_fits_is_sent() {
    let mut pair = Pair::with_session();

    pair.nodes[0].host.send_frame(udp_super_frame(1_392));
    pair.exchange();

    assert_eq!(pair.nodes[0].peer("txPackets"), 3);
    assert_eq!(pair.nodes[0].total("tooBigAnswers"), 0);
}

#[test]
fn receivers_are_let_run_after_a_burst_of_udp_and_never_for_tcp() {
    let mut pair = Pair::with_session();

    pair.nodes[0].host.send_frame(super_frame(40 * 1368));
    pair.nodes[0].host.send_frame(super_frame(40 * 1368));
    pair.exchange();
    assert_eq!(pair.nodes[1].total("tunWriteYields"), 0);

    for number in 0..200 {
        pair.nodes[0].host.send_packet(&u4(number, 100));
    }
    (0..4).for_each(|_| pair.exchange());
    let yields = pair.nodes[1].total("tunWriteYields");
    assert!((2..=12).contains(&yields), "{yields} for 200 packets");
}

#[test]
fn after_a_quiet_time_the_first_packet_does_not_wait_for_others() {
    let mut pair = Pair::with_session();
    pair.nodes[0].turn();
    let calls = |pair: &Pair| pair.nodes[0].total("udpSendCalls");
    let burst = |pair: &mut Pair| {
        let before = calls(pair);
        (0..3).for_each(|number| pair.nodes[0].host.send_packet(&u4(number, 100)));
        pair.nodes[0].turn();
        calls(pair) - before
    };

    assert_eq!(burst(&mut pair), 2, "one by itself, then the other two");
    assert_eq!(burst(&mut pair), 1, "in a burst all go together");
    pair.nodes[0].turn();
    assert_eq!(burst(&mut pair), 2, "quiet again");
}
