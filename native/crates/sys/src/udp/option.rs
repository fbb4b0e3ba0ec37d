use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::errno;

/// Sets a socket option that is an int.
pub(super) fn set(fd: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> io::Result<()> {
    let size = size_of_int();
    // SAFETY:
    // - the descriptor is borrowed, so it stays open for the call;
    // - pointer and size describe one live int the kernel reads.
    let returned =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    errno::check(returned).map(drop)
}

/// Reads a socket option that is an int.
pub(super) fn get(fd: BorrowedFd<'_>, level: i32, name: i32) -> io::Result<i32> {
    let mut value: i32 = 0;
    let mut size = size_of_int();
    // SAFETY:
    // - the descriptor is borrowed, so it stays open for the call;
    // - pointer and size describe one int exclusively ours, and the kernel writes no more than the size.
    let returned = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut size,
        )
    };
    errno::check(returned).map(|_| value)
}

/// Asks for a buffer with the privileged option, then with the plain one, and returns what was granted, in the unit it
/// was asked in: the kernel doubles a request for its bookkeeping and reports the double (SEG-16).
pub(super) fn set_buffer(fd: BorrowedFd<'_>, buffer: Buffer, bytes: usize) -> io::Result<usize> {
    let wanted = i32::try_from(bytes).unwrap_or(i32::MAX / 2);
    let (privileged, plain) = match buffer {
        Buffer::Receive => (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
        Buffer::Send => (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
    };
    if set(fd, libc::SOL_SOCKET, privileged, wanted).is_err() {
        set(fd, libc::SOL_SOCKET, plain, wanted)?;
    }
    let reported = get(fd, libc::SOL_SOCKET, plain)?;
    Ok(usize::try_from(reported).unwrap_or(0) / 2)
}

/// Lets the kernel drop everything that arrives.
pub(super) fn refuse_all(fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut accept_no_byte = libc::sock_filter {
        code: RETURN_CONSTANT,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let program = libc::sock_fprog {
        len: 1,
        filter: &raw mut accept_no_byte,
    };
    // SAFETY:
    // - the descriptor is borrowed, so it stays open for the call;
    // - pointer and size describe one live program, whose one instruction outlives the call; the kernel copies both.
    let returned = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of_program(),
        )
    };
    errno::check(returned).map(drop)
}

/// `BPF_RET | BPF_K`.
const RETURN_CONSTANT: u16 = 6;

#[expect(clippy::cast_possible_truncation, reason = "16 bytes at most")]
const fn size_of_program() -> libc::socklen_t {
    size_of::<libc::sock_fprog>() as libc::socklen_t
}

/// One of the two buffers of a socket.
#[derive(Clone, Copy)]
pub(super) enum Buffer {
    Receive,
    Send,
}

#[expect(clippy::cast_possible_truncation, reason = "an int has four bytes")]
const fn size_of_int() -> libc::socklen_t {
    size_of::<i32>() as libc::socklen_t
}
