//! Where a peer is, readable by every shard without waiting.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};

use ports::Endpoint;

/// An endpoint that one thread replaces while others read it.
///
/// Writers take turns; readers never wait for them but read again when a write came between (a sequence lock).
#[derive(Debug)]
pub(crate) struct EndpointCell {
    version: AtomicU32,
    words: [AtomicU64; WORDS],
    writers: Mutex<()>,
}

/// What a store changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The same endpoint was there already.
    Nothing,
    /// Only our own side of the path differs.
    LocalSide,
    /// The peer is somewhere else.
    Moved,
}

impl EndpointCell {
    pub(crate) fn new(endpoint: Option<Endpoint>) -> Self {
        EndpointCell {
            version: AtomicU32::new(0),
            words: encode(endpoint).map(AtomicU64::new),
            writers: Mutex::new(()),
        }
    }

    pub(crate) fn load(&self) -> Option<Endpoint> {
        decode(self.load_words())
    }

    /// Replaces the endpoint. Costs a read only while nothing changes.
    pub(crate) fn store(&self, endpoint: Option<Endpoint>) -> Change {
        let wanted = encode(endpoint);
        if self.load_words() == wanted {
            return Change::Nothing;
        }
        let _turn = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.write(wanted);
        match (remote_of(before) == remote_of(wanted), before == wanted) {
            (true, true) => Change::Nothing,
            (true, false) => Change::LocalSide,
            (false, _) => Change::Moved,
        }
    }

    /// Replaces the endpoint only while it is still `expected`: what somebody else stored meanwhile is newer.
    pub(crate) fn replace(&self, expected: Endpoint, endpoint: Endpoint) {
        let _turn = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if self.load_words() == encode(Some(expected)) {
            self.write(encode(Some(endpoint)));
        }
    }

