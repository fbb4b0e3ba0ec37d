//! TUN devices of the running kernel, each test in a network namespace of its own.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

mod common;

use std::io::{self, IoSlice};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use common::in_namespace;
use ports::{Framing, TunQueue};
use sys::netlink::{LinkChange, Prefix, add_address, add_route, link, set_link};
use sys::{Interest, Poller, Tun, TunFd, TunOffload, TunOptions};

/// OPN-01: the running kernel grants TCP and UDP with a header of ten bytes.
#[test]
fn opn_01_the_running_kernel_grants_tcp_and_udp_with_a_header_of_ten_bytes() {
    in_namespace(|| {
        let tun = open(TunOffload::Auto);

        let granted = tun.granted();
        assert!(granted.tcp.is_on() && granted.udp.is_on(), "{granted:?}");
        assert_eq!(tun.framing().header_len(), 10);
    });
}

/// FBK-10: the probe is accepted and delivers nothing.
#[test]
fn fbk_10_the_probe_is_accepted_and_delivers_nothing() {
    in_namespace(|| {
        let before = snmp("Ip", "InHdrErrors");

        let mut tun = open(TunOffload::Auto);

        assert!(tun.granted().tcp.is_on() && tun.granted().udp.is_on());
        assert!(
            snmp("Ip", "InHdrErrors") > before,
            "the IPv4 probe costs a header error"
        );
        assert_eq!(snmp("Ip", "InDelivers"), 0);
        let mut queue = queue(&mut tun);
        assert_eq!(
            next_frame(&mut queue, Duration::from_millis(20)),
            None,
            "nobody answers a probe"
        );
    });
}

/// OPN-10: with offload off frames are plain packets and data passes.
#[test]
fn opn_10_with_offload_off_frames_are_plain_packets_and_data_passes() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Off);
        assert_eq!(tun.framing(), Framing::Plain);
        give_addresses(&tun);
        let mut queue = queue(&mut tun);

        send_udp(100);

        let frame = next_frame(&mut queue, SECOND).unwrap();
        assert_eq!((frame[0], frame.len()), (0x45, 128));
    });
}

/// OPN-11: with TCP only the kernel hands over no UDP super-frame.
#[test]
fn opn_11_tcp_only_yields_no_udp_super_frame() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Tcp);
        assert!(tun.granted().tcp.is_on() && !tun.granted().udp.is_on());
        give_addresses(&tun);
        let mut queue = queue(&mut tun);

        send_udp_segmented(3_000, 1_000);

        for _ in 0..3 {
            let frame = next_frame(&mut queue, SECOND).unwrap();
            assert_eq!((frame[1], frame.len()), (0, 10 + 1_028));
        }
    });
}

/// HDR-05: with USO a segmented send arrives as one super-frame.
#[test]
fn hdr_05_with_uso_a_segmented_send_arrives_as_one_super_frame() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Auto);
        give_addresses(&tun);
        let mut queue = queue(&mut tun);

        send_udp_segmented(3_000, 1_000);

        let frame = next_frame(&mut queue, SECOND).unwrap();
        assert_eq!(frame[1], 5, "UDP-L4");
        assert_eq!(u16::from_le_bytes([frame[4], frame[5]]), 1_000);
        assert_eq!(frame.len(), 10 + 28 + 3_000);
    });
}

