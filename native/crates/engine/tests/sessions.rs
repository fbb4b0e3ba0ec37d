//! Sessions, timers, waiting packets and handshake messages.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::naive_bytecount,
    reason = "part of a test"
)]

mod support;

use core::time::Duration;

use ports::{Datagrams, Endpoint};
use support::{OUTER, PEER, Pair, commands};
use testkit::u4;

const WANT_HANDSHAKE: u8 = 3;
const SESSION_CONFIRMED: u8 = 4;
const NO_ANSWER: u8 = 6;
const SESSION_EXPIRED: u8 = 9;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn packets_wait_for_a_session_and_go_out_in_order_when_it_comes() {
    let mut pair = Pair::without_session();
    let sent: Vec<Vec<u8>> = (0..5).map(|i| u4(i, 900 + i)).collect();
    for packet in &sent {
        pair.nodes[0].host.send_packet(packet);
    }
    pair.exchange();
    assert_eq!(
        pair.nodes[0].events(),
        [(
            WANT_HANDSHAKE,
            0,
            [&PEER.to_le_bytes()[..], &[0; 4]].concat()
        )],
        "asked once"
    );
    assert_eq!(pair.nodes[0].peer("queuedPackets"), 5);

    pair.install(100);
    pair.exchange();

    assert_eq!(pair.nodes[0].peer("queuedPackets"), 0);
    let bytes = |packets: &[Vec<u8>]| packets.iter().map(|p| p[28..].len()).sum::<usize>();
    assert_eq!(bytes(&pair.nodes[1].packets()), bytes(&sent));
    assert_eq!(pair.nodes[1].event_kinds(), [SESSION_CONFIRMED]);
    assert_eq!(
        pair.nodes[0].total("keepalivesSent"),
        0,
        "data confirms the session"
    );
}

#[test]
fn the_oldest_waiting_packet_is_dropped_and_counted() {
    let mut pair = Pair::without_session();
    for i in 0..300 {
        pair.nodes[0].host.send_packet(&u4(i, 10));
    }
    (0..5).for_each(|_| pair.exchange());

    assert_eq!(pair.nodes[0].peer("queuedPackets"), 256);
    assert_eq!(pair.nodes[0].peer("dropQueueFull"), 44);
}

#[test]
fn giving_up_drops_what_waits_and_the_next_packet_asks_again() {
    let mut pair = Pair::without_session();
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[0].event_kinds(), [WANT_HANDSHAKE]);

    pair.nodes[0].apply(&[commands::handshake_gave_up(PEER)]);
    assert_eq!(pair.nodes[0].peer("dropNoSession"), 1);

    pair.nodes[0].host.send_packet(&u4(2, 10));
    pair.exchange();
    assert_eq!(pair.nodes[0].event_kinds(), [WANT_HANDSHAKE]);
}

#[test]
fn an_initiator_with_nothing_to_send_confirms_with_a_keepalive() {
    let mut pair = Pair::without_session();
    pair.install(100);
    pair.exchange();

    assert_eq!(pair.nodes[0].total("keepalivesSent"), 1);
    assert_eq!(
        pair.nodes[1].events(),
        [(
            SESSION_CONFIRMED,
            0,
            [PEER.to_le_bytes(), 101_u32.to_le_bytes()].concat()
        )]
    );
}

#[test]
fn a_responder_sends_nothing_under_a_session_before_it_is_confirmed() {
    let mut pair = Pair::without_session();
    pair.nodes[1].apply(&[commands::install_session(
        PEER,
        101,
        100,
        commands::RESPONDER,
        [2, 1],
    )]);
    pair.nodes[1].apply(&[commands::set_allowed_ips(PEER, &[("10.9.0.0", 24)])]);
    pair.nodes[1].host.send_packet(&u4(1, 10));
    pair.exchange();

    assert_eq!(pair.nodes[1].peer("queuedPackets"), 1);
    assert_eq!(pair.nodes[1].peer("txPackets"), 0);
    assert_eq!(pair.nodes[1].event_kinds(), [WANT_HANDSHAKE]);
}

#[test]
fn a_received_packet_is_answered_with_a_keepalive_after_ten_seconds() {
    let mut pair = Pair::with_session();
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[1].shard.idle_time(), Some(seconds(10)));

    pair.advance(seconds(9));
    pair.exchange();
    assert_eq!(pair.nodes[1].total("keepalivesSent"), 0);
    pair.advance(seconds(1));
    pair.exchange();
    pair.advance(seconds(10));
    pair.exchange();

    assert_eq!(
        pair.nodes[1].total("keepalivesSent"),
        1,
        "a keepalive is not answered"
    );
    assert!(pair.nodes[0].events().is_empty());
}

#[test]
fn a_sender_that_hears_nothing_for_fifteen_seconds_tells_so() {
    let mut pair = Pair::with_session();
    pair.network.impair(testkit::Impairment {
        loss_per_mille: 1000,
        ..Default::default()
    });
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();

    pair.advance(seconds(14));
    pair.exchange();
    assert!(pair.nodes[0].events().is_empty());
    pair.advance(seconds(1));
    pair.exchange();
    assert_eq!(pair.nodes[0].event_kinds(), [NO_ANSWER]);
    pair.advance(seconds(60));
    pair.exchange();
    assert!(
        pair.nodes[0].events().is_empty(),
        "only again after more data"
    );
}

