//! What the engine does about paths that carry less, or more, than the device's MTU.
#![allow(
    clippy::indexing_slicing,
    clippy::naive_bytecount,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

mod support;

use ports::Datagrams;

use offload::{ByteOrder, NEEDS_CHECKSUM, VirtioHeader, gso};
use support::{INNER, PEER, Pair, commands};
use testkit::{Impairment, checksum_is_good, t4, u4};

const PROBE_ANSWERED: u8 = 10;
const PATH_TOO_BIG: u8 = 11;
const LARGE_SENT: u8 = 12;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn frame(header: VirtioHeader, packet: &[u8]) -> Vec<u8> {
    let mut bytes = [0; 10];
    header.write(&mut bytes, ByteOrder::Little);
    [&bytes[..], packet].concat()
}

/// A TCP super-frame as the kernel hands it over.
fn super_frame(payload: usize, segment_size: u16) -> Vec<u8> {
    let header = VirtioHeader {
        flags: NEEDS_CHECKSUM,
        gso_type: gso::TCP4,
        header_len: 52,
        segment_size,
        checksum_start: 20,
        checksum_offset: 16,
    };
    frame(header, &t4(1_000, payload))
}

/// Flag of a session under which both ends agreed on extension messages.
const EXTENSIONS: u16 = 4;

/// Both ends answer probes; the first sends datagrams of at most `payload` bytes.
fn probing(payload: u32) -> Pair {
    let mut pair = Pair::without_session();
    pair.install_with(100, [(0, EXTENSIONS); 2]);
    pair.exchange();
    for node in &pair.nodes {
        node.events();
    }
    pair.nodes[0].apply(&[commands::set_path_mtu(PEER, payload, 1)]);
    pair.nodes[1].apply(&[commands::set_path_mtu(PEER, 0, 1)]);
    pair
}

fn black_hole(pair: &Pair, above: usize) {
    pair.network.impair(Impairment {
        black_hole_above: above,
        ..Impairment::default()
    });
}

fn stream(packets: &[Vec<u8>]) -> Vec<u8> {
    packets
        .iter()
        .flat_map(|packet| packet.iter().skip(52).copied())
        .collect()
}

