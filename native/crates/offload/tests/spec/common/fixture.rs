//! The packets T4, T6, U4 and U6 of the specification, and ways to bend them.

use offload::{NEEDS_CHECKSUM, VirtioHeader, gso};

use super::judge::{reference_checksum, reference_sum};

pub(crate) const ACK: u8 = 0x10;
pub(crate) const PSH: u8 = 0x08;
pub(crate) const FIN: u8 = 0x01;
pub(crate) const SYN: u8 = 0x02;
pub(crate) const RST: u8 = 0x04;
pub(crate) const URG: u8 = 0x20;
pub(crate) const ECE: u8 = 0x40;
pub(crate) const CWR: u8 = 0x80;
pub(crate) const DF: u16 = 0x4000;
pub(crate) const MF: u16 = 0x2000;

/// What the L4 checksum field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Valid,
    Seed,
    Zero,
    Wrong,
}

/// A packet as its fields; [`Packet::bytes`] builds it with a slow checksum of its own.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) version: u8,
    pub(crate) protocol: u8,
    pub(crate) tos: u8,
    pub(crate) flow_label: u32,
    pub(crate) id: u16,
    pub(crate) fragment: u16,
    pub(crate) ttl: u8,
    pub(crate) source: [u8; 16],
    pub(crate) destination: [u8; 16],
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) window: u16,
    pub(crate) flags: u8,
    pub(crate) reserved: u8,
    pub(crate) urgent: u16,
    pub(crate) options: Vec<u8>,
    pub(crate) ip_options: Vec<u8>,
    /// IPv6 extension headers as (next-header value naming it, bytes without the first).
    pub(crate) extensions: Vec<(u8, Vec<u8>)>,
    pub(crate) payload: Vec<u8>,
    pub(crate) field: Field,
    pub(crate) udp_len_error: i32,
}

/// TCP over IPv4.
pub(crate) fn t4(sequence: u32, n: usize) -> Packet {
    Packet {
        version: 4,
        protocol: 6,
        tos: 0,
        flow_label: 0x12345,
        id: 0x1234,
        fragment: DF,
        ttl: 64,
        source: v4([10, 9, 0, 2]),
        destination: v4([10, 9, 0, 1]),
        source_port: 40_000,
        destination_port: 5201,
        sequence,
        acknowledgement: 1000,
        window: 500,
        flags: ACK,
        reserved: 0,
        urgent: 0,
        options: timestamps(111, 222),
        ip_options: Vec::new(),
        extensions: Vec::new(),
        payload: (0..n)
            .map(|i| (sequence.wrapping_add(i as u32) % 251) as u8)
            .collect(),
        field: Field::Valid,
        udp_len_error: 0,
    }
}

/// TCP over IPv6.
pub(crate) fn t6(sequence: u32, n: usize) -> Packet {
    Packet {
        version: 6,
        source: v6(2),
        destination: v6(1),
        ..t4(sequence, n)
    }
}

/// UDP over IPv4.
pub(crate) fn u4(datagram: usize, n: usize) -> Packet {
    Packet {
        protocol: 17,
        source_port: 6000,
        destination_port: 6001,
        payload: (0..n).map(|i| ((17 * datagram + i) % 251) as u8).collect(),
        ..t4(0, 0)
    }
}

/// UDP over IPv6.
pub(crate) fn u6(datagram: usize, n: usize) -> Packet {
    Packet {
        version: 6,
        source: v6(2),
        destination: v6(1),
        ..u4(datagram, n)
    }
}

/// NOP NOP timestamp.
pub(crate) fn timestamps(value: u32, echo: u32) -> Vec<u8> {
    [
        &[1, 1, 8, 10][..],
        &value.to_be_bytes(),
        &echo.to_be_bytes(),
    ]
    .concat()
}

pub(crate) fn v4(octets: [u8; 4]) -> [u8; 16] {
    let mut address = [0; 16];
    address[..4].copy_from_slice(&octets);
    address
}

pub(crate) fn v6(last: u8) -> [u8; 16] {
    let mut address = [0; 16];
    address[0] = 0xfd;
    address[1] = 0x09;
    address[15] = last;
    address
}

impl Packet {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn flags(self, flags: u8) -> Self {
        self.with(|packet| packet.flags = flags)
    }

    pub(crate) fn field(self, field: Field) -> Self {
        self.with(|packet| packet.field = field)
    }

    /// Length of the network header with options or extension headers.
    pub(crate) fn l3_len(&self) -> usize {
        if self.version == 4 {
            20 + self.ip_options.len()
        } else {
            40 + self
                .extensions
                .iter()
                .map(|(_, bytes)| bytes.len() + 1)
                .sum::<usize>()
        }
    }

    pub(crate) fn l4_header_len(&self) -> usize {
        if self.protocol == 6 {
            20 + self.options.len()
        } else {
            8
        }
    }

