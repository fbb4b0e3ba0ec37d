use core::ptr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::address::Name;
use super::control_message::ControlBuffer;
use crate::errno;

/// The system calls of a datagram socket; a seam, so that errors can be injected below everything else.
pub(super) trait Calls {
    /// Sends one message and returns its bytes.
    fn send(&mut self, fd: BorrowedFd<'_>, message: &Outgoing<'_>) -> io::Result<usize>;

    /// Sends the payload cut into datagrams of `segment_size` in one call, and returns how many were taken: at least
    /// one, at most [`BATCH_MAX`].
    fn send_each(
        &mut self,
        fd: BorrowedFd<'_>,
        message: &Outgoing<'_>,
        segment_size: usize,
    ) -> io::Result<usize>;

    /// Receives one message.
    fn receive(
        &mut self,
        fd: BorrowedFd<'_>,
        slot: &mut [u8],
        incoming: &mut Incoming,
    ) -> io::Result<()>;

    /// Receives messages in one call, each into a slot of `slot_size`, and returns how many: at least one, at most
    /// [`BATCH_MAX`], the slots of the arena, or the length of `incoming`.
    fn receive_each(
        &mut self,
        fd: BorrowedFd<'_>,
        arena: (&mut [u8], usize),
        incoming: &mut [Incoming],
    ) -> io::Result<usize>;
}

/// Most messages of one call.
pub(super) const BATCH_MAX: usize = 64;

/// A message to send.
#[derive(Clone, Copy)]
pub(super) struct Outgoing<'a> {
    /// Where to; `None` on a connected socket.
    pub(super) name: Option<(&'a Name, libc::socklen_t)>,
    pub(super) payload: &'a [u8],
    pub(super) control: &'a [u8],
}

/// What a receive says about a message.
#[derive(Clone, Copy)]
pub(super) struct Incoming {
    pub(super) name: Name,
    pub(super) name_len: usize,
    pub(super) control: ControlBuffer,
    pub(super) control_len: usize,
    pub(super) len: usize,
    pub(super) flags: i32,
}

impl Incoming {
    pub(super) const EMPTY: Self = Self {
        name: Name::EMPTY,
        name_len: 0,
        control: ControlBuffer::EMPTY,
        control_len: 0,
        len: 0,
        flags: 0,
    };

    /// A header that lets the kernel fill `self` and `part`. Lengths are reset each time (SEG-10).
    fn header(&mut self, part: *mut libc::iovec) -> libc::msghdr {
        let mut header = empty_header();
        header.msg_name = self.name.bytes.as_mut_ptr().cast();
        header.msg_namelen = Name::CAPACITY_FOR_KERNEL;
        header.msg_iov = part;
        header.msg_iovlen = 1;
        header.msg_control = self.control.bytes.as_mut_ptr().cast();
        header.msg_controllen = ControlBuffer::CAPACITY as _;
        header
    }

    /// Takes over what the kernel wrote into the header.
    fn note(&mut self, header: &libc::msghdr, len: usize) {
        self.len = len;
        self.name_len = (header.msg_namelen as usize).min(Name::CAPACITY);
        // Its width differs between C libraries.
        let control_len: usize = header.msg_controllen as _;
        self.control_len = control_len.min(ControlBuffer::CAPACITY);
        self.flags = header.msg_flags;
    }
}

/// The calls of Linux.
pub(super) struct LinuxCalls {
    headers: Vec<libc::mmsghdr>,
    parts: Vec<libc::iovec>,
}

// SAFETY: the pointers inside are written at the start of each call, from borrows that outlive the call, and are never
// followed after it; between calls they are plain numbers.
unsafe impl Send for LinuxCalls {}

impl LinuxCalls {
    pub(super) fn new() -> Self {
        Self {
            headers: Vec::with_capacity(BATCH_MAX),
            parts: Vec::with_capacity(BATCH_MAX),
        }
    }

    /// Points every header at the part of its number. The parts must not move afterwards.
    fn link(&mut self) {
        for (header, part) in self.headers.iter_mut().zip(&mut self.parts) {
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
        }
    }
}

