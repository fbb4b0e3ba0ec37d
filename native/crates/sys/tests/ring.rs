//! The second driver where the kernel does not want it, and what it owes to order and bursts.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

mod common;
#[path = "common/filter.rs"]
mod filter;

use std::io::{ErrorKind, IoSlice};
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use common::in_namespace;
use filter::refuse;
use ports::{FeatureState, OffReason, TunQueue};
use sys::netlink::{add_address, link};
use sys::{
    Event, Interest, RingHealth, RingPoller, RingTun, Tun, TunFd, TunOffload, TunOptions, Waker,
    Watch,
};

/// FBK-07: where a filter or the system's settings forbid rings, or the kernel has none, opening says so at once.
#[test]
fn fbk_07_a_refused_ring_is_told_with_its_reason_and_leaves_the_queue_as_it_was() {
    let refusals = [
        (libc::SYS_io_uring_setup, libc::EPERM),
        (libc::SYS_io_uring_setup, libc::ENOSYS),
        (libc::SYS_io_uring_enter, libc::EPERM),
    ];
    for (call, errno) in refusals {
        in_namespace(|| {
            let mut host = Host::new();
            refuse(&[call], errno);

            let poller = RingPoller::open(Arc::default()).map(drop).unwrap_err();
            let queue = RingTun::open(&host.queue, Arc::default())
                .map(drop)
                .unwrap_err();

            assert_eq!(poller.raw_os_error(), Some(errno));
            assert_eq!(queue.raw_os_error(), Some(errno));
            host.send(7);
            assert_eq!(numbers(&mut host.queue, 1), [7]);
        });
    }
}

/// P-15, FBK-07: a ring that the kernel refuses to serve later on costs no frame; the reason is kept.
#[test]
fn p_15_fbk_07_a_ring_that_fails_at_work_is_replaced_and_no_frame_is_lost() {
    for errno in [libc::EINVAL, libc::EPERM, libc::ENOMEM] {
        in_namespace(|| {
            let health = Arc::new(RingHealth::default());
            let host = Host::new();
            let mut queue = RingTun::open(&host.queue, Arc::clone(&health)).unwrap();
            (0..40).for_each(|number| host.send(number));
            assert_eq!(numbers(&mut queue, 40), (0..40).collect::<Vec<u8>>());
            assert_eq!(health.state(), FeatureState::On);

            refuse(&[libc::SYS_io_uring_enter], errno);
            (40..90).for_each(|number| host.send(number));

            assert_eq!(numbers(&mut queue, 50), (40..90).collect::<Vec<u8>>());
            let reason = OffReason::Fallback { errno };
            assert_eq!(health.state(), FeatureState::Off(reason));
        });
    }
}

/// P-15, FBK-07: who waits through a ring goes on with epoll, with the same descriptors and wishes.
#[test]
fn p_15_fbk_07_a_wait_that_the_ring_refuses_goes_on_with_epoll() {
    in_namespace(|| {
        let health = Arc::new(RingHealth::default());
        let (rung, silent) = (Waker::new().unwrap(), Waker::new().unwrap());
        let mut poller = RingPoller::open(Arc::clone(&health)).unwrap();
        poller.add(rung.as_fd(), 3, Interest::Readable).unwrap();
        poller.add(silent.as_fd(), 4, Interest::Readable).unwrap();
        poller.change(silent.as_fd(), 5, Interest::Both).unwrap();
        rung.wake();
        assert_eq!(wait(&mut poller), [(3, true, false), (5, false, true)]);

        refuse(&[libc::SYS_io_uring_enter], libc::EINVAL);

        assert_eq!(wait(&mut poller), [(3, true, false), (5, false, true)]);
        let errno = libc::EINVAL;
        let reason = OffReason::Fallback { errno };
        assert_eq!(health.state(), FeatureState::Off(reason));
        poller.remove(silent.as_fd()).unwrap();
        assert_eq!(wait(&mut poller), [(3, true, false)]);
    });
}

/// ORD-08: frames of one flow are read in the order sent and written in the order of the calls, however many there are.
#[test]
fn ord_08_a_flow_keeps_its_order_through_a_ring_in_both_directions() {
    in_namespace(|| {
        let host = Host::new();
        let mut queue = RingTun::open(&host.queue, Arc::default()).unwrap();
        for burst in [1, 2, 3, 5, 31, 32, 33, 64, 200, 7] {
            let expected: Vec<u8> = (0..burst).collect();
            for number in &expected {
                host.send(*number);
            }
            assert_eq!(numbers(&mut queue, expected.len()), expected);

            let header = vec![0; queue.framing().header_len()];
            for number in &expected {
                let packet = testkit::udp_v4(REMOTE, HOST, &[*number]);
                let parts = [IoSlice::new(&header), IoSlice::new(&packet)];
                queue.write(&parts).unwrap();
            }
            let received: Vec<u8> = expected.iter().map(|_| host.receive()).collect();
            assert_eq!(received, expected);
        }
    });
}

