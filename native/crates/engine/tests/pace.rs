//! How much a turn takes on, and when a worker looks away.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use core::time::Duration;
use std::io;

use engine::{Engine, Ready, Wait, WantRoom};
use support::{Pair, TestClock, super_frame};
use testkit::{MemoryHost, u4};

/// LIM-10: the work of a turn is bounded in bytes, too.
#[test]
fn lim_10_super_frames_end_a_turn_long_before_their_number_does() {
    let mut pair = Pair::with_session();
    for _ in 0..20 {
        pair.nodes[0].host.send_frame(super_frame(44 * 1368));
    }

    pair.nodes[0].turn();

    assert_eq!(
        pair.nodes[0].total("tunReadFrames"),
        5,
        "5 × 60 kB pass 256 KiB"
    );
}

/// Sends a packet before each wait and counts rests; ends after 40 waits.
struct Stream<Give> {
    give: Give,
    engine: Engine,
    clock: TestClock,
    interval: Duration,
    waits: usize,
    rests: usize,
}

impl<Give: FnMut(usize)> Wait for Stream<Give> {
    fn wait(&mut self, _: Option<Duration>, _: WantRoom) -> io::Result<Ready> {
        self.waits += 1;
        if self.waits == 40 {
            self.engine.stop();
        }
        self.clock.0.advance(self.interval);
        (self.give)(self.waits);
        Ok(support::EVERYTHING)
    }

    fn rest(&mut self, time: Duration) {
        self.clock.0.advance(time);
        self.rests += 1;
    }

    fn forget_tun(&mut self) {}
}

/// Rests of a worker whose TUN queue gets what `give` puts there, every `interval`.
fn rests(interval: Duration, give: impl Fn(&MemoryHost, usize)) -> (usize, u64) {
    let mut pair = Pair::with_session();
    let node = &mut pair.nodes[0];
    let host = node.host.clone();
    let mut stream = Stream {
        give: |at| give(&host, at),
        engine: node.engine.clone(),
        clock: node.clock.clone(),
        interval,
        waits: 0,
        rests: 0,
    };
    node.shard.run(&mut stream);
    (stream.rests, node.total("rests"))
}

#[test]
fn a_worker_lets_the_packets_of_a_fast_stream_gather_and_counts_its_rests() {
    let fast = rests(Duration::from_micros(30), |host, at| {
        (0..2).for_each(|piece| host.send_packet(&u4(2 * at + piece, 100)));
    });
    let slow = rests(Duration::from_micros(500), |host, at| {
        host.send_packet(&u4(at, 100));
    });

    assert!(fast.0 > 10, "{} rests", fast.0);
    assert_eq!(fast.1, fast.0 as u64);
    assert_eq!(slow, (0, 0));
}
