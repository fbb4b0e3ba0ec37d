//! Datagrams that other implementations would not take for WireGuard.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use core::time::Duration;
use std::collections::BTreeSet;

use ports::{Datagrams, Endpoint, Received};
use support::commands::{self, Disguise};
use support::{EVERYTHING, OUTER, PEER, Pair, UNIX_SECONDS, super_frame};
use testkit::{MemoryDatagrams, t4, u4};

/// The set that other implementations were seen to pass traffic with.
fn base() -> Disguise {
    Disguise {
        junk: [3, 10, 20],
        paddings: [15, 18, 20, 25],
        types: [
            (123_456, 123_500),
            (67_543, 67_550),
            (223_344, 223_350),
            (32_345, 32_350),
        ],
        ..Disguise::default()
    }
}

fn protected() -> Disguise {
    Disguise {
        header_key: [9; 32],
        ..base()
    }
}

fn with_trailers(disguise: Disguise) -> Disguise {
    Disguise {
        trailers: true,
        ..disguise
    }
}

/// Flag of a session under which both ends agreed on extension messages.
const EXTENSIONS: u16 = 4;

/// Both nodes under one profile, with a session.
fn pair(disguise: &Disguise) -> Pair {
    let pair = Pair::without_session();
    disguise_both(&pair, disguise);
    pair.confirmed()
}

fn disguise_both(pair: &Pair, disguise: &Disguise) {
    for (node, seed) in pair.nodes.iter().zip(1..) {
        node.apply(&[commands::set_conceal(disguise, seed)]);
    }
}

/// Somebody who sees what the first node sends: the second one's address is his.
fn eavesdropper(pair: &Pair) -> MemoryDatagrams {
    let mut ear = pair.network.socket("203.0.113.7:7".parse().unwrap());
    pair.nodes[0].apply(&[commands::set_endpoint(
        PEER,
        "203.0.113.7:7".parse().unwrap(),
    )]);
    let _ = ear.receive(&mut vec![0; 65_536], 65_536, &mut [Received::EMPTY]);
    ear
}

fn heard(ear: &mut MemoryDatagrams) -> Vec<Vec<u8>> {
    let mut arena = vec![0; 16 * 65_536];
    let mut slots = [Received::EMPTY; 16];
    let mut all = Vec::new();
    while let Ok(count) = ear.receive(&mut arena, 65_536, &mut slots) {
        for slot in &slots[..count] {
            let base = slot.slot * 65_536;
            all.extend(
                slot.datagrams()
                    .map(|range| arena[base + range.start..base + range.end].to_vec()),
            );
        }
    }
    all
}

fn type_at(datagram: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(datagram[at..at + 4].try_into().unwrap())
}

/// An initiation as the slow path hands it over: type drawn, MACs are the receiver's business.
fn initiation() -> Vec<u8> {
    let mut message = vec![0x5a; 148];
    message[..4].copy_from_slice(&123_470_u32.to_le_bytes());
    message
}

#[test]
fn packets_cross_under_every_kind_of_profile() {
    let content = Disguise {
        content_padding: (5, 9),
        ..base()
    };
    for disguise in [
        base(),
        protected(),
        with_trailers(base()),
        with_trailers(protected()),
        content,
    ] {
        let mut pair = pair(&disguise);
        let packet = u4(1, 100);

        pair.nodes[0].host.send_packet(&packet);
        pair.nodes[0].host.send_frame(super_frame(10 * 1368 + 7));
        pair.exchange();

        let packets = pair.nodes[1].packets();
        assert_eq!(packets[0], packet);
        let payload: Vec<u8> = packets[1..]
            .iter()
            .flat_map(|packet| packet[52..].to_vec())
            .collect();
        assert_eq!(payload, t4(1_000, 10 * 1368 + 7)[52..]);
        assert_eq!(pair.nodes[1].total("dropMalformed"), 0);
    }
}

