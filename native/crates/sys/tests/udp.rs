//! UDP sockets of the running kernel.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

mod common;
#[path = "common/raw.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod raw;

use std::net::{IpAddr, SocketAddr};

use common::in_namespace;
use ports::{Carriage, Datagrams, Ecn, Endpoint, PathBound, Received, TunQueue};
use sys::netlink::{LinkChange, add_address, remove_address, set_link};
use sys::udp::{Direction, Family, Switch, bind_shards, path_mtu};
use sys::{Tun, TunFd, TunOptions, UdpOptions, UdpSocket};

/// SEG-07, P-66, P-73: merged receives of 64 and 128 segments are taken apart, received in batches or one by one.
#[test]
fn seg_07_p_73_merged_receives_of_64_and_128_segments_are_taken_apart() {
    in_namespace(|| {
        for (count, batch) in [
            (64, Switch::Auto),
            (128, Switch::Auto),
            (64, Switch::Off),
            (128, Switch::Off),
        ] {
            let options = UdpOptions {
                gso_segments_max: 128,
                batch,
                ..UdpOptions::default()
            };
            let (mut alice, mut bob) = (
                UdpSocket::bind(&options).unwrap(),
                UdpSocket::bind(&options).unwrap(),
            );
            let payload: Vec<u8> = (0..count).flat_map(|number: u8| [number; 100]).collect();

            let outcome = alice.send(&at("127.0.0.1", &bob), &payload[..payload.len() - 1], 100);

            assert_eq!(outcome.accepted, usize::from(count));
            assert_eq!(
                alice.counters().send_gso,
                1,
                "LIM-04: {count} segments in one send"
            );
            let arrived = receive(&mut bob);
            assert_eq!(arrived.len(), usize::from(count));
            assert_eq!(bob.counters().receive_gro, 1, "they came as one");
            assert_eq!(bob.counters().receive_calls, 1);
            for (number, (datagram, from)) in arrived.iter().enumerate() {
                let len = if number + 1 == usize::from(count) {
                    99
                } else {
                    100
                };
                assert_eq!(datagram, &vec![u8::try_from(number).unwrap(); len]);
                assert_eq!(from.local, Some([127, 0, 0, 1].into()));
            }
        }
    });
}

/// P-64, P-72: what the kernel offers is found by asking it, not by a rehearsal over loopback: both are on before the
/// first datagram, and nothing was sent for it.
#[test]
fn p_64_p_72_detection_asks_the_kernel_and_sends_nothing() {
    in_namespace(|| {
        for family in [Family::V4, Family::V6] {
            let socket = UdpSocket::bind(&UdpOptions {
                family,
                ..UdpOptions::default()
            })
            .unwrap();

            let state = socket.state();
            assert!(state.gso.is_on() && state.gro.is_on(), "{state:?}");
            assert_eq!(*socket.counters(), ports::DatagramCounters::default());
        }
    });
}

/// LIM-04: 129 segments are never one send.
#[test]
fn lim_04_129_segments_are_never_one_send() {
    let refused = UdpSocket::bind(&UdpOptions {
        gso_segments_max: 129,
        ..UdpOptions::default()
    })
    .unwrap_err();

    assert_eq!(refused.code(), "invalid_option");
    assert!(refused.to_string().contains("2 to 128"), "{refused}");
}

#[test]
fn a_socket_that_only_sends_keeps_nothing_of_what_arrives() {
    in_namespace(|| {
        for family in [Family::V4, Family::V6] {
            let options = UdpOptions {
                family,
                ..UdpOptions::default()
            };
            let mut bob = UdpSocket::bind(&options).unwrap();
            let mut alice = UdpSocket::bind(&UdpOptions {
                direction: Direction::SendOnly,
                ..options
            })
            .unwrap();
            let host = if family == Family::V4 {
                "127.0.0.1"
            } else {
                "::1"
            };

            assert_eq!(bob.send(&at(host, &alice), &[1; 30], 10).accepted, 3);
            assert_eq!(receive(&mut alice).len(), 0);
            assert_eq!(alice.send(&at(host, &bob), &[1; 30], 10).accepted, 3);
            assert_eq!(receive(&mut bob).len(), 3);
        }
    });
}

