//! What a handshake message must pass before the slow path sees it.

use core::hash::BuildHasher;
use core::net::{IpAddr, SocketAddr};
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::hash::RandomState;
use std::sync::{PoisonError, RwLock};

use conceal::Cookies;
use ports::Instant;
use wire::{COOKIE_REPLY_LEN, CookieKey, CookieSecrets, Mac1Key, Message};

use crate::event::{FLAG_MAC2_VALID, FLAG_UNDER_LOAD, HANDSHAKES_MAX};

/// MAC1, MAC2 while under load, and the rates that bound what the slow path has to answer.
#[derive(Debug)]
pub(crate) struct HandshakeGate {
    mac1: Mac1Key,
    secrets: RwLock<Option<CookieSecrets>>,
    busy_until: AtomicU64,
    cookie_key: CookieKey,
    cookies_given: AtomicU64,
    cookie_limits: CookieLimits,
    cookies: Rate,
    cookie_replies: Rate,
    buckets: SourceBuckets,
    sources: Vec<Rate>,
    askers: Vec<Rate>,
    repliers: Vec<Rate>,
}

/// How many cookies may be given in a second.
#[derive(Clone, Copy, Debug)]
struct CookieLimits {
    to_all: u64,
    /// Sources share buckets, so a loud neighbour must leave something.
    to_one_source: u64,
}

/// A cookie costs about two microseconds: so many that a flood does not use up those of everybody else.
const COOKIE_LIMITS: CookieLimits = CookieLimits {
    to_all: 100_000,
    to_one_source: 1_000,
};

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Hand it to the slow path with these flags.
    Process { flags: u8 },
    /// Answer with a cookie.
    AnswerWithCookie { flags: u8 },
    /// MAC1 is wrong.
    BadMac,
    /// Over a rate.
    Drop,
}

impl HandshakeGate {
    pub(crate) fn new(public_key: &[u8; 32]) -> Self {
        Self::with_cookie_limits(public_key, COOKIE_LIMITS)
    }

    fn with_cookie_limits(public_key: &[u8; 32], cookie_limits: CookieLimits) -> Self {
        HandshakeGate {
            cookie_limits,
            mac1: Mac1Key::new(public_key),
            secrets: RwLock::new(None),
            busy_until: AtomicU64::new(0),
            cookie_key: CookieKey::new(public_key),
            cookies_given: AtomicU64::new(0),
            cookies: Rate::default(),
            cookie_replies: Rate::default(),
            buckets: SourceBuckets::default(),
            sources: (0..SOURCES).map(|_| Rate::default()).collect(),
            askers: (0..SOURCES).map(|_| Rate::default()).collect(),
            repliers: (0..SOURCES).map(|_| Rate::default()).collect(),
        }
    }

    pub(crate) fn set_secrets(&self, secrets: CookieSecrets) {
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
    }

    /// Judges a message whose length fits its kind. `waiting` is how many the slow path has not fetched yet.
    pub(crate) fn judge(
        &self,
        kind: &Message,
        message: &[u8],
        from: SocketAddr,
        arrival: Arrival,
    ) -> Judgement {
        if *kind == Message::CookieReply {
            return self.judge_cookie_reply(from, arrival);
        }
        if !self.mac1.verifies(message) {
            return Judgement::BadMac;
        }
        if !self.is_under_load(arrival) {
            return Judgement::Process { flags: 0 };
        }
        if arrival.cookies == Cookies::Disabled {
            return self.judge_by_rate(from, arrival, FLAG_UNDER_LOAD);
        }
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        let Some(secrets) = secrets.as_ref() else {
            return Judgement::Process {
                flags: FLAG_UNDER_LOAD,
            };
        };
        if secrets.verifies(message, from) {
            return self.judge_by_rate(from, arrival, FLAG_UNDER_LOAD | FLAG_MAC2_VALID);
        }
        // One loud source must not use up what all others need.
        let asker = self.askers.get(self.buckets.of(from.ip()));
        let may_ask =
            asker.is_none_or(|rate| rate.allows(self.cookie_limits.to_one_source, arrival.now));
        if may_ask && self.cookies.allows(self.cookie_limits.to_all, arrival.now) {
            Judgement::AnswerWithCookie {
                flags: FLAG_UNDER_LOAD,
            }
        } else {
            Judgement::Drop
        }
    }

