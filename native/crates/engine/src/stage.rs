//! Where a shard spends its time.

use crate::counters::Count;

/// A step of the run-to-completion loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    TunRead,
    Split,
    Seal,
    /// Reserved for obfuscation; nothing runs under it yet.
    #[expect(
        dead_code,
        reason = "the column exists so that readers need not change when obfuscation arrives"
    )]
    Conceal,
    UdpSend,
    UdpReceive,
    Open,
    Filter,
    Merge,
    TunWrite,
    Idle,
}

const NAMES: [&str; 11] = [
    "tunRead",
    "split",
    "seal",
    "conceal",
    "udpSend",
    "udpReceive",
    "open",
    "filter",
    "merge",
    "tunWrite",
    "idle",
];

/// Names of the stages, in the order of their rows.
#[must_use]
pub fn stage_names() -> &'static [&'static str] {
    &NAMES
}

/// Columns of a shard row.
#[must_use]
pub fn shard_counter_names() -> &'static [&'static str] {
    &[
        "shard",
        "stage",
        "batches",
        "packets",
        "bytes",
        "nanoseconds",
    ]
}

/// What one shard did per stage; the shard is the only writer.
#[derive(Debug, Default)]
pub(crate) struct StageTable([StageCounts; NAMES.len()]);

/// Counts of one stage.
#[derive(Debug, Default)]
pub(crate) struct StageCounts {
    batches: Count,
    packets: Count,
    bytes: Count,
    cycles: Count,
}

/// How much a stage did in one go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) packets: usize,
    pub(crate) bytes: usize,
}

impl StageTable {
    pub(crate) fn add(&self, stage: Stage, work: Work, cycles: u64) {
        let Some(counts) = self.0.get(stage as usize) else {
            return;
        };
        counts.batches.add(1);
        counts.packets.add(work.packets as u64);
        counts.bytes.add(work.bytes as u64);
        counts.cycles.add(cycles);
    }

    /// Batches, packets, bytes and cycles of every stage.
    pub(crate) fn rows(&self) -> impl Iterator<Item = [u64; 4]> + '_ {
        self.0.iter().map(|counts| {
            [
                counts.batches.get(),
                counts.packets.get(),
                counts.bytes.get(),
                counts.cycles.get(),
            ]
        })
    }
}