#[test]
fn bat_01_b_40_segments_of_a_batch_are_disguised_one_by_one_before_they_are_sent_together() {
    // BAT-01, BAT-05, B-40, B-44, CVE-10
    let mut pair = pair(&protected());
    let mut ear = eavesdropper(&pair);
    pair.nodes[0].wire.sends.lock().unwrap().clear();

    pair.nodes[0].host.send_frame(super_frame(40 * 1368));
    pair.nodes[0].turn();

    let sends = pair.nodes[0].wire.sends.lock().unwrap().clone();
    assert_eq!(sends.len(), 1, "one call");
    let datagrams = heard(&mut ear);
    assert_eq!(datagrams.len(), 40);
    assert!(
        datagrams
            .iter()
            .all(|datagram| datagram.len() == 1_420 + 57)
    );
    let nonces: BTreeSet<&[u8]> = datagrams.iter().map(|datagram| &datagram[..12]).collect();
    assert_eq!(nonces.len(), 40, "HDP-10");
}

#[test]
fn b_01_tmr_01_the_first_keepalive_has_padding_and_type_of_transport() {
    // B-1, TMR-01
    let mut pair = Pair::without_session();
    disguise_both(&pair, &base());
    let mut ear = eavesdropper(&pair);

    pair.install(100);
    pair.nodes[0].turn();

    let datagrams = heard(&mut ear);
    assert_eq!(datagrams.len(), 1);
    assert_eq!(datagrams[0].len(), 57);
    assert!((32_345..=32_350).contains(&type_at(&datagrams[0], 25)));
}

#[test]
fn wir_08_wir_11_wir_12_pre_02_signatures_and_junk_precede_every_initiation_and_nothing_else() {
    // PRE-02
    // WIR-08, WIR-11, WIR-12, CVE-09, B-15: counted like every other datagram.
    let pair_profile = Disguise {
        signatures: ["", "<b 0xdeadbeef><t>", "", "<b 0x07>", ""],
        ..base()
    };
    let mut pair = Pair::without_session();
    disguise_both(&pair, &pair_profile);
    let mut ear = eavesdropper(&pair);
    let mut response = vec![0; 92];
    response[..4].copy_from_slice(&67_543_u32.to_le_bytes());

    for _ in 0..2 {
        pair.nodes[0].apply(&[commands::send_handshake(PEER, &initiation())]);
        pair.nodes[0].turn();
        let datagrams = heard(&mut ear);
        assert_eq!(datagrams.len(), 6);
        let time = [&[0xde, 0xad, 0xbe, 0xef][..], &UNIX_SECONDS.to_be_bytes()].concat();
        assert_eq!(datagrams[0], time);
        assert_eq!(datagrams[1], [7]);
        assert!(
            datagrams[2..5]
                .iter()
                .all(|junk| (10..=20).contains(&junk.len()))
        );
        assert_eq!(datagrams[5].len(), 163);
        assert_eq!(datagrams[5][15..], initiation());
    }
    pair.nodes[0].apply(&[commands::send_handshake(PEER, &response)]);
    pair.nodes[0].turn();
    let datagrams = heard(&mut ear);
    assert_eq!(datagrams.len(), 1);
    assert_eq!(datagrams[0][18..], response);
    assert_eq!(pair.nodes[0].total("udpSendDatagrams"), 13);
}

#[test]
fn b_09_cfg_17_a_change_counts_from_the_next_datagram_on() {
    // B-9, CFG-17, CFG-03
    let mut pair = pair(&base());
    let mut ear = eavesdropper(&pair);
    let mut len_of_next = |pair: &mut Pair| {
        pair.nodes[0].host.send_packet(&u4(1, 100));
        pair.nodes[0].turn();
        heard(&mut ear)[0].len()
    };
    assert_eq!(len_of_next(&mut pair), 128 + 32 + 25);

    let wider = Disguise {
        paddings: [15, 18, 20, 300],
        ..base()
    };
    pair.nodes[0].apply(&[commands::set_conceal(&wider, 7)]);
    assert_eq!(len_of_next(&mut pair), 128 + 32 + 300);

    pair.nodes[0].apply(&[commands::no_conceal()]);
    assert_eq!(len_of_next(&mut pair), 128 + 32);
}

#[test]
fn cfg_01_a_profile_that_is_refused_changes_nothing() {
    // CFG-01, B-19
    let mut pair = pair(&base());
    let touching = Disguise {
        types: [(1, 5), (5, 9), (10, 10), (11, 11)],
        ..base()
    };
    let error = pair.nodes[0]
        .engine
        .apply(
            &commands::set_conceal(&touching, 3),
            ports::Clock::now(&pair.nodes[0].clock),
        )
        .unwrap_err();
    assert!(error.to_string().contains("h1"), "{error}");

    pair.nodes[0].host.send_packet(&u4(1, 100));
    pair.exchange();

    assert_eq!(pair.nodes[1].packets().len(), 1);
}

