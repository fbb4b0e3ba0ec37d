use std::io;

/// Turns the "-1 means look at errno" convention into a result.
pub(crate) fn check(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(returned)
    }
}

/// The same for calls that return a byte count.
pub(crate) fn check_size(returned: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

/// The error number of `error`; 0 when it did not come from the kernel.
pub(crate) fn of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}
