//! Time: a monotonic clock that also counts sleep of the machine, and a cycle counter for stage timing.

use core::mem::MaybeUninit;
use core::time::Duration;

use ports::{Clock, Instant};

/// Time since boot. It goes on while the machine sleeps, so session keys age then too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    fn now(&self) -> Instant {
        Instant::from_nanoseconds(read(libc::CLOCK_BOOTTIME))
    }
}

/// Seconds since 1970 by the system's clock, modulo 2³².
#[must_use]
pub fn unix_seconds() -> u32 {
    let seconds = read(libc::CLOCK_REALTIME) / 1_000_000_000;
    u32::try_from(seconds & u64::from(u32::MAX)).unwrap_or(0)
}

/// A counter that is cheaper to read than a clock. It counts at a constant rate of its own; [`CycleScale`] converts.
#[cfg(target_arch = "x86_64")]
#[must_use]
#[inline]
pub fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it has no effect but to read the counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// A counter that is cheaper to read than a clock. It counts at a constant rate of its own; [`CycleScale`] converts.
#[cfg(target_arch = "aarch64")]
#[must_use]
#[inline]
pub fn cycles() -> u64 {
    let count: u64;
    // SAFETY: the virtual counter is readable from user space on Linux, and reading it has no side effect.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
    count
}

/// A counter for stage timing; on this architecture the clock itself, in nanoseconds.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[must_use]
#[inline]
pub fn cycles() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Converts counts of [`cycles`] to time by comparing both since it was made.
#[derive(Clone, Copy, Debug)]
pub struct CycleScale {
    start_cycles: u64,
    start_nanoseconds: u64,
}

impl CycleScale {
    /// Starts the comparison now. The longer it runs, the better it converts; after 1 ms the error is below 1 %.
    #[must_use]
    pub fn start() -> Self {
        Self {
            start_cycles: cycles(),
            start_nanoseconds: read(libc::CLOCK_MONOTONIC),
        }
    }

    /// The time that corresponds to a number of cycles.
    #[must_use]
    pub fn duration(&self, cycles_spent: u64) -> Duration {
        let elapsed_cycles = u128::from(cycles().saturating_sub(self.start_cycles)).max(1);
        let elapsed_nanoseconds =
            u128::from(read(libc::CLOCK_MONOTONIC).saturating_sub(self.start_nanoseconds));
        let nanoseconds = u128::from(cycles_spent) * elapsed_nanoseconds / elapsed_cycles;
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

/// Processor time the calling thread has used.
#[must_use]
pub fn thread_cpu_time() -> Duration {
    Duration::from_nanos(read(libc::CLOCK_THREAD_CPUTIME_ID))
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is valid for writes of one timespec, which is all the call does.
    let returned = unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) };
    assert_eq!(
        returned, 0,
        "the clocks used here exist on every supported kernel"
    );
    // SAFETY: the call succeeded, so both fields are filled.
    let time = unsafe { time.assume_init() };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back() {
        let clock = Monotonic;
        let mut last = clock.now();

        for _ in 0..1_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn cycles_convert_to_the_time_the_clock_shows() {
        let scale = CycleScale::start();
        let (clock, before, start) = (Monotonic, cycles(), Monotonic.now());
        while clock.now().saturating_since(start) < Duration::from_millis(5) {
            core::hint::spin_loop();
        }
        let measured = scale.duration(cycles() - before);
        let shown = clock.now().saturating_since(start);

        assert!(measured >= Duration::from_micros(4_800), "{measured:?}");
        assert!(
            measured <= shown + shown / 10 + Duration::from_millis(1),
            "{measured:?} against {shown:?}"
        );
    }

    #[test]
    fn a_busy_thread_uses_processor_time() {
        let before = thread_cpu_time();
        let start = Monotonic.now();
        while Monotonic.now().saturating_since(start) < Duration::from_millis(20) {
            core::hint::spin_loop();
        }

        assert!(thread_cpu_time() > before);
    }
}
