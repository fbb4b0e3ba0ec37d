//! Sessions with another cipher, and with checksums left to the AEAD.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

mod support;

use offload::{ByteOrder, NEEDS_CHECKSUM, VirtioHeader, gso};
use ports::{Datagrams, Endpoint};
use support::socket::Wire;
use support::{OUTER, Pair};
use testkit::{t4, u4};
use wire::{Aead, Cipher, DATA_HEADER_LEN, DataHeader, TAG_LEN, TransportKey};

const AES: u8 = 1;
const ELIDE: u16 = 1;
const ELIDE_RECEIVE_ONLY: u16 = 3;

/// A session that the first node initiated, with cipher and flags of either node.
fn pair_with(sessions: [(u8, u16); 2]) -> Pair {
    install(Pair::without_session(), sessions)
}

fn install(mut pair: Pair, sessions: [(u8, u16); 2]) -> Pair {
    pair.install_with(100, sessions);
    pair.exchange();
    pair
}

fn eliding() -> Pair {
    pair_with([(AES, ELIDE); 2])
}

/// A frame as the kernel hands it over: partial checksum with the seed in its field.
fn frame(packet: &[u8], gso_type: u8, segment_size: u16) -> Vec<u8> {
    let udp = packet[9] == 17;
    let mut packet = packet.to_vec();
    let at = if udp { 26 } else { 36 };
    let seed = seed(&packet).to_be_bytes();
    packet[at..at + 2].copy_from_slice(&seed);
    let header = VirtioHeader {
        flags: NEEDS_CHECKSUM,
        gso_type,
        header_len: if udp { 28 } else { 52 },
        segment_size,
        checksum_start: 20,
        checksum_offset: if udp { 6 } else { 16 },
    };
    [&header.bytes(ByteOrder::Little)[..], &packet].concat()
}

/// The pseudo-header's sum of an IPv4 packet without options, word by word.
fn seed(packet: &[u8]) -> u16 {
    let l4_len = u32::try_from(packet.len() - 20).unwrap();
    let words = packet[12..20]
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum = words.sum::<u32>() + u32::from(packet[9]) + l4_len;
    let sum = (sum & 0xffff) + (sum >> 16);
    u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap()
}

#[test]
fn packets_cross_under_aes_256_gcm() {
    let mut pair = pair_with([(AES, 0); 2]);

    pair.nodes[0]
        .host
        .send_frame(frame(&t4(1_000, 5_000), gso::TCP4, 1_368));
    pair.exchange();

    let packets = pair.nodes[1].packets();
    assert_eq!(packets.len(), 1, "merged");
    assert_eq!(packets[0][52..], t4(1_000, 5_000)[52..]);
    assert_eq!(pair.nodes[1].total("elideRx"), 0);
}

#[test]
fn a_session_whose_ends_have_different_ciphers_carries_nothing() {
    let mut pair = pair_with([(AES, 0), (0, 0)]);

    pair.nodes[0].host.send_packet(&u4(1, 10));
    pair.exchange();

    assert_eq!(pair.nodes[1].packets().len(), 0);
    assert!(pair.nodes[1].peer("dropBadTag") >= 1);
}

/// ELI-01: without elision in the profile of the session, or with the switch off, no packet is marked.
#[test]
fn eli_01_packets_are_marked_only_when_the_session_carries_elision() {
    for (first, marked) in [(0, 0), (ELIDE_RECEIVE_ONLY, 0), (ELIDE, 4)] {
        let second = if first == 0 { 0 } else { ELIDE };
        let mut pair = pair_with([(AES, first), (AES, second)]);

        pair.nodes[0]
            .host
            .send_frame(frame(&t4(1, 4_100), gso::TCP4, 1_368));
        pair.nodes[0]
            .host
            .send_frame(frame(&u4(1, 64), gso::NONE, 0));
        pair.exchange();

        let expected: u64 = marked;
        assert_eq!(pair.nodes[0].total("elideTx"), expected, "flags {first}");
        assert_eq!(pair.nodes[1].total("elideRx"), expected, "flags {first}");
        assert_eq!(pair.nodes[1].packets().len(), 2);
    }
}

/// ELI-03: a frame without the flag keeps its checksum, right or wrong.
#[test]
fn eli_03_a_wrong_checksum_of_forwarded_traffic_survives() {
    let mut pair = eliding();
    let mut wrong = u4(1, 64);
    wrong[26] ^= 0x55;

    pair.nodes[0].host.send_packet(&wrong);
    pair.exchange();

    assert_eq!(pair.nodes[1].packets(), [wrong]);
    assert_eq!(pair.nodes[0].total("elideTx"), 0);
}