#[test]
fn b_34_an_engine_without_a_profile_speaks_plain_wireguard_beside_one_that_has_one() {
    // B-34: nothing is remembered outside of an engine.
    let _disguised = pair(&base());
    let mut plain = Pair::with_session();
    let mut ear = eavesdropper(&plain);

    plain.nodes[0].host.send_packet(&u4(1, 100));
    plain.nodes[0].turn();

    assert_eq!(type_at(&heard(&mut ear)[0], 0), 4);
}

#[test]
fn cls_07_wir_10_b_41_foreign_datagrams_are_dropped_in_silence_and_the_others_arrive() {
    // CLS-07, WIR-10, BAT-04, B-41: plain WireGuard is as foreign as junk.
    let mut pair = pair(&base());
    let mut stranger = pair.network.socket("203.0.113.9:1".parse().unwrap());
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());
    let mut plain = vec![1, 0, 0, 0];
    plain.extend([7; 144]);
    for round in 0..100_u8 {
        stranger.send(&to, &plain, plain.len());
        stranger.send(&to, &vec![round; usize::from(round) + 1], 4_000);
    }
    pair.nodes[0].host.send_packet(&u4(1, 10));
    (0..20).for_each(|_| pair.exchange());

    assert_eq!(pair.nodes[1].packets().len(), 1);
    assert_eq!(pair.nodes[1].total("dropMalformed"), 200);
    let silence = stranger.receive(&mut vec![0; 65_536], 65_536, &mut [Received::EMPTY]);
    assert!(silence.is_err(), "no answer");
    assert!(pair.nodes[1].event_kinds().is_empty());
}

#[test]
fn b_05_full_size_packets_are_never_taken_for_handshakes_under_wide_ranges_and_trailers() {
    // B-5, CLS-02
    let wide = Disguise {
        paddings: [100, 90, 40, 20],
        types: [
            (0x8000_0000, u32::MAX),
            (5, 0x1000_0000),
            (0x1000_0001, 0x2000_0000),
            (0x2000_0001, 0x3000_0000),
        ],
        ..with_trailers(Disguise::default())
    };
    let mut pair = pair(&wide);

    for _ in 0..250 {
        pair.nodes[0].host.send_frame(super_frame(40 * 1368));
        pair.exchange();
        pair.nodes[1].packets();
    }

    assert_eq!(pair.nodes[0].peer("txPackets"), 10_000);
    assert_eq!(pair.nodes[1].peer("rxPackets"), 10_000);
    assert_eq!(pair.nodes[1].total("handshakesReceived"), 0);
}

#[test]
fn tmr_03_b_03_a_plaintext_of_zeros_is_a_keepalive_and_no_data() {
    // TMR-03, B-3, B-2, WIR-14: keepalives grow up to the window and are answered by nothing.
    let mut pair = pair(&with_trailers(base()));
    pair.exchange();
    let before = pair.nodes[1].total("keepalivesReceived");
    pair.nodes[0].apply(&[commands::set_keepalive(PEER, 5)]);
    for _ in 0..15 {
        pair.advance(Duration::from_secs(5));
        pair.exchange();
    }

    assert!(pair.nodes[1].total("keepalivesReceived") >= before + 14);
    assert_eq!(pair.nodes[1].packets().len(), 0);
    assert_eq!(pair.nodes[1].peer("txPackets"), 0);
    assert_eq!(pair.nodes[1].total("keepalivesSent"), 0, "it heard no data");
    let kinds = pair.nodes[0].event_kinds();
    assert!(
        !kinds.contains(&6),
        "TMR-02: a keepalive waits for no answer"
    );
    assert_eq!(pair.nodes[1].total("dropMalformed"), 0);
}

