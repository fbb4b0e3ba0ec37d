//! Scheduling of the calling thread.

use core::time::Duration;
use std::io;

use crate::errno;

/// Sets the niceness of the calling thread: −20 (runs first) … 19 (runs last).
///
/// # Errors
/// `PermissionDenied` when a lower value than the current one is asked for without `CAP_SYS_NICE`.
pub fn set_niceness(niceness: i32) -> io::Result<()> {
    // SAFETY: the call takes three numbers and touches no memory of ours; 0 means the calling thread.
    let returned = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, niceness) };
    errno::check(returned).map(drop)
}

/// The niceness of the calling thread.
///
/// # Errors
/// What the kernel says; none is expected for the calling thread.
pub fn niceness() -> io::Result<i32> {
    // SAFETY: the call takes no memory of ours. The plain system call returns 20 − niceness, so a result is never
    // mistaken for an error.
    let returned = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) };
    match i32::try_from(returned) {
        Ok(value) if value > 0 => Ok(20 - value),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets sleeps of the calling thread end at most `slack` late; 50 µs is usual.
///
/// # Errors
/// What the kernel says; none is expected.
pub fn set_timer_slack(slack: Duration) -> io::Result<()> {
    let nanoseconds = libc::c_ulong::try_from(slack.as_nanos()).unwrap_or(libc::c_ulong::MAX);
    // SAFETY: the call takes two numbers and touches no memory of ours. 0 would mean the default.
    let returned = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanoseconds.max(1)) };
    errno::check(returned).map(drop)
}

/// Sets the niceness of the whole session of this process, if the process leads one, against other sessions. Where
/// the kernel groups processes by session (autogroup), the niceness of a thread counts inside its session only.
///
/// Does nothing when the process shares a session that another process leads, or when the kernel does not group.
///
/// # Errors
/// `PermissionDenied` when a negative value is asked for without `CAP_SYS_NICE`; otherwise what the kernel says.
pub fn set_session_niceness(niceness: i32) -> io::Result<()> {
    // SAFETY: the call takes a number and touches no memory of ours; 0 means the calling process.
    let session = unsafe { libc::getsid(0) };
    if i32::try_from(std::process::id()) != Ok(session) {
        return Ok(());
    }
    match std::fs::write("/proc/self/autogroup", niceness.to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn niceness_belongs_to_one_thread() {
        let before = niceness().unwrap();
        let raised = (before + 3).min(19);

        let seen = std::thread::spawn(move || {
            set_niceness(raised).unwrap();
            niceness().unwrap()
        });

        assert_eq!(seen.join().unwrap(), raised);
        assert_eq!(niceness().unwrap(), before);
    }

    #[test]
    fn timer_slack_belongs_to_one_thread() {
        let slack = || {
            // SAFETY: the call takes a number and touches no memory of ours.
            unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }
        };
        let before = slack();

        let seen = std::thread::spawn(move || {
            set_timer_slack(Duration::from_nanos(1_500)).unwrap();
            slack()
        });

        assert_eq!(seen.join().unwrap(), 1_500);
        assert_eq!(slack(), before);
    }
}