impl Calls for LinuxCalls {
    fn send(&mut self, fd: BorrowedFd<'_>, message: &Outgoing<'_>) -> io::Result<usize> {
        let mut part = part_of(message.payload);
        let mut header = message.header();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        // SAFETY:
        // - the descriptor is borrowed, so it stays open for the call;
        // - the header points at name, part and control data that live for the call, with their true lengths, and the
        //   kernel only reads them.
        let returned =
            unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const header, libc::MSG_DONTWAIT) };
        errno::check_size(returned)
    }

    fn send_each(
        &mut self,
        fd: BorrowedFd<'_>,
        message: &Outgoing<'_>,
        segment_size: usize,
    ) -> io::Result<usize> {
        let header = message.header();
        self.headers.clear();
        self.parts.clear();
        for segment in message.payload.chunks(segment_size.max(1)).take(BATCH_MAX) {
            self.parts.push(part_of(segment));
            self.headers.push(libc::mmsghdr {
                msg_hdr: header,
                msg_len: 0,
            });
        }
        self.link();
        let count = libc::c_uint::try_from(self.headers.len()).unwrap_or(0);
        // SAFETY:
        // - the descriptor is borrowed, so it stays open for the call;
        // - pointer and count describe `headers`, which is exclusively ours; the kernel writes only the lengths in it;
        // - each header points at name, part and control data that live for the call, with their true lengths, and the
        //   kernel only reads them.
        let returned = unsafe {
            libc::sendmmsg(
                fd.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT as _,
            )
        };
        errno::check_size(returned as libc::ssize_t)
    }

    fn receive(
        &mut self,
        fd: BorrowedFd<'_>,
        slot: &mut [u8],
        incoming: &mut Incoming,
    ) -> io::Result<()> {
        let mut part = part_of_mut(slot);
        let mut header = incoming.header(&raw mut part);
        // SAFETY:
        // - the descriptor is borrowed, so it stays open for the call;
        // - the header points at name, part and control buffers that are exclusively ours, with their true lengths.
        let returned =
            unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
        let len = errno::check_size(returned)?;
        incoming.note(&header, len);
        Ok(())
    }

    fn receive_each(
        &mut self,
        fd: BorrowedFd<'_>,
        (arena, slot_size): (&mut [u8], usize),
        incoming: &mut [Incoming],
    ) -> io::Result<usize> {
        self.headers.clear();
        self.parts.clear();
        for (slot, incoming) in arena
            .chunks_exact_mut(slot_size.max(1))
            .zip(incoming.iter_mut())
            .take(BATCH_MAX)
        {
            self.parts.push(part_of_mut(slot));
            self.headers.push(libc::mmsghdr {
                msg_hdr: incoming.header(ptr::null_mut()),
                msg_len: 0,
            });
        }
        self.link();
        let count = libc::c_uint::try_from(self.headers.len()).unwrap_or(0);
        // SAFETY:
        // - the descriptor is borrowed, so it stays open for the call;
        // - pointer and count describe `headers`, which is exclusively ours;
        // - each header points at its own name, part and control buffers inside `incoming` and `arena`, which are
        //   exclusively ours for the call, with their true lengths; no timeout is given.
        let returned = unsafe {
            libc::recvmmsg(
                fd.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT as _,
                ptr::null_mut(),
            )
        };
        let received = errno::check_size(returned as libc::ssize_t)?;
        for (header, incoming) in self.headers.iter().zip(incoming.iter_mut()).take(received) {
            incoming.note(&header.msg_hdr, header.msg_len as usize);
        }
        Ok(received)
    }
}

impl Outgoing<'_> {
    /// A header with name and control data, without parts.
    fn header(&self) -> libc::msghdr {
        let mut header = empty_header();
        if let Some((name, len)) = self.name {
            header.msg_name = name.bytes.as_ptr().cast_mut().cast();
            header.msg_namelen = len;
        }
        if !self.control.is_empty() {
            header.msg_control = self.control.as_ptr().cast_mut().cast();
            header.msg_controllen = self.control.len() as _;
        }
        header
    }
}

fn part_of(bytes: &[u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    }
}

fn part_of_mut(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    }
}

/// A header of nothing. Some systems have padding fields, so it cannot be written as a literal.
fn empty_header() -> libc::msghdr {
    // SAFETY: all fields are pointers and integers, for which zero is valid.
    unsafe { core::mem::zeroed() }
}
