//! What is counted, and the columns it is reported in.

use core::sync::atomic::{AtomicU64, Ordering};

/// A count that one thread writes and others read.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds as the only writer: cheaper than an atomic addition.
    pub(crate) fn add(&self, amount: u64) {
        self.0
            .store(self.get().wrapping_add(amount), Ordering::Relaxed);
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A count that several shards write.
#[derive(Debug, Default)]
pub(crate) struct SharedCount(AtomicU64);

impl SharedCount {
    pub(crate) fn add(&self, amount: u64) {
        if amount > 0 {
            self.0.fetch_add(amount, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// No peer has the destination among its allowed addresses.
    NoPeer,
    /// No session fits, or a handshake that packets waited for was given up.
    NoSession,
    /// The packet number was seen before or is too old.
    Replay,
    /// The tag does not verify.
    BadTag,
    /// The inner source address is not among the peer's allowed ones.
    SourceNotAllowed,
    /// The policy says no.
    Filter,
    /// Not a message, or not a packet.
    Malformed,
    /// More packets waited for a handshake than the bounds allow.
    QueueFull,
    /// The kernel refused it.
    Io,
    /// Its datagram met congestion, and its sender cannot hear of that in any other way (RFC 6040).
    Congestion,
}

impl DropReason {
    /// All reasons in the order of their columns.
    pub(crate) const ALL: [DropReason; 10] = [
        DropReason::NoPeer,
        DropReason::NoSession,
        DropReason::Replay,
        DropReason::BadTag,
        DropReason::SourceNotAllowed,
        DropReason::Filter,
        DropReason::Malformed,
        DropReason::QueueFull,
        DropReason::Io,
        DropReason::Congestion,
    ];

    fn column(self) -> &'static str {
        match self {
            DropReason::NoPeer => "dropNoPeer",
            DropReason::NoSession => "dropNoSession",
            DropReason::Replay => "dropReplay",
            DropReason::BadTag => "dropBadTag",
            DropReason::SourceNotAllowed => "dropSourceNotAllowed",
            DropReason::Filter => "dropFilter",
            DropReason::Malformed => "dropMalformed",
            DropReason::QueueFull => "dropQueueFull",
            DropReason::Io => "dropIo",
            DropReason::Congestion => "dropCongestion",
        }
    }
}

/// Counts of one peer since it was added. Bytes are those of inner packets; keepalives are not counted.
#[derive(Debug, Default)]
pub(crate) struct PeerCounters {
    pub(crate) rx_bytes: SharedCount,
    pub(crate) rx_packets: SharedCount,
    pub(crate) tx_bytes: SharedCount,
    pub(crate) tx_packets: SharedCount,
    drops: [SharedCount; DropReason::ALL.len()],
}

impl PeerCounters {
    pub(crate) fn drop_packets(&self, reason: DropReason, packets: u64) {
        if let Some(count) = self.drops.get(reason as usize) {
            count.add(packets);
        }
    }

    /// The drop columns: every reason but "no peer", which has no peer to be counted at.
    pub(crate) fn drops(&self) -> impl Iterator<Item = u64> + '_ {
        self.drops.iter().skip(1).map(SharedCount::get)
    }
}

/// Columns of a peer row.
#[must_use]
pub fn peer_counter_names() -> Vec<&'static str> {
    let fixed = [
        "peer",
        "rxBytes",
        "rxPackets",
        "txBytes",
        "txPackets",
        "lastReceivedAgeMs",
        "sessionAgeMs",
        "queuedPackets",
        "lanesInUse",
    ];
    let drops = DropReason::ALL.iter().skip(1).map(|reason| reason.column());
    fixed.into_iter().chain(drops).collect()
}

macro_rules! totals {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A count of the whole engine, kept per shard.
        #[expect(dead_code, reason = "the drop columns are reached through their reason")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Total { $($(#[$doc])* $variant,)* }

        impl Total {
            pub(crate) const NAMES: &[&str] = &[$($name,)*];
        }
    };
}

