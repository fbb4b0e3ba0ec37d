//! The last resort: how much processor time each thread used.

use std::collections::HashMap;
use std::io;

use sys::perf::{thread_name, thread_times};

use crate::Stack;

/// Times at the start.
#[derive(Debug)]
pub(crate) struct ThreadTimes {
    before: HashMap<i32, u64>,
}

impl ThreadTimes {
    pub(crate) fn start() -> io::Result<Self> {
        Ok(ThreadTimes {
            before: thread_times()?,
        })
    }

    /// One stack without frames per thread; a sample stands for 1 / `frequency_hz` seconds.
    pub(crate) fn finish(self, frequency_hz: u32) -> Vec<Stack> {
        let Ok(after) = thread_times() else {
            return Vec::new();
        };
        let mut by_name: HashMap<String, u64> = HashMap::new();
        for (thread, time) in after {
            let spent = time.saturating_sub(self.before.get(&thread).copied().unwrap_or(0));
            *by_name.entry(thread_name(thread)).or_default() += spent;
        }
        let stack = |(thread, nanoseconds): (String, u64)| Stack {
            thread,
            frames: Vec::new(),
            count: nanoseconds.saturating_mul(frequency_hz.into()) / 1_000_000_000,
        };
        let stacks = by_name.into_iter().map(stack);
        stacks.filter(|stack| stack.count > 0).collect()
    }
}
