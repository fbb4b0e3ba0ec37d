//! Sealing and opening packets of 1,420 bytes in place, per cipher and crate; a plain copy is the baseline.
//!
//! Each packet has a nonce of its own and its tag, as in the tunnel; opening includes the copy that restores the packet.

#![allow(missing_docs, reason = "the macro makes a public function")]

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};

const PACKET_LEN: usize = 1420;
const TAG_LEN: usize = 16;

fn ciphers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("aead-1420");
    group.throughput(Throughput::Bytes(PACKET_LEN as u64));
    let mut packet = vec![0x5a; PACKET_LEN];
    let source = packet.clone();
    group.bench_function("copy", |bencher| {
        bencher.iter(|| black_box(&mut packet).copy_from_slice(black_box(&source)));
    });
    ring_crate(&mut group);
    rust_crypto(&mut group);
    #[cfg(feature = "aws-lc")]
    aws_lc(&mut group);
    group.finish();
}

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Measures one cipher of one crate: `seal` gets a counter and packet, `open` the sealed packet with its tag.
fn measure(
    group: &mut Group<'_>,
    name: &str,
    seal: impl Fn(u64, &mut [u8]) -> Option<[u8; TAG_LEN]>,
    open: impl Fn(u64, &mut [u8]) -> bool,
) {
    let mut packet = vec![0x5a; PACKET_LEN];
    let mut counter = 1;
    group.bench_function(format!("{name} seal"), |bencher| {
        bencher.iter(|| {
            counter += 1;
            seal(counter, black_box(&mut packet))
        });
    });
    let mut sealed = vec![0x5a; PACKET_LEN];
    let tag = seal(1, &mut sealed).expect("sealing works");
    sealed.extend(tag);
    let mut work = sealed.clone();
    assert!(open(1, &mut work), "{name} must open what it sealed");
    group.bench_function(format!("{name} open"), |bencher| {
        bencher.iter(|| {
            work.copy_from_slice(&sealed);
            open(1, black_box(&mut work))
        });
    });
}

fn nonce_of(counter: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    if let Some(low) = nonce.last_chunk_mut() {
        *low = counter.to_le_bytes();
    }
    nonce
}

/// The calls of ring and of the crate that imitates it are the same.
macro_rules! ring_like {
    ($group:expr, $krate:ident, $label:literal, $names:expr) => {
        for (name, algorithm) in $names {
            let key = || {
                let key = $krate::aead::UnboundKey::new(algorithm, &[7; 32]).expect("32 bytes");
                $krate::aead::LessSafeKey::new(key)
            };
            let (sealer, opener) = (key(), key());
            measure(
                $group,
                &format!("{} {}", $label, name),
                |counter, packet| {
                    let nonce = $krate::aead::Nonce::assume_unique_for_key(nonce_of(counter));
                    sealer
                        .seal_in_place_separate_tag(nonce, $krate::aead::Aad::empty(), packet)
                        .ok()
                        .and_then(|tag| tag.as_ref().try_into().ok())
                },
                |counter, packet| {
                    let nonce = $krate::aead::Nonce::assume_unique_for_key(nonce_of(counter));
                    opener
                        .open_in_place(nonce, $krate::aead::Aad::empty(), packet)
                        .is_ok()
                },
            );
        }
    };
}

fn ring_crate(group: &mut Group<'_>) {
    ring_like!(
        group,
        ring,
        "ring",
        [
            ("chacha20-poly1305", &ring::aead::CHACHA20_POLY1305),
            ("aes-256-gcm", &ring::aead::AES_256_GCM),
        ]
    );
}

#[cfg(feature = "aws-lc")]
fn aws_lc(group: &mut Group<'_>) {
    ring_like!(
        group,
        aws_lc_rs,
        "aws-lc-rs",
        [
            ("chacha20-poly1305", &aws_lc_rs::aead::CHACHA20_POLY1305),
            ("aes-256-gcm", &aws_lc_rs::aead::AES_256_GCM),
        ]
    );
}

fn rust_crypto(group: &mut Group<'_>) {
    use aes_gcm::Aes256Gcm;
    use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit};

    fn run<C>(group: &mut Group<'_>, name: &str, cipher: &C)
    where
        C: AeadInPlace<
                NonceSize = chacha20poly1305::consts::U12,
                TagSize = chacha20poly1305::consts::U16,
            >,
    {
        measure(
            group,
            name,
            |counter, packet| {
                cipher
                    .encrypt_in_place_detached(&nonce_of(counter).into(), b"", packet)
                    .ok()
                    .map(Into::into)
            },
            |counter, packet| {
                let Some((text, tag)) = packet.split_last_chunk_mut::<TAG_LEN>() else {
                    return false;
                };
                cipher
                    .decrypt_in_place_detached(&nonce_of(counter).into(), b"", text, &(*tag).into())
                    .is_ok()
            },
        );
    }
    let chacha = ChaCha20Poly1305::new(&[7; 32].into());
    run(group, "rust-crypto chacha20-poly1305", &chacha);
    run(
        group,
        "rust-crypto aes-256-gcm",
        &Aes256Gcm::new(&[7; 32].into()),
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    targets = ciphers
}
criterion_main!(benches);