totals! {
    /// First of the drop reasons; the others follow in the order of [`DropReason::ALL`].
    DropNoPeer = "dropNoPeer",
    DropNoSession = "dropNoSession",
    DropReplay = "dropReplay",
    DropBadTag = "dropBadTag",
    DropSourceNotAllowed = "dropSourceNotAllowed",
    DropFilter = "dropFilter",
    DropMalformed = "dropMalformed",
    DropQueueFull = "dropQueueFull",
    DropIo = "dropIo",
    DropCongestion = "dropCongestion",
    TunReadCalls = "tunReadCalls",
    TunReadFrames = "tunReadFrames",
    TunReadSuper = "tunReadSuper",
    TunReadPieces = "tunReadPieces",
    TunReadBadShort = "tunReadBadShort",
    TunReadBadType = "tunReadBadType",
    TunReadBadSize = "tunReadBadSize",
    TunReadBadProtocol = "tunReadBadProtocol",
    TunReadBadLength = "tunReadBadLength",
    TunReadBadChecksum = "tunReadBadChecksum",
    TunReadBadNotIp = "tunReadBadNotIp",
    TunReadBadTooBig = "tunReadBadTooBig",
    TunWriteCalls = "tunWriteCalls",
    TunWriteFrames = "tunWriteFrames",
    TunWriteSuper = "tunWriteSuper",
    TunWriteMerged = "tunWriteMerged",
    TunWriteErrors = "tunWriteErrors",
    TunWriteFallbacks = "tunWriteFallbacks",
    TunWriteYields = "tunWriteYields",
    Rests = "rests",
    TooBigAnswers = "tooBigAnswers",
    PathProbesSent = "pathProbesSent",
    PathProbesAnswered = "pathProbesAnswered",
    LaneProbesSent = "laneProbesSent",
    LaneProbesAnswered = "laneProbesAnswered",
    LanesUp = "lanesUp",
    LanesDown = "lanesDown",
    LaneSendDatagrams = "laneSendDatagrams",
    LaneReceiveDatagrams = "laneReceiveDatagrams",
    UdpSendCalls = "udpSendCalls",
    UdpSendGso = "udpSendGso",
    UdpSendDatagrams = "udpSendDatagrams",
    UdpSendErrors = "udpSendErrors",
    UdpSendFallbacks = "udpSendFallbacks",
    UdpReceiveCalls = "udpReceiveCalls",
    UdpReceiveGro = "udpReceiveGro",
    UdpReceiveDatagrams = "udpReceiveDatagrams",
    UdpReceiveTruncated = "udpReceiveTruncated",
    PollCalls = "pollCalls",
    FlowsStarted = "flowsStarted",
    FlowsExpired = "flowsExpired",
    FlowsEvicted = "flowsEvicted",
    FlowsCut = "flowsCut",
    HandshakesReceived = "handshakesReceived",
    HandshakesBadMac = "handshakesBadMac",
    HandshakesDropped = "handshakesDropped",
    CookiesWanted = "cookiesWanted",
    KeepalivesSent = "keepalivesSent",
    KeepalivesReceived = "keepalivesReceived",
    ElideTx = "elideTx",
    ElideRx = "elideRx",
    ElideBad = "elideBad",
}

/// The counts of one shard; the shard is their only writer.
#[derive(Debug)]
pub(crate) struct ShardTotals([Count; Total::NAMES.len()]);

impl ShardTotals {
    pub(crate) fn new() -> Self {
        ShardTotals([const { Count(AtomicU64::new(0)) }; Total::NAMES.len()])
    }

    pub(crate) fn add(&self, total: Total, amount: u64) {
        if let Some(count) = self.0.get(total as usize) {
            count.add(amount);
        }
    }

    pub(crate) fn set(&self, total: Total, value: u64) {
        if let Some(count) = self.0.get(total as usize) {
            count.set(value);
        }
    }

    pub(crate) fn drop_packets(&self, reason: DropReason, packets: u64) {
        if let Some(count) = self.0.get(reason as usize) {
            count.add(packets);
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(Count::get)
    }
}

/// Names of the engine-wide counts.
#[must_use]
pub fn total_counter_names() -> &'static [&'static str] {
    Total::NAMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_reasons_name_the_same_columns_everywhere() {
        for (reason, name) in DropReason::ALL.iter().zip(Total::NAMES) {
            assert_eq!(reason.column(), *name);
        }
        assert_eq!(Total::DropIo as usize, DropReason::Io as usize);
        assert!(!peer_counter_names().contains(&"dropNoPeer"));
    }

    #[test]
    fn a_dropped_packet_is_counted_under_its_reason() {
        let totals = ShardTotals::new();
        let peer = PeerCounters::default();

        totals.drop_packets(DropReason::Replay, 3);
        peer.drop_packets(DropReason::Replay, 3);

        assert_eq!(totals.values().nth(Total::DropReplay as usize), Some(3));
        assert_eq!(peer.drops().nth(1), Some(3));
        assert_eq!(peer.drops().sum::<u64>(), 3);
    }
}