fn without_df(mut packet: Vec<u8>) -> Vec<u8> {
    let Some(header) = packet.first_chunk_mut::<20>() else {
        panic!("an IPv4 packet has a header");
    };
    header[6] &= !0x40;
    header[10..12].fill(0);
    let sum = packet::checksum::finish(packet::checksum::add(header, 0));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

#[test]
fn a_probe_that_arrives_is_answered_with_the_size_that_arrived() {
    let mut pair = probing(0);

    pair.nodes[0].apply(&[commands::send_probe(PEER, 1_452, 77)]);
    pair.exchange();

    let answered = (PROBE_ANSWERED, 0, words(&[PEER, 77, 1_452]));
    assert_eq!(pair.nodes[0].events(), [answered]);
    assert_eq!(pair.nodes[0].total("pathProbesSent"), 1);
    assert_eq!(pair.nodes[1].total("pathProbesAnswered"), 1);
    let nothing: [Vec<u8>; 0] = [];
    assert_eq!(pair.nodes[1].packets(), nothing, "no packet for the host");
    assert_eq!(pair.nodes[1].peer("rxPackets"), 0);
    assert_eq!(pair.nodes[0].peer("txPackets"), 0);
}

#[test]
fn a_probe_above_what_the_path_carries_stays_unanswered_and_takes_nothing_along() {
    let mut pair = probing(0);
    black_hole(&pair, 1_300);

    pair.nodes[0].host.send_packet(&u4(1, 100));
    pair.nodes[0].apply(&[
        commands::send_probe(PEER, 1_452, 1),
        commands::send_probe(PEER, 1_300, 2),
        commands::send_probe(PEER, 65_507, 3),
    ]);
    pair.exchange();

    let answered = (PROBE_ANSWERED, 0, words(&[PEER, 2, 1_300]));
    assert_eq!(pair.nodes[0].events(), [answered]);
    assert_eq!(pair.nodes[1].packets(), [u4(1, 100)]);
}

/// A datagram of node 0 to node 1 with this extension message, as a peer that makes up its own would send it.
fn forged(counter: u64, message: wire::Extension) -> Vec<u8> {
    forged_under(101, counter, message)
}

/// The same under the session that node 1 calls `receiver`.
fn forged_under(receiver: u32, counter: u64, message: wire::Extension) -> Vec<u8> {
    let mut datagram = vec![0; wire::DATA_HEADER_LEN + wire::Extension::LEN_MAX + wire::TAG_LEN];
    let (head, rest) = datagram.split_first_chunk_mut().unwrap();
    wire::DataHeader { receiver, counter }.write(head);
    let (text, tag) = rest.split_last_chunk_mut().unwrap();
    message.write(text).unwrap();
    let key = wire::TransportKey::new(wire::Cipher::ChaCha20Poly1305, &mut [1; 32]);
    wire::Aead::seal(&key, counter, text, tag);
    datagram
}

#[test]
fn a_peer_that_answers_what_nobody_asked_is_not_heard() {
    let mut pair = probing(0);
    let mut stranger = pair.network.socket("203.0.113.9:1".parse().unwrap());
    let to = ports::Endpoint::unpinned(support::OUTER[1].parse().unwrap());
    let flood = |stranger: &mut testkit::MemoryDatagrams, first: u64| {
        for counter in first..first + 100 {
            let datagram = forged(counter, wire::Extension::MtuAnswer { id: 7, size: 64 });
            stranger.send(&to, &datagram, datagram.len());
        }
    };

    flood(&mut stranger, 1_000);
    (0..20).for_each(|_| pair.nodes[1].turn());
    let told = |kinds: &[u8]| kinds.iter().filter(|kind| **kind == PROBE_ANSWERED).count();
    assert_eq!(told(&pair.nodes[1].event_kinds()), 0);
    assert_eq!(pair.nodes[1].peer("dropMalformed"), 100);

    pair.nodes[1].apply(&[commands::send_probe(PEER, 1_452, 7)]);
    flood(&mut stranger, 2_000);
    (0..20).for_each(|_| pair.nodes[1].turn());
    assert_eq!(
        told(&pair.nodes[1].event_kinds()),
        1,
        "one probe, one answer"
    );
}

/// P-85, SEG-15: a probe never joins a GSO send.
#[test]
fn seg_15_a_probe_between_packets_goes_in_a_send_of_its_own() {
    let mut pair = probing(0);
    let calls_with = |pair: &mut Pair, probes: &[Vec<u8>]| {
        let before = pair.nodes[0].total("udpSendCalls");
        pair.nodes[0].host.send_frame(super_frame(10 * 1368, 1368));
        pair.nodes[0].apply(probes);
        pair.nodes[0].turn();
        pair.nodes[0].total("udpSendCalls") - before
    };
    calls_with(&mut pair, &[]);

    let bulk = calls_with(&mut pair, &[]);
    let probes = [1, 2].map(|id| commands::send_probe(PEER, 1_452, id));
    let both = calls_with(&mut pair, &probes);

    assert_eq!(both, bulk + 2, "the same size, and still not joined");
}

/// Extension messages are agreed on in a handshake, so they belong to its session and not to the peer.
#[test]
fn extension_messages_are_heard_and_answered_only_under_sessions_that_agreed_on_them() {
    let mut pair = probing(0);
    let mut stranger = pair.network.socket("203.0.113.9:1".parse().unwrap());
    let to = ports::Endpoint::unpinned(support::OUTER[1].parse().unwrap());
    let mut probe = |pair: &mut Pair, receiver: u32, counter: u64| {
        let datagram = forged_under(receiver, counter, wire::Extension::MtuProbe { id: 7 });
        stranger.send(&to, &datagram, datagram.len());
        let counts = |pair: &Pair| {
            let node = &pair.nodes[1];
            [node.total("pathProbesAnswered"), node.peer("dropMalformed")]
        };
        let [answered, dropped] = counts(pair);
        pair.nodes[1].turn();
        let now = counts(pair);
        (now[0] - answered, now[1] - dropped)
    };
    assert_eq!(probe(&mut pair, 101, 1_000), (1, 0));

    // The next handshake falls back to plain WireGuard; the old session is still received under.
    pair.install_with(200, [(0, 0); 2]);
    pair.exchange();

    assert_eq!(
        probe(&mut pair, 201, 1_000),
        (0, 1),
        "plain WireGuard has none"
    );
    assert_eq!(
        probe(&mut pair, 101, 2_000),
        (0, 0),
        "heard, but an answer would go out under the plain session"
    );
    let sent = pair.nodes[1].total("pathProbesSent");
    pair.nodes[1].apply(&[commands::send_probe(PEER, 1_452, 8)]);
    pair.nodes[1].turn();
    assert_eq!(pair.nodes[1].total("pathProbesSent"), sent);
}

#[test]
fn a_peer_that_speaks_plain_wireguard_is_never_answered() {
    let mut pair = probing(0);
    pair.nodes[1].apply(&[commands::set_path_mtu(PEER, 0, 0)]);

    pair.nodes[0].apply(&[commands::send_probe(PEER, 1_452, 77)]);
    pair.exchange();

    assert_eq!(pair.nodes[0].events(), []);
    assert_eq!(pair.nodes[1].peer("dropMalformed"), 1);
}

/// SPL-19: TCP is cut to what the path carries, and arrives byte for byte.
#[test]
fn spl_19_tcp_is_cut_to_what_the_path_carries_byte_for_byte() {
    let mut pair = probing(1_272);
    black_hole(&pair, 1_272);

    pair.nodes[0].host.send_frame(super_frame(40_000, 1368));
    pair.exchange();

    assert_eq!(
        pair.nodes[0].peer("txPackets"),
        40_000_u64.div_ceil(1_240 - 52)
    );
    let packets = pair.nodes[1].packets();
    assert_eq!(stream(&packets), t4(1_000, 40_000)[52..]);
}

/// SPL-19, P-53: a lone packet above the MTU of the tunnel, as a host with GRO hands it on.
#[test]
fn p_53_a_lone_tcp_packet_above_the_mtu_is_cut_too() {
    let mut pair = probing(1_272);
    black_hole(&pair, 1_272);
    let packet = t4(1_000, 2_684);

    pair.nodes[0].host.send_packet(&packet);
    pair.exchange();

    let packets = pair.nodes[1].packets();
    assert_eq!(stream(&packets), packet[52..]);
    assert_eq!(pair.nodes[0].peer("txPackets"), 3);
    assert_eq!(pair.nodes[0].total("tooBigAnswers"), 0);
}

#[test]
fn a_lone_tcp_packet_with_a_wrong_checksum_is_not_made_right_by_cutting() {
    let mut pair = probing(1_272);
    let mut packet = t4(1_000, 1_368);
    packet[100] ^= 1;
    assert!(!checksum_is_good(&packet));

    pair.nodes[0].host.send_packet(&packet);
    pair.exchange();

    assert_eq!(pair.nodes[1].peer("rxPackets"), 0);
    assert_eq!(pair.nodes[0].total("tooBigAnswers"), 1);
}

/// SPL-19: UDP above the path MTU is answered with it.
#[test]
fn spl_19_a_packet_that_must_not_be_fragmented_is_answered_with_the_mtu_of_its_path() {
    let mut pair = probing(1_272);

    pair.nodes[0].host.send_packet(&u4(1, 1_300));
    pair.exchange();

    let answers = pair.nodes[0].packets();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0][20..22], [3, 4]);
    assert_eq!(answers[0][26..28], 1_240_u16.to_be_bytes());
    let ends = packet::addresses(&answers[0]).map(|(_, to)| to.to_string());
    assert_eq!(ends.as_deref(), Some(INNER[0]));
    assert_eq!(pair.nodes[0].peer("txPackets"), 0);
}

