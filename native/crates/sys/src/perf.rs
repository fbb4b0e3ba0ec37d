//! Samples of what the threads of this process execute: one `perf_event_open` event per thread, call chains by frame pointers.

mod ring;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use perf_event_open_sys as kernel;
use perf_event_open_sys::bindings;

use crate::errno;
use ring::Ring;

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// User space and the kernel's work for it; needs `CAP_PERFMON` or a permissive `perf_event_paranoid`.
    UserAndKernel,
    /// User space only.
    User,
}

/// Samples all threads of this process that run on a processor.
#[derive(Debug)]
pub struct Sampler {
    scope: Scope,
    frequency_hz: u32,
    threads: HashMap<i32, Sampled>,
    lost: u64,
}

/// One thread being sampled.
#[derive(Debug)]
struct Sampled {
    name: String,
    ring: Ring,
}

/// One sample: addresses of the running function and its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Number of the thread.
    pub thread: i32,
    /// Its name.
    pub name: &'a str,
    /// Addresses in the kernel, innermost first; empty outside of it.
    pub kernel: &'a [u64],
    /// Addresses in user space, innermost first.
    pub user: &'a [u64],
}

impl Sampler {
    /// Starts sampling the threads there are; new ones join at [`Sampler::collect`].
    ///
    /// # Errors
    /// `PermissionDenied` when the system does not let this process watch itself in that scope, `ENOSYS` and others where
    /// it cannot be done at all.
    pub fn start(scope: Scope, frequency_hz: u32) -> io::Result<Self> {
        let mut sampler = Sampler {
            scope,
            frequency_hz,
            threads: HashMap::new(),
            lost: 0,
        };
        sampler.watch_new_threads(OnRefusal::Fail)?;
        Ok(sampler)
    }

