//! Sampling on a thread of its own, within bounds.

use core::time::Duration;
use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use sys::perf::{Sample, Sampler, Scope};

use crate::symbols::{Space, names, unknown};
use crate::threads::ThreadTimes;
use crate::{Method, Profile, Stack};

/// How to record.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Samples per second of processor time, of each thread.
    pub frequency_hz: u32,
    /// Sampling ends by itself after this time.
    pub duration_max: Duration,
    /// Bytes of stacks that are kept; samples of further stacks are counted as lost.
    pub memory_max: usize,
    /// How to sample, at best; what the system refuses is replaced by the next method.
    pub at_most: Ceiling,
}

/// The best method that may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// Kernel and user space.
    UserAndKernel,
    /// User space.
    User,
    /// Processor times only.
    ThreadTimes,
}

/// Why nothing is recorded.
#[derive(Debug)]
pub enum StartError {
    /// No thread can be made.
    Thread(std::io::Error),
    /// Not even the times of threads can be read.
    ThreadTimes(std::io::Error),
}

impl core::fmt::Display for StartError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            StartError::Thread(error) => write!(formatter, "the profiler's thread: {error}"),
            StartError::ThreadTimes(error) => write!(formatter, "/proc/self/task: {error}"),
        }
    }
}

impl core::error::Error for StartError {}

/// A recording under way. Dropping it ends it.
#[derive(Debug)]
pub struct Recording {
    options: Options,
    start: Instant,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Stacks {
        method: Method,
        stop: Sender<()>,
        thread: JoinHandle<Collected>,
    },
    Times {
        reason: String,
        times: ThreadTimes,
    },
}

impl Recording {
    /// Begins with the best method that the system permits.
    ///
    /// # Errors
    /// When none works.
    pub fn start(options: Options) -> Result<Self, StartError> {
        let start = Instant::now();
        let work = match best_sampler(&options) {
            Ok((method, sampler)) => {
                let (stop, stopped) = channel();
                let run = move || {
                    let mut collected = Collected::new(options.memory_max);
                    let mut sampler = sampler;
                    let until = start + options.duration_max;
                    loop {
                        let ended = stopped.recv_timeout(COLLECT_INTERVAL);
                        sampler.collect(|sample| collected.add(sample));
                        if ended != Err(RecvTimeoutError::Timeout) || Instant::now() >= until {
                            collected.duration = start.elapsed();
                            collected.lost += sampler.lost();
                            return collected;
                        }
                    }
                };
                let builder = thread::Builder::new().name(OWN_THREAD.to_owned());
                let thread = builder.spawn(run).map_err(StartError::Thread)?;
                Work::Stacks {
                    method,
                    stop,
                    thread,
                }
            }
            Err(reason) => Work::Times {
                reason,
                times: ThreadTimes::start().map_err(StartError::ThreadTimes)?,
            },
        };
        Ok(Recording {
            options,
            start,
            work,
        })
    }

    /// Ends sampling and finds the names of all functions, which takes up to some seconds: not for a thread that must
    /// answer.
    #[must_use]
    pub fn finish(self) -> Profile {
        let frequency_hz = self.options.frequency_hz;
        let (method, duration, lost, mut stacks) = match self.work {
            Work::Stacks {
                method,
                stop,
                thread,
            } => {
                drop(stop);
                let collected = thread.join().unwrap_or_else(|_| Collected::new(0));
                let (duration, lost) = (collected.duration, collected.lost);
                (method, duration, lost, collected.into_stacks())
            }
            Work::Times { reason, times } => {
                let method = Method::ThreadTimes { reason };
                (method, self.start.elapsed(), 0, times.finish(frequency_hz))
            }
        };
        stacks
            .sort_by(|a, b| (b.count, &a.thread, &a.frames).cmp(&(a.count, &b.thread, &b.frames)));
        Profile {
            method,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            frequency_hz,
            lost,
            stacks,
        }
    }
}

/// The first scope that the system permits, or why none is.
fn best_sampler(options: &Options) -> Result<(Method, Sampler), String> {
    let attempt = |scope| Sampler::start(scope, options.frequency_hz).map_err(|e| e.to_string());
    let refused = match options.at_most {
        Ceiling::UserAndKernel => match attempt(Scope::UserAndKernel) {
            Ok(sampler) => return Ok((Method::UserAndKernel, sampler)),
            Err(reason) => reason,
        },
        Ceiling::User => NOT_ASKED.to_owned(),
        Ceiling::ThreadTimes => return Err(NOT_ASKED.to_owned()),
    };
    attempt(Scope::User).map(|sampler| (Method::User { reason: refused }, sampler))
}

/// Stacks as addresses, counted.
#[derive(Debug)]
struct Collected {
    counts: HashMap<Key, u64>,
    room: usize,
    lost: u64,
    duration: Duration,
}

/// One stack: its thread and where its kernel part ends.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    thread: String,
    kernel_len: usize,
    addresses: Box<[u64]>,
}

impl Collected {
    fn new(memory_max: usize) -> Self {
        Collected {
            counts: HashMap::new(),
            room: memory_max,
            lost: 0,
            duration: Duration::ZERO,
        }
    }

    fn add(&mut self, sample: Sample<'_>) {
        if sample.name == OWN_THREAD {
            return;
        }
        let key = Key {
            thread: sample.name.to_owned(),
            kernel_len: sample.kernel.len(),
            addresses: [sample.kernel, sample.user].concat().into(),
        };
        if let Some(count) = self.counts.get_mut(&key) {
            *count += 1;
            return;
        }
        let needed = size_of::<(Key, u64)>() + key.thread.len() + 8 * key.addresses.len();
        match self.room.checked_sub(needed) {
            Some(room) => {
                self.room = room;
                self.counts.insert(key, 1);
            }
            None => self.lost += 1,
        }
    }