/// SEG-08: without merging each datagram comes alone.
#[test]
fn seg_08_without_merging_each_datagram_comes_alone() {
    in_namespace(|| {
        let options = UdpOptions {
            gro: Switch::Off,
            ..UdpOptions::default()
        };
        let (mut alice, mut bob) = (
            UdpSocket::bind(&options).unwrap(),
            UdpSocket::bind(&options).unwrap(),
        );

        alice.send(&at("127.0.0.1", &bob), &[1; 1_000], 100);

        assert_eq!(receive(&mut bob).len(), 10);
        assert_eq!(bob.counters().receive_gro, 0);
    });
}

/// SEG-13: answers leave from the address that was asked with GSO too.
#[test]
fn seg_13_answers_leave_from_the_address_that_was_asked_with_gso_too() {
    in_namespace(|| {
        let mut alice = UdpSocket::bind(&UdpOptions::default()).unwrap();
        let mut bob = UdpSocket::bind(&UdpOptions::default()).unwrap();
        alice.send(&at("127.9.9.9", &bob), &[1; 30], 10);
        let question = receive(&mut bob);
        assert!(
            question
                .iter()
                .all(|(_, from)| from.local == Some([127, 9, 9, 9].into()))
        );

        let outcome = bob.send(&question[2].1, &[2; 30], 10);

        assert_eq!((outcome.accepted, bob.counters().send_gso), (3, 1));
        for (_, from) in receive(&mut alice) {
            assert_eq!(
                from.remote,
                SocketAddr::from(([127, 9, 9, 9], bob.local_port()))
            );
        }
    });
}

#[test]
fn a_pinned_address_that_vanished_is_reported_and_the_datagrams_leave() {
    in_namespace(|| {
        for (family, gone, loopback) in [
            (Family::V4, "10.77.0.1", "127.0.0.1"),
            (Family::V6, "fd77::1", "::1"),
        ] {
            let options = UdpOptions {
                family,
                ..UdpOptions::default()
            };
            let (mut alice, mut bob) = (
                UdpSocket::bind(&options).unwrap(),
                UdpSocket::bind(&options).unwrap(),
            );
            let to = Endpoint {
                local: Some(gone.parse().unwrap()),
                ..at(loopback, &bob)
            };
            let prefix = gone.parse().unwrap();
            add_address("lo", prefix).unwrap();
            let outcome = alice.send(&to, &[1; 30], 10);
            assert!(outcome.accepted == 3 && !outcome.pin_lost, "{outcome:?}");
            assert_eq!(
                receive(&mut bob)[0].1.remote.ip(),
                gone.parse::<IpAddr>().unwrap()
            );

            remove_address("lo", prefix).unwrap();
            let outcome = alice.send(&to, &[1; 30], 10);

            assert!(outcome.accepted == 3 && outcome.pin_lost, "{outcome:?}");
            assert!(alice.state().gso.is_on(), "GSO is not to blame");
            assert_eq!(
                receive(&mut bob)[0].1.remote.ip(),
                loopback.parse::<IpAddr>().unwrap()
            );
        }
    });
}

/// LIM-05, FBK-04: segments above the path MTU leave in fragments and are told.
#[test]
fn lim_05_fbk_04_segments_above_the_path_mtu_leave_in_fragments_and_are_told() {
    in_namespace(|| {
        let mut queue = narrow_path();
        let mut socket = UdpSocket::bind(&UdpOptions::default()).unwrap();
        let to = Endpoint::unpinned("10.9.0.1:6001".parse().unwrap());

        let fitting = socket.send(&to, &[1; 3 * 1_252], 1_252);
        assert!(
            fitting.error.is_none() && fitting.accepted == 3,
            "{fitting:?}"
        );
        assert_eq!(drain(&mut queue), [1_280, 1_280, 1_280]);

        let outcome = socket.send(&to, &[1; 3 * 1_300], 1_300);

        assert_eq!(outcome.error.unwrap().raw_os_error(), Some(libc::EMSGSIZE));
        assert_eq!((outcome.accepted, outcome.handled), (3, 3));
        assert!(socket.state().gso.is_on());
        assert_eq!(drain(&mut queue).len(), 6, "each in two fragments");
    });
}