    /// Hands out what was sampled since the last call, and begins with threads that are new. To be called several times a
    /// second: each thread's ring holds about 200 samples.
    pub fn collect(&mut self, mut take: impl FnMut(Sample<'_>)) {
        for (thread, sampled) in &mut self.threads {
            let Sampled { name, ring } = sampled;
            // A thread begins under the name of the one that made it, and takes its own a little later.
            if let Some(now) = given_name(*thread) {
                *name = now;
            }
            self.lost += ring.drain(|kernel, user| {
                take(Sample {
                    thread: *thread,
                    name,
                    kernel,
                    user,
                });
            });
        }
        self.threads
            .retain(|thread, _| std::fs::exists(task_path(*thread)).unwrap_or(false));
        // A thread that cannot be watched is left out; the others are worth having.
        let _ = self.watch_new_threads(OnRefusal::Skip);
    }

    /// Samples that did not fit into a ring.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn watch_new_threads(&mut self, on_refusal: OnRefusal) -> io::Result<()> {
        for entry in std::fs::read_dir("/proc/self/task")?.flatten() {
            let thread = entry.file_name().to_str().and_then(|id| id.parse().ok());
            let Some(thread) = thread else { continue };
            if self.threads.contains_key(&thread) {
                continue;
            }
            match watch(thread, self.scope, self.frequency_hz) {
                Ok(sampled) => {
                    self.threads.insert(thread, sampled);
                }
                // It ended in between.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) if on_refusal == OnRefusal::Fail => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnRefusal {
    Fail,
    Skip,
}

fn watch(thread: i32, scope: Scope, frequency_hz: u32) -> io::Result<Sampled> {
    let event = open_event(thread, scope, frequency_hz)?;
    let raw = event.as_raw_fd();
    let ring = Ring::map(event)?;
    // SAFETY: the ring keeps the descriptor open, and the request takes no memory of ours.
    let enabled = unsafe { kernel::ioctls::ENABLE(raw, 0) };
    errno::check(enabled)?;
    Ok(Sampled {
        name: thread_name(thread),
        ring,
    })
}

fn open_event(thread: i32, scope: Scope, frequency_hz: u32) -> io::Result<OwnedFd> {
    let mut wanted = bindings::perf_event_attr {
        type_: bindings::PERF_TYPE_SOFTWARE,
        size: u32::try_from(size_of::<bindings::perf_event_attr>()).unwrap_or(0),
        config: bindings::PERF_COUNT_SW_CPU_CLOCK.into(),
        sample_type: bindings::PERF_SAMPLE_CALLCHAIN.into(),
        ..bindings::perf_event_attr::default()
    };
    wanted.__bindgen_anon_1.sample_freq = frequency_hz.into();
    wanted.set_freq(1);
    wanted.set_disabled(1);
    wanted.set_exclude_hv(1);
    if scope == Scope::User {
        wanted.set_exclude_kernel(1);
        wanted.set_exclude_callchain_kernel(1);
    }
    let flags = libc::c_ulong::from(bindings::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the pointer is valid for the size that the structure states, and the kernel copies it.
    let raw = unsafe { kernel::perf_event_open(&raw mut wanted, thread, -1, -1, flags) };
    let raw = errno::check(raw)?;
    // SAFETY: the kernel just gave us this descriptor and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Name of a thread of this process: "main" for the first one, its number when it has no name or is gone.
#[must_use]
pub fn thread_name(thread: i32) -> String {
    given_name(thread).unwrap_or_else(|| thread.to_string())
}

/// Name of a thread that has one and still lives.
fn given_name(thread: i32) -> Option<String> {
    if u32::try_from(thread) == Ok(std::process::id()) {
        return Some("main".to_owned());
    }
    std::fs::read_to_string(format!("{}/comm", task_path(thread)))
        .map(|name| name.trim_end().to_owned())
        .ok()
        .filter(|name| !name.is_empty())
}

/// Processor time that each thread of this process has used so far, in nanoseconds.
///
/// # Errors
/// When `/proc` is not there.
pub fn thread_times() -> io::Result<HashMap<i32, u64>> {
    let mut times = HashMap::new();
    for entry in std::fs::read_dir("/proc/self/task")?.flatten() {
        let thread = entry.file_name().to_str().and_then(|id| id.parse().ok());
        // A thread may end while we look.
        let text = std::fs::read_to_string(entry.path().join("schedstat")).unwrap_or_default();
        let spent = text.split(' ').next().and_then(|word| word.parse().ok());
        if let (Some(thread), Some(spent)) = (thread, spent) {
            times.insert(thread, spent);
        }
    }
    Ok(times)
}

fn task_path(thread: i32) -> String {
    format!("/proc/self/task/{thread}")
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_busy_thread_is_sampled_under_its_name_and_an_idle_one_is_not() {
        let idle = std::thread::Builder::new().name("sampled-idle".into());
        let (wake, sleep) = std::sync::mpsc::channel::<()>();
        let idle = idle.spawn(move || sleep.recv()).unwrap();
        wait_until(|| states_of("sampled-idle") == ['S']);
        let Ok(mut sampler) = Sampler::start(Scope::User, 999) else {
            eprintln!("skipped: this machine does not let a process sample itself");
            return;
        };
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        // It joins while sampling goes on, and has its own name only from some point of its run on.
        let busy = std::thread::spawn(move || {
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_millis(50) {}
            std::fs::write("/proc/thread-self/comm", "sampled-busy").unwrap();
            while !seen.load(Ordering::Relaxed) {}
        });

        let mut counts = HashMap::new();
        wait_until(|| {
            sampler.collect(|sample| {
                assert!(sample.kernel.is_empty());
                *counts.entry(sample.name.to_owned()).or_insert(0) += 1;
            });
            counts.get("sampled-busy").is_some_and(|count| *count >= 10)
        });
        stop.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        drop(wake);
        idle.join().unwrap().unwrap_err();

        assert!(!counts.contains_key("sampled-idle"), "{counts:?}");
    }

    /// Run states of this process's threads of that name.
    fn states_of(name: &str) -> Vec<char> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let states = tasks.filter_map(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).ok()?;
            let (begin, rest) = stat.rsplit_once(')')?;
            begin
                .ends_with(&format!("({name}"))
                .then(|| rest.trim_start().chars().next())?
        });
        states.collect()
    }

    fn wait_until(mut holds: impl FnMut() -> bool) {
        let start = std::time::Instant::now();
        while !holds() {
            assert!(start.elapsed() < Duration::from_secs(60), "it never came");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn the_time_of_a_busy_thread_grows() {
        let own = std::fs::read_link("/proc/thread-self").unwrap();
        let own: i32 = own.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let before = thread_times().unwrap()[&own];
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_millis(20) {}

        assert!(thread_times().unwrap()[&own] > before);
    }
}