    fn into_stacks(self) -> Vec<Stack> {
        let kernel_names = self.names_of(Space::Kernel);
        let user_names = self.names_of(Space::User);
        let mut stacks: HashMap<(String, Vec<String>), u64> = HashMap::new();
        for (key, count) in self.counts {
            let mut frames = Vec::new();
            for (space, place, address) in key.places() {
                let names = match space {
                    Space::Kernel => &kernel_names,
                    Space::User => &user_names,
                };
                match names.get(&place.lookup(address)).filter(|n| !n.is_empty()) {
                    Some(names) => frames.extend(names.iter().cloned()),
                    None => frames.push(unknown(space).to_owned()),
                }
            }
            frames.reverse();
            *stacks.entry((key.thread, frames)).or_default() += count;
        }
        let stack = |((thread, frames), count)| Stack {
            thread,
            frames,
            count,
        };
        stacks.into_iter().map(stack).collect()
    }

    fn names_of(&self, wanted: Space) -> HashMap<u64, Vec<String>> {
        let places = self.counts.keys().flat_map(Key::places);
        let addresses: HashSet<u64> = places
            .filter(|(space, _, _)| *space == wanted)
            .map(|(_, place, address)| place.lookup(address))
            .collect();
        names(wanted, &addresses.into_iter().collect::<Vec<_>>())
    }
}

/// Whether an address is where the thread was, or where it would come back to.
#[derive(Clone, Copy, Debug)]
enum Place {
    Running,
    Caller,
}

impl Place {
    /// A return address may be the first byte of another function; the call is before it.
    fn lookup(self, address: u64) -> u64 {
        match self {
            Place::Running => address,
            Place::Caller => address.saturating_sub(1),
        }
    }
}

impl Key {
    fn places(&self) -> impl Iterator<Item = (Space, Place, u64)> + '_ {
        self.addresses.iter().enumerate().map(|(index, address)| {
            let (space, first) = if index < self.kernel_len {
                (Space::Kernel, 0)
            } else {
                (Space::User, self.kernel_len)
            };
            let place = if index == first {
                Place::Running
            } else {
                Place::Caller
            };
            (space, place, *address)
        })
    }
}

const COLLECT_INTERVAL: Duration = Duration::from_millis(100);
const OWN_THREAD: &str = "weft-profiler";
const NOT_ASKED: &str = "not asked for";

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: Options = Options {
        frequency_hz: 499,
        duration_max: Duration::from_secs(30),
        memory_max: 1 << 20,
        at_most: Ceiling::UserAndKernel,
    };

    #[inline(never)]
    fn work_that_shows(rounds: u64) -> u64 {
        (0..rounds).fold(0, |sum, round| core::hint::black_box(sum ^ round))
    }

    fn busy_for(duration: Duration) {
        let start = Instant::now();
        while start.elapsed() < duration {
            core::hint::black_box(work_that_shows(10_000));
        }
    }

    #[test]
    fn a_busy_function_is_found_under_its_name() {
        let recording = Recording::start(OPTIONS).unwrap();
        busy_for(Duration::from_millis(500));

        let profile = recording.finish();

        if let Method::ThreadTimes { reason } = &profile.method {
            eprintln!("skipped: {reason}");
            return;
        }
        let seen: u64 = profile
            .stacks
            .iter()
            .filter(|stack| {
                stack
                    .frames
                    .iter()
                    .any(|frame| frame.contains("work_that_shows"))
            })
            .map(|stack| stack.count)
            .sum();
        assert!(
            seen >= 10,
            "{:?}",
            profile.stacks.iter().take(5).collect::<Vec<_>>()
        );
    }

    #[test]
    fn without_stacks_the_time_of_the_thread_is_there() {
        let recording = Recording::start(Options {
            at_most: Ceiling::ThreadTimes,
            ..OPTIONS
        });
        let recording = recording.unwrap();
        let own = thread::current().name().unwrap().to_owned();
        busy_for(Duration::from_millis(200));

        let profile = recording.finish();

        assert!(matches!(profile.method, Method::ThreadTimes { .. }));
        let busy = |stack: &Stack| own.starts_with(&stack.thread) && stack.count >= 5;
        assert!(profile.stacks.iter().any(busy), "{:?}", profile.stacks);
    }

    #[test]
    fn what_exceeds_the_memory_is_counted_as_lost() {
        let mut collected = Collected::new(400);
        for address in 0..10_u64 {
            collected.add(Sample {
                thread: 1,
                name: "x",
                kernel: &[],
                user: &[address, 7],
            });
        }
        collected.add(Sample {
            thread: 1,
            name: "x",
            kernel: &[],
            user: &[0, 7],
        });

        assert!(collected.lost > 0);
        assert_eq!(collected.counts.values().sum::<u64>() + collected.lost, 11);
        assert!(collected.counts.len() < 10);
    }

    #[test]
    fn a_recording_ends_by_itself() {
        let recording = Recording::start(Options {
            duration_max: Duration::ZERO,
            ..OPTIONS
        });
        let recording = recording.unwrap();
        let Work::Stacks { thread, .. } = &recording.work else {
            return;
        };
        while !thread.is_finished() {
            thread::yield_now();
        }

        assert!(recording.finish().duration_ms < 10_000);
    }
}