/// OPN-14, P-39: a persistent device used with offload yields no super-frame when opened without.
#[test]
fn opn_14_p_39_a_persistent_device_used_with_offload_yields_no_super_frame_when_opened_without() {
    for (flags, header_len) in [(libc::IFF_VNET_HDR, 10), (0, 0)] {
        in_namespace(|| {
            let first = open(TunOffload::Auto);
            assert!(first.granted().tcp.is_on());
            first.keep_after_close().unwrap();
            drop(first);
            assert!(link("weft0").unwrap().is_some());

            // The name exists, so only a descriptor that is handed over reaches the device. It comes as the previous
            // owner left it: super-frames allowed, in header mode or not.
            let fd = attach("weft0", libc::IFF_TUN | libc::IFF_NO_PI | flags);
            let mut tun = Tun::adopt(fd, TunOffload::Off).unwrap();
            assert!(!tun.granted().tcp.is_on() && !tun.granted().udp.is_on());
            assert_eq!(
                tun.framing().header_len(),
                header_len,
                "the mode follows what the device says"
            );
            give_addresses(&tun);
            let mut queue = queue(&mut tun);

            send_udp_segmented(30_000, 1_000);
            for _ in 0..30 {
                assert_eq!(
                    next_frame(&mut queue, SECOND).unwrap().len(),
                    header_len + 1_028
                );
            }
            sys::netlink::delete_link("weft0").unwrap();
        });
    }
}

/// OPN-09: the header length of a previous owner is set anew.
#[test]
fn opn_09_the_header_length_of_a_previous_owner_is_set_anew() {
    in_namespace(|| {
        let fd = attach(
            "weft0",
            libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR,
        );
        raw::set_header_len(&fd, 12);

        let tun = Tun::adopt(fd, TunOffload::Auto).unwrap();

        assert_eq!(tun.framing().header_len(), 10);
        assert!(tun.granted().tcp.is_on());
    });
}

/// ORD-06: an error inside a burst costs one frame.
#[test]
fn ord_06_an_error_inside_a_burst_costs_one_frame() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Auto);
        give_addresses(&tun);
        let mut queue = queue(&mut tun);
        let receiver = UdpSocket::bind("10.9.0.2:6001").unwrap();
        receiver.set_read_timeout(Some(SECOND / 10)).unwrap();
        // A UDP super-frame without the checksum flag is invalid.
        let mut invalid = vec![0, 5, 28, 0, 2, 0, 20, 0, 6, 0];
        invalid.extend(udp_packet());
        let valid = [vec![0; 10], udp_packet()].concat();

        let results: Vec<_> = [&valid, &invalid, &valid, &valid]
            .map(|frame| {
                queue
                    .write(&[IoSlice::new(frame)])
                    .map_err(|error| error.raw_os_error())
            })
            .into();

        let good = Ok(valid.len());
        assert_eq!(results, [good, Err(Some(libc::EINVAL)), good, good]);
        let arrived = std::iter::from_fn(|| receiver.recv(&mut [0; 100]).ok()).count();
        assert_eq!(arrived, 3, "no frame twice, none lost but the invalid one");
    });
}

/// OPN-12: a TAP device is refused.
#[test]
fn opn_12_a_tap_device_is_refused() {
    in_namespace(|| {
        let fd = attach("tap0", libc::IFF_TAP | libc::IFF_NO_PI);

        let error = Tun::adopt(fd, TunOffload::Auto).unwrap_err();

        assert_eq!(error.code(), "tun_kind");
    });
}

/// OPN-08: a descriptor that is no TUN is refused.
#[test]
fn opn_08_a_descriptor_that_is_no_tun_is_refused() {
    let file = std::fs::File::open("/dev/null").unwrap();

    let error = Tun::adopt(file.into(), TunOffload::Auto).unwrap_err();

    assert_eq!(error.code(), "tun_kind");
}

/// OPN-16: every queue has the same framing and a flow stays on one.
#[test]
fn opn_16_every_queue_has_the_same_framing_and_a_flow_stays_on_one() {
    in_namespace(|| {
        let options = TunOptions {
            queues: 4,
            ..named()
        };
        let mut tun = Tun::open(&options).unwrap();
        give_addresses(&tun);
        let mut queues = tun.take_queues();
        assert_eq!(queues.len(), 4);
        assert!(
            queues
                .iter()
                .all(|queue| queue.framing().header_len() == 10)
        );

        let socket = UdpSocket::bind("10.9.0.2:6000").unwrap();
        for _ in 0..200 {
            socket.send_to(&[7; 50], "10.9.0.1:6001").unwrap();
        }

        let counts: Vec<usize> = queues
            .iter_mut()
            .map(|queue| {
                std::iter::from_fn(|| next_frame(queue, Duration::from_millis(20))).count()
            })
            .collect();
        assert_eq!(counts.iter().sum::<usize>(), 200);
        assert_eq!(
            counts.iter().filter(|count| **count > 0).count(),
            1,
            "{counts:?}"
        );
        assert!(tun.take_queues().is_empty(), "queues are handed out once");
    });
}