/// SEG-15, P-85: a probe goes whole or not at all and changes nothing for what follows.
#[test]
fn seg_15_p_85_a_probe_goes_whole_or_not_at_all_and_what_follows_goes_as_before() {
    in_namespace(|| {
        for (family, remote, overhead) in [
            (Family::V4, "10.9.0.1:6001", 28),
            (Family::V6, "[fd09::1]:6001", 48),
        ] {
            let mut queue = narrow_path();
            let options = UdpOptions {
                family,
                ..UdpOptions::default()
            };
            let mut socket = UdpSocket::bind(&options).unwrap();
            let to = Endpoint::unpinned(remote.parse().unwrap());
            let widest = 1_280 - overhead;
            packets(&mut queue, remote);

            assert_eq!(socket.path_payload(to.remote), Some(widest));
            let fits = socket.send_alone(&to, &vec![1; widest], Carriage::Whole);
            assert!(fits.accepted == 1 && fits.error.is_none(), "{fits:?}");
            let sent = packets(&mut queue, remote);
            assert_eq!(lengths(&sent), [1_280]);
            assert!(must_not_be_fragmented(&sent[0]));

            let refused = socket.send_alone(&to, &vec![1; widest + 1], Carriage::Whole);
            let error = refused.error.unwrap();
            assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
            assert_eq!((refused.accepted, refused.handled), (0, 1));
            assert!(packets(&mut queue, remote).is_empty());

            let cut = socket.send_alone(&to, &[1; 2_000], Carriage::Fragments);
            assert!(cut.accepted == 1 && cut.error.is_none(), "{cut:?}");
            let sent = packets(&mut queue, remote);
            assert_eq!(sent.len(), 2);
            assert!(
                sent.iter()
                    .all(|packet| packet.len() <= 1_280 && !must_not_be_fragmented(packet))
            );

            socket.send(&to, &vec![1; widest], widest);
            let sent = packets(&mut queue, remote);
            assert_eq!(lengths(&sent), [1_280]);
            assert!(must_not_be_fragmented(&sent[0]));
        }
    });
}

/// What the kernel learnt of a path, here by an MTU of its route, binds only who relies on it.
#[test]
fn fbk_04_what_is_believed_of_a_path_cuts_no_datagram_where_it_is_proven_to_carry_more() {
    in_namespace(|| {
        for (family, remote, overhead) in [
            (Family::V4, "10.9.0.1:6001", 28),
            (Family::V6, "[fd09::1]:6001", 48),
        ] {
            let (mut queue, name) = path_of(1_400);
            let (device, believed) = (1_400, if family == Family::V4 { 600 } else { 1_280 });
            let to = Endpoint::unpinned(remote.parse().unwrap());
            ip(&format!(
                "route replace {} dev {name} mtu {believed}",
                to.remote.ip()
            ));
            let options = UdpOptions {
                family,
                ..UdpOptions::default()
            };
            let mut socket = UdpSocket::bind(&options).unwrap();
            let widest = device - overhead;
            packets(&mut queue, remote);
            assert_eq!(socket.path_payload(to.remote), Some(believed - overhead));
            let sizes = |socket: &mut UdpSocket, queue: &mut _| {
                let outcome = socket.send(&to, &vec![1; 3 * widest], widest);
                let sent = packets(queue, remote);
                let whole = sent.iter().filter(|packet| packet.len() == device).count();
                let firm = sent
                    .iter()
                    .filter(|packet| must_not_be_fragmented(packet))
                    .count();
                (outcome.error.map(|error| error.raw_os_error()), whole, firm)
            };
            let too_big = Some(Some(libc::EMSGSIZE));

            assert_eq!(sizes(&mut socket, &mut queue), (too_big, 0, 0));
            socket.rely_on(PathBound::Proven);
            assert_eq!(sizes(&mut socket, &mut queue), (None, 3, 3));
            // A message of its own in between has its own rule.
            socket.send_alone(&to, &vec![1; widest], Carriage::Fragments);
            packets(&mut queue, remote);
            assert_eq!(sizes(&mut socket, &mut queue), (None, 3, 3));
            socket.rely_on(PathBound::Believed);
            assert_eq!(sizes(&mut socket, &mut queue), (too_big, 0, 0));
        }
    });
}

