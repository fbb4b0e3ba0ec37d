//! Replays the seeds of the fuzz targets for datagrams and commands (E2E-04).
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

#[path = "../../../fuzz/src/command.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod command;
#[path = "../../../fuzz/src/datagram.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod datagram;
#[path = "../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with other crates' tests")]
mod replay;

use replay::replay;

/// E2E-04: datagrams of the network, extension messages and packet numbers.
#[test]
fn e2e_04_every_datagram_seed_and_its_neighbours_pass() {
    replay("datagram", datagram::datagram);
}

/// E2E-04: command batches of the slow path.
#[test]
fn e2e_04_every_command_seed_and_its_neighbours_pass() {
    replay("command", command::command);
}