#[test]
fn trl_04_trl_05_trailers_of_handshakes_grow_with_the_largest_packet_so_far() {
    // TRL-05, TRL-04, TRL-01
    let mut pair = pair(&with_trailers(base()));
    let longest = |pair: &mut Pair, ear: &mut MemoryDatagrams| {
        let mut longest = 0;
        for _ in 0..60 {
            pair.nodes[0].apply(&[commands::send_handshake(PEER, &initiation())]);
            pair.nodes[0].turn();
            let datagrams = heard(ear);
            longest = longest.max(datagrams.last().unwrap().len());
            assert!(datagrams[..3].iter().all(|junk| junk.len() <= 20), "TRL-04");
        }
        longest
    };
    let mut ear = eavesdropper(&pair);
    assert!((300..500).contains(&longest(&mut pair, &mut ear)));

    pair.nodes[0].host.send_packet(&t4(1, 1_368));
    pair.nodes[0].turn();
    assert_eq!(heard(&mut ear)[0].len(), 1_477);
    assert!((900..1_477).contains(&longest(&mut pair, &mut ear)));

    let elsewhere = "203.0.113.8:8".parse().unwrap();
    let mut ear = pair.network.socket(elsewhere);
    pair.nodes[0].apply(&[commands::set_endpoint(PEER, elsewhere)]);
    assert!(
        longest(&mut pair, &mut ear) < 500,
        "another address, another path"
    );
}

#[test]
fn wir_14_small_packets_of_a_burst_have_lengths_of_their_own() {
    // WIR-14, BAT-05: full-size packets still share their sends.
    let mut pair = pair(&with_trailers(base()));
    let mut ear = eavesdropper(&pair);
    for at in 0..50 {
        pair.nodes[0].host.send_packet(&u4(at, 10));
    }
    pair.nodes[0].turn();
    let lengths: BTreeSet<usize> = heard(&mut ear).iter().map(Vec::len).collect();
    assert!(lengths.len() > 25, "{}", lengths.len());
    assert!(lengths.iter().all(|len| *len < 500));

    pair.nodes[0].host.send_packet(&t4(1, 1_368));
    pair.nodes[0].turn();
    heard(&mut ear);
    pair.nodes[0].wire.sends.lock().unwrap().clear();
    pair.nodes[0].host.send_frame(super_frame(40 * 1368));
    pair.nodes[0].turn();
    assert_eq!(heard(&mut ear).len(), 40);
    assert_eq!(pair.nodes[0].wire.sends.lock().unwrap().len(), 1);
}

#[test]
fn wir_16_the_receiver_takes_the_length_from_the_ip_header() {
    // WIR-16
    let content = Disguise {
        content_padding: (200, 200),
        ..base()
    };
    let mut pair = pair(&content);
    let packet = u4(1, 33);

    pair.nodes[0].host.send_packet(&packet);
    pair.exchange();

    assert_eq!(pair.nodes[1].packets(), [packet]);
}

#[test]
fn tmr_13_wir_05_b_07_b_25_a_cookie_reply_is_typed_padded_and_bound_to_the_mac1_that_was_seen() {
    // TMR-13, WIR-05, B-7, B-25: 200 valid initiations nobody fetches put the responder under load.
    use blake2::digest::consts::U16;
    use blake2::digest::{Digest, KeyInit, Mac};

    let mut pair = Pair::without_session();
    disguise_both(&pair, &with_trailers(protected()));
    pair.nodes[1].apply(&[commands::cookie_secrets([1; 32], [2; 32])]);
    let mut hash = blake2::Blake2s256::new();
    Digest::update(&mut hash, b"mac1----");
    Digest::update(&mut hash, [7; 32]);
    let mut mac = <blake2::Blake2sMac<U16> as KeyInit>::new_from_slice(&hash.finalize()).unwrap();
    let mut message = initiation();
    Mac::update(&mut mac, &message[..116]);
    message[116..132].copy_from_slice(&mac.finalize().into_bytes());

    for _ in 0..200 {
        pair.nodes[0].apply(&[commands::send_handshake(PEER, &message)]);
        pair.nodes[0].turn();
        pair.nodes[1].shard.turn(EVERYTHING);
    }
    pair.exchange();

    assert!(pair.nodes[1].total("cookiesWanted") > 0);
    let replies: Vec<Vec<u8>> = pair.nodes[0]
        .events()
        .into_iter()
        .filter(|(kind, ..)| *kind == 1)
        .map(|(_, _, body)| body[20..].to_vec())
        .collect();
    assert!(!replies.is_empty(), "recognised by the other side");
    for reply in replies {
        assert_eq!(reply.len(), 64);
        assert!((223_344..=223_350).contains(&type_at(&reply, 0)));
        assert_eq!(reply[4..8], message[4..8]);
    }
}