    /// Passes so many messages of one source in a second.
    fn judge_by_rate(&self, from: SocketAddr, arrival: Arrival, flags: u8) -> Judgement {
        match self.sources.get(self.buckets.of(from.ip())) {
            Some(rate) if !rate.allows(PER_SOURCE_PER_SECOND, arrival.now) => Judgement::Drop,
            _ => Judgement::Process { flags },
        }
    }

    /// It carries no MAC, so anybody can make it up: a rate per source keeps a forger from crowding out what others answer,
    /// one for all keeps the slow path free.
    fn judge_cookie_reply(&self, from: SocketAddr, arrival: Arrival) -> Judgement {
        let replier = self.repliers.get(self.buckets.of(from.ip()));
        let pass = replier
            .is_none_or(|rate| rate.allows(COOKIE_REPLIES_OF_ONE_SOURCE, arrival.now))
            && self
                .cookie_replies
                .allows(COOKIE_REPLIES_OF_ALL, arrival.now);
        if pass {
            Judgement::Process { flags: 0 }
        } else {
            Judgement::Drop
        }
    }

    /// Answers a message with a cookie. `None` without secrets.
    pub(crate) fn cookie_reply(
        &self,
        message: &[u8],
        from: SocketAddr,
    ) -> Option<[u8; COOKIE_REPLY_LEN]> {
        let number = self.cookies_given.fetch_add(1, Ordering::Relaxed);
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        let secrets = secrets.as_ref()?;
        self.cookie_key
            .reply(message, &secrets.cookie(from), secrets.nonce(number))
    }

    /// The slow path is behind, or was within the last second.
    fn is_under_load(&self, arrival: Arrival) -> bool {
        if arrival.waiting >= HANDSHAKES_MAX / 8 {
            let until = arrival.now + LOAD_LASTS;
            self.busy_until
                .store(until.as_nanoseconds(), Ordering::Relaxed);
            return true;
        }
        arrival.now.as_nanoseconds() < self.busy_until.load(Ordering::Relaxed)
    }
}

/// When a message came and how many wait before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) now: Instant,
    pub(crate) waiting: usize,
    pub(crate) cookies: Cookies,
}

/// Counts per second: the second in the high half, the count in the low half.
#[derive(Debug, Default)]
struct Rate(AtomicU64);

impl Rate {
    fn allows(&self, per_second: u64, now: Instant) -> bool {
        let second = (now.as_nanoseconds() / 1_000_000_000) << 32;
        let before = self.0.load(Ordering::Relaxed);
        let count = if before & !COUNT == second {
            before & COUNT
        } else {
            0
        };
        self.0
            .store(second | (count + 1).min(COUNT), Ordering::Relaxed);
        count < per_second
    }
}

const COUNT: u64 = 0xffff_ffff;
const LOAD_LASTS: Duration = Duration::from_secs(1);
/// A peer gets a message every five seconds at most, and answers each once; many may sit behind one address.
const COOKIE_REPLIES_OF_ONE_SOURCE: u64 = 50;
const COOKIE_REPLIES_OF_ALL: u64 = 5_000;
const PER_SOURCE_PER_SECOND: u64 = 20;
const SOURCES: usize = 4096;

/// Which sources share a rate. Nobody outside can tell, so nobody can aim at the rate of a certain source.
#[derive(Debug, Default)]
struct SourceBuckets(RandomState);

