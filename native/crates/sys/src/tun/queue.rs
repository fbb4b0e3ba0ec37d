use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use ports::{Framing, TunQueue};

use crate::errno;

/// One queue of a TUN device; closing the last one ends a device that is not persistent.
#[derive(Debug)]
pub struct TunFd {
    fd: OwnedFd,
    framing: Framing,
}

impl TunFd {
    pub(super) fn new(fd: OwnedFd, framing: Framing) -> Self {
        Self { fd, framing }
    }

    /// A second descriptor of the same queue.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::new(self.fd.try_clone()?, self.framing))
    }
}

impl TunQueue for TunFd {
    fn framing(&self) -> Framing {
        self.framing
    }

    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the descriptor is ours and open; pointer and length describe `frame`, which is exclusively ours.
        let returned =
            unsafe { libc::read(self.fd.as_raw_fd(), frame.as_mut_ptr().cast(), frame.len()) };
        errno::check_size(returned)
    }

    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = libc::c_int::try_from(parts.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY:
        // - the descriptor is ours and open;
        // - IoSlice has the layout of iovec, and each describes live bytes the kernel only reads;
        // - a count beyond the kernel's maximum is refused before anything is read.
        let returned = unsafe { libc::writev(self.fd.as_raw_fd(), parts.as_ptr().cast(), count) };
        errno::check_size(returned)
    }
}

impl AsFd for TunFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