#[test]
fn a_packet_that_may_be_fragmented_crosses_a_narrow_path_whole() {
    let mut pair = probing(1_272);
    black_hole(&pair, 1_272);
    let packet = without_df(u4(1, 1_300));

    pair.nodes[0].host.send_packet(&packet);
    pair.exchange();

    assert_eq!(pair.nodes[1].packets(), [packet]);
}

/// FBK-04, P-81: the kernel refuses segments above the path MTU; the bound goes down at once and GSO stays.
#[test]
fn fbk_04_a_refused_size_lowers_the_bound_of_the_peer_at_once() {
    let mut pair = probing(0);
    pair.network.impair(Impairment {
        payload_len_max: 1_372,
        ..Impairment::default()
    });

    pair.nodes[0].host.send_frame(super_frame(5 * 1_368, 1_368));
    pair.exchange();
    let told: Vec<_> = pair.nodes[0]
        .events()
        .into_iter()
        .filter(|(kind, _, _)| *kind == PATH_TOO_BIG)
        .collect();
    assert_eq!(
        told,
        [(PATH_TOO_BIG, 0, words(&[PEER, 1_372]))],
        "told once"
    );
    pair.nodes[1].packets();

    pair.nodes[0].host.send_frame(super_frame(40_000, 1_368));
    pair.exchange();
    assert_eq!(stream(&pair.nodes[1].packets()), t4(1_000, 40_000)[52..]);
    assert!(
        pair.nodes[0]
            .events()
            .iter()
            .all(|(kind, _, _)| *kind != PATH_TOO_BIG)
    );
}

