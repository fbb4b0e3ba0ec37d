//! Packets by description, so that tests know what they hold without parsing.

use core::net::IpAddr;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ICMP: u8 = 1;
pub(crate) const ICMPV6: u8 = 58;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

/// What a packet is.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) protocol: u8,
    pub(crate) body: Body,
    pub(crate) shape: Shape,
    /// IPv6 only.
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Ports {
        source: u16,
        destination: u16,
        flags: u8,
    },
    Icmp {
        kind: u8,
        code: u8,
        id: u16,
    },
    /// An ICMP error about a packet.
    Error {
        kind: u8,
        code: u8,
        about: Box<Described>,
    },
    Raw(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Whole,
    FirstFragment,
    LaterFragment,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Extension {
    HopByHop,
    Routing,
    Destination,
    Authentication,
    Mobility,
}

impl Described {
    pub(crate) fn whole(source: &str, destination: &str, protocol: u8, body: Body) -> Self {
        Described {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            protocol,
            body,
            shape: Shape::Whole,
            extensions: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let body = self.body.bytes();
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let word: u16 = match self.shape {
                    Shape::Whole => 0x4000,
                    Shape::FirstFragment => 0x2000,
                    Shape::LaterFragment => 0x0005,
                };
                let total = u16::try_from(20 + body.len()).unwrap();
                let mut bytes = vec![0x45, 0];
                bytes.extend(total.to_be_bytes());
                bytes.extend([0, 1]);
                bytes.extend(word.to_be_bytes());
                bytes.extend([64, self.protocol, 0, 0]);
                bytes.extend(source.octets());
                bytes.extend(destination.octets());
                bytes.extend(body);
                bytes
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let (first, chain) = self.chain();
                let payload = u16::try_from(chain.len() + body.len()).unwrap();
                let mut bytes = vec![0x60, 0, 0, 0];
                bytes.extend(payload.to_be_bytes());
                bytes.extend([first, 64]);
                bytes.extend(source.octets());
                bytes.extend(destination.octets());
                bytes.extend(chain);
                bytes.extend(body);
                bytes
            }
            _ => panic!("a packet has addresses of one family"),
        }
    }

    /// Next-header value of the fixed header, and the extension headers.
    fn chain(&self) -> (u8, Vec<u8>) {
        let mut headers: Vec<(u8, Vec<u8>)> = self
            .extensions
            .iter()
            .map(|extension| match extension {
                Extension::HopByHop => (0, vec![0, 0, 1, 4, 0, 0, 0, 0]),
                Extension::Routing => (43, [&[0, 1, 4, 0][..], &[0; 12]].concat()),
                Extension::Destination => (60, vec![0, 0, 1, 4, 0, 0, 0, 0]),
                Extension::Authentication => (51, [&[0, 4][..], &[0; 22]].concat()),
                Extension::Mobility => (135, vec![0; 8]),
            })
            .collect();
        match self.shape {
            Shape::Whole => {}
            Shape::FirstFragment => headers.push((44, vec![0, 0, 0, 1, 0, 0, 0, 9])),
            Shape::LaterFragment => headers.push((44, vec![0, 0, 0, 8, 0, 0, 0, 9])),
        }
        let mut next = self.protocol;
        for (number, header) in headers.iter_mut().rev() {
            header[0] = next;
            next = *number;
        }
        (
            next,
            headers.into_iter().flat_map(|(_, bytes)| bytes).collect(),
        )
    }
}

impl Body {
    pub(crate) fn ports(source: u16, destination: u16) -> Body {
        Body::Ports {
            source,
            destination,
            flags: ACK,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Body::Ports {
                source,
                destination,
                flags,
            } => {
                let mut bytes = Vec::new();
                bytes.extend(source.to_be_bytes());
                bytes.extend(destination.to_be_bytes());
                bytes.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, *flags, 0, 0, 0, 0, 0, 0]);
                bytes
            }
            Body::Icmp { kind, code, id } => {
                let [high, low] = id.to_be_bytes();
                vec![*kind, *code, 0, 0, high, low, 0, 1]
            }
            Body::Error { kind, code, about } => {
                let mut quoted = about.bytes();
                quoted.truncate(48 + 8 * about.extensions.len() * 3);
                [&[*kind, *code, 0, 0, 0, 0, 0, 0][..], &quoted].concat()
            }
            Body::Raw(bytes) => bytes.clone(),
        }
    }
}
