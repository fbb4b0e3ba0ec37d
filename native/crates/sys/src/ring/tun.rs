use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;

use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use ports::{Framing, TunQueue};

use super::RingHealth;
use crate::TunFd;

/// A TUN queue whose small frames are read several per call, through a ring. Large frames, and single ones, are read one by
/// one into the caller's buffer; frames are written one by one, in the order of the calls. When the ring fails, everything
/// goes on without it.
pub struct RingTun {
    queue: TunFd,
    /// `None` since it failed.
    ring: Option<IoUring>,
    store: Store,
    pace: Pace,
    health: Arc<RingHealth>,
}

/// Frames that were read ahead, in the order of the queue.
struct Store {
    buffers: Box<[u8]>,
    buffer_len: usize,
    /// What became of each read of the last call: a length, or an error number below zero.
    results: [i32; READS_MAX],
    /// The next result to hand out.
    next: usize,
    /// Results of the last call.
    count: usize,
    end: End,
    /// Reads that the kernel has not finished. Not zero only after a failure between handing them over and their end.
    unfinished: usize,
}

/// Whether the last call has seen the end of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    NotSeen,
    Found,
}

/// How many frames to ask for at once.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Reads of the next call; below 2 the ring is not used.
    reads: usize,
    /// Frames since the queue was empty.
    since_empty: usize,
}

impl RingTun {
    /// Takes a queue over. Failures later on are noted in `health`.
    ///
    /// # Errors
    /// What the kernel refuses a ring with (see [`RingPoller::open`](super::RingPoller::open)), and `EOPNOTSUPP` when it
    /// cannot read a TUN queue without waiting. The other descriptor of the queue stays as it was.
    pub fn open(queue: &TunFd, health: Arc<RingHealth>) -> io::Result<Self> {
        let queue = queue.try_clone()?;
        let ring = super::open(ENTRIES)?;
        let mut opened = Self {
            store: Store::new(queue.framing()),
            queue,
            ring: Some(ring),
            pace: Pace::START,
            health,
        };
        opened.fetch(1)?;
        match opened.store.results.first() {
            Some(&result) if REFUSALS.contains(&-result) => {
                Err(io::Error::from_raw_os_error(-result))
            }
            _ => Ok(opened),
        }
    }

    /// Reads up to `count` frames into the store. All of them are finished when this returns without an error.
    fn fetch(&mut self, count: usize) -> io::Result<()> {
        let Some(ring) = &mut self.ring else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        // Not registered with the ring: that would hold the device for a while after everything is closed.
        let queue = Fd(self.queue.as_fd().as_raw_fd());
        self.store.hand_over(ring, queue, count)?;
        while self.store.unfinished > 0 {
            match ring.submit_and_wait(self.store.unfinished) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            self.store.note(ring);
        }
        Ok(())
    }

    fn read_stored(&mut self, frame: &mut [u8]) -> Option<io::Result<usize>> {
        let result = self.store.take(frame)?;
        if let Ok(len) = &result {
            self.pace.taken(*len);
        }
        Some(result)
    }

    fn read_one(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        self.store.end = End::NotSeen;
        let result = self.queue.read(frame);
        match &result {
            Ok(len) => self.pace.single(*len),
            Err(_) => self.pace.empty(),
        }
        result
    }
}

impl TunQueue for RingTun {
    fn framing(&self) -> Framing {
        self.queue.framing()
    }

    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        if let Some(result) = self.read_stored(frame) {
            return result;
        }
        // The end of what was read ahead is looked for by a plain read, so that the answer is of now.
        if self.ring.is_none() || self.pace.reads < 2 || self.store.end == End::Found {
            return self.read_one(frame);
        }
        match self.fetch(self.pace.reads) {
            Ok(()) => self.pace.fetched(),
            Err(error) => {
                self.health.fail(&error);
                self.ring = None;
            }
        }
        match self.read_stored(frame) {
            Some(result) => result,
            None => self.read_one(frame),
        }
    }

    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.queue.write(parts)
    }

    fn holds_frames(&self) -> bool {
        self.store.holds_any()
    }
}

impl AsFd for RingTun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

impl Store {
    fn new(framing: Framing) -> Self {
        let buffer_len = framing.header_len() + FRAME_LEN_MAX;
        Self {
            buffers: vec![0; (buffer_len + APART) * READS_MAX].into_boxed_slice(),
            buffer_len,
            results: [-libc::EAGAIN; READS_MAX],
            next: 0,
            count: 0,
            end: End::NotSeen,
            unfinished: 0,
        }
    }