fn reported(pair: &Pair) -> Vec<Vec<u8>> {
    let events = pair.nodes[0].events().into_iter();
    events
        .filter(|(kind, _, _)| *kind == PATH_TOO_BIG)
        .map(|(_, _, body)| body)
        .collect()
}

/// Anybody can make up a router's report; what a peer's answer has shown under our keys counts more.
#[test]
fn fbk_04_a_report_cuts_no_datagram_of_a_path_that_is_proven_and_is_told_as_a_hint_once() {
    let mut pair = probing(0);
    pair.nodes[0].apply(&[commands::set_proven_path_mtu(PEER, 1_452)]);
    pair.network.impair(Impairment {
        believed_len_max: 548,
        ..Impairment::default()
    });
    let send = |pair: &mut Pair| {
        let before = pair.nodes[0].peer("txPackets");
        pair.nodes[0].host.send_frame(super_frame(40_000, 1_368));
        pair.exchange();
        assert_eq!(stream(&pair.nodes[1].packets()), t4(1_000, 40_000)[52..]);
        pair.nodes[0].peer("txPackets") - before
    };

    assert_eq!(send(&mut pair), 40_000_u64.div_ceil(1_368), "in full size");
    assert_eq!(reported(&pair), [words(&[PEER, 548])]);

    // The slow path asked, and the peer answered: the report is wrong.
    pair.nodes[0].apply(&[commands::send_probe(PEER, 1_452, 5)]);
    pair.exchange();
    assert!(
        pair.nodes[0]
            .events()
            .contains(&(PROBE_ANSWERED, 0, words(&[PEER, 5, 1_452])))
    );
    pair.nodes[0].apply(&[commands::set_proven_path_mtu(PEER, 1_452)]);
    pair.advance(core::time::Duration::from_secs(1));
    assert_eq!(send(&mut pair), 40_000_u64.div_ceil(1_368));
    assert_eq!(reported(&pair).len(), 0, "it knows");
}

/// The device is narrower than what was proven: no belief, a fact.
#[test]
fn fbk_04_a_refusal_lowers_the_bound_of_a_proven_path_too() {
    let mut pair = probing(0);
    pair.nodes[0].apply(&[commands::set_proven_path_mtu(PEER, 1_452)]);
    pair.network.impair(Impairment {
        payload_len_max: 1_372,
        ..Impairment::default()
    });

    pair.nodes[0].host.send_frame(super_frame(5 * 1_368, 1_368));
    pair.exchange();
    assert_eq!(reported(&pair), [words(&[PEER, 1_372])]);
    pair.nodes[1].packets();

    pair.nodes[0].host.send_frame(super_frame(40_000, 1_368));
    pair.exchange();
    assert_eq!(stream(&pair.nodes[1].packets()), t4(1_000, 40_000)[52..]);
}

#[test]
fn the_slow_path_learns_once_that_something_large_went_out() {
    let mut pair = probing(0);
    let large = |pair: &mut Pair| {
        pair.nodes[0].host.send_packet(&u4(1, 1_300));
        pair.nodes[0].host.send_packet(&u4(1, 1_300));
        pair.exchange();
        pair.nodes[0].event_kinds()
    };

    pair.nodes[0].host.send_packet(&u4(1, 100));
    pair.exchange();
    let nothing: [u8; 0] = [];
    assert_eq!(pair.nodes[0].event_kinds(), nothing);
    assert_eq!(large(&mut pair), [LARGE_SENT]);
    assert_eq!(large(&mut pair), nothing);

    pair.nodes[0].apply(&[commands::send_probe(PEER, 1_452, 1)]);
    pair.exchange();
    pair.nodes[0].events();
    assert_eq!(large(&mut pair), [LARGE_SENT], "a probe asks again");
}

/// SPL-19, LIM-06, LIM-07: the MTU of the device changes while the engine runs.
#[test]
fn lim_06_lim_07_a_changed_mtu_reaches_splitting_and_padding_at_once() {
    for mtu in [576_u32, 1_280, 8_900, 9_000, 65_535] {
        let mut pair = Pair::with_session();
        for node in &pair.nodes {
            node.apply(&[commands::set_mtu(mtu)]);
        }
        let inner = (mtu as usize).min(65_507 - 32);
        black_hole(&pair, inner + 32);

        let payload = 64_000;
        pair.nodes[0].host.send_frame(super_frame(payload, 65_000));
        (0..4).for_each(|_| pair.exchange());

        let pieces = payload.div_ceil(inner - 52);
        assert_eq!(pair.nodes[0].peer("txPackets"), pieces as u64, "MTU {mtu}");
        assert_eq!(stream(&pair.nodes[1].packets()), t4(1_000, payload)[52..]);
    }
}
