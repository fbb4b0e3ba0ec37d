use conceal::{HeaderKey, Junk, Kind, Profile, Random, Settings, Trailers, TypeRange};

/// Bytes are a profile (26 bytes) and a datagram: what is found lies inside, and a datagram that is made of what was found is
/// found again.
pub fn classify(data: &[u8]) {
    let Some((head, datagram)) = data.split_first_chunk::<26>() else {
        return;
    };
    let byte = |at: usize| u16::from(head[at]);
    let range = |at: usize| {
        let low = u32::from_le_bytes([head[at], head[at + 1], head[at + 2], 0]);
        TypeRange::new(low, low + u32::from(head[at + 3])).unwrap_or(TypeRange::PLAIN[0])
    };
    let flags = head[0];
    let settings = Settings {
        junk: Junk {
            count: byte(1) % 4,
            len_min: byte(2),
            len_max: byte(3),
        },
        paddings: [byte(4), byte(5), byte(6), byte(7)],
        types: [range(8), range(12), range(16), range(20)],
        header_key: HeaderKey::new(&[head[24]; 32]),
        content_padding: (0, byte(25)),
        trailers: if flags & 1 == 0 {
            Trailers::Off
        } else {
            Trailers::On
        },
        ..Settings::default()
    };
    let Ok(profile) = Profile::new(settings) else {
        return;
    };
    let mut random = Random::new(&[flags; 32], 0);
    let mut received = datagram.to_vec();
    let is_live = |index: u32| index.is_multiple_of(2);
    let Some(opened) = profile.open(&mut received, is_live) else {
        return;
    };
    let message = &received[opened.range];
    assert!(message.len() >= opened.kind.message_len());
    let mut out = vec![0; 65_507];
    let framed = profile.frame(message, 0, &mut random, &mut out);
    if opened.kind == Kind::Transport {
        assert_eq!(framed, None, "transport is no handshake message");
        return;
    }
    let len = framed.expect("a handshake message is framed");
    let whole = profile.padding(opened.kind) + opened.kind.message_len();
    let is_fixed = profile.trailers() == Trailers::Off;
    assert!(len == whole || !is_fixed && len > whole && len < 500);
    let message = message.to_vec();
    if let Some(again) = profile.open(&mut out[..len], |_| false)
        && again.kind == opened.kind
    {
        assert_eq!(&out[again.range], &message[..]);
    }
    let mut decoys = 0;
    profile.prelude(0, &mut random, &mut out, |_| decoys += 1);
    assert!(decoys < 4);
}
