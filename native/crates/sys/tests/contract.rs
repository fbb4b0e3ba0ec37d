//! The real ports keep the same contracts as the ones in memory.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

mod common;

use std::net::{SocketAddr, UdpSocket as StdSocket};
use std::sync::Arc;

use common::in_namespace;
use ports::contract::{DatagramPair, TunHost, datagram_contract, tun_contract};
use ports::{Datagrams, Endpoint, TunQueue};
use sys::netlink::{LinkChange, add_address, set_link};
use sys::udp::{Family, Switch};
use sys::{RingHealth, RingTun, Tun, TunFd, TunOffload, TunOptions, UdpOptions, UdpSocket};

#[test]
fn a_real_device_keeps_the_contract_of_a_tun_queue() {
    for offload in [TunOffload::Auto, TunOffload::Tcp, TunOffload::Off] {
        in_namespace(|| tun_contract(|| Host::new(offload, |queue| queue)));
    }
}

/// FBK-07: the second driver keeps the contract of the first.
#[test]
fn fbk_07_a_real_device_read_through_a_ring_keeps_the_contract_of_a_tun_queue() {
    for offload in [TunOffload::Auto, TunOffload::Tcp, TunOffload::Off] {
        in_namespace(|| {
            tun_contract(|| {
                Host::new(offload, |queue| {
                    RingTun::open(&queue, Arc::new(RingHealth::default())).unwrap()
                })
            });
        });
    }
}

#[test]
fn real_sockets_keep_the_contract_of_a_datagram_socket_in_every_setting() {
    for family in [Family::V4, Family::V6] {
        for gso in [Switch::Auto, Switch::Off] {
            for gro in [Switch::Auto, Switch::Off] {
                for batch in [Switch::Auto, Switch::Off] {
                    let options = UdpOptions {
                        family,
                        gso,
                        gro,
                        batch,
                        ..UdpOptions::default()
                    };
                    in_namespace(|| datagram_contract(|| pair(&options)));
                }
            }
        }
    }
}

/// SEG-06: a connected socket keeps the contract too.
#[test]
fn seg_06_a_connected_socket_keeps_the_contract_too() {
    in_namespace(|| {
        datagram_contract(|| {
            let mut pair = pair(&UdpOptions::default());
            pair.alice.connect(pair.to_bob.remote).unwrap();
            pair
        });
    });
}

fn pair(options: &UdpOptions) -> DatagramPair<UdpSocket> {
    let (alice, bob) = (
        UdpSocket::bind(options).unwrap(),
        UdpSocket::bind(options).unwrap(),
    );
    assert_eq!(bob.state().gso.is_on(), options.gso == Switch::Auto);
    assert_eq!(bob.state().gro.is_on(), options.gro == Switch::Auto);
    let at = |socket: &UdpSocket| {
        let address: SocketAddr = match options.family {
            Family::V4 => ([127, 0, 0, 1], socket.local_port()).into(),
            Family::V6 => ([0, 0, 0, 0, 0, 0, 0, 1], socket.local_port()).into(),
        };
        Endpoint::unpinned(address)
    };
    let (to_alice, to_bob) = (at(&alice), at(&bob));
    DatagramPair {
        alice,
        bob,
        to_alice,
        to_bob,
    }
}

/// A device and a UDP socket of the host behind it.
struct Host<Q> {
    queue: Q,
    tun: Tun,
    socket: StdSocket,
}

impl<Q: TunQueue> Host<Q> {
    fn new(offload: TunOffload, driven: impl FnOnce(TunFd) -> Q) -> Self {
        let mut tun = Tun::open(&TunOptions {
            offload,
            ..TunOptions::default()
        })
        .unwrap();
        add_address(tun.name(), "10.9.0.2/24".parse().unwrap()).unwrap();
        let socket = StdSocket::bind(Self::HOST).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self {
            queue: driven(tun.take_queues().pop().unwrap()),
            tun,
            socket,
        }
    }

    fn change(&self, change: &LinkChange) {
        set_link(self.tun.name(), change).unwrap();
    }
}

impl<Q: TunQueue> TunHost for Host<Q> {
    type Queue = Q;

    fn queue(&mut self) -> &mut Q {
        &mut self.queue
    }

    fn send(&mut self, payload: &[u8]) {
        self.socket.send_to(payload, Self::REMOTE).unwrap();
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        let mut payload = vec![0; 2_000];
        let len = self.socket.recv(&mut payload).ok()?;
        payload.truncate(len);
        Some(payload)
    }

    fn packet_to_host(&self, payload: &[u8]) -> Vec<u8> {
        testkit::udp_v4(Self::REMOTE, Self::HOST, payload)
    }

    fn take_down(&mut self) {
        self.change(&LinkChange {
            up: Some(false),
            ..LinkChange::default()
        });
    }

    fn bring_up(&mut self) {
        self.change(&LinkChange {
            up: Some(true),
            ..LinkChange::default()
        });
    }
}
