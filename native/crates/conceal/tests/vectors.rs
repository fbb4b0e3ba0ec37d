//! Section 5 of the specification: bytes that were seen on the wire of another implementation.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests of fixed bytes"
)]

use core::fmt::Write;

use blake2::digest::consts::U16;
use blake2::digest::{Digest, KeyInit, Mac};
use chacha20::cipher::{KeyIvInit, StreamCipher};
use conceal::{HeaderKey, Kind, Profile, Random, Settings, Template, TypeRange};
use ring::digest::{SHA256, digest};
use wire::Mac1Key;

/// Key 00 … 1f, S1…S4 = 15, 18, 20, 25.
fn profile() -> Profile {
    let key = core::array::from_fn(|at| u8::try_from(at).unwrap());
    Profile::new(Settings {
        paddings: [15, 18, 20, 25],
        types: [
            TypeRange::new(123_456, 123_500).unwrap(),
            TypeRange::new(67_543, 67_550).unwrap(),
            TypeRange::new(223_344, 223_350).unwrap(),
            TypeRange::new(32_345, 32_350).unwrap(),
        ],
        header_key: HeaderKey::new(&key),
        ..Settings::default()
    })
    .unwrap()
}

/// Bytes a0, a1, …
fn padding(len: u8) -> Vec<u8> {
    (0..len).map(|at| 0xa0 + at).collect()
}

