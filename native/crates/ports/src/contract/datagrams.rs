use core::net::{IpAddr, SocketAddr};
use std::io::ErrorKind;

use crate::{Datagrams, Ecn, Endpoint, Received};

/// Two sockets that reach each other.
#[derive(Debug)]
pub struct DatagramPair<D> {
    /// One socket.
    pub alice: D,
    /// The other.
    pub bob: D,
    /// Where `bob` reaches `alice`.
    pub to_alice: Endpoint,
    /// Where `alice` reaches `bob`.
    pub to_bob: Endpoint,
}

/// Behaviour every datagram socket owes its user.
pub fn datagram_contract<D: Datagrams>(make: impl Fn() -> DatagramPair<D>) {
    an_idle_socket_would_block(make());
    one_datagram_arrives_as_one(make());
    segments_arrive_as_datagrams_in_order(make());
    a_size_that_cuts_nothing_means_one_datagram(make());
    an_empty_datagram_is_a_datagram(make());
    an_answer_reaches_the_sender(make());
    every_datagram_carries_the_mark_of_its_send(make());
    batches_beyond_any_limit_of_one_call_arrive_complete(make());
    a_slot_that_could_cut_is_refused(make());
    another_address_family_is_refused_for_good(make());
}

/// A datagram with what was said about it.
type Arrived = (Vec<u8>, Endpoint, u8);

fn an_idle_socket_would_block<D: Datagrams>(mut pair: DatagramPair<D>) {
    let mut out = [Received::EMPTY; 1];

    let error = pair
        .bob
        .receive(&mut vec![0; SLOT], SLOT, &mut out)
        .unwrap_err();

    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert_eq!(pair.bob.counters().receive_datagrams, 0);
}

fn one_datagram_arrives_as_one<D: Datagrams>(mut pair: DatagramPair<D>) {
    let outcome = pair.alice.send(&pair.to_bob, b"hello", 0);

    assert_eq!((outcome.accepted, outcome.handled), (1, 1));
    assert!(outcome.error.is_none() && !outcome.pin_lost);
    let arrived = receive(&mut pair.bob, 1);
    assert_eq!(arrived[0].0, b"hello");
    assert_eq!(arrived[0].1.remote.ip(), pair.to_alice.remote.ip());
    assert_eq!(pair.alice.counters().send_datagrams, 1);
    assert_eq!(pair.alice.counters().send_bytes, 5);
    assert_eq!(
        pair.alice.counters().send_gso,
        0,
        "a lone datagram carries no segment size"
    );
}

fn segments_arrive_as_datagrams_in_order<D: Datagrams>(mut pair: DatagramPair<D>) {
    for (len, segment_size) in [
        (25, 10),
        (20, 10),
        (11, 10),
        (3_000, 1_000),
        (64_000, 1_000),
    ] {
        let payload = pattern(len);

        let outcome = pair.alice.send(&pair.to_bob, &payload, segment_size);

        let count = len.div_ceil(segment_size);
        assert_eq!(
            (outcome.accepted, outcome.handled),
            (count, count),
            "{len} by {segment_size}"
        );
        let arrived = receive(&mut pair.bob, count);
        let expected: Vec<&[u8]> = payload.chunks(segment_size).collect();
        assert_eq!(payloads(&arrived), expected, "{len} by {segment_size}");
    }
}

fn a_size_that_cuts_nothing_means_one_datagram<D: Datagrams>(mut pair: DatagramPair<D>) {
    for segment_size in [0, 100, 101, usize::MAX] {
        let payload = pattern(100);

        let outcome = pair.alice.send(&pair.to_bob, &payload, segment_size);

        assert_eq!(
            (outcome.accepted, outcome.handled),
            (1, 1),
            "{segment_size}"
        );
        assert_eq!(payloads(&receive(&mut pair.bob, 1)), [payload]);
    }
}

fn an_empty_datagram_is_a_datagram<D: Datagrams>(mut pair: DatagramPair<D>) {
    let outcome = pair.alice.send(&pair.to_bob, &[], 0);

    assert_eq!((outcome.accepted, outcome.handled), (1, 1));
    assert_eq!(payloads(&receive(&mut pair.bob, 1)), [b""]);
}