/// P-16: a burst that is far longer than the ring is read whole.
#[test]
fn p_16_a_burst_of_256_frames_is_read_whole_through_a_ring() {
    in_namespace(|| {
        let host = Host::new();
        let mut queue = RingTun::open(&host.queue, Arc::default()).unwrap();

        (0..=255).for_each(|number| host.send(number));

        assert_eq!(numbers(&mut queue, 256), (0..=255).collect::<Vec<u8>>());
    });
}

#[test]
fn small_and_large_frames_change_places_without_a_loss() {
    in_namespace(|| {
        let host = Host::new();
        let mut queue = RingTun::open(&host.queue, Arc::default()).unwrap();
        let sizes: Vec<usize> = (0..120)
            .map(|at| if at % 30 == 29 { 9_000 } else { 20 })
            .collect();

        for size in &sizes {
            host.socket.send_to(&vec![1; *size], REMOTE).unwrap();
        }

        let mut frame = vec![0; 66_000];
        for size in sizes {
            let len = next(&mut queue, &mut frame);
            assert_eq!(len, queue.framing().header_len() + 28 + size);
        }
    });
}

#[test]
fn frames_read_ahead_are_told_and_come_before_later_ones() {
    in_namespace(|| {
        let host = Host::new();
        let mut queue = RingTun::open(&host.queue, Arc::default()).unwrap();
        (0..20).for_each(|number| host.send(number));

        assert!(!queue.holds_frames());
        assert_eq!(numbers(&mut queue, 5), [0, 1, 2, 3, 4]);
        assert!(queue.holds_frames(), "the fifth came with others");
        host.send(20);

        assert_eq!(numbers(&mut queue, 16), (5..=20).collect::<Vec<u8>>());
        assert!(!queue.holds_frames());
    });
}

#[test]
fn a_device_is_gone_with_the_last_of_ring_poller_and_queue() {
    in_namespace(|| {
        let Host { queue, tun, .. } = Host::new();
        let name = tun.name().to_owned();
        let driven = RingTun::open(&queue, Arc::default()).unwrap();
        let mut poller = RingPoller::open(Arc::default()).unwrap();
        poller.add(queue.as_fd(), 1, Interest::Readable).unwrap();
        assert_eq!(wait(&mut poller), [], "a question is with the kernel");
        drop((queue, tun));
        assert!(link(&name).unwrap().is_some());

        drop((poller, driven));

        assert!(link(&name).unwrap().is_none());
    });
}

const HOST: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::new(10, 9, 0, 2), 6_001);
const REMOTE: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::new(10, 9, 0, 1), 6_000);

/// A device and a socket of the host behind it.
struct Host {
    queue: TunFd,
    tun: Tun,
    socket: UdpSocket,
}

impl Host {
    fn new() -> Self {
        let mut tun = Tun::open(&TunOptions {
            offload: TunOffload::Tcp,
            mtu: Some(9_100),
            ..TunOptions::default()
        })
        .unwrap();
        add_address(tun.name(), "10.9.0.2/24".parse().unwrap()).unwrap();
        let socket = UdpSocket::bind(HOST).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        Self {
            queue: tun.take_queues().pop().unwrap(),
            tun,
            socket,
        }
    }

    fn send(&self, number: u8) {
        self.socket.send_to(&[number], REMOTE).unwrap();
    }

    fn receive(&self) -> u8 {
        let mut payload = [0; 100];
        assert_eq!(self.socket.recv(&mut payload).unwrap(), 1);
        payload[0]
    }
}

/// The last bytes of the next frames.
fn numbers(queue: &mut impl TunQueue, count: usize) -> Vec<u8> {
    let mut frame = vec![0; 66_000];
    (0..count)
        .map(|_| {
            let len = next(queue, &mut frame);
            frame[len - 1]
        })
        .collect()
}

/// The length of the next IPv4 frame.
fn next(queue: &mut impl TunQueue, frame: &mut [u8]) -> usize {
    let header_len = queue.framing().header_len();
    for _ in 0..100_000 {
        match queue.read(frame) {
            Ok(len) if frame[header_len] >> 4 == 4 => return len,
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                std::thread::yield_now();
            }
        }
    }
    panic!("no frame came");
}

/// What is ready now, in the order of the tokens.
fn wait(poller: &mut RingPoller) -> Vec<(u64, bool, bool)> {
    let mut ready = Vec::new();
    let mut tell = |event: Event| ready.push((event.token, event.readable, event.writable));
    poller.wait(Some(Duration::ZERO), &mut tell).unwrap();
    ready.sort_unstable();
    ready
}