    /// Queues reads that never wait: each is tried at once, in this order, and ends there and then.
    fn hand_over(&mut self, ring: &mut IoUring, queue: Fd, count: usize) -> io::Result<()> {
        let count = count.min(READS_MAX);
        let len = u32::try_from(self.buffer_len).unwrap_or(u32::MAX);
        self.results = [-libc::EAGAIN; READS_MAX];
        self.next = 0;
        self.count = count;
        self.end = End::NotSeen;
        let mut submission = ring.submission();
        let buffers = self.buffers.chunks_exact_mut(self.buffer_len + APART);
        for (buffer, number) in buffers.zip(0_u64..).take(count) {
            let entry = opcode::Read::new(queue, buffer.as_mut_ptr(), len)
                .rw_flags(libc::RWF_NOWAIT)
                .build()
                .user_data(number);
            // SAFETY:
            // - pointer and length describe bytes inside `buffer`, which no other read of this call has;
            // - the bytes belong to the store, are not touched before the read is finished, and are never freed while it
            //   is not (see the drop).
            unsafe { submission.push(&entry) }.map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.unfinished += 1;
        }
        Ok(())
    }

    fn note(&mut self, ring: &mut IoUring) {
        for answer in ring.completion() {
            let number = usize::try_from(answer.user_data()).unwrap_or(usize::MAX);
            if let Some(result) = self.results.get_mut(number) {
                *result = answer.result();
                self.unfinished = self.unfinished.saturating_sub(1);
            }
        }
    }

    fn holds_any(&self) -> bool {
        self.results
            .get(self.next..self.count)
            .is_some_and(|results| results.iter().any(|result| *result >= 0))
    }

    /// Copies the next frame, as much of it as fits, or hands out the next error that is not about an empty queue.
    fn take(&mut self, frame: &mut [u8]) -> Option<io::Result<usize>> {
        while self.next < self.count {
            let at = self.next;
            self.next += 1;
            let result = self.results.get(at).copied()?;
            match usize::try_from(result) {
                Ok(len) => {
                    let start = at * (self.buffer_len + APART);
                    let len = len.min(frame.len());
                    let from = self.buffers.get(start..start + len)?;
                    frame.get_mut(..len)?.copy_from_slice(from);
                    return Some(Ok(len));
                }
                Err(_) if EMPTY.contains(&-result) => self.end = End::Found,
                Err(_) => return Some(Err(io::Error::from_raw_os_error(-result))),
            }
        }
        None
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.unfinished > 0 {
            // The kernel may still write to them.
            core::mem::forget(core::mem::take(&mut self.buffers));
        }
    }
}

impl Pace {
    const START: Self = Self {
        reads: 1,
        since_empty: 0,
    };

    /// A frame was read alone.
    fn single(&mut self, len: usize) {
        self.taken(len);
        if self.since_empty >= BURST {
            self.reads = BURST;
        }
    }

    /// A frame came from whatever call. Large ones are not worth a copy.
    fn taken(&mut self, len: usize) {
        if len > SMALL {
            *self = Self::START;
        } else {
            self.since_empty += 1;
        }
    }

    /// A call was made; if it finds the queue empty, the next size is set by that.
    fn fetched(&mut self) {
        self.reads = if self.since_empty == 0 {
            BURST
        } else {
            (2 * self.reads).min(READS_MAX)
        };
    }

    /// The queue is empty: the next burst is taken to be like this one.
    fn empty(&mut self) {
        self.reads = if self.since_empty < BURST {
            1
        } else {
            self.since_empty.min(READS_MAX)
        };
        self.since_empty = 0;
    }
}

/// Most reads of one call.
const ENTRIES: u32 = 32;
const READS_MAX: usize = ENTRIES as usize;
/// The longest packet.
const FRAME_LEN_MAX: usize = 65_535;
/// Distance between buffers: copies between places of equal page offset are slow on some processors.
const APART: usize = 1_088;
/// Frames up to this length are worth copying once more.
const SMALL: usize = 2_048;
/// Frames in a row that make a burst.
const BURST: usize = 4;
/// Results that say that there is nothing to read now.
const EMPTY: [i32; 3] = [libc::EAGAIN, libc::EINTR, libc::ECANCELED];
/// Results that say that reading this way is not possible.
const REFUSALS: [i32; 5] = [
    libc::EOPNOTSUPP,
    libc::EINVAL,
    libc::ENOSYS,
    libc::EPERM,
    libc::EACCES,
];