fn an_answer_reaches_the_sender<D: Datagrams>(mut pair: DatagramPair<D>) {
    pair.alice.send(&pair.to_bob, &pattern(30), 10);

    for (_, from, _) in receive(&mut pair.bob, 3) {
        let outcome = pair.bob.send(&from, b"answer", 0);
        assert_eq!(outcome.accepted, 1);
        assert!(!outcome.pin_lost, "the pinned address exists");
        let arrived = receive(&mut pair.alice, 1);
        assert_eq!(arrived[0].0, b"answer");
        assert_eq!(arrived[0].1.remote.ip(), pair.to_bob.remote.ip());
    }
}

fn every_datagram_carries_the_mark_of_its_send<D: Datagrams>(mut pair: DatagramPair<D>) {
    for mark in [
        Ecn::NotCapable,
        Ecn::Capable1,
        Ecn::Capable0,
        Ecn::Congestion,
    ] {
        for len in [5, 25] {
            pair.alice
                .send_marked(&pair.to_bob, &pattern(len), 10, mark);
            for (_, _, seen) in receive(&mut pair.bob, len.div_ceil(10)) {
                assert_eq!(seen, mark as u8);
            }
        }
    }
}

fn batches_beyond_any_limit_of_one_call_arrive_complete<D: Datagrams>(mut pair: DatagramPair<D>) {
    let payload = pattern(150 * 1_320 + 7);

    let mut sent = 0;
    while sent < 151 {
        let outcome = pair
            .alice
            .send(&pair.to_bob, &payload[sent * 1_320..], 1_320);
        assert_eq!(outcome.accepted, outcome.handled, "{outcome:?}");
        assert!(outcome.handled > 0, "{outcome:?}");
        sent += outcome.handled;
    }

    let expected: Vec<&[u8]> = payload.chunks(1_320).collect();
    assert_eq!(payloads(&receive(&mut pair.bob, 151)), expected);
}

fn a_slot_that_could_cut_is_refused<D: Datagrams>(mut pair: DatagramPair<D>) {
    let mut out = [Received::EMPTY; 1];
    for (arena_len, slot_size) in [(SLOT * 2, 65_534), (SLOT - 1, SLOT), (0, SLOT), (SLOT, 0)] {
        let error = pair
            .bob
            .receive(&mut vec![0; arena_len], slot_size, &mut out)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

fn another_address_family_is_refused_for_good<D: Datagrams>(mut pair: DatagramPair<D>) {
    let other: SocketAddr = if pair.to_bob.remote.is_ipv4() {
        ([0_u16; 8], 9).into()
    } else {
        ([127, 0, 0, 1], 9).into()
    };

    let outcome = pair
        .alice
        .send(&Endpoint::unpinned(other), &pattern(30), 10);

    assert_eq!((outcome.accepted, outcome.handled), (0, 3));
    assert!(outcome.error.is_some());
    // A pin of the other family is not looked at.
    let odd = IpAddr::from(if other.is_ipv4() {
        [127, 0, 0, 1]
    } else {
        [127, 0, 0, 2]
    });
    if other.is_ipv4() {
        let outcome = pair.alice.send(
            &Endpoint {
                local: Some(odd),
                ..pair.to_bob
            },
            b"fine",
            0,
        );
        assert_eq!(outcome.accepted, 1);
    }
}

fn receive<D: Datagrams>(socket: &mut D, count: usize) -> Vec<Arrived> {
    let mut arena = vec![0; SLOT * 8];
    let mut out = [Received::EMPTY; 8];
    let mut arrived = Vec::new();
    for _ in 0..ATTEMPTS {
        match socket.receive(&mut arena, SLOT, &mut out) {
            Ok(filled) => {
                for received in &out[..filled] {
                    let slot = &arena[received.slot * SLOT..][..received.len];
                    arrived.extend(
                        received
                            .datagrams()
                            .map(|range| (slot[range].to_vec(), received.from, received.ecn)),
                    );
                }
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                if arrived.len() >= count {
                    break;
                }
                std::thread::yield_now();
            }
        }
    }
    assert_eq!(arrived.len(), count, "datagrams arrived");
    arrived
}

fn payloads(arrived: &[Arrived]) -> Vec<&[u8]> {
    arrived
        .iter()
        .map(|(payload, _, _)| payload.as_slice())
        .collect()
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

const SLOT: usize = 65_536;
const ATTEMPTS: usize = 100_000;