#[test]
fn a_persistent_keepalive_goes_out_at_its_interval_while_nothing_else_does() {
    let mut pair = Pair::with_session();
    pair.nodes[0].apply(&[commands::add_peer(9, 0)]);
    let keepalive = [&PEER.to_le_bytes()[..], &25_u16.to_le_bytes(), &[0, 0]].concat();
    let mut record = vec![5, 0, 0, 0, 8, 0, 0, 0];
    record.extend(keepalive);
    pair.nodes[0].apply(&[record]);
    pair.exchange();
    let first = pair.nodes[0].total("keepalivesSent");
    pair.network.impair(testkit::Impairment {
        loss_per_mille: 1000,
        ..Default::default()
    });

    pair.advance(seconds(20));
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    pair.advance(seconds(20));
    pair.exchange();
    assert_eq!(
        pair.nodes[0].total("keepalivesSent"),
        first,
        "the packet moved it"
    );
    pair.advance(seconds(5));
    pair.exchange();
    assert_eq!(pair.nodes[0].total("keepalivesSent"), first + 1);
}

#[test]
fn a_persistent_keepalive_without_a_session_asks_for_one() {
    let mut pair = Pair::without_session();
    pair.nodes[0].apply(&[
        commands::remove_peer(PEER),
        commands::add_peer(PEER, 25),
        commands::set_endpoint(PEER, OUTER[1].parse().unwrap()),
    ]);
    pair.exchange();

    assert_eq!(pair.nodes[0].event_kinds(), [WANT_HANDSHAKE]);
}

#[test]
fn an_old_session_is_renewed_by_its_initiator_and_ends_after_180_seconds() {
    let mut pair = Pair::with_session();
    pair.advance(seconds(119));
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert!(pair.nodes[0].events().is_empty());

    pair.advance(seconds(1));
    pair.nodes[0].host.send_packet(&u4(2, 10));
    pair.exchange();
    let events = pair.nodes[0].events();
    assert_eq!((events[0].0, events[0].2[4]), (WANT_HANDSHAKE, 1));
    assert!(
        !pair.nodes[1].event_kinds().contains(&WANT_HANDSHAKE),
        "the responder waits"
    );

    pair.advance(seconds(60));
    pair.nodes[0].host.send_packet(&u4(3, 10));
    pair.exchange();
    assert!(pair.nodes[0].event_kinds().contains(&SESSION_EXPIRED));
    assert!(pair.nodes[1].event_kinds().contains(&SESSION_EXPIRED));
    assert_eq!(
        pair.nodes[0].peer("queuedPackets"),
        1,
        "nothing is sent under a dead session"
    );
    assert_eq!(pair.nodes[0].peer("sessionAgeMs"), u64::MAX);
}

/// Handshakes crossed: the other side's session came while the slow path was asked for one of our own.
fn crossed() -> Pair {
    let mut pair = Pair::without_session();
    pair.nodes[1].apply(&[
        commands::set_allowed_ips(PEER, &[("10.9.0.0", 24)]),
        commands::install_session(PEER, 101, 100, commands::RESPONDER, [2, 1]),
    ]);
    pair.nodes[1].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[1].event_kinds(), [WANT_HANDSHAKE]);
    pair.nodes[0].apply(&[commands::install_session(
        PEER,
        100,
        101,
        commands::INITIATOR,
        [1, 2],
    )]);
    pair.exchange();
    assert_eq!(pair.nodes[1].event_kinds(), [SESSION_CONFIRMED]);
    pair
}

#[test]
fn a_confirmed_session_is_the_answer_to_a_handshake_that_was_wanted() {
    let mut pair = crossed();
    pair.nodes[1].apply(&[commands::retire_session(101)]);

    pair.nodes[1].host.send_packet(&u4(2, 10));
    pair.exchange();

    assert_eq!(pair.nodes[1].event_kinds(), [WANT_HANDSHAKE]);
}

#[test]
fn when_a_session_ends_the_next_packet_asks_for_another_whatever_was_asked_before() {
    let mut pair = Pair::with_session();
    pair.advance(seconds(121));
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[0].event_kinds(), [WANT_HANDSHAKE]);

    pair.advance(seconds(60));
    pair.exchange();
    assert!(pair.nodes[0].event_kinds().contains(&SESSION_EXPIRED));
    pair.nodes[0].host.send_packet(&u4(2, 10));
    pair.exchange();

    assert_eq!(pair.nodes[0].event_kinds(), [WANT_HANDSHAKE]);
}

