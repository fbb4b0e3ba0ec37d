//! Sampling CPU profile of this process: stacks of its threads, with symbols.
//!
//! [`Recording`] samples on a thread of its own, bounded in time and memory; [`Recording::finish`] gives a [`Profile`].

mod recording;
mod symbols;
mod threads;

pub use recording::{Ceiling, Options, Recording, StartError};

/// What was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// How it was recorded.
    pub method: Method,
    /// How long, in milliseconds.
    pub duration_ms: u64,
    /// Samples per second of processor time that were asked for.
    pub frequency_hz: u32,
    /// Samples that found no room.
    pub lost: u64,
    /// All stacks, the most frequent first.
    pub stacks: Vec<Stack>,
}

/// A stack and how often it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Name of the thread.
    pub thread: String,
    /// Functions, outermost first.
    pub frames: Vec<String>,
    /// Samples.
    pub count: u64,
}

/// How samples are taken, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Stacks of user space and of the kernel.
    UserAndKernel,
    /// Stacks of user space; the error says why the kernel's are missing.
    User {
        /// What refused them.
        reason: String,
    },
    /// No stacks: the processor time of each thread.
    ThreadTimes {
        /// What refused stacks.
        reason: String,
    },
}
