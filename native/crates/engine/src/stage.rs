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

/// Columns of a shard row. The last ones say how many batches had 1, 2–3, 4–7, … and 64 or more packets.
#[must_use]
pub fn shard_counter_names() -> &'static [&'static str] {
    &[
        "shard",
        "stage",
        "batches",
        "packets",
        "bytes",
        "nanoseconds",
        "batchesOf1",
        "batchesOf2",
        "batchesOf4",
        "batchesOf8",
        "batchesOf16",
        "batchesOf32",
        "batchesOf64",
    ]
}

/// Whether shards count and time their stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StageTiming {
    /// Every stage of every batch is counted and timed.
    #[default]
    On,
    /// Stage rows stay zero and the cycle counter is not read.
    Off,
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
    sizes: [Count; SIZE_CLASSES],
}

/// Classes of batch sizes: powers of two, the last one open.
const SIZE_CLASSES: usize = 7;

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
        if let Some(class) = work.packets.checked_ilog2()
            && let Some(count) = counts.sizes.get((class as usize).min(SIZE_CLASSES - 1))
        {
            count.add(1);
        }
    }

    /// What every stage did.
    pub(crate) fn rows(&self) -> impl Iterator<Item = StageRow> + '_ {
        self.0.iter().map(|counts| StageRow {
            batches: counts.batches.get(),
            packets: counts.packets.get(),
            bytes: counts.bytes.get(),
            cycles: counts.cycles.get(),
            sizes: counts.sizes.each_ref().map(Count::get),
        })
    }
}

/// The counts of one stage at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StageRow {
    pub(crate) batches: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) cycles: u64,
    pub(crate) sizes: [u64; SIZE_CLASSES],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_counted_in_the_class_of_their_size() {
        let table = StageTable::default();
        for packets in [0, 1, 2, 3, 4, 63, 64, 5_000] {
            table.add(Stage::Seal, Work { packets, bytes: 10 }, 7);
        }

        let row = table.rows().nth(Stage::Seal as usize).unwrap();

        assert_eq!((row.batches, row.bytes, row.cycles), (8, 80, 56));
        assert_eq!(
            row.sizes,
            [1, 2, 1, 0, 0, 1, 2],
            "an empty batch has no class"
        );
    }
}