#[test]
fn the_path_mtu_is_that_of_the_route() {
    in_namespace(|| {
        let _queue = narrow_path();

        assert_eq!(
            path_mtu("10.9.0.1:9".parse().unwrap(), None).unwrap(),
            1_280
        );
        assert_eq!(
            path_mtu("127.0.0.1:9".parse().unwrap(), None).unwrap(),
            65_535
        );
        assert_eq!(path_mtu("[::1]:9".parse().unwrap(), None).unwrap(), 65_536);
        let error = path_mtu("203.0.113.1:9".parse().unwrap(), None).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENETUNREACH));
    });
}

#[test]
fn the_path_mtu_is_that_of_the_route_which_marked_datagrams_take() {
    in_namespace(|| {
        let _queue = narrow_path();
        ip("rule add fwmark 7 table 7");
        ip("route add 10.9.0.1/32 dev lo table 7");
        let socket = |mark| {
            let options = UdpOptions {
                mark,
                ..UdpOptions::default()
            };
            UdpSocket::bind(&options).unwrap()
        };

        let remote = "10.9.0.1:9".parse().unwrap();
        assert_eq!(socket(None).path_payload(remote), Some(1_280 - 28));
        assert_eq!(socket(Some(7)).path_payload(remote), Some(65_535 - 28));
    });
}

fn ip(command: &str) {
    let done = std::process::Command::new("ip")
        .args(command.split(' '))
        .output()
        .unwrap();
    assert!(done.status.success(), "ip {command}: {done:?}");
}

#[test]
fn without_a_route_a_send_is_over_at_once() {
    in_namespace(|| {
        let mut socket = UdpSocket::bind(&UdpOptions::default()).unwrap();

        let outcome = socket.send(
            &Endpoint::unpinned("203.0.113.1:9".parse().unwrap()),
            &[1; 1_000],
            10,
        );

        assert_eq!((outcome.accepted, outcome.handled), (0, 100));
        assert_eq!(
            outcome.error.unwrap().raw_os_error(),
            Some(libc::ENETUNREACH)
        );
        assert_eq!(socket.counters().send_calls, 1);
    });
}

/// SEG-14: a mark reaches every datagram of a merged receive.
#[test]
fn seg_14_a_mark_reaches_every_datagram_of_a_merged_receive() {
    in_namespace(|| {
        for (family, loopback) in [(Family::V4, "127.0.0.1"), (Family::V6, "::1")] {
            let options = UdpOptions {
                family,
                ..UdpOptions::default()
            };
            let (mut alice, mut bob) = (
                UdpSocket::bind(&options).unwrap(),
                UdpSocket::bind(&options).unwrap(),
            );
            let mut arena = vec![0; 65_536];
            let mut out = [Received::EMPTY; 1];

            alice.send_marked(&at(loopback, &bob), &[1; 100], 10, Ecn::Congestion);

            assert_eq!(bob.receive(&mut arena, 65_536, &mut out).unwrap(), 1);
            assert_eq!((out[0].ecn, out[0].datagrams().count()), (3, 10));
        }
    });
}

