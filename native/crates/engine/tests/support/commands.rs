//! Encodes commands as the slow path does.

use std::net::{IpAddr, SocketAddr};

pub const INITIATOR: u8 = 0;
pub const RESPONDER: u8 = 1;

pub fn add_peer(peer: u32, keepalive_seconds: u16) -> Vec<u8> {
    let body = [
        &peer.to_le_bytes()[..],
        &keepalive_seconds.to_le_bytes(),
        &[0, 0],
    ];
    record(1, &body.concat())
}

pub fn remove_peer(peer: u32) -> Vec<u8> {
    record(2, &peer.to_le_bytes())
}

pub fn set_allowed_ips(peer: u32, prefixes: &[(&str, u8)]) -> Vec<u8> {
    let mut body = peer.to_le_bytes().to_vec();
    body.extend(u32::try_from(prefixes.len()).unwrap().to_le_bytes());
    for (address, bits) in prefixes {
        let (family, bytes) = address_bytes(address.parse().unwrap());
        body.extend([family, *bits, 0, 0]);
        body.extend(bytes);
    }
    record(3, &body)
}

pub fn set_endpoint(peer: u32, remote: SocketAddr) -> Vec<u8> {
    record(4, &[&peer.to_le_bytes()[..], &endpoint(remote)].concat())
}

pub fn set_keepalive(peer: u32, seconds: u16) -> Vec<u8> {
    let body = [&peer.to_le_bytes()[..], &seconds.to_le_bytes(), &[0, 0]];
    record(5, &body.concat())
}

pub fn install_session(
    peer: u32,
    local: u32,
    remote: u32,
    role: u8,
    [send, receive]: [u8; 2],
) -> Vec<u8> {
    let mut body = Vec::new();
    for field in [peer, local, remote] {
        body.extend(field.to_le_bytes());
    }
    body.extend([role, 0, 0, 0]);
    body.extend(0_u32.to_le_bytes());
    body.extend([send; 32]);
    body.extend([receive; 32]);
    record(6, &body)
}

/// A session with ages of its own: seconds to the next one by sending and by receiving, and to its end.
pub fn ageing(mut session: Vec<u8>, seconds: [u32; 3]) -> Vec<u8> {
    session.extend(
        seconds
            .map(|age| (age * 1_000).to_le_bytes())
            .as_flattened(),
    );
    session[4] += 12;
    session
}

/// Milliseconds: keepalive from, to; no answer from, to.
pub fn set_silence(spans: [u32; 4]) -> Vec<u8> {
    record(70, spans.map(u32::to_le_bytes).as_flattened())
}

/// A session under AES-256-GCM (`cipher` 1) or ChaCha20-Poly1305 (0) with these flags.
pub fn with_profile(mut session: Vec<u8>, cipher: u8, flags: u16) -> Vec<u8> {
    session[8 + 13] = cipher;
    session[8 + 14..8 + 16].copy_from_slice(&flags.to_le_bytes());
    session
}

pub fn retire_session(local: u32) -> Vec<u8> {
    record(7, &local.to_le_bytes())
}

/// Both secrets that cookies are made from.
pub fn cookie_secrets(current: [u8; 32], previous: [u8; 32]) -> Vec<u8> {
    record(10, &[current, previous].concat())
}

pub fn send_handshake(peer: u32, message: &[u8]) -> Vec<u8> {
    record(8, &[&peer.to_le_bytes()[..], &[0; 20], message].concat())
}

pub fn handshake_gave_up(peer: u32) -> Vec<u8> {
    record(9, &peer.to_le_bytes())
}

pub fn allow_all() -> Vec<u8> {
    set_filter(&[rule(1, ALLOW, BOTH, 0, &[])])
}

pub fn deny_all() -> Vec<u8> {
    set_filter(&[])
}

pub const ALLOW: u8 = 1;
pub const IN: u8 = 1;
pub const OUT: u8 = 2;
pub const BOTH: u8 = 3;

pub fn set_filter(rules: &[Vec<u8>]) -> Vec<u8> {
    let count = u32::try_from(rules.len()).unwrap();
    let start = [2, 0, count].map(u32::to_le_bytes).concat();
    record(11, &[start, rules.concat()].concat())
}

