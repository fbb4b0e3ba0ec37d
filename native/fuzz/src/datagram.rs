use std::collections::HashSet;

use wire::{
    COOKIE_REPLY_LEN, DATA_HEADER_LEN, DATA_OVERHEAD, Extension, INITIATION_LEN, Message,
    REPLAY_WINDOW, RESPONSE_LEN, ReplayVerdict, ReplayWindow, is_extension, padded_len,
};

/// Bytes are a datagram from the network, and once more the plaintext of a data message and a list of packet numbers.
pub fn datagram(data: &[u8]) {
    message(data);
    extension(data);
    replay(data);
    for mtu in [0, 576, 1420, 65_535] {
        let padded = padded_len(data.len(), mtu);
        assert!(padded >= data.len() && padded < data.len() + 16);
        assert!(padded <= mtu.max(data.len()));
    }
}

/// What is taken for a message has the length of its kind, and a header that was read is written as it was.
fn message(data: &[u8]) {
    match Message::try_from(data) {
        Ok(Message::Data(header)) => {
            assert!(data.len() >= DATA_OVERHEAD);
            let mut written = [0; DATA_HEADER_LEN];
            header.write(&mut written);
            assert!(data.starts_with(&written));
        }
        Ok(kind) => {
            let expected = match kind {
                Message::Initiation => INITIATION_LEN,
                Message::Response => RESPONSE_LEN,
                Message::CookieReply | Message::Data(_) => COOKIE_REPLY_LEN,
            };
            assert_eq!(data.len(), expected);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// An extension message that was read says the same after writing and reading.
fn extension(data: &[u8]) {
    let Some(message) = Extension::read(data) else {
        return;
    };
    assert!(is_extension(data));
    let mut written = vec![0xa5; data.len().max(Extension::LEN_MAX)];
    if message.write(&mut written).is_some() {
        assert_eq!(Extension::read(&written), Some(message));
    }
}

/// The window agrees with a set of everything accepted so far.
fn replay(data: &[u8]) {
    let mut window = ReplayWindow::new();
    let mut seen = HashSet::new();
    let mut newest: Option<u64> = None;
    let mut counter = 0_u64;
    for [step, scale] in data.as_chunks::<2>().0.iter().take(4_096) {
        // Small steps in both directions, now and then a leap.
        let distance = u64::from(*step) << (scale & 63);
        counter = if scale & 64 == 0 {
            counter.wrapping_add(distance)
        } else {
            counter.wrapping_sub(distance)
        };
        let behind = newest.is_some_and(|newest| {
            newest
                .checked_sub(counter)
                .is_some_and(|age| age >= REPLAY_WINDOW)
        });
        // The engine refuses numbers near the end long before the window sees them.
        if counter >= u64::MAX - (1 << 13) {
            counter = 0;
            continue;
        }
        let expected = if behind {
            ReplayVerdict::BehindWindow
        } else if seen.insert(counter) {
            ReplayVerdict::Fresh
        } else {
            ReplayVerdict::Duplicate
        };
        assert_eq!(window.accept(counter), expected, "number {counter}");
        newest = newest.max(Some(counter));
    }
}
