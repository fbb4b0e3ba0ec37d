use core::net::{Ipv4Addr, SocketAddrV4};
use std::io::{ErrorKind, IoSlice};

use crate::{Framing, TunQueue};

/// A TUN queue and the host behind it, which speaks UDP through the device.
pub trait TunHost {
    /// The implementation under test.
    type Queue: TunQueue;

    /// Where the host sends from and receives.
    const HOST: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 2), 6_001);
    /// The far side, behind the device.
    const REMOTE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 1), 6_000);

    /// The queue under test.
    fn queue(&mut self) -> &mut Self::Queue;
    /// Has the host send a UDP datagram to the far side.
    fn send(&mut self, payload: &[u8]);
    /// The payload of the next UDP datagram the host got, if any.
    fn receive(&mut self) -> Option<Vec<u8>>;
    /// An IPv4 packet that carries a UDP datagram from the far side to the host.
    fn packet_to_host(&self, payload: &[u8]) -> Vec<u8>;
    /// Takes the link down.
    fn take_down(&mut self);
    /// Brings the link up, with its routes.
    fn bring_up(&mut self);
}

/// Behaviour every TUN queue owes its user.
pub fn tun_contract<H: TunHost>(make: impl Fn() -> H) {
    an_empty_queue_would_block(&mut make());
    a_packet_is_read_as_one_frame(&mut make());
    frames_are_read_in_the_order_sent(&mut make());
    a_short_buffer_cuts_one_frame_only(&mut make());
    a_frame_written_in_parts_arrives_whole(&mut make());
    what_is_no_packet_is_refused_and_the_queue_stays_usable(&mut make());
    a_link_that_is_down_is_an_error_until_it_is_up(&mut make());
}

fn an_empty_queue_would_block<H: TunHost>(host: &mut H) {
    let error = host.queue().read(&mut vec![0; FRAME_LEN_MAX]).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

fn a_packet_is_read_as_one_frame<H: TunHost>(host: &mut H) {
    host.send(b"hello");

    let frame = read(host);
    let header_len = host.queue().framing().header_len();
    let packet = &frame[header_len..];
    assert_eq!(packet.len(), 33, "IPv4 and UDP header and five bytes");
    assert_eq!(packet[0] >> 4, 4);
    assert_eq!(packet[12..16], H::HOST.ip().octets());
    assert_eq!(packet[16..20], H::REMOTE.ip().octets());
    assert_eq!(&packet[28..], b"hello");
    if header_len > 0 {
        assert_eq!(frame[1], 0, "a single packet has no GSO type");
    }
}

fn frames_are_read_in_the_order_sent<H: TunHost>(host: &mut H) {
    for number in 0..20_u8 {
        host.send(&[number]);
    }

    for number in 0..20_u8 {
        assert_eq!(read(host).last(), Some(&number));
    }
    assert_eq!(
        host.queue().read(&mut [0; 100]).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
}

fn a_short_buffer_cuts_one_frame_only<H: TunHost>(host: &mut H) {
    host.send(&[1; 200]);
    host.send(&[2; 50]);

    let short = host.queue().read(&mut [0; 60]).unwrap();
    assert!(short <= 60);
    let next = read(host);
    assert_eq!(
        next[next.len() - 50..],
        [2; 50],
        "the rest of the first frame is gone"
    );
}

fn a_frame_written_in_parts_arrives_whole<H: TunHost>(host: &mut H) {
    let frame = frame_to(host, b"in three parts");
    let (first, rest) = frame.split_at(frame.len() - 9);
    let (second, third) = rest.split_at(4);

    let written = host
        .queue()
        .write(&[
            IoSlice::new(first),
            IoSlice::new(second),
            IoSlice::new(&[]),
            IoSlice::new(third),
        ])
        .unwrap();

    assert_eq!(written, frame.len());
    assert_eq!(receive(host), b"in three parts");
}

fn what_is_no_packet_is_refused_and_the_queue_stays_usable<H: TunHost>(host: &mut H) {
    let header_len = host.queue().framing().header_len();
    for bad in [vec![0; header_len.max(1)], vec![0; header_len + 40]] {
        let error = host.queue().write(&[IoSlice::new(&bad)]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(EINVAL), "{} bytes", bad.len());
    }

    let frame = frame_to(host, b"still here");
    host.queue().write(&[IoSlice::new(&frame)]).unwrap();
    assert_eq!(receive(host), b"still here");
}

fn a_link_that_is_down_is_an_error_until_it_is_up<H: TunHost>(host: &mut H) {
    let frame = frame_to(host, b"again");
    host.take_down();
    let error = host.queue().write(&[IoSlice::new(&frame)]).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(EIO));

    host.bring_up();

    host.queue().write(&[IoSlice::new(&frame)]).unwrap();
    assert_eq!(receive(host), b"again");
    host.send(b"both ways");
    assert!(read(host).ends_with(b"both ways"));
}

/// A frame that carries a datagram to the host.
fn frame_to<H: TunHost>(host: &mut H, payload: &[u8]) -> Vec<u8> {
    let mut frame = match host.queue().framing() {
        Framing::Plain => Vec::new(),
        Framing::Header { len, .. } => vec![0; len],
    };
    frame.extend(host.packet_to_host(payload));
    frame
}

/// The next frame; what a host says by itself (neighbour discovery, for instance) is passed over.
fn read<H: TunHost>(host: &mut H) -> Vec<u8> {
    let header_len = host.queue().framing().header_len();
    let mut frame = vec![0; FRAME_LEN_MAX];
    for _ in 0..ATTEMPTS {
        match host.queue().read(&mut frame) {
            Ok(len) if frame[header_len] >> 4 == 4 => {
                frame.truncate(len);
                return frame;
            }
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                std::thread::yield_now();
            }
        }
    }
    panic!("no frame came");
}

fn receive<H: TunHost>(host: &mut H) -> Vec<u8> {
    for _ in 0..ATTEMPTS {
        if let Some(payload) = host.receive() {
            return payload;
        }
        std::thread::yield_now();
    }
    panic!("the host got nothing");
}

const FRAME_LEN_MAX: usize = 12 + 65_535;
const ATTEMPTS: usize = 100_000;
const EIO: i32 = 5;
const EINVAL: i32 = 22;
