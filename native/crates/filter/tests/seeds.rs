//! Replays the seeds of the fuzz target for the filter (E2E-04).
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

#[path = "../../../fuzz/src/filter.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod judged;
#[path = "../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with other crates' tests")]
mod replay;

/// E2E-04: packets of every kind, whole, cut off and bent.
#[test]
fn e2e_04_every_filter_seed_and_its_neighbours_pass() {
    replay::replay("filter", judged::filter);
}