/// A rule between all addresses; protocol 0 = any.
pub fn rule(id: u32, action: u8, direction: u8, protocol: u8, ports: &[(u16, u16)]) -> Vec<u8> {
    let mut rule = id.to_le_bytes().to_vec();
    rule.extend([action, direction]);
    let protocol = if protocol == 0 {
        0
    } else {
        u16::from(protocol) + 1
    };
    rule.extend(protocol.to_le_bytes());
    rule.extend([0xff; 8]);
    rule.extend([0; 4]);
    rule.extend(u16::try_from(ports.len()).unwrap().to_le_bytes());
    rule.extend([0; 2]);
    for (low, high) in ports {
        rule.extend(low.to_le_bytes());
        rule.extend(high.to_le_bytes());
    }
    rule
}

fn endpoint(remote: SocketAddr) -> Vec<u8> {
    let (family, bytes) = address_bytes(remote.ip());
    [&[family, 0][..], &remote.port().to_le_bytes(), &bytes[..]].concat()
}

fn address_bytes(address: IpAddr) -> (u8, [u8; 16]) {
    let mut bytes = [0; 16];
    match address {
        IpAddr::V4(v4) => {
            bytes[..4].copy_from_slice(&v4.octets());
            (4, bytes)
        }
        IpAddr::V6(v6) => (6, v6.octets()),
    }
}

fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, 0, 0, 0];
    bytes.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
    bytes.extend(body);
    bytes
}

pub fn set_mtu(mtu: u32) -> Vec<u8> {
    record(14, &mtu.to_le_bytes())
}

/// `payload` 0 = no bound of its own.
pub fn set_path_mtu(peer: u32, payload: u32, probes: u8) -> Vec<u8> {
    let body = [
        &peer.to_le_bytes()[..],
        &payload.to_le_bytes(),
        &[probes, 0, 0, 0],
    ];
    record(15, &body.concat())
}

/// A bound that probes have shown.
pub fn set_proven_path_mtu(peer: u32, payload: u32) -> Vec<u8> {
    let body = [
        &peer.to_le_bytes()[..],
        &payload.to_le_bytes(),
        &[1, 1, 0, 0],
    ];
    record(15, &body.concat())
}

pub fn send_probe(peer: u32, size: u32, id: u32) -> Vec<u8> {
    record(16, [peer, size, id].map(u32::to_le_bytes).as_flattened())
}

/// A profile as the slow path sends it.
#[derive(Clone, Copy)]
pub struct Disguise {
    pub junk: [u16; 3],
    pub paddings: [u16; 4],
    pub types: [(u32, u32); 4],
    pub content_padding: (u16, u16),
    pub header_key: [u8; 32],
    pub signatures: [&'static str; 5],
    pub trailers: bool,
    pub cookies_disabled: bool,
}

impl Default for Disguise {
    fn default() -> Self {
        Disguise {
            junk: [0; 3],
            paddings: [0; 4],
            types: [(1, 1), (2, 2), (3, 3), (4, 4)],
            content_padding: (0, 0),
            header_key: [0; 32],
            signatures: [""; 5],
            trailers: false,
            cookies_disabled: false,
        }
    }
}

pub fn set_conceal(disguise: &Disguise, seed: u8) -> Vec<u8> {
    let flags = u32::from(disguise.trailers) | u32::from(disguise.cookies_disabled) << 1;
    let mut body = [1, flags].map(u32::to_le_bytes).concat();
    let (low, high) = disguise.content_padding;
    let [count, min, max] = disguise.junk;
    body.extend([count, min, max, 0].map(u16::to_le_bytes).as_flattened());
    body.extend(disguise.paddings.map(u16::to_le_bytes).as_flattened());
    for (low, high) in disguise.types {
        body.extend([low, high].map(u32::to_le_bytes).as_flattened());
    }
    body.extend([low, high].map(u16::to_le_bytes).as_flattened());
    body.extend(disguise.header_key);
    body.extend([seed; 32]);
    for signature in disguise.signatures {
        body.extend(u16::try_from(signature.len()).unwrap().to_le_bytes());
        body.extend(signature.as_bytes());
    }
    record(17, &body)
}

pub fn no_conceal() -> Vec<u8> {
    record(17, &[])
}
