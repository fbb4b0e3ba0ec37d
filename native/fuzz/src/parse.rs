use std::net::IpAddr;

use offload::{ByteOrder, VIRTIO_LEN, VirtioHeader};
use packet::{Ipv4, Ipv6, Tcp, Udp, addresses, checksum, declared_len, flow, icmp};

/// Bytes are a virtio header and a packet; every view and question must answer without a panic and consistently.
pub fn parse(data: &[u8]) {
    for order in [ByteOrder::Little, ByteOrder::Big, ByteOrder::Native] {
        let Some(header) = VirtioHeader::read(data, order) else {
            continue;
        };
        let mut written = [0; VIRTIO_LEN];
        header.write(&mut written, order);
        assert!(
            data.starts_with(&written),
            "a header that was read is written as it was"
        );
    }
    let packet = data.get(VIRTIO_LEN..).unwrap_or(data);
    let declared = declared_len(packet);
    if let Ok(ip) = Ipv4::try_from(packet) {
        assert_eq!(Some(ip.total_len()), declared);
        assert!(ip.total_len() <= packet.len());
        assert_eq!(
            addresses(packet),
            Some((ip.source().into(), ip.destination().into()))
        );
        l4(ip.payload(), ip.pseudo_header(ip.payload().len()));
    }
    if let Ok(ip) = Ipv6::try_from(packet) {
        assert_eq!(Some(ip.total_len()), declared);
        assert_eq!(
            addresses(packet),
            Some((ip.source().into(), ip.destination().into()))
        );
        if let Some(upper) = ip.upper_layer() {
            assert!((40..=packet.len()).contains(&upper.offset));
            l4(
                &packet[upper.offset..ip.total_len()],
                ip.pseudo_header(upper.protocol, 0),
            );
        }
    }
    let mut out = [0; icmp::TOO_BIG_LEN_MAX];
    for router in [IpAddr::from([10, 0, 0, 1]), IpAddr::from([0xfd; 16])] {
        if let Some(len) = icmp::write_too_big(packet, 1280, router, &mut out) {
            assert_eq!(declared_len(&out[..len]), Some(len));
            assert_eq!(
                addresses(&out[..len]).map(|(source, _)| source),
                Some(router)
            );
        }
    }
    if let Some(flow) = flow(packet) {
        assert!(matches!(flow.protocol, 6 | 17));
    }
}

fn l4(bytes: &[u8], seed: u64) {
    if let Ok(tcp) = Tcp::try_from(bytes) {
        assert_eq!(tcp.header().len() + tcp.payload().len(), bytes.len());
    }
    if let Ok(udp) = Udp::try_from(bytes) {
        assert!(udp.len() <= bytes.len());
    }
    let (even, rest) = bytes.split_at(bytes.len() / 4 * 2);
    let whole = checksum::add(bytes, seed);
    assert_eq!(
        checksum::fold(whole),
        checksum::fold(checksum::add(rest, checksum::add(even, seed)))
    );
}
