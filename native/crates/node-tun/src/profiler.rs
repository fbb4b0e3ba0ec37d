//! The class `CpuProfiler`.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use napi::bindgen_prelude::{AsyncTask, Task};
use napi::{Env, Error, Result};
use napi_derive::napi;
use profile::{Ceiling, Method, Profile, Recording};

use crate::error::Failure;
use crate::options::invalid;

/// How to sample.
#[napi(object)]
#[derive(Default)]
pub struct CpuProfilerOptions {
    /// Samples per second of processor time, of each thread: 1 to 999. Default 99.
    pub frequency_hz: Option<u32>,
    /// Sampling ends by itself after this time: 1 to 120000. Default 120000.
    pub duration_ms_max: Option<u32>,
    /// The best method that may be tried. Default `kernel`.
    #[napi(ts_type = "\"kernel\" | \"user\" | \"threads\"")]
    pub at_most: Option<String>,
}

/// What the threads of this process did.
#[napi(object)]
pub struct NativeCpuProfile {
    /// `kernel`: stacks of user space and kernel; `user`: stacks of user space; `threads`: the processor time of each
    /// thread, without stacks.
    #[napi(ts_type = "\"kernel\" | \"user\" | \"threads\"")]
    pub method: String,
    /// Why the method is not the best one.
    pub reason: Option<String>,
    /// How long was sampled.
    pub duration_ms: f64,
    /// Samples per second of processor time.
    pub frequency_hz: u32,
    /// Samples that found no room.
    pub lost: f64,
    /// All stacks, the most frequent first.
    pub stacks: Vec<NativeCpuStack>,
}

/// A stack and how often it was seen.
#[napi(object)]
pub struct NativeCpuStack {
    /// Name of the thread.
    pub thread: String,
    /// Functions, outermost first.
    pub frames: Vec<String>,
    /// Samples.
    pub count: f64,
}

/// Samples what all threads of this process do, the JavaScript thread included as native code. One at a time per process.
#[napi]
pub struct CpuProfiler {
    recording: Option<Held>,
}

/// A recording and the right to be the only one.
struct Held {
    recording: Recording,
    _only: Only,
}

/// The right to be the only one, given back when dropped.
struct Only;

static TAKEN: AtomicBool = AtomicBool::new(false);

impl Only {
    fn take() -> Option<Self> {
        (!TAKEN.swap(true, Ordering::AcqRel)).then_some(Only)
    }
}

impl Drop for Only {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

#[napi]
impl CpuProfiler {
    /// Begins with the best method that the system permits. Throws with code `busy` while another one works.
    #[napi(factory)]
    pub fn start(env: Env, options: Option<CpuProfilerOptions>) -> Result<Self> {
        let options = checked(&options.unwrap_or_default()).map_err(|f| f.into_error(&env))?;
        let Some(only) = Only::take() else {
            let sentence = "another profile is being recorded; stop it first";
            return Err(Failure::new("busy", sentence).into_error(&env));
        };
        let recording = Recording::start(options)
            .map_err(|error| Failure::new("profiler", error.to_string()).into_error(&env))?;
        Ok(CpuProfiler {
            recording: Some(Held {
                recording,
                _only: only,
            }),
        })
    }

    /// Ends sampling and resolves with what was seen, once symbols are found, which takes up to some seconds. Throws with
    /// code `closed` the second time.
    #[napi(ts_return_type = "Promise<NativeCpuProfile>")]
    pub fn stop(&mut self, env: Env) -> Result<AsyncTask<FinishTask>> {
        let closed = || Failure::new("closed", "the profile was stopped before").into_error(&env);
        let held = self.recording.take().ok_or_else(closed)?;
        Ok(AsyncTask::new(FinishTask(Some(held))))
    }
}

/// Finds symbols on a thread of the pool.
pub struct FinishTask(Option<Held>);

impl Task for FinishTask {
    type Output = Profile;
    type JsValue = NativeCpuProfile;

    fn compute(&mut self) -> Result<Profile> {
        let held = self.0.take();
        let held = held.ok_or_else(|| Error::from_reason("the task ran twice"))?;
        Ok(held.recording.finish())
    }

    fn resolve(&mut self, _: Env, profile: Profile) -> Result<NativeCpuProfile> {
        let (method, reason) = match profile.method {
            Method::UserAndKernel => ("kernel", None),
            Method::User { reason } => ("user", Some(reason)),
            Method::ThreadTimes { reason } => ("threads", Some(reason)),
        };
        let stacks = profile.stacks.into_iter().map(|stack| NativeCpuStack {
            thread: stack.thread,
            frames: stack.frames,
            count: float(stack.count),
        });
        Ok(NativeCpuProfile {
            method: method.to_owned(),
            reason,
            duration_ms: float(profile.duration_ms),
            frequency_hz: profile.frequency_hz,
            lost: float(profile.lost),
            stacks: stacks.collect(),
        })
    }
}

fn checked(options: &CpuProfilerOptions) -> core::result::Result<profile::Options, Failure> {
    let frequency_hz = options.frequency_hz.unwrap_or(99);
    if !(1..=999).contains(&frequency_hz) {
        return Err(invalid(format!(
            "frequencyHz is {frequency_hz}; it must be from 1 to 999"
        )));
    }
    let duration_ms = options.duration_ms_max.unwrap_or(DURATION_MS_MAX);
    if !(1..=DURATION_MS_MAX).contains(&duration_ms) {
        return Err(invalid(format!(
            "durationMsMax is {duration_ms}; it must be from 1 to {DURATION_MS_MAX}"
        )));
    }
    let at_most = match options.at_most.as_deref() {
        None | Some("kernel") => Ceiling::UserAndKernel,
        Some("user") => Ceiling::User,
        Some("threads") => Ceiling::ThreadTimes,
        Some(other) => {
            return Err(invalid(format!(
                "atMost is \"{other}\"; it must be kernel, user or threads"
            )));
        }
    };
    Ok(profile::Options {
        frequency_hz,
        duration_max: Duration::from_millis(duration_ms.into()),
        memory_max: MEMORY_MAX,
        at_most,
    })
}

/// Counts stay far below what a double holds exactly.
fn float(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

const DURATION_MS_MAX: u32 = 120_000;
const MEMORY_MAX: usize = 16 << 20;