#[test]
fn b_24_str_02_mac1_covers_the_type_that_was_drawn() {
    // STR-02
    // B-24, WIR-02: a message whose type was changed behind its MAC goes nowhere.
    let mut pair = Pair::without_session();
    disguise_both(&pair, &base());

    pair.nodes[0].apply(&[commands::send_handshake(PEER, &initiation())]);
    pair.exchange();

    assert_eq!(pair.nodes[1].total("handshakesBadMac"), 1);
}

#[test]
fn a_path_probe_has_the_size_that_is_asked_for_whatever_the_padding() {
    let mut pair = Pair::without_session();
    disguise_both(&pair, &base());
    pair.install_with(100, [(0, EXTENSIONS); 2]);
    pair.exchange();
    for node in &pair.nodes {
        node.events();
        node.apply(&[commands::set_path_mtu(PEER, 0, 1)]);
    }

    pair.nodes[0].apply(&[commands::send_probe(PEER, 1_400, 9)]);
    pair.exchange();

    let answers: Vec<Vec<u8>> = pair.nodes[0]
        .events()
        .into_iter()
        .filter(|(kind, ..)| *kind == 10)
        .map(|(_, _, body)| body)
        .collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0][8..12], 1_400_u32.to_le_bytes());
}

/// Both nodes under a profile, with a session of these ages and spans of silence.
fn timed(ages: [u32; 3], spans: [u32; 4]) -> Pair {
    let pair = Pair::without_session();
    disguise_both(&pair, &base());
    let session = commands::install_session(PEER, 101, 100, commands::RESPONDER, [2, 1]);
    pair.nodes[1].apply(&[
        commands::set_silence(spans),
        commands::ageing(session, ages),
    ]);
    let session = commands::install_session(PEER, 100, 101, commands::INITIATOR, [1, 2]);
    pair.nodes[0].apply(&[
        commands::set_silence(spans),
        commands::ageing(session, ages),
    ]);
    let mut pair = pair;
    pair.exchange();
    for node in &pair.nodes {
        node.events();
    }
    pair
}

const WANT_HANDSHAKE: u8 = 3;
const NO_ANSWER: u8 = 6;
const SESSION_EXPIRED: u8 = 9;

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn tmr_07_data_is_answered_by_a_keepalive_after_a_time_that_is_drawn_each_time() {
    let mut pair = timed([120, 165, 180], [4_000, 8_000, 14_000, 20_000]);
    let mut waits = BTreeSet::new();
    for _ in 0..12 {
        pair.nodes[0].host.send_packet(&u4(1, 10));
        pair.exchange();
        let wait = pair.nodes[1].shard.idle_time().unwrap();
        assert!((seconds(4)..=seconds(8)).contains(&wait), "{wait:?}");
        let before = pair.nodes[1].total("keepalivesSent");
        pair.advance(wait);
        pair.exchange();
        assert_eq!(pair.nodes[1].total("keepalivesSent"), before + 1);
        waits.insert(wait);
    }
    assert!(waits.len() > 6, "{waits:?}");
}

#[test]
fn tmr_08_unanswered_data_is_told_of_within_its_span_and_not_before() {
    let mut pair = timed([120, 165, 180], [4_000, 8_000, 14_000, 20_000]);
    pair.network.impair(testkit::Impairment {
        loss_per_mille: 1000,
        ..Default::default()
    });
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();

    let wait = pair.nodes[0].shard.idle_time().unwrap();
    assert!((seconds(14)..=seconds(20)).contains(&wait), "{wait:?}");
    pair.advance(wait.saturating_sub(Duration::from_millis(1)));
    pair.exchange();
    assert!(pair.nodes[0].events().is_empty());
    pair.advance(Duration::from_millis(1));
    pair.exchange();
    assert_eq!(pair.nodes[0].event_kinds(), [NO_ANSWER]);
}

#[test]
fn tmr_09_the_initiator_asks_for_the_next_session_when_it_sends_at_the_age_of_this_one() {
    let mut pair = timed([40, 90, 100], [10_000, 10_000, 15_000, 15_000]);
    pair.advance(seconds(39));
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.nodes[0].turn();
    assert!(!pair.nodes[0].event_kinds().contains(&WANT_HANDSHAKE));

    pair.advance(seconds(1));
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.nodes[0].turn();

    assert!(pair.nodes[0].event_kinds().contains(&WANT_HANDSHAKE));
}