/// What a sender with this padding puts on the wire; found by opening, because protecting is its own inverse.
fn protected(padding_bytes: &[u8], message: &[u8]) -> Vec<u8> {
    let key: [u8; 32] = core::array::from_fn(|at| u8::try_from(at).unwrap());
    let nonce: [u8; 12] = padding_bytes[..12].try_into().unwrap();
    let mut bytes = message.to_vec();
    chacha20::ChaCha20::new(&key.into(), &nonce.into()).apply_keystream(&mut bytes);
    [padding_bytes, &bytes].concat()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn mac1_key() -> [u8; 32] {
    let mut hash = blake2::Blake2s256::new();
    Digest::update(&mut hash, b"mac1----");
    Digest::update(&mut hash, [0x42; 32]);
    hash.finalize().into()
}

/// A message of this type whose bytes up to the MACs count up; MAC1 right, MAC2 zero.
fn counted(kind: u32, len: u8) -> Vec<u8> {
    let mut message: Vec<u8> = (0..len).collect();
    message[..4].copy_from_slice(&kind.to_le_bytes());
    let covered = usize::from(len) - 32;
    message[covered..].fill(0);
    let mut mac = <blake2::Blake2sMac<U16> as KeyInit>::new_from_slice(&mac1_key()).unwrap();
    Mac::update(&mut mac, &message[..covered]);
    message[covered..covered + 16].copy_from_slice(&mac.finalize().into_bytes());
    message
}

#[test]
fn cve_01_hdp_02_hdp_03_the_keystream_starts_at_block_zero_under_the_padding_as_nonce() {
    // CVE-01, HDP-02, HDP-03: what stands on the wire over a message of zeros is the keystream itself.
    let wire = protected(&padding(15), &[0; 32]);
    assert_eq!(
        hex(&wire[15..]),
        "f7baf7e4cc1bfeaea3e5885e99ca209f520adea739997a357f85ab6e14007197"
    );
}

#[test]
fn cve_02_hdp_05_a_transport_header_is_hidden_and_shown_again() {
    // CVE-02, HDP-05: sixteen bytes and no more.
    let mut datagram = [
        &padding(25)[..],
        &unhex("aec4f7e4c818fcafa6e5885e99ca209f"),
        &[0x77; 16],
    ]
    .concat();

    let opened = profile().open(&mut datagram, |_| false).unwrap();

    assert_eq!(opened.kind, Kind::Transport);
    assert_eq!(hex(&datagram[25..41]), "597e0000040302010500000000000000");
    assert_eq!(
        datagram[41..],
        [0x77; 16],
        "ciphertext and tag are left alone"
    );
}

#[test]
fn cve_03_the_mac1_key_of_a_public_key() {
    // CVE-03
    assert_eq!(
        hex(&mac1_key()),
        "172c34d6807bd7acef1a2471f20e928626c23ce0b9f90b326cf5f82d12480a4e"
    );
}

#[test]
fn cve_04_cve_05_wir_04_mac1_covers_the_type_that_was_drawn() {
    // CVE-04, CVE-05, WIR-04: the same bytes under another type have another MAC1.
    let (drawn, plain) = (counted(123_456, 148), counted(1, 148));

    assert_eq!(hex(&drawn[116..132]), "f4ed2a3df2b129acb86cd6da1782ba6b");
    assert_eq!(hex(&plain[116..132]), "852204eeb50de7773aa49c3d39ad682e");
    assert!(Mac1Key::new(&[0x42; 32]).verifies(&drawn));
    assert!(Mac1Key::new(&[0x42; 32]).verifies(&plain));
}

#[test]
fn cve_06_hdp_04_an_initiation_is_hidden_whole() {
    // CVE-06, HDP-04
    let message = counted(123_456, 148);
    let mut wire = protected(&padding(15), &message);
    assert_eq!(hex(&wire[15..31]), "b758f6e4c81ef8a9abec825595c72e90");
    assert_eq!(
        hex(digest(&SHA256, &wire).as_ref()),
        "779819346964ea2d9cb6777088aa3aaad8d14fd515870eaee18da8841a4ee0f0"
    );

    let opened = profile().open(&mut wire, |_| false).unwrap();

    assert_eq!(
        (opened.kind, opened.range.clone()),
        (Kind::Initiation, 15..163)
    );
    assert_eq!(wire[opened.range], message);
}

#[test]
fn cve_07_a_response_is_hidden_whole() {
    // CVE-07
    let message = counted(67_543, 92);
    assert_eq!(hex(&message[60..76]), "2f2bec25331a5b13d43752ae6fec88d2");
    let mut wire = protected(&padding(18), &message);
    assert_eq!(
        hex(digest(&SHA256, &wire).as_ref()),
        "ea862dff773e0a32bb6b5ad0eb3fed793a222f7a120ba877ed3ab910e595df09"
    );

    let opened = profile().open(&mut wire, |_| false).unwrap();

    assert_eq!(opened.kind, Kind::Response);
    assert_eq!(wire[opened.range], message);
}

#[test]
fn cve_08_types_are_little_endian() {
    // CVE-08
    for (kind, bytes) in [
        (123_456_u32, "40e20100"),
        (32_345, "597e0000"),
        (67_543, "d7070100"),
    ] {
        assert_eq!(hex(&kind.to_le_bytes()), bytes);
    }
    assert_eq!(
        profile().kind_of(&unhex("40e20100")),
        Some(Kind::Initiation)
    );
    assert_eq!(profile().kind_of(&unhex("597e0000")), Some(Kind::Transport));
    assert_eq!(profile().kind_of(&unhex("d7070100")), Some(Kind::Response));
}

#[test]
fn cve_09_a_template_with_the_time_in_it() {
    // CVE-09
    let template = Template::parse("<b 0xdeadbeef><t>").unwrap();
    let mut out = [0; 16];
    let packet = template.write(1_700_000_000, &mut Random::new(&[0; 32], 0), &mut out);
    assert_eq!(hex(packet.unwrap()), "deadbeef6553f100");
}

#[test]
fn cve_10_sizes_on_the_wire() {
    // CVE-10, TMR-01: a keepalive has the padding of transport messages.
    let profile = profile();
    let mut random = Random::new(&[1; 32], 0);
    let mut out = vec![0; 2_000];
    let mut framed = |kind: u32, len: usize| {
        let message = [&kind.to_le_bytes()[..], &vec![0; len - 4]].concat();
        profile.frame(&message, 500, &mut random, &mut out)
    };
    assert_eq!(framed(123_456, 148), Some(163));
    assert_eq!(framed(67_543, 92), Some(110));
    assert_eq!(framed(223_344, 64), Some(84));
    let shape = profile.shape(500);
    let mut random = Random::new(&[1; 32], 0);
    assert_eq!(shape.datagram_len(0, 1_420, &mut random), 57);
    assert_eq!(shape.datagram_len(128, 1_420, &mut random), 185);
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