impl SourceBuckets {
    fn of(&self, source: IpAddr) -> usize {
        let bits = match source {
            IpAddr::V4(v4) => u64::from(v4.to_bits()),
            // A host has at least all addresses of one such network.
            IpAddr::V6(v6) => u64::from_be_bytes(*v6.octets().first_chunk().unwrap_or(&[0; 8])),
        };
        usize::try_from(self.0.hash_one(bits) >> 52).unwrap_or(0) % SOURCES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(waiting: usize, seconds: u64) -> Arrival {
        Arrival {
            now: Instant::default() + Duration::from_secs(seconds),
            waiting,
            cookies: Cookies::Given,
        }
    }

    /// An initiation with a valid MAC1 for the key of all threes, made with an independent hash.
    fn initiation() -> Vec<u8> {
        use blake2::digest::consts::{U16, U32};
        use blake2::digest::{KeyInit, Mac, Update, VariableOutput};
        let _ = (U16::default(), U32::default());
        let mut key = [0; 32];
        let mut hash = blake2::Blake2sVar::new(32).unwrap();
        hash.update(b"mac1----");
        hash.update(&[3; 32]);
        hash.finalize_variable(&mut key).unwrap();
        let mut message = vec![1; 148];
        let mut mac = <blake2::Blake2sMac<U16> as KeyInit>::new_from_slice(&key).unwrap();
        Mac::update(&mut mac, &message[..116]);
        message[116..132].copy_from_slice(&mac.finalize().into_bytes());
        message
    }

    fn gate() -> HandshakeGate {
        HandshakeGate::with_cookie_limits(&[3; 32], LIMITS)
    }

    const FROM: SocketAddr = SocketAddr::new(IpAddr::V4(core::net::Ipv4Addr::new(192, 0, 2, 1)), 9);

    #[test]
    fn a_wrong_mac1_goes_nowhere_and_a_right_one_passes() {
        let gate = gate();
        let mut message = initiation();
        assert_eq!(
            gate.judge(&Message::Initiation, &message, FROM, arrival(0, 0)),
            Judgement::Process { flags: 0 }
        );
        message[3] ^= 1;
        assert_eq!(
            gate.judge(&Message::Initiation, &message, FROM, arrival(0, 0)),
            Judgement::BadMac
        );
    }

    #[test]
    fn under_load_a_sender_without_a_cookie_is_asked_to_fetch_one() {
        let gate = gate();
        gate.set_secrets(CookieSecrets::new([7; 32], [0; 32]));
        let message = initiation();

        let flooded = gate.judge(
            &Message::Initiation,
            &message,
            FROM,
            arrival(HANDSHAKES_MAX / 8, 10),
        );
        let still = gate.judge(&Message::Initiation, &message, FROM, arrival(0, 10));
        let later = gate.judge(&Message::Initiation, &message, FROM, arrival(0, 12));

        assert_eq!(
            flooded,
            Judgement::AnswerWithCookie {
                flags: FLAG_UNDER_LOAD
            }
        );
        assert_eq!(still, flooded, "load lasts a second");
        assert_eq!(later, Judgement::Process { flags: 0 });
    }

    #[test]
    fn under_load_a_valid_mac2_passes_up_to_a_rate_per_source() {
        let gate = gate();
        let secrets = CookieSecrets::new([7; 32], [0; 32]);
        let mut message = initiation();
        let mut mac = {
            use blake2::digest::KeyInit;
            <blake2::Blake2sMac<blake2::digest::consts::U16> as KeyInit>::new_from_slice(
                &secrets.cookie(FROM),
            )
            .unwrap()
        };
        blake2::digest::Mac::update(&mut mac, &message[..132]);
        message[132..].copy_from_slice(&blake2::digest::Mac::finalize(mac).into_bytes());
        gate.set_secrets(secrets);

        let verdicts: Vec<Judgement> = (0..=PER_SOURCE_PER_SECOND)
            .map(|_| {
                gate.judge(
                    &Message::Initiation,
                    &message,
                    FROM,
                    arrival(HANDSHAKES_MAX, 10),
                )
            })
            .collect();

        assert_eq!(
            verdicts.first(),
            Some(&Judgement::Process {
                flags: FLAG_UNDER_LOAD | FLAG_MAC2_VALID
            })
        );
        assert_eq!(verdicts.last(), Some(&Judgement::Drop));
    }

    #[test]
    fn tmr_14_b_08_without_cookies_a_rate_per_source_is_all_that_counts_under_load() {
        // TMR-14, B-8
        let gate = gate();
        gate.set_secrets(CookieSecrets::new([7; 32], [0; 32]));
        let message = initiation();
        let arrival = Arrival {
            cookies: Cookies::Disabled,
            ..arrival(HANDSHAKES_MAX, 10)
        };

        let verdicts: Vec<Judgement> = (0..=PER_SOURCE_PER_SECOND)
            .map(|_| gate.judge(&Message::Initiation, &message, FROM, arrival))
            .collect();

        assert_eq!(
            verdicts.first(),
            Some(&Judgement::Process {
                flags: FLAG_UNDER_LOAD
            })
        );
        assert_eq!(verdicts.last(), Some(&Judgement::Drop));
    }

    const LIMITS: CookieLimits = CookieLimits {
        to_all: 2_000,
        to_one_source: 10,
    };

    /// How many of the messages, one per address, would get a cookie within one second.
    fn cookies_given(gate: &HandshakeGate, sources: impl Iterator<Item = SocketAddr>) -> u64 {
        let message = initiation();
        let wanted = Judgement::AnswerWithCookie {
            flags: FLAG_UNDER_LOAD,
        };
        let given = sources
            .filter(|from| {
                let arrival = arrival(HANDSHAKES_MAX, 10);
                gate.judge(&Message::Initiation, &message, *from, arrival) == wanted
            })
            .count();
        u64::try_from(given).unwrap()
    }

    fn addresses(count: u64) -> impl Iterator<Item = SocketAddr> {
        let first = u32::from_be_bytes([10, 0, 0, 0]);
        (first..)
            .zip(0..count)
            .map(|(bits, _)| SocketAddr::new(core::net::Ipv4Addr::from_bits(bits).into(), 9))
    }

    #[test]
    fn cookie_requests_are_bounded_per_second() {
        let gate = gate();
        gate.set_secrets(CookieSecrets::new([7; 32], [0; 32]));

        assert_eq!(
            cookies_given(&gate, addresses(3 * LIMITS.to_all)),
            LIMITS.to_all
        );
    }

    #[test]
    fn one_loud_source_leaves_cookies_for_the_others() {
        let gate = gate();
        gate.set_secrets(CookieSecrets::new([7; 32], [0; 32]));
        let flood = (0..10 * LIMITS.to_all).map(|_| FROM);

        assert_eq!(cookies_given(&gate, flood), LIMITS.to_one_source);
        assert_eq!(cookies_given(&gate, addresses(1)), 1);
    }

    fn cookie_replies_passed(
        gate: &HandshakeGate,
        sources: impl Iterator<Item = SocketAddr>,
    ) -> u64 {
        let passed = sources
            .filter(|from| {
                let verdict = gate.judge(&Message::CookieReply, &[0; 64], *from, arrival(0, 10));
                verdict == Judgement::Process { flags: 0 }
            })
            .count();
        u64::try_from(passed).unwrap()
    }

    #[test]
    fn forged_cookie_replies_of_one_source_leave_room_for_real_ones() {
        let gate = gate();
        let flood = (0..1_000).map(|_| FROM);

        assert_eq!(
            cookie_replies_passed(&gate, flood),
            COOKIE_REPLIES_OF_ONE_SOURCE
        );
        assert_eq!(cookie_replies_passed(&gate, addresses(1)), 1);
    }

    #[test]
    fn cookie_replies_of_all_sources_are_bounded_per_second() {
        let gate = gate();

        assert_eq!(
            cookie_replies_passed(&gate, addresses(10_000)),
            COOKIE_REPLIES_OF_ALL
        );
    }

    #[test]
    fn which_sources_share_a_rate_is_different_in_every_gate() {
        let (one, other) = (SourceBuckets::default(), SourceBuckets::default());
        let sharing: Vec<IpAddr> = addresses(100_000)
            .map(|source| source.ip())
            .filter(|source| one.of(*source) == one.of(FROM.ip()))
            .collect();
        assert!(sharing.len() > 4, "about one of {SOURCES} shares");

        let still = sharing
            .iter()
            .filter(|source| other.of(**source) == other.of(FROM.ip()))
            .count();

        assert!(still < sharing.len() / 2, "{still} of {}", sharing.len());
    }

    #[test]
    fn all_addresses_of_an_ipv6_network_share_a_rate() {
        let buckets = SourceBuckets::default();
        let of = |text: &str| buckets.of(text.parse().unwrap());

        assert_eq!(of("2001:db8:0:1::1"), of("2001:db8:0:1:ffff::2"));
    }
}
