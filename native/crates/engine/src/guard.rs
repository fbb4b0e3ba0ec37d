//! Running a shard so that its panic ends the engine and nothing else.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use ports::{Datagrams, TunQueue};

use crate::driver::{ShardClock, Wait};
use crate::engine::Engine;
use crate::shard::Shard;

/// How the run of a shard ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardEnd {
    /// The engine was stopped, or waiting became impossible.
    Stopped,
    /// It panicked. All other shards of the engine are told to end; the driver must wake them.
    Panicked,
}

impl Engine {
    /// Runs a shard on the calling thread until it ends.
    ///
    /// A panic is caught here. The shard and its waiter, with their descriptors, are gone before it is told as event
    /// `ShardFailed`, with what the panic said and where.
    pub fn run_guarded<T, D, C, W>(&self, mut shard: Shard<T, D, C>, mut waiter: W) -> ShardEnd
    where
        T: TunQueue,
        D: Datagrams,
        C: ShardClock,
        W: Wait,
    {
        NOTE_PLACES.call_once(note_places);
        let index = shard.index();
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| shard.run(&mut waiter))) else {
            return ShardEnd::Stopped;
        };
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic without a text");
        let place = PLACE.take();
        // What is half done may panic again while it is dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| drop((shard, waiter))));
        self.report_failed_shard(index, &format!("{place}{text}"));
        ShardEnd::Panicked
    }
}

thread_local! {
    /// Where the last panic of this thread happened.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

static NOTE_PLACES: Once = Once::new();

/// Notes the place of a panic, which the payload does not have, and goes on as before.
fn note_places() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if let Some(place) = info.location() {
            PLACE.set(format!("{}:{}: ", place.file(), place.line()));
        }
        before(info);
    }));
}