#[test]
fn tmr_10_the_initiator_asks_for_the_next_session_when_it_receives_late_in_the_life_of_this_one() {
    let mut pair = timed([120, 90, 100], [10_000, 10_000, 15_000, 15_000]);
    for (age, asks) in [(89, false), (1, true)] {
        pair.advance(seconds(age));
        let back = testkit::udp_v4(
            "10.9.0.1:6001".parse().unwrap(),
            "10.9.0.2:6000".parse().unwrap(),
            &[7; 10],
        );
        pair.nodes[1].host.send_packet(&back);
        pair.exchange();
        assert_eq!(
            pair.nodes[0].event_kinds().contains(&WANT_HANDSHAKE),
            asks,
            "{age}"
        );
    }
    assert!(!pair.nodes[1].event_kinds().contains(&WANT_HANDSHAKE));
}

#[test]
fn tmr_11_a_session_ends_at_the_age_that_was_given_for_it() {
    let mut pair = timed([120, 165, 60], [10_000, 10_000, 15_000, 15_000]);
    pair.advance(seconds(59));
    pair.exchange();
    assert!(!pair.nodes[0].event_kinds().contains(&SESSION_EXPIRED));

    pair.advance(seconds(1));
    pair.exchange();

    assert!(pair.nodes[0].event_kinds().contains(&SESSION_EXPIRED));
    assert!(pair.nodes[1].event_kinds().contains(&SESSION_EXPIRED));
}

#[test]
fn bat_02_decoys_stand_right_before_their_initiation_between_the_data_around_it() {
    // BAT-02
    let mut pair = pair(&Disguise {
        signatures: ["<b 0x5151>", "", "", "", ""],
        ..base()
    });
    let mut ear = eavesdropper(&pair);
    let full = || u4(1, 1_000);
    pair.nodes[0].host.send_packet(&full());
    pair.nodes[0].turn();
    pair.nodes[0].apply(&[
        commands::send_handshake(PEER, &initiation()),
        commands::send_handshake(PEER, &initiation()),
    ]);
    pair.nodes[0].turn();
    pair.nodes[0].host.send_packet(&full());
    pair.nodes[0].turn();

    let what: String = heard(&mut ear)
        .iter()
        .map(|datagram| match datagram.len() {
            2 => 's',
            10..=20 => 'j',
            163 => 'I',
            _ => 'd',
        })
        .collect();
    assert_eq!(what, "dsjjjIsjjjId");
}

#[test]
fn bat_03_hundreds_of_decoys_before_one_initiation_all_leave() {
    // BAT-03
    let pair_profile = Disguise {
        junk: [128, 40, 40],
        signatures: ["<r 7>", "<r 7>", "<r 7>", "<r 7>", "<r 7>"],
        ..base()
    };
    let mut pair = pair(&pair_profile);
    let mut ear = eavesdropper(&pair);

    pair.nodes[0].apply(&vec![commands::send_handshake(PEER, &initiation()); 3]);
    pair.nodes[0].turn();

    let lengths: Vec<usize> = heard(&mut ear).iter().map(Vec::len).collect();
    let count = |len| lengths.iter().filter(|&&each| each == len).count();
    assert_eq!([count(7), count(40), count(163)], [15, 384, 3]);
}

#[test]
fn b_45_decoys_are_the_business_of_the_one_who_sends_them() {
    // B-45
    let sender = Disguise {
        signatures: ["<r 60>", "", "<b 0x0102><t>", "", ""],
        ..base()
    };
    let receiver = Disguise {
        junk: [0; 3],
        ..base()
    };
    let mut pair = Pair::without_session();
    pair.nodes[0].apply(&[commands::set_conceal(&sender, 1)]);
    pair.nodes[1].apply(&[commands::set_conceal(&receiver, 2)]);

    pair.nodes[0].apply(&[commands::send_handshake(PEER, &initiation())]);
    pair.exchange();
    assert_eq!(pair.nodes[1].total("dropMalformed"), 5, "decoys only");
    assert_eq!(pair.nodes[1].total("handshakesBadMac"), 1, "it was read");

    let mut pair = pair.confirmed();
    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();
    assert_eq!(pair.nodes[1].packets().len(), 1);
}
