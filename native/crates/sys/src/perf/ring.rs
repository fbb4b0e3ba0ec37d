//! The memory in which the kernel lays samples of one thread.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use perf_event_open_sys::bindings;

/// A mapped ring: one page of positions, then [`DATA_LEN`] bytes of records.
#[derive(Debug)]
pub(super) struct Ring {
    start: NonNull<u8>,
    len: usize,
    page_len: usize,
    record: Vec<u64>,
    /// Sampling ends when it is closed.
    _event: OwnedFd,
}

// SAFETY: the mapping belongs to this value alone, and it is read through `&mut self` only.
unsafe impl Send for Ring {}

impl Ring {
    pub(super) fn map(event: OwnedFd) -> io::Result<Self> {
        // SAFETY: the call takes a number and touches no memory of ours.
        let page_len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_len = usize::try_from(page_len).map_err(|_| io::Error::last_os_error())?;
        let len = page_len + DATA_LEN.max(page_len);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice; the descriptor is open.
        let start = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                len,
                protection,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Ring {
            start,
            len,
            page_len,
            record: Vec::new(),
            _event: event,
        })
    }

    /// Hands out the call chains of all waiting samples, kernel part and user part, and frees their room. Returns how
    /// many samples the kernel had no room for.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u64], &[u64])) -> u64 {
        let head = self.head().load(Ordering::Acquire);
        let mut tail = self.tail().load(Ordering::Relaxed);
        let mut lost = 0;
        let mut record = core::mem::take(&mut self.record);
        while tail < head {
            let header = self.word(tail);
            // Type in the low half, size in the highest quarter.
            let (kind, size) = (header & 0xffff_ffff, header >> 48);
            if size < 8 || size > head - tail {
                break;
            }
            record.clear();
            record.extend((1..size / 8).map(|word| self.word(tail + 8 * word)));
            if kind == u64::from(bindings::PERF_RECORD_SAMPLE) {
                let chain = record.get(1..).unwrap_or_default();
                let (kernel, user) = parts(chain);
                take(&kernel, &user);
            } else if kind == u64::from(bindings::PERF_RECORD_LOST) {
                lost += record.get(1).copied().unwrap_or(0);
            }
            tail += size;
        }
        self.record = record;
        self.tail().store(head, Ordering::Release);
        lost
    }

    /// Records begin at multiples of eight and so does the ring's end: a word never wraps.
    fn word(&self, position: u64) -> u64 {
        let data_len = self.len - self.page_len;
        let offset = usize::try_from(position % (data_len as u64)).unwrap_or(0) & !7;
        // SAFETY: the offset is below the length of the data, so the address is inside the mapping.
        let place = unsafe { self.start.add(self.page_len + offset) };
        // SAFETY: the address is mapped, a multiple of eight, and the kernel does not write what it has published.
        unsafe { place.cast::<u64>().read_volatile() }
    }

    /// Where the kernel writes next.
    fn head(&self) -> &AtomicU64 {
        self.position(core::mem::offset_of!(
            bindings::perf_event_mmap_page,
            data_head
        ))
    }

    /// Up to where we have read.
    fn tail(&self) -> &AtomicU64 {
        self.position(core::mem::offset_of!(
            bindings::perf_event_mmap_page,
            data_tail
        ))
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both positions lie in the first page of the mapping.
        let place = unsafe { self.start.add(offset) };
        // SAFETY: the address is mapped and aligned as long as `self` lives, and both sides access it atomically.
        unsafe { AtomicU64::from_ptr(place.as_ptr().cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `map` made; nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Splits a call chain at its context marks into kernel and user addresses, innermost first.
fn parts(chain: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (mut kernel, mut user) = (Vec::new(), Vec::new());
    let mut context = Context::Other;
    for address in chain {
        match *address {
            CONTEXT_KERNEL => context = Context::Kernel,
            CONTEXT_USER => context = Context::User,
            mark if mark >= CONTEXT_MAX => context = Context::Other,
            address => match context {
                Context::Kernel => kernel.push(address),
                Context::User => user.push(address),
                Context::Other => {}
            },
        }
    }
    (kernel, user)
}

enum Context {
    Kernel,
    User,
    Other,
}

const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();
const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();
const CONTEXT_MAX: u64 = (-4095_i64).cast_unsigned();
/// A power of two; small enough for 30 threads within what the kernel lets a user without rights lock.
const DATA_LEN: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_split_at_its_marks() {
        let chain = [CONTEXT_KERNEL, 1, 2, CONTEXT_USER, 3, CONTEXT_MAX, 4];

        assert_eq!(parts(&chain), (vec![1, 2], vec![3]));
        assert_eq!(parts(&[]), (vec![], vec![]));
    }
}