#[test]
fn a_taken_name_is_refused_with_advice_and_the_holder_keeps_working() {
    in_namespace(|| {
        for queues in [1, 2] {
            let mut held = Tun::open(&TunOptions { queues, ..named() }).unwrap();

            let error = Tun::open(&TunOptions { queues, ..named() }).unwrap_err();

            assert_eq!((error.code(), error.errno()), ("tun_busy", libc::EBUSY));
            assert!(error.to_string().contains("weft0"), "{error}");
            give_addresses(&held);
            let mut queues = held.take_queues();
            send_udp(10);
            assert!(
                queues
                    .iter_mut()
                    .any(|queue| next_frame(queue, SECOND / 5).is_some())
            );
        }
    });
}

#[test]
fn without_the_capability_the_error_names_it() {
    in_namespace(|| {
        // Only this thread of the test gives its capabilities up.
        drop_capabilities();

        let error = Tun::open(&named()).unwrap_err();

        assert_eq!(
            (error.code(), error.errno()),
            ("tun_permission", libc::EPERM)
        );
        assert!(error.to_string().contains("CAP_NET_ADMIN"), "{error}");
    });
}

/// ORD-09, P-49: the device is up with its MTU and a transmit queue of its own length.
#[test]
fn an_opened_device_is_up_with_its_mtu_and_queue_and_no_address_of_the_kernels_own() {
    in_namespace(|| {
        let tun = Tun::open(&TunOptions {
            mtu: Some(1_420),
            transmit_queue_len: 2_000,
            ..named()
        })
        .unwrap();

        let link = link(tun.name()).unwrap().unwrap();
        assert!(link.up);
        assert_eq!((link.mtu, link.transmit_queue_len), (1_420, 2_000));
        assert_eq!(sys::netlink::addresses(tun.name()).unwrap(), []);
    });
}

#[test]
fn a_pattern_in_the_name_is_replaced_by_a_free_number() {
    in_namespace(|| {
        let options = TunOptions {
            name: "weft%d".to_owned(),
            ..TunOptions::default()
        };

        let (first, second) = (Tun::open(&options).unwrap(), Tun::open(&options).unwrap());

        assert_eq!((first.name(), second.name()), ("weft0", "weft1"));
    });
}

#[test]
fn a_closed_device_is_gone() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Auto);
        let queues = tun.take_queues();
        drop(tun);
        assert!(link("weft0").unwrap().is_some(), "the queues hold it");

        drop(queues);

        assert_eq!(link("weft0").unwrap(), None);
    });
}

/// FBK-02, P-30: a queue works again after the link was down.
#[test]
fn fbk_02_p_30_a_queue_works_again_after_the_link_was_down() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Off);
        give_addresses(&tun);
        let mut queue = queue(&mut tun);
        let receiver = UdpSocket::bind("10.9.0.2:6001").unwrap();
        receiver.set_read_timeout(Some(SECOND)).unwrap();

        set_link(
            "weft0",
            &LinkChange {
                up: Some(false),
                ..LinkChange::default()
            },
        )
        .unwrap();
        let error = queue.write(&[IoSlice::new(&udp_packet())]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
        let refused = queue.read(&mut [0; 2_000]).unwrap_err();
        assert!(
            matches!(refused.kind(), io::ErrorKind::WouldBlock)
                || refused.raw_os_error() == Some(libc::EIO)
        );

        set_link(
            "weft0",
            &LinkChange {
                up: Some(true),
                ..LinkChange::default()
            },
        )
        .unwrap();
        let _ = add_route("weft0", prefix("10.9.0.0/24"));
        queue.write(&[IoSlice::new(&udp_packet())]).unwrap();
        let (len, from) = receiver.recv_from(&mut [0; 100]).unwrap();
        assert_eq!((len, from.to_string().as_str()), (5, "10.9.0.1:6000"));
        send_udp(9);
        assert!(next_frame(&mut queue, SECOND).is_some());
    });
}