/// SEG-16: the buffers asked for are granted to the privileged and clamped for others.
#[test]
fn seg_16_the_buffers_asked_for_are_granted_to_the_privileged_and_clamped_for_others() {
    in_namespace(|| {
        let asked = UdpOptions::default().buffer_bytes;
        let state = UdpSocket::bind(&UdpOptions::default()).unwrap().state();
        assert_eq!(
            (state.receive_buffer_bytes, state.send_buffer_bytes),
            (asked, asked)
        );

        raw::drop_capabilities();

        let state = UdpSocket::bind(&UdpOptions::default()).unwrap().state();
        let limit = |name: &str| {
            let text = std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).unwrap();
            text.trim().parse::<usize>().unwrap().min(asked)
        };
        assert_eq!(state.receive_buffer_bytes, limit("rmem_max"));
        assert_eq!(state.send_buffer_bytes, limit("wmem_max"));
    });
}

/// P-16: a burst of 256 datagrams is received whole.
#[test]
fn p_16_a_burst_of_256_datagrams_is_received_whole() {
    in_namespace(|| {
        let options = UdpOptions {
            gso: Switch::Off,
            gro: Switch::Off,
            ..UdpOptions::default()
        };
        let (mut alice, mut bob) = (
            UdpSocket::bind(&options).unwrap(),
            UdpSocket::bind(&options).unwrap(),
        );

        let outcome = alice.send(&at("127.0.0.1", &bob), &vec![9; 256 * 1_400], 1_400);

        assert_eq!(outcome.accepted, 256);
        assert_eq!(receive(&mut bob).len(), 256);
        assert!(alice.counters().send_calls <= 4, "{:?}", alice.counters());
    });
}

#[test]
fn shards_share_one_port_in_both_families_and_a_flow_stays_on_one() {
    in_namespace(|| {
        let mut shards = bind_shards(&UdpOptions::default(), 3).unwrap();
        assert_eq!(shards.sockets.len(), 3);
        for shard in &shards.sockets {
            let ports = [&shard.v4, &shard.v6].map(|socket| socket.as_ref().unwrap().local_port());
            assert_eq!(ports, [shards.port; 2]);
        }

        for loopback in ["127.0.0.1", "::1"] {
            let family = if loopback.contains(':') {
                Family::V6
            } else {
                Family::V4
            };
            let mut used = [0; 3];
            for _ in 0..40 {
                let mut client = UdpSocket::bind(&UdpOptions {
                    family,
                    ..UdpOptions::default()
                })
                .unwrap();
                let to =
                    Endpoint::unpinned(SocketAddr::new(loopback.parse().unwrap(), shards.port));
                client.send(&to, &[1; 50], 10);
                let counts: Vec<usize> = shards
                    .sockets
                    .iter_mut()
                    .map(|shard| {
                        let socket = if family == Family::V4 {
                            &mut shard.v4
                        } else {
                            &mut shard.v6
                        };
                        receive(socket.as_mut().unwrap()).len()
                    })
                    .collect();
                assert_eq!(counts.iter().sum::<usize>(), 5, "{counts:?}");
                let shard = counts
                    .iter()
                    .position(|count| *count == 5)
                    .expect("one shard has the flow");
                used[shard] += 1;
            }
            assert!(
                used.iter().all(|flows| *flows > 0),
                "flows spread: {used:?}"
            );
        }
    });
}

#[test]
fn a_port_another_holds_is_refused_also_when_it_is_another_of_ours() {
    in_namespace(|| {
        for (held, wanted) in [(1, 1), (1, 3), (3, 1), (3, 3)] {
            let first = bind_shards(&UdpOptions::default(), held).unwrap();

            let options = UdpOptions {
                port: first.port,
                ..UdpOptions::default()
            };
            let error = bind_shards(&options, wanted).unwrap_err();

            assert_eq!(
                (error.code(), error.errno()),
                ("port_in_use", libc::EADDRINUSE)
            );
            assert!(
                error.to_string().contains(&first.port.to_string()),
                "{error}"
            );
        }
    });
}

