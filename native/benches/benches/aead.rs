//! Sealing and opening packets of 1,420 bytes in place, per crate; a plain copy is the baseline.

#![allow(missing_docs, reason = "the macro makes a public function")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wire::{Aead, Cipher, TransportKey};

const PACKET_LEN: usize = 1420;

fn ciphers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("aead-1420");
    group.throughput(Throughput::Bytes(PACKET_LEN as u64));
    let mut packet = vec![0x5a; PACKET_LEN];
    let source = packet.clone();
    group.bench_function("copy", |bencher| {
        bencher.iter(|| black_box(&mut packet).copy_from_slice(black_box(&source)));
    });

    ring(
        &mut group,
        &mut packet,
        Cipher::ChaCha20Poly1305,
        "chacha20-poly1305",
    );
    ring(&mut group, &mut packet, Cipher::Aes256Gcm, "aes-256-gcm");
    rust_crypto(&mut group, &mut packet);
    #[cfg(feature = "aws-lc")]
    aws_lc(&mut group, &mut packet);
    group.finish();
}

type Group<'a> = criterion::BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn ring(group: &mut Group<'_>, packet: &mut [u8], cipher: Cipher, name: &str) {
    let key = TransportKey::new(cipher, &mut [7; 32]);
    let mut sealed = packet.to_vec();
    let mut tag = [0; 16];
    let mut counter = 0;
    group.bench_function(format!("ring {name} seal"), |bencher| {
        bencher.iter(|| {
            counter += 1;
            key.seal(counter, black_box(packet), &mut tag);
        });
    });
    key.seal(0, &mut sealed, &mut tag);
    sealed.extend(tag);
    group.bench_function(format!("ring {name} open"), |bencher| {
        let mut work = sealed.clone();
        bencher.iter(|| {
            work.copy_from_slice(&sealed);
            key.open(0, black_box(&mut work))
        });
    });
}

fn rust_crypto(group: &mut Group<'_>, packet: &mut [u8]) {
    use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit};

    let cipher = ChaCha20Poly1305::new(&[7; 32].into());
    let mut counter = 0_u64;
    group.bench_function("rust-crypto chacha20-poly1305 seal", |bencher| {
        bencher.iter(|| {
            counter += 1;
            let mut nonce = [0; 12];
            nonce[4..].copy_from_slice(&counter.to_le_bytes());
            cipher.encrypt_in_place_detached(&nonce.into(), b"", black_box(packet))
        });
    });
}

#[cfg(feature = "aws-lc")]
fn aws_lc(group: &mut Group<'_>, packet: &mut [u8]) {
    use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

    let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &[7; 32]).expect("32 bytes"));
    let mut counter = 0_u64;
    group.bench_function("aws-lc-rs chacha20-poly1305 seal", |bencher| {
        bencher.iter(|| {
            counter += 1;
            let mut nonce = [0; 12];
            nonce[4..].copy_from_slice(&counter.to_le_bytes());
            let nonce = Nonce::assume_unique_for_key(nonce);
            key.seal_in_place_separate_tag(nonce, Aad::empty(), black_box(packet))
        });
    });
}

criterion_group!(benches, ciphers);
criterion_main!(benches);