    pub(crate) fn header_len(&self) -> usize {
        self.l3_len() + self.l4_header_len()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut l4 = if self.protocol == 6 {
            self.tcp()
        } else {
            self.udp()
        };
        let at = if self.protocol == 6 { 16 } else { 6 };
        let seed = reference_sum(&self.pseudo_header(l4.len()));
        let value = match self.field {
            Field::Seed => seed,
            Field::Zero => 0,
            Field::Valid | Field::Wrong => {
                let good = reference_checksum(&[self.pseudo_header(l4.len()), l4.clone()].concat());
                let good = if good == 0 && self.protocol == 17 {
                    0xffff
                } else {
                    good
                };
                if self.field == Field::Wrong {
                    good ^ 0x0101
                } else {
                    good
                }
            }
        };
        l4[at..at + 2].copy_from_slice(&value.to_be_bytes());
        let mut packet = self.network(l4.len());
        packet.extend_from_slice(&l4);
        packet
    }

    pub(crate) fn pseudo_header(&self, l4_len: usize) -> Vec<u8> {
        let len = if self.version == 4 { 4 } else { 16 };
        let tail = [0, self.protocol, (l4_len >> 8) as u8, l4_len as u8];
        [&self.source[..len], &self.destination[..len], &tail].concat()
    }

    /// The header the kernel gives a super-frame of this packet with this segment size.
    pub(crate) fn virtio(&self, segment_size: u16) -> VirtioHeader {
        let gso_type = match (self.protocol, self.version) {
            (6, 4) => gso::TCP4,
            (6, _) => gso::TCP6,
            _ => gso::UDP,
        };
        VirtioHeader {
            flags: NEEDS_CHECKSUM,
            gso_type,
            header_len: self.header_len() as u16,
            segment_size,
            checksum_start: self.l3_len() as u16,
            checksum_offset: if self.protocol == 6 { 16 } else { 6 },
        }
    }

    /// The header of a single packet with a partial checksum.
    pub(crate) fn virtio_single(&self) -> VirtioHeader {
        VirtioHeader {
            gso_type: gso::NONE,
            header_len: 0,
            segment_size: 0,
            ..self.virtio(0)
        }
    }

    fn network(&self, l4_len: usize) -> Vec<u8> {
        if self.version == 4 {
            let header_len = 20 + self.ip_options.len();
            let mut header = vec![0x40 | (header_len / 4) as u8, self.tos];
            header.extend_from_slice(&((header_len + l4_len) as u16).to_be_bytes());
            header.extend_from_slice(&self.id.to_be_bytes());
            header.extend_from_slice(&self.fragment.to_be_bytes());
            header.extend_from_slice(&[self.ttl, self.protocol, 0, 0]);
            header.extend_from_slice(&self.source[..4]);
            header.extend_from_slice(&self.destination[..4]);
            header.extend_from_slice(&self.ip_options);
            let checksum = reference_checksum(&header);
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            return header;
        }
        let extensions_len: usize = self
            .extensions
            .iter()
            .map(|(_, bytes)| bytes.len() + 1)
            .sum();
        let word = 0x6000_0000 | u32::from(self.tos) << 20 | self.flow_label;
        let mut header = word.to_be_bytes().to_vec();
        header.extend_from_slice(&((extensions_len + l4_len) as u16).to_be_bytes());
        let mut kinds = self
            .extensions
            .iter()
            .map(|(kind, _)| *kind)
            .chain([self.protocol]);
        header.extend_from_slice(&[kinds.next().unwrap(), self.ttl]);
        header.extend_from_slice(&self.source);
        header.extend_from_slice(&self.destination);
        for (_, bytes) in &self.extensions {
            header.push(kinds.next().unwrap());
            header.extend_from_slice(bytes);
        }
        header
    }

    fn tcp(&self) -> Vec<u8> {
        let mut l4 = [
            self.source_port.to_be_bytes(),
            self.destination_port.to_be_bytes(),
        ]
        .concat();
        l4.extend_from_slice(&self.sequence.to_be_bytes());
        l4.extend_from_slice(&self.acknowledgement.to_be_bytes());
        l4.extend_from_slice(&[(self.l4_header_len() * 4) as u8 | self.reserved, self.flags]);
        l4.extend_from_slice(&self.window.to_be_bytes());
        l4.extend_from_slice(&[0, 0]);
        l4.extend_from_slice(&self.urgent.to_be_bytes());
        l4.extend_from_slice(&self.options);
        l4.extend_from_slice(&self.payload);
        l4
    }

    fn udp(&self) -> Vec<u8> {
        let mut l4 = [
            self.source_port.to_be_bytes(),
            self.destination_port.to_be_bytes(),
        ]
        .concat();
        let len = i32::try_from(8 + self.payload.len()).unwrap() + self.udp_len_error;
        l4.extend_from_slice(&(len as u16).to_be_bytes());
        l4.extend_from_slice(&[0, 0]);
        l4.extend_from_slice(&self.payload);
        l4
    }
}

/// An IPv6 hop-by-hop or destination-options header of 8 bytes, without its first byte.
pub(crate) fn padding_extension() -> Vec<u8> {
    vec![0, 1, 4, 0, 0, 0, 0]
}

/// A fragment header, without its first byte.
pub(crate) fn fragment_extension(offset_and_more: u16) -> Vec<u8> {
    let [high, low] = offset_and_more.to_be_bytes();
    vec![0, high, low, 0, 0, 0, 9]
}