#[test]
fn a_frame_may_be_written_in_many_parts() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Auto);
        give_addresses(&tun);
        let mut queue = queue(&mut tun);
        let receiver = UdpSocket::bind("10.9.0.2:6001").unwrap();
        receiver.set_read_timeout(Some(SECOND)).unwrap();
        let packet = udp_packet();
        let header = [0; 10];
        let mut parts = vec![IoSlice::new(&header)];
        parts.extend(packet.chunks(3).map(IoSlice::new));

        assert_eq!(queue.write(&parts).unwrap(), 10 + packet.len());

        assert_eq!(receiver.recv(&mut [0; 100]).unwrap(), 5);
    });
}

#[test]
fn a_frame_that_is_no_packet_is_invalid() {
    in_namespace(|| {
        let mut tun = open(TunOffload::Auto);
        let mut queue = queue(&mut tun);
        for frame in [&[0; 5][..], &[0; 10], &[0; 40]] {
            let error = queue.write(&[IoSlice::new(frame)]).unwrap_err();
            assert_eq!(
                error.raw_os_error(),
                Some(libc::EINVAL),
                "{} bytes",
                frame.len()
            );
        }
    });
}

/// HDR-01, HDR-03, P-04: bulk TCP arrives as super-frames with partial checksums in both versions.
#[test]
fn hdr_01_and_03_p_04_bulk_tcp_arrives_as_super_frames_with_partial_checksums_in_both_versions() {
    for (own, far) in [("10.9.0.2", "10.9.1.1"), ("fd09::2", "fd0a::1")] {
        in_namespace(|| {
            let (own, far): (IpAddr, IpAddr) = (own.parse().unwrap(), far.parse().unwrap());
            let mut tun = open(TunOffload::Auto);
            give_addresses(&tun);
            let mut queue = queue(&mut tun);
            let listener = TcpListener::bind((own, 5_201)).unwrap();
            let reflector = std::thread::spawn(move || reflect(&mut queue));
            let sent: Vec<u8> = (0..400_000_u32)
                .map(|at| u8::try_from(at % 251).unwrap())
                .collect();
            let expected = sent.clone();
            let start = std::time::Instant::now();

            let mut sender = TcpStream::connect_timeout(&(far, 5_201).into(), SECOND).unwrap();
            let (mut receiver, _) = listener.accept().unwrap();
            let writer =
                std::thread::spawn(move || io::Write::write_all(&mut sender, &sent).unwrap());
            receiver.set_read_timeout(Some(SECOND * 5)).unwrap();
            let mut got = Vec::new();
            io::Read::read_to_end(&mut receiver, &mut got).unwrap();
            let took = start.elapsed();
            writer.join().unwrap();
            drop(receiver);

            assert!(got == expected, "{} of {} bytes", got.len(), expected.len());
            assert!(took < SECOND * 2, "{took:?}: retransmissions");
            let seen = reflector.join().unwrap();
            assert!(seen.super_frames > 0, "{seen:?}");
            assert_eq!(
                seen.finished_data, 0,
                "data has partial checksums: {seen:?}"
            );
            assert!(seen.longest <= 10 + 65_535, "{seen:?}");
        });
    }
}

#[derive(Debug, Default)]
struct Seen {
    frames: usize,
    super_frames: usize,
    finished_data: usize,
    longest: usize,
}

