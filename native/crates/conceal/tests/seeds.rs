//! Replays the seeds of the fuzz targets for profiles, datagrams and tags (E2E-04).
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code: a panic is the failure of the test"
)]

#[path = "../../../fuzz/src/classify.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod classify;
#[path = "../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with other crates' tests")]
mod replay;
#[path = "../../../fuzz/src/tags.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz package")]
mod tags;

use replay::replay;

/// E2E-04: a profile and a datagram from the network.
#[test]
fn e2e_04_every_datagram_seed_of_a_profile_and_its_neighbours_pass() {
    replay("classify", classify::classify);
}

/// E2E-04: text of signature packets.
#[test]
fn e2e_04_every_tag_seed_and_its_neighbours_pass() {
    replay("tags", tags::tags);
}
