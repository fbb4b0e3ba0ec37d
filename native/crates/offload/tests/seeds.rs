//! Replays the seeds of the fuzz targets (E2E-04), so that a crash that was found once stays found.
#![cfg(test)]

#[path = "../../../fuzz/src/merge.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod merge;
#[path = "../../../fuzz/src/parse.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod parse;
#[path = "../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with other crates' tests")]
mod replay;
#[path = "../../../fuzz/src/split.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod split;

use replay::replay;

/// E2E-04, P-25: every seed of header parser, splitter and merger, and its neighbours.
#[test]
fn e2e_04_every_seed_and_its_neighbours_pass() {
    replay("parse", parse::parse);
    replay("split", split::split);
    replay("merge", merge::merge);
}