#[test]
fn packets_of_the_previous_session_still_arrive_after_a_renewal() {
    let mut pair = Pair::with_session();
    pair.nodes[1].apply(&[commands::install_session(
        PEER,
        201,
        200,
        commands::RESPONDER,
        [4, 3],
    )]);
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(
        pair.nodes[1].packets().len(),
        1,
        "old keys, new session waiting"
    );

    pair.nodes[0].apply(&[commands::install_session(
        PEER,
        200,
        201,
        commands::INITIATOR,
        [3, 4],
    )]);
    pair.nodes[0].host.send_packet(&u4(2, 10));
    pair.exchange();
    assert_eq!(pair.nodes[1].packets().len(), 1);
    assert_eq!(pair.nodes[1].event_kinds(), [SESSION_CONFIRMED]);
}

#[test]
fn a_removed_peer_loses_its_session_at_once() {
    let mut pair = Pair::with_session();
    pair.nodes[1].apply(&[commands::remove_peer(PEER)]);

    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();

    assert!(pair.nodes[1].packets().is_empty());
    assert_eq!(pair.nodes[1].total("dropNoSession"), 1);
}

#[test]
fn retiring_an_unknown_session_is_harmless() {
    let pair = Pair::with_session();
    pair.nodes[0].apply(&[commands::retire_session(0xdead)]);
}

#[test]
fn a_batch_that_does_not_fit_changes_nothing() {
    let pair = Pair::with_session();
    let batch = [commands::remove_peer(PEER), commands::remove_peer(PEER)].concat();

    let error = pair.nodes[0]
        .engine
        .apply(&batch, ports::Instant::default())
        .unwrap_err();

    assert_eq!(error.offset, 12);
    assert_ne!(
        pair.nodes[0].peer("sessionAgeMs"),
        u64::MAX,
        "the peer is still there"
    );
}

#[test]
fn a_handshake_message_is_sent_to_the_peer_and_told_there_only_if_its_mac_is_right() {
    let mut pair = Pair::without_session();
    let good = initiation();
    let mut bad = good.clone();
    bad[120] ^= 1;

    pair.nodes[0].apply(&[
        commands::send_handshake(PEER, &bad),
        commands::send_handshake(PEER, &good),
    ]);
    pair.exchange();

    let events = pair.nodes[1].events();
    assert_eq!(events.len(), 1);
    let (kind, flags, body) = &events[0];
    assert_eq!((*kind, *flags), (1, 0));
    assert_eq!(body[4..8], [192, 0, 2, 1]);
    assert_eq!(body[20..], good);
    assert_eq!(pair.nodes[1].total("handshakesBadMac"), 1);
}

#[test]
fn a_flood_of_handshakes_is_bounded_and_told() {
    let mut pair = Pair::without_session();
    let mut flooder = pair.network.socket("203.0.113.9:1".parse().unwrap());
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());
    let message = initiation();
    for _ in 0..1500 {
        flooder.send(&to, &message, message.len());
    }
    (0..120).for_each(|_| pair.nodes[1].turn());

    let kinds = pair.nodes[1].event_kinds();
    assert_eq!(kinds.iter().filter(|kind| **kind == 1).count(), 1024);
    assert_eq!(kinds.iter().filter(|kind| **kind == 7).count(), 1);
    assert_eq!(pair.nodes[1].total("handshakesDropped"), 476);
}

#[test]
fn under_load_a_worker_answers_with_cookies_and_passes_nothing_on() {
    let mut pair = Pair::without_session();
    pair.nodes[1].apply(&[commands::cookie_secrets([5; 32], [6; 32])]);
    let mut stranger = pair.network.socket("203.0.113.9:1".parse().unwrap());
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());
    let message = initiation();
    // As many as make the slow path look busy, then one more.
    for _ in 0..129 {
        stranger.send(&to, &message, message.len());
    }
    (0..20).for_each(|_| pair.nodes[1].turn());

    let passed = pair.nodes[1].event_kinds();
    assert_eq!(passed.iter().filter(|kind| **kind == 1).count(), 128);
    assert!(!passed.contains(&2), "no cookie is asked of the slow path");
    assert_eq!(pair.nodes[1].total("cookiesWanted"), 1);
    let mut arena = vec![0; 65_535];
    let mut received = [ports::Received::EMPTY; 1];
    assert_eq!(
        stranger.receive(&mut arena, 65_535, &mut received).unwrap(),
        1
    );
    assert_eq!(received[0].len, 64);
    assert_eq!(arena[..4], [3, 0, 0, 0]);
    assert_eq!(arena[4..8], message[4..8]);
}

/// An initiation for the public key of all sevens with a valid MAC1 and no MAC2.
fn initiation() -> Vec<u8> {
    use blake2::digest::consts::U16;
    use blake2::digest::{Digest, KeyInit, Mac};
    let mut hash = blake2::Blake2s256::new();
    Digest::update(&mut hash, b"mac1----");
    Digest::update(&mut hash, [7; 32]);
    let mut mac = <blake2::Blake2sMac<U16> as KeyInit>::new_from_slice(&hash.finalize()).unwrap();
    let mut message = vec![0; 148];
    message[0] = 1;
    Mac::update(&mut mac, &message[..116]);
    message[116..132].copy_from_slice(&mac.finalize().into_bytes());
    message
}