/// Sends every TCP frame back with its addresses swapped, so that the host meets itself as the far side. Sums do not
/// change by that. Ends after half a second of silence.
fn reflect(queue: &mut TunFd) -> Seen {
    let mut seen = Seen::default();
    while let Some(mut frame) = next_frame(queue, SECOND / 2) {
        let (protocol, addresses) = if frame[10] >> 4 == 4 {
            (frame[19], 22..30)
        } else {
            (frame[16], 18..50)
        };
        if protocol != 6 {
            continue;
        }
        seen.frames += 1;
        seen.super_frames += usize::from(frame[1] & 0x7F != 0);
        // Answers of no socket (resets, TIME-WAIT) come finished; data never does.
        seen.finished_data += usize::from(frame[0] & 1 == 0 && frame.len() > 200);
        seen.longest = seen.longest.max(frame.len());
        let half = addresses.len() / 2;
        frame[addresses].rotate_left(half);
        queue.write(&[IoSlice::new(&frame)]).unwrap();
    }
    seen
}

const SECOND: Duration = Duration::from_secs(1);

fn named() -> TunOptions {
    TunOptions {
        name: "weft0".to_owned(),
        ..TunOptions::default()
    }
}

fn open(offload: TunOffload) -> Tun {
    Tun::open(&TunOptions { offload, ..named() }).unwrap()
}

fn queue(tun: &mut Tun) -> TunFd {
    tun.take_queues().pop().unwrap()
}

fn prefix(text: &str) -> Prefix {
    text.parse().unwrap()
}

fn give_addresses(tun: &Tun) {
    for address in ["10.9.0.2/24", "fd09::2/64"] {
        add_address(tun.name(), prefix(address)).unwrap();
    }
    for route in ["10.9.1.0/24", "fd0a::/64"] {
        add_route(tun.name(), prefix(route)).unwrap();
    }
}

fn send_udp(len: usize) {
    let socket = UdpSocket::bind("10.9.0.2:0").unwrap();
    socket.send_to(&vec![1; len], "10.9.0.1:6001").unwrap();
}

fn send_udp_segmented(len: usize, segment_size: usize) {
    use ports::Datagrams;
    let mut socket = sys::UdpSocket::bind(&sys::UdpOptions::default()).unwrap();
    let to = ports::Endpoint::unpinned("10.9.0.1:6001".parse().unwrap());
    let outcome = socket.send(&to, &vec![1; len], segment_size);
    assert_eq!(outcome.accepted, len.div_ceil(segment_size), "{outcome:?}");
    assert_eq!(socket.counters().send_gso, 1);
}

/// The next frame, or none within `patience`.
fn next_frame(queue: &mut TunFd, patience: Duration) -> Option<Vec<u8>> {
    let mut poller = Poller::new(1).unwrap();
    poller.add(queue.as_fd(), 0, Interest::Readable).unwrap();
    let mut frame = vec![0; 10 + 65_535];
    poller.wait(Some(patience)).unwrap().next()?;
    match queue.read(&mut frame) {
        Ok(len) => {
            frame.truncate(len);
            Some(frame)
        }
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
            None
        }
    }
}

/// A UDP datagram of five bytes, 10.9.0.1:6000 → 10.9.0.2:6001, without UDP checksum.
fn udp_packet() -> Vec<u8> {
    testkit::udp_v4(
        "10.9.0.1:6000".parse().unwrap(),
        "10.9.0.2:6001".parse().unwrap(),
        &[0, 1, 2, 3, 4],
    )
}

/// A counter of /proc/net/snmp in the namespace of this thread.
fn snmp(group: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let prefix = format!("{group}: ");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(&prefix));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let at = names
        .split(' ')
        .position(|candidate| candidate == name)
        .unwrap();
    values.split(' ').nth(at).unwrap().parse().unwrap()
}

#[path = "common/raw.rs"]
mod raw;
use raw::{attach, drop_capabilities};
