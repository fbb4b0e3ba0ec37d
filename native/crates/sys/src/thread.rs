//! Scheduling of the calling thread.

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
}