/// ELI-07: a single is written as type 0 with `NEEDS_CSUM` and its seed; several are merged.
#[test]
fn eli_07_singles_leave_with_their_seed_and_the_flag() {
    let mut pair = eliding();
    let sent = frame(&u4(1, 64), gso::NONE, 0);

    pair.nodes[0].host.send_frame(sent.clone());
    pair.exchange();

    let received = pair.nodes[1].host.receive_frame().unwrap();
    let header = VirtioHeader::read(&received, ByteOrder::Little).unwrap();
    assert_eq!(
        header,
        VirtioHeader {
            flags: NEEDS_CHECKSUM,
            checksum_start: 20,
            checksum_offset: 6,
            ..VirtioHeader::default()
        }
    );
    assert_eq!(received[10..], sent[10..], "seed included");

    pair.nodes[0]
        .host
        .send_frame(frame(&t4(1, 4_100), gso::TCP4, 1_368));
    pair.exchange();
    let merged = pair.nodes[1].host.receive_frame().unwrap();
    let header = VirtioHeader::read(&merged, ByteOrder::Little).unwrap();
    assert_eq!((header.gso_type, header.flags), (gso::TCP4, NEEDS_CHECKSUM));
    assert_eq!(merged[10..], frame(&t4(1, 4_100), gso::TCP4, 1_368)[10..]);
}

/// ELI-09: a device without the header gets finished checksums.
#[test]
fn eli_09_a_plain_device_gets_finished_checksums() {
    let plain = Wire {
        plain_device: true,
        ..Wire::default()
    };
    let mut pair = install(Pair::over([Wire::default(), plain]), [(AES, ELIDE); 2]);

    pair.nodes[0]
        .host
        .send_frame(frame(&u4(1, 64), gso::NONE, 0));
    pair.nodes[0]
        .host
        .send_frame(frame(&t4(1, 1_000), gso::NONE, 0));
    pair.exchange();

    assert_eq!(pair.nodes[1].packets(), [u4(1, 64), t4(1, 1_000)]);
    assert_eq!(pair.nodes[1].total("elideRx"), 2);
}

/// ELI-10: a marked packet over a session without elision is dropped and counted.
#[test]
fn eli_10_a_mark_that_was_not_agreed_on_is_dropped() {
    let mut pair = pair_with([(AES, ELIDE), (AES, 0)]);

    pair.nodes[0]
        .host
        .send_frame(frame(&u4(1, 64), gso::NONE, 0));
    pair.nodes[0].host.send_packet(&u4(2, 64));
    pair.exchange();

    assert_eq!(pair.nodes[1].packets(), [u4(2, 64)]);
    assert_eq!(pair.nodes[1].total("elideBad"), 1);
    assert_eq!(pair.nodes[1].peer("dropMalformed"), 1);
}

/// Sends the second node a packet sealed as the first one would.
fn inject(pair: &Pair, counter: u64, packet: &[u8]) {
    let mut datagram = vec![0; DATA_HEADER_LEN];
    let header = DataHeader {
        receiver: 101,
        counter,
    };
    header.write(datagram.first_chunk_mut().unwrap());
    let mut sealed = packet.to_vec();
    let mut tag = [0; TAG_LEN];
    TransportKey::new(Cipher::Aes256Gcm, &mut [1; 32]).seal(counter, &mut sealed, &mut tag);
    datagram.extend(sealed);
    datagram.extend(tag);
    let to = Endpoint::unpinned(OUTER[1].parse().unwrap());
    let mut socket = pair.network.socket("192.0.2.9:9".parse().unwrap());
    assert_eq!(socket.send(&to, &datagram, datagram.len()).accepted, 1);
}

/// ELI-05, ELI-06, ELI-10: marked packets are checked like any other; one whose seed is wrong or that cannot be elided
/// is dropped.
#[test]
fn eli_05_06_10_seeds_and_sources_of_marked_packets_are_checked() {
    let mut pair = eliding();
    let marked = |packet: Vec<u8>| {
        let mut packet = frame(&packet, gso::NONE, 0)[10..].to_vec();
        packet[0] |= 0x80;
        packet
    };
    let mut foreign = u4(1, 64);
    foreign[15] = 77;
    let mut wrong_seed = marked(u4(2, 64));
    wrong_seed[27] ^= 1;
    let mut fragment = marked(u4(3, 64));
    fragment[6] = 0x20;
    let mut extension = marked(u4(4, 64));
    extension[0] = 0xf1;

    for (counter, packet) in [
        marked(foreign),
        wrong_seed,
        fragment,
        extension,
        marked(u4(5, 64)),
    ]
    .iter()
    .enumerate()
    {
        inject(&pair, 50 + counter as u64, packet);
    }
    pair.exchange();

    let received = pair.nodes[1].packets();
    assert_eq!(received, [frame(&u4(5, 64), gso::NONE, 0)[10..].to_vec()]);
    assert_eq!(pair.nodes[1].peer("dropSourceNotAllowed"), 1);
    assert_eq!(pair.nodes[1].total("elideBad"), 2);
    assert_eq!(pair.nodes[1].peer("dropMalformed"), 3);
}

/// Packets that wait for a session are finished: nobody knows yet what it will carry.
#[test]
fn packets_that_waited_for_the_session_are_not_marked() {
    let mut pair = Pair::without_session();
    pair.nodes[0]
        .host
        .send_frame(frame(&u4(1, 64), gso::NONE, 0));
    pair.exchange();

    pair.install_with(100, [(AES, ELIDE); 2]);
    pair.exchange();

    assert_eq!(pair.nodes[1].packets(), [u4(1, 64)]);
    assert_eq!(pair.nodes[1].total("elideRx"), 0);
}