    /// The caller holds the writers' lock. Returns what was there.
    fn write(&self, wanted: [u64; WORDS]) -> [u64; WORDS] {
        let before = self
            .words
            .each_ref()
            .map(|word| word.load(Ordering::Relaxed));
        let version = self.version.load(Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for (word, value) in self.words.iter().zip(wanted) {
            word.store(value, Ordering::Relaxed);
        }
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
        before
    }

    fn load_words(&self) -> [u64; WORDS] {
        loop {
            let before = self.version.load(Ordering::Acquire);
            let words = self
                .words
                .each_ref()
                .map(|word| word.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && before == self.version.load(Ordering::Relaxed) {
                return words;
            }
            core::hint::spin_loop();
        }
    }
}

/// Remote address, then ports, families and interface, then local address.
const WORDS: usize = 5;

const FAMILY_V4: u64 = 4;
const FAMILY_V6: u64 = 6;

fn encode(endpoint: Option<Endpoint>) -> [u64; WORDS] {
    let Some(Endpoint {
        remote,
        local,
        interface,
    }) = endpoint
    else {
        return [0; WORDS];
    };
    let [remote_high, remote_low] = halves(remote.ip());
    let [local_high, local_low] = local.map_or([0; 2], halves);
    let shape = u64::from(remote.port())
        | family(remote.ip()) << 16
        | local.map_or(0, family) << 20
        | u64::from(interface) << 32;
    [remote_high, remote_low, shape, local_high, local_low]
}

fn decode(words: [u64; WORDS]) -> Option<Endpoint> {
    let [remote_high, remote_low, shape, local_high, local_low] = words;
    let remote = address(shape >> 16 & 0xf, remote_high, remote_low)?;
    let [_, _, _, _, i0, i1, i2, i3] = shape.to_le_bytes();
    let [port_low, port_high, ..] = shape.to_le_bytes();
    Some(Endpoint {
        remote: SocketAddr::new(remote, u16::from_le_bytes([port_low, port_high])),
        local: address(shape >> 20 & 0xf, local_high, local_low),
        interface: u32::from_le_bytes([i0, i1, i2, i3]),
    })
}

fn remote_of(words: [u64; WORDS]) -> (u64, u64, u64) {
    let [high, low, shape, _, _] = words;
    (high, low, shape & 0xf_ffff)
}

fn family(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(_) => FAMILY_V4,
        IpAddr::V6(_) => FAMILY_V6,
    }
}

fn halves(address: IpAddr) -> [u64; 2] {
    match address {
        IpAddr::V4(v4) => [0, u64::from(v4.to_bits())],
        IpAddr::V6(v6) => {
            let [a, b, c, d, e, f, g, h, rest @ ..] = v6.octets();
            [
                u64::from_be_bytes([a, b, c, d, e, f, g, h]),
                u64::from_be_bytes(rest),
            ]
        }
    }
}

fn address(family: u64, high: u64, low: u64) -> Option<IpAddr> {
    match family {
        FAMILY_V4 => {
            let [_, _, _, _, octets @ ..] = low.to_be_bytes();
            Some(Ipv4Addr::from(octets).into())
        }
        FAMILY_V6 => Some(Ipv6Addr::from(u128::from(high) << 64 | u128::from(low)).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn endpoint(remote: &str, local: Option<&str>, interface: u32) -> Endpoint {
        Endpoint {
            remote: remote.parse().unwrap(),
            local: local.map(|text| text.parse().unwrap()),
            interface,
        }
    }

    #[test]
    fn what_is_stored_is_read_back() {
        let cases = [
            None,
            Some(endpoint("192.0.2.1:51820", None, 0)),
            Some(endpoint("192.0.2.1:65535", Some("198.51.100.7"), u32::MAX)),
            Some(endpoint("[2001:db8::1]:1", Some("2001:db8:ffff::2"), 3)),
        ];
        for case in cases {
            let cell = EndpointCell::new(None);
            cell.store(case);
            assert_eq!(cell.load(), case);
        }
    }

    #[test]
    fn a_store_says_which_side_changed() {
        let cell = EndpointCell::new(Some(endpoint("192.0.2.1:1", None, 0)));

        assert_eq!(
            cell.store(Some(endpoint("192.0.2.1:1", None, 0))),
            Change::Nothing
        );
        assert_eq!(
            cell.store(Some(endpoint("192.0.2.1:1", Some("192.0.2.9"), 2))),
            Change::LocalSide
        );
        assert_eq!(
            cell.store(Some(endpoint("192.0.2.1:2", Some("192.0.2.9"), 2))),
            Change::Moved
        );
        assert_eq!(cell.store(None), Change::Moved);
    }

    #[test]
    fn a_pin_is_taken_back_only_where_the_peer_has_not_moved_since() {
        let pinned = endpoint("192.0.2.1:1", Some("192.0.2.9"), 2);
        let unpinned = Endpoint::unpinned(pinned.remote);
        let moved = endpoint("192.0.2.77:1", Some("192.0.2.9"), 2);
        let cell = EndpointCell::new(Some(pinned));

        cell.replace(pinned, unpinned);
        assert_eq!(cell.load(), Some(unpinned));
        cell.store(Some(moved));
        cell.replace(pinned, unpinned);
        assert_eq!(cell.load(), Some(moved));
    }

    /// P-75: an endpoint that moves while others read it is never seen half.
    #[test]
    fn a_reader_never_sees_half_of_a_write() {
        let one = Some(endpoint(
            "[1111:1111:1111:1111:1111:1111:1111:1111]:4369",
            None,
            1,
        ));
        let other = Some(endpoint(
            "[2222:2222:2222:2222:2222:2222:2222:2222]:8738",
            None,
            2,
        ));
        let cell = Arc::new(EndpointCell::new(one));
        let writer = std::thread::spawn({
            let cell = Arc::clone(&cell);
            move || {
                (0..20_000).for_each(|i| {
                    cell.store(if i % 2 == 0 { other } else { one });
                });
            }
        });

        while !writer.is_finished() {
            let seen = cell.load();
            assert!(seen == one || seen == other, "{seen:?}");
        }
        writer.join().unwrap();
    }
}
