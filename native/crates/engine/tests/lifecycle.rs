//! Shards that panic, and shards that do not time their stages.

mod support;

use core::time::Duration;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::{
    Engine, EngineLimits, Ready, Shard, ShardEnd, ShardLimits, ShardParts, StageTiming, Wait,
    WantRoom, shard_counter_names, stage_names, total_counter_names,
};
use offload::MergeLimits;
use ports::{Framing, TunQueue};
use support::{FRAMING, TestClock};
use testkit::MemoryDatagrams;

/// A queue that breaks every promise, and tells when it is dropped.
struct PanickingTun(Arc<AtomicUsize>);

impl TunQueue for PanickingTun {
    fn framing(&self) -> Framing {
        FRAMING
    }

    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("{} is out of bounds", self.0.load(Ordering::SeqCst));
    }

    fn write(&mut self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(0)
    }
}

impl Drop for PanickingTun {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Everything is always ready.
struct Restless;

impl Wait for Restless {
    fn wait(&mut self, _: Option<Duration>, _: WantRoom) -> io::Result<Ready> {
        Ok(Ready {
            tun: true,
            ..Ready::default()
        })
    }

    fn rest(&mut self, _: Duration) {}

    fn forget_tun(&mut self) {}
}

fn engine(wakes: &Arc<AtomicUsize>) -> Engine {
    let seen = Arc::clone(wakes);
    let limits = EngineLimits {
        public_key: [7; 32],
        shards: 2,
        peers_max: 4,
        flows_max: 1_024,
    };
    Engine::new(
        &limits,
        Box::new(move || {
            seen.fetch_add(1, Ordering::SeqCst);
        }),
    )
}

fn shard<T: TunQueue>(engine: &Engine, index: u16, tun: T) -> Shard<T, MemoryDatagrams, TestClock> {
    timed_shard(engine, index, tun, StageTiming::On)
}

fn timed_shard<T: TunQueue>(
    engine: &Engine,
    index: u16,
    tun: T,
    stage_timing: StageTiming,
) -> Shard<T, MemoryDatagrams, TestClock> {
    let limits = ShardLimits {
        mtu: 1420,
        send_segments_max: 64,
        merge: MergeLimits::default(),
        stage_timing,
    };
    let parts = ShardParts {
        tun,
        v4: None,
        v6: None,
        lanes: Vec::new(),
        clock: TestClock::default(),
    };
    engine.shard(index, parts, limits)
}

fn events(engine: &Engine) -> Vec<u8> {
    let mut into = vec![0; 4096];
    let used = engine.take_events(&mut into);
    into.truncate(used);
    into
}

#[test]
fn a_panic_of_one_shard_is_told_with_text_and_place_and_ends_the_others() {
    let (wakes, dropped) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let engine = engine(&wakes);
    let failing = shard(&engine, 1, PanickingTun(Arc::clone(&dropped)));
    let (tun, _host) = testkit::memory_tun(FRAMING);
    let other = shard(&engine, 0, tun);
    let runner = engine.clone();
    let other = std::thread::spawn(move || runner.run_guarded(other, Restless));

    assert_eq!(engine.run_guarded(failing, Restless), ShardEnd::Panicked);

    assert_eq!(other.join().unwrap(), ShardEnd::Stopped);
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "its queue is closed");
    assert_eq!(wakes.load(Ordering::SeqCst), 1);
    let told = events(&engine);
    assert_eq!(told[..4], [14, 0, 1, 0]);
    let text = core::str::from_utf8(&told[8..]).unwrap();
    assert!(text.contains("lifecycle.rs:"), "{text}");
    assert!(text.contains("0 is out of bounds"), "{text}");
}

#[test]
fn only_the_first_failure_of_an_engine_is_told() {
    let (wakes, dropped) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let engine = engine(&wakes);
    let first = shard(&engine, 0, PanickingTun(Arc::clone(&dropped)));
    let second = shard(&engine, 1, PanickingTun(Arc::clone(&dropped)));

    engine.run_guarded(first, Restless);
    // The second one finds the engine stopping before it touches its queue.
    assert_eq!(engine.run_guarded(second, Restless), ShardEnd::Stopped);

    let told = events(&engine);
    assert_eq!(told[..4], [14, 0, 0, 0]);
    let len = u32::from_le_bytes([told[4], told[5], told[6], told[7]]) as usize;
    assert_eq!(told.len(), 8 + len, "nothing follows");
}

#[test]
fn an_injected_panic_hits_the_shard_it_is_meant_for() {
    let wakes = Arc::default();
    let engine = engine(&wakes);
    let (tun, _host) = testkit::memory_tun(FRAMING);
    let shard = shard(&engine, 1, tun);

    engine.inject_panic(1);

    assert_eq!(engine.run_guarded(shard, Restless), ShardEnd::Panicked);
    assert_eq!(events(&engine)[..4], [14, 0, 1, 0]);
}

#[test]
fn a_shard_with_stage_timing_off_leaves_the_rows_of_its_stages_empty() {
    let wakes = Arc::default();
    let counted = [StageTiming::On, StageTiming::Off].map(|timing| {
        let engine = engine(&wakes);
        let (tun, host) = testkit::memory_tun(FRAMING);
        let mut shard = timed_shard(&engine, 0, tun, timing);
        engine
            .apply(&support::commands::allow_all(), ports::Instant::default())
            .unwrap();
        host.send_packet(&testkit::u4(1, 100));
        shard.turn(Ready {
            tun: true,
            ..Ready::default()
        });
        let columns = shard_counter_names().len();
        let mut rows = vec![0; columns * stage_names().len() * 2];
        engine.read_shard_counters(&mut rows, |cycles| cycles);
        let mut totals = vec![0; total_counter_names().len()];
        engine.read_totals(&mut totals);
        let stages: u64 = rows.chunks(columns).flat_map(|row| &row[2..]).sum();
        (stages > 0, totals.iter().any(|count| *count > 0))
    });

    assert_eq!(counted, [(true, true), (false, true)], "stages, totals");
}
