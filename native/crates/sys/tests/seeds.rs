//! Replays the seeds of the fuzz target for control messages (E2E-04).
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

#[path = "../../../fuzz/src/control.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod control;
#[path = "../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with other crates' tests")]
mod replay;

/// E2E-04, P-69: control messages that are cut off, lie about their length, or say what nobody asked for.
#[test]
fn e2e_04_every_control_message_seed_and_its_neighbours_pass() {
    replay::replay("control", control::control);
}