#[test]
fn what_needs_a_privilege_says_so() {
    in_namespace(|| {
        let marked = UdpOptions {
            mark: Some(7),
            ..UdpOptions::default()
        };
        UdpSocket::bind(&marked).unwrap();

        raw::drop_capabilities();

        for options in [
            marked,
            UdpOptions {
                port: 53,
                ..UdpOptions::default()
            },
        ] {
            let error = UdpSocket::bind(&options).unwrap_err();
            assert_eq!(error.code(), "udp_permission", "{error}");
        }
    });
}

#[test]
fn an_empty_receive_buffer_array_takes_nothing() {
    in_namespace(|| {
        let mut socket = UdpSocket::bind(&UdpOptions::default()).unwrap();

        assert_eq!(
            socket
                .receive(&mut vec![0; 65_536], 65_536, &mut [])
                .unwrap(),
            0
        );
    });
}

fn at(address: &str, socket: &UdpSocket) -> Endpoint {
    Endpoint::unpinned(SocketAddr::new(
        address.parse().unwrap(),
        socket.local_port(),
    ))
}

/// All that has arrived.
fn receive(socket: &mut UdpSocket) -> Vec<(Vec<u8>, Endpoint)> {
    let mut arena = vec![0; 65_536 * 8];
    let mut out = [Received::EMPTY; 8];
    let mut all = Vec::new();
    while let Ok(filled) = socket.receive(&mut arena, 65_536, &mut out) {
        for received in &out[..filled] {
            let slot = &arena[received.slot * 65_536..][..received.len];
            all.extend(
                received
                    .datagrams()
                    .map(|range| (slot[range].to_vec(), received.from)),
            );
        }
    }
    all
}

/// A path with an MTU of 1,280: a plain TUN device.
fn narrow_path() -> TunFd {
    path_of(1_280).0
}

/// A device in the namespace with this MTU, and its name.
fn path_of(mtu: u32) -> (TunFd, String) {
    let options = TunOptions {
        mtu: Some(mtu),
        offload: sys::TunOffload::Off,
        ..TunOptions::default()
    };
    let mut tun = Tun::open(&options).unwrap();
    add_address(tun.name(), "10.9.0.2/24".parse().unwrap()).unwrap();
    add_address(tun.name(), "fd09::2/64".parse().unwrap()).unwrap();
    set_link(
        tun.name(),
        &LinkChange {
            up: Some(true),
            ..LinkChange::default()
        },
    )
    .unwrap();
    let name = tun.name().to_owned();
    (tun.take_queues().pop().unwrap(), name)
}

/// All packets to this place that wait; the kernel sends others of its own over IPv6.
fn packets(queue: &mut TunFd, remote: &str) -> Vec<Vec<u8>> {
    let wanted = remote.parse::<SocketAddr>().unwrap().ip();
    let mut frame = vec![0; 65_535];
    std::iter::from_fn(|| {
        let len = queue.read(&mut frame).ok()?;
        Some(frame[..len].to_vec())
    })
    .filter(|packet| match wanted {
        IpAddr::V4(wanted) => packet[0] >> 4 == 4 && packet[16..20] == wanted.octets(),
        IpAddr::V6(wanted) => packet[0] >> 4 == 6 && packet[24..40] == wanted.octets(),
    })
    .collect()
}

fn lengths(packets: &[Vec<u8>]) -> Vec<usize> {
    packets.iter().map(Vec::len).collect()
}

/// The bit of IPv4; over IPv6, no fragment header.
fn must_not_be_fragmented(packet: &[u8]) -> bool {
    match packet[0] >> 4 {
        4 => packet[6] & 0x40 != 0,
        _ => packet[6] == 17,
    }
}

/// The lengths of all packets that wait.
fn drain(queue: &mut TunFd) -> Vec<usize> {
    let mut frame = vec![0; 65_535];
    std::iter::from_fn(|| queue.read(&mut frame).ok()).collect()
}
